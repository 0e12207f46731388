// Threads that work off the parts of a task, over and over.
//
// Each has a share of the parts, the same every time, so that its cache holds what they
// read, and then takes parts of the others' shares, so that nobody waits for a thread that
// the system keeps from running; what a part computes must not depend on who computes it.
// Waiting is brief yielding, which costs less than the microseconds of a wake-up, and then
// sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bayleaf {

class Team {
public:
    // Does one part; `member` is 0 for the calling thread, else the helper's number. Only
    // the calling thread may own a Watch.
    using Work = std::function<void(int64_t part, int64_t member)>;

    // Starts n_threads - 1 helpers, or fewer where the system gives no more; none that
    // would have no part to do.
    Team(int64_t n_threads, int64_t n_parts, Work work);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Does all parts once; what they wrote is visible when it returns. Throws what any of
    // them threw, once no thread is at work.
    void run();

private:
    // Parts of one member; on a cache line of their own, because all threads write `next`.
    struct alignas(64) Share {
        int64_t first, end;
        std::atomic<int64_t> next;
    };
    void help(int64_t member);
    void take_parts(int64_t member, Share& share);
    void take_all_shares(int64_t member);
    template <class Condition>
    void await(std::condition_variable& bell, Condition is_met);

    const int64_t n_parts_;
    const Work work_;
    std::vector<Share> shares_;
    // How often `run` was called.
    alignas(64) std::atomic<int64_t> round_{0};
    alignas(64) std::atomic<int64_t> n_done_{0};
    std::atomic<bool> has_ended_{false};
    std::mutex mutex_;
    std::condition_variable opened_, finished_;
    std::exception_ptr error_;
    std::vector<std::thread> helpers_;
};

}  // namespace bayleaf
