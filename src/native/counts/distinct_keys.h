// Distinct whole numbers, numbered in the order in which they come.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace bayleaf {

// Few possible keys have a place each; many are found by open addressing, in slots of
// which at most half are taken.
class DistinctKeys {
public:
    // Forgets all keys. Those that come next, at most `n_keys`, lie in 0 .. limit - 1.
    void start(int64_t limit, int64_t n_keys) {
        keys_.clear();
        has_places_ = limit <= std::max(kFewPlaces, 2 * n_keys);
        const int64_t n_slots =
            has_places_ ? limit
                        : static_cast<int64_t>(std::bit_ceil(
                              static_cast<uint64_t>(std::clamp(n_keys, kFew, kMany))));
        slots_.assign(static_cast<std::size_t>(n_slots), -1);
    }

    // The number of a key, a new one if it comes for the first time.
    int32_t number(int64_t key) {
        const std::size_t slot = slot_of(key);
        if (slots_[slot] >= 0) return slots_[slot];
        if (keys_.size() == std::numeric_limits<int32_t>::max())
            throw std::length_error("too many distinct joint states to be numbered");
        const auto added = static_cast<int32_t>(keys_.size());
        slots_[slot] = added;
        keys_.push_back(key);
        if (!has_places_ && 2 * keys_.size() > slots_.size()) grow();
        return added;
    }

    // The number of a key, -1 if it never came.
    int32_t find(int64_t key) const { return slots_[slot_of(key)]; }

    // The keys by number.
    std::span<const int64_t> keys() const { return keys_; }
    int64_t size() const { return static_cast<int64_t>(keys_.size()); }

private:
    static constexpr int64_t kFewPlaces = 1024, kFew = 32, kMany = 4096;

    std::size_t slot_of(int64_t key) const {
        if (has_places_) return static_cast<std::size_t>(key);
        // The golden ratio times 2^64, whose products scatter neighbouring keys.
        constexpr uint64_t kScatter = 0x9e3779b97f4a7c15;
        const std::size_t mask = slots_.size() - 1;
        std::size_t slot = (static_cast<uint64_t>(key) * kScatter >> 32) & mask;
        while (slots_[slot] >= 0 && keys_[slots_[slot]] != key) slot = (slot + 1) & mask;
        return slot;
    }

    void grow() {
        slots_.assign(2 * slots_.size(), -1);
        for (std::size_t n = 0; n < keys_.size(); ++n)
            slots_[slot_of(keys_[n])] = static_cast<int32_t>(n);
    }

    bool has_places_ = false;
    std::vector<int32_t> slots_;
    std::vector<int64_t> keys_;
};

}  // namespace bayleaf
