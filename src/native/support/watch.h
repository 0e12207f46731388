// Ctrl-C in long loops. Python's own handler runs only between calls, so loops that may
// take longer than a moment tell a Watch how much they did, and it asks Python about
// twenty times a second whether a signal is waiting.
#pragma once

#include <cstdint>

namespace bayleaf {

class Watch {
public:
    // Tells that loops have done some steps, of about a nanosecond each. Throws
    // Interrupted where a signal's handler raised, or the task's other threads stopped.
    void add(int64_t steps) {
        left_ -= steps;
        if (left_ < 0) look();
    }

private:
    static constexpr int64_t kStepsBetweenLooks = 1 << 22;
    void look();
    int64_t left_ = kStepsBetweenLooks;
};

}  // namespace bayleaf
