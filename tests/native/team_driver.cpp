// Has teams of threads work off parts for many rounds, some of which fail, and ends their
// owners at any time; prints "right". With a word behind its name, ends amid the work.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <numeric>
#include <stdexcept>

#include "support/team.h"

namespace {

// Allocations of this thread that succeed before one fails; none fails below zero.
thread_local int64_t n_allocations = -1;

}  // namespace

void* operator new(std::size_t size) {
    if (n_allocations == 0) throw std::bad_alloc();
    if (n_allocations > 0) --n_allocations;
    if (void* found = std::malloc(size)) return found;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr int64_t kRounds = 200;

// Whether each round did every part once, or threw what its failing part threw.
bool works(int64_t n_threads, int64_t n_parts) {
    std::vector<int64_t> input(n_parts), found(n_parts);
    int64_t failing = -1;
    bayleaf::Team team(n_threads, n_parts, [&](int64_t part, int64_t) {
        if (part == failing) throw std::runtime_error("a part fails");
        found[part] += input[part];
    });
    for (int64_t round = 0; round < kRounds; ++round) {
        std::ranges::fill(found, 0);
        // New memory each time: a thread that is late would read what is freed.
        std::vector<int64_t> next(n_parts);
        std::iota(next.begin(), next.end(), round);
        input = std::move(next);
        failing = round % 7 == 3 && n_parts > 0 ? round % n_parts : -1;
        bool has_failed = false;
        try {
            team.run();
        } catch (const std::runtime_error&) {
            has_failed = true;
        }
        if (has_failed != (failing >= 0)) return false;
        if (!has_failed && found != input) return false;
        // Long enough for the helpers to fall asleep.
        if (round % 100 == 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

// Whether an owner may throw before its team has run, and after rounds of long parts.
bool ends_with_its_owner(int64_t n_rounds) {
    std::atomic<int64_t> n_done = 0;
    try {
        bayleaf::Team team(4, 16, [&](int64_t, int64_t) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            ++n_done;
        });
        for (int64_t round = 0; round < n_rounds; ++round) team.run();
        throw std::runtime_error("the owner fails");
    } catch (const std::runtime_error&) {
        return n_done == 16 * n_rounds;
    }
}

// Whether a failed owner's round leaves no thread at work on what it owned.
bool ends_with_its_part(int64_t failing_member) {
    std::vector<int64_t> found(64);
    bool has_failed = false;
    try {
        bayleaf::Team team(4, 64, [&](int64_t part, int64_t member) {
            if (member == failing_member) throw std::runtime_error("a member fails");
            std::this_thread::sleep_for(std::chrono::microseconds(50));
            ++found[part];
        });
        // On a busy machine a helper may get no part for many rounds.
        for (int64_t round = 0; round < 2000; ++round) team.run();
    } catch (const std::runtime_error&) {
        has_failed = true;
    }
    return has_failed;
}

// Whether a team without memory refuses to begin, or does its work with fewer threads.
bool begins_or_refuses(int64_t n_allocated) {
    int64_t n_parts = 0;
    std::atomic<int64_t> n_done = 0;
    try {
        n_allocations = n_allocated;
        bayleaf::Team team(8, 16, [&](int64_t, int64_t) { ++n_done; });
        n_allocations = -1;
        n_parts = 16;
        team.run();
    } catch (const std::bad_alloc&) {
        n_allocations = -1;
    }
    return n_done == n_parts;
}

}  // namespace

int main(int n_words, char**) {
    if (n_words > 1) {
        bayleaf::Team team(4, 64, [](int64_t, int64_t member) {
            if (member == 0) {
                std::puts("right");
                std::exit(0);
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        });
        team.run();
        return 1;
    }
    for (int64_t number = 0; number < 20; ++number)
        if (!ends_with_its_owner(number % 4) || !ends_with_its_part(number % 2) ||
            !begins_or_refuses(number)) {
            std::printf("wrong: end %d\n", int(number));
            return 1;
        }
    for (const int64_t n_threads : {1, 2, 3, 8})
        for (const int64_t n_parts : {0, 1, 2, 5, 64})
            if (!works(n_threads, n_parts)) {
                std::printf("wrong: %d threads, %d parts\n", int(n_threads), int(n_parts));
                return 1;
            }
    std::puts("right");
}
