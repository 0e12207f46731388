// Has teams of threads work off parts for many rounds, some of which fail; prints "right".
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "support/team.h"

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

}  // namespace

int main() {
    for (const int64_t n_threads : {1, 2, 3, 8})
        for (const int64_t n_parts : {0, 1, 2, 5, 64})
            if (!works(n_threads, n_parts)) {
                std::printf("wrong: %d threads, %d parts\n", int(n_threads), int(n_parts));
                return 1;
            }
    std::puts("right");
}
