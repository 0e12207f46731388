// Planes and the order of rows in which they are packed.
//
// A plane is one bit a row: whether a column holds one certain state. Rows are sorted by
// class, tile by tile, before planes are packed, so that one pass over the planes gives
// the counts of all classes. A weight of several bits makes one tile for each: the rows
// whose weight has the bit, which count 1, 2, 4 ... times. Eight planes lie side by
// side in a panel of shape (n_words, 8).
#pragma once

#include <cstdint>

#include "support/views.h"

namespace bayleaf {

// Planes of a panel; a row of it fills a cache line.
constexpr int64_t kPanelPlanes = 8;

// What 64 rows, from `row` on, hold of one class of a tile: a mask, and the bit at which
// they begin in the tile's sorted order.
struct Run {
    int64_t row;
    uint64_t mask;
    int64_t place;
};

// One class of one tile: words of the planes, whose rows count 2^shift times.
struct Segment {
    int64_t state, shift, first_word, end_word;
};

// Where a tile's runs, segments and words begin.
struct Tile {
    int64_t first_run, first_segment, first_word;
};

// Some panels of shape (n_panels, n_words, 8).
template <class Word>
struct Panels {
    Word* words;
    int64_t n_panels, n_words;

    Word* at(int64_t panel, int64_t word) const {
        return words + (panel * n_words + word) * kPanelPlanes;
    }
    // The first word of a plane; the next lie a panel's width apart.
    Word* plane(int64_t plane, int64_t word) const {
        return at(plane / kPanelPlanes, word) + plane % kPanelPlanes;
    }
};

}  // namespace bayleaf
