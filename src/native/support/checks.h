// Ranges of numbers that loops use as places in arrays: looked over once, on vectors,
// before the first of them is used.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace bayleaf {

// Throws with the sentence unless all numbers are in 0..bound - 1.
template <class T>
void require_below(std::span<const T> numbers, int64_t bound, const char* sentence) {
    using Unsigned = std::make_unsigned_t<T>;
    Unsigned largest = 0;
    // A negative number becomes one that is too large.
    for (const T number : numbers) largest = std::max(largest, static_cast<Unsigned>(number));
    if (!numbers.empty() && (bound <= 0 || largest >= static_cast<uint64_t>(bound)))
        throw std::invalid_argument(sentence);
}

// Throws unless lists, each from its start on, lie among so many items one after another.
inline void require_starts(std::span<const int64_t> starts, int64_t n_items) {
    require_below(starts, n_items + 1, "a list of variables lies outside");
    if (!std::ranges::is_sorted(starts))
        throw std::invalid_argument("a list of variables ends before it begins");
}

}  // namespace bayleaf
