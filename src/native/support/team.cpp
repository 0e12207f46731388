#include "support/team.h"

#include <algorithm>
#include <utility>

namespace bayleaf {
namespace {
// About fifty microseconds; longer pauses are slept through.
constexpr int kYields = 150;
}  // namespace

Team::Team(int64_t n_threads, int64_t n_parts, Work work)
    : n_parts_(n_parts),
      work_(std::move(work)),
      shares_(std::clamp<int64_t>(n_threads, 1, std::max<int64_t>(n_parts, 1))) {
    const int64_t n_members = static_cast<int64_t>(shares_.size());
    for (int64_t member = 0; member < n_members; ++member) {
        Share& share = shares_[member];
        share.first = n_parts * member / n_members;
        share.next = share.end = n_parts * (member + 1) / n_members;
    }
    // Nothing may be thrown from here on, because running helpers need a destructor that
    // joins them.
    helpers_.reserve(n_members - 1);
    for (int64_t member = 1; member < n_members; ++member) {
        try {
            helpers_.emplace_back(&Team::help, this, member);
        } catch (const std::exception&) {
            return;
        }
    }
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        has_ended_.store(true, std::memory_order_relaxed);
    }
    opened_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

template <class Condition>
void Team::await(std::condition_variable& bell, Condition is_met) {
    for (int i = 0; i < kYields; ++i) {
        if (is_met()) return;
        std::this_thread::yield();
    }
    std::unique_lock lock(mutex_);
    bell.wait(lock, is_met);
}

void Team::run() {
    n_done_.store(0, std::memory_order_relaxed);
    for (Share& share : shares_) share.next.store(share.first, std::memory_order_release);
    {
        // Locked, so that no helper falls asleep between its last look and the bell.
        const std::lock_guard lock(mutex_);
        round_.fetch_add(1, std::memory_order_release);
    }
    opened_.notify_all();
    take_all_shares(0);
    // Even after an error, nobody may be at work when the caller's arrays go.
    await(finished_, [&] { return n_done_.load(std::memory_order_acquire) == n_parts_; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::help(int64_t member) {
    int64_t seen = 0;
    for (;;) {
        await(opened_, [&] {
            return round_.load(std::memory_order_acquire) != seen ||
                   has_ended_.load(std::memory_order_relaxed);
        });
        if (has_ended_.load(std::memory_order_relaxed)) return;
        seen = round_.load(std::memory_order_acquire);
        take_all_shares(member);
    }
}

void Team::take_all_shares(int64_t member) {
    const std::size_t n_members = shares_.size();
    for (std::size_t k = 0; k < n_members; ++k)
        take_parts(member, shares_[(member + k) % n_members]);
}

void Team::take_parts(int64_t member, Share& share) {
    for (;;) {
        const int64_t part = share.next.fetch_add(1, std::memory_order_acq_rel);
        if (part >= share.end) return;
        int64_t n_done = 1;
        try {
            work_(part, member);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = std::current_exception();
            // Parts that nobody has begun are given up.
            for (Share& other : shares_)
                n_done += other.end - std::min(other.next.exchange(other.end), other.end);
        }
        if (n_done_.fetch_add(n_done, std::memory_order_acq_rel) + n_done == n_parts_) {
            {
                const std::lock_guard lock(mutex_);
            }
            finished_.notify_one();
        }
    }
}

}  // namespace bayleaf
