// Sorts rows by class and packs columns of codes into planes (planes.h).
//
// A column of v states costs one pass that moves its bytes into the order of classes, by
// a compression of 64 bytes for each class among them, and a comparison of 64 bytes for
// each plane.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "counts/bit_vectors.h"
#include "counts/planes.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Rows sorted at a time: a tile of a column, its sorted copy and a tile of one panel fit
// into a first-level cache of 48 kB.
constexpr int64_t kTileRows = 16'384;
constexpr int64_t kWordRows = 64;

int64_t words_of(int64_t n_rows) {
    return (n_rows + kWordRows - 1) / kWordRows;
}

// Writes the plan of an order; arrays are as large as the worst case needs.
struct Planner {
    Run* runs;
    Segment* segments;
    Tile* tiles;
    int64_t n_runs = 0, n_segments = 0, n_tiles = 0, n_words = 0;

    void begin_tile() { tiles[n_tiles++] = {n_runs, n_segments, n_words}; }

    // Plans one tile of the class codes given, whose first row is `first`.
    void add_tile(std::span<const uint8_t> classes, int64_t first, int64_t n_classes,
                  int64_t shift) {
        begin_tile();
        const int64_t tile_word = n_words;
        for (int64_t state = 0; state < n_classes; ++state) {
            const int64_t start = (n_words - tile_word) * kWordRows;
            int64_t place = start;
            for (std::size_t row = 0; row < classes.size(); row += kWordRows) {
                const uint64_t mask =
                    equal_mask(classes.data() + row, static_cast<uint8_t>(state));
                if (mask == 0) continue;
                runs[n_runs++] = {first + static_cast<int64_t>(row), mask, place};
                place += std::popcount(mask);
            }
            if (place == start) continue;
            const int64_t end_word = tile_word + words_of(place);
            segments[n_segments++] = {state, shift, n_words, end_word};
            n_words = end_word;
        }
    }
};

// A tile's runs, in the order of classes.
using Runs = std::span<const Run>;

void check_runs(Runs runs, int64_t n_rows, int64_t n_places) {
    for (const Run& run : runs)
        if (run.row < 0 || run.row >= n_rows || run.row % kWordRows != 0 || run.place < 0 ||
            run.place + std::popcount(run.mask) > n_places)
            throw std::invalid_argument("the runs are not those of these rows");
}

// Writes a tile of a column in the order of its classes, with kNoState in the gaps. Runs
// come class by class: what spills over the end of one is overwritten by the next.
void sort_tile(std::span<const uint8_t> codes, Runs runs, std::span<uint8_t> sorted) {
    const int64_t n_rows = static_cast<int64_t>(codes.size());
    const int64_t n_whole = n_rows / kWordRows * kWordRows;
    uint8_t last[kWordRows] = {};
    std::copy(codes.begin() + n_whole, codes.end(), last);
    std::fill(sorted.begin(), sorted.end(), kNoState);
    for (const auto& [row, mask, place] : runs)
        keep_masked(row < n_whole ? codes.data() + row : last, mask, sorted.data() + place);
}

// Sets some neighbouring planes, one for each state from 0 on, in the words of a tile.
void set_planes(std::span<const uint8_t> sorted, Panels<uint64_t> panels,
                int64_t first_plane, int64_t end_plane, int64_t word) {
    const int64_t n_words = static_cast<int64_t>(sorted.size()) / kWordRows;
    for (int64_t plane = first_plane; plane < end_plane;) {
        const int64_t end = std::min(end_plane, (plane / kPanelPlanes + 1) * kPanelPlanes);
        const int64_t first_state = plane - first_plane, n_states = end - plane;
        const uint8_t* codes = sorted.data();
        uint64_t* row = panels.plane(plane, word);
        for (int64_t w = 0; w < n_words; ++w, codes += kWordRows, row += kPanelPlanes)
            for (int64_t i = 0; i < n_states; ++i)
                row[i] = equal_mask(codes, static_cast<uint8_t>(first_state + i));
        plane = end;
    }
}

void check_plan(std::span<const Tile> tiles, int64_t n_runs, int64_t n_words) {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
        const Tile before = i == 0 ? Tile{0, 0, 0} : tiles[i - 1];
        if (tiles[i].first_run < before.first_run || tiles[i].first_run > n_runs ||
            tiles[i].first_word < before.first_word || tiles[i].first_word > n_words)
            throw std::invalid_argument("the tiles are not those of these planes");
    }
}

void check_columns(std::span<const int64_t> slots, int64_t n_slots,
                   std::span<const int64_t> first_planes, int64_t n_planes) {
    for (std::size_t k = 0; k < slots.size(); ++k)
        if (slots[k] < 0 || slots[k] >= n_slots || first_planes[k] < 0 ||
            first_planes[k + 1] < first_planes[k] || first_planes[k + 1] > n_planes)
            throw std::invalid_argument("a column or its planes are out of range");
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Plans how the rows of each tile are sorted by class. `weights` has one whole weight a
// row, or a single one for all; rows whose code is no class are left out. `tiles` gets
// one more entry than there are tiles, `sizes` the numbers of runs and segments.
BAYLEAF_API int32_t bl_class_order(const uint8_t* class_codes, int64_t n_rows,
                                   const uint8_t* weights, int64_t n_weights,
                                   int64_t n_classes, int64_t n_bits, Run* runs,
                                   Segment* segments, Tile* tiles, int64_t* sizes) {
    return guarded([&] {
        Planner planner{runs, segments, tiles};
        std::vector<uint8_t> chosen;
        Watch watch;
        for (int64_t bit = 0; bit < n_bits; ++bit)
            for (int64_t first = 0; first < n_rows; first += kTileRows) {
                const int64_t size = std::min(kTileRows, n_rows - first);
                chosen.assign(static_cast<std::size_t>(words_of(size) * kWordRows),
                              kNoState);
                const auto choose = [&](auto weight_of) {
                    for (int64_t i = 0; i < size; ++i)
                        chosen[i] =
                            weight_of(i) >> bit & 1 ? class_codes[first + i] : kNoState;
                };
                if (n_weights == 1)
                    choose([&](int64_t) { return weights[0]; });
                else
                    choose([&](int64_t i) { return weights[first + i]; });
                planner.add_tile(chosen, first, n_classes, bit);
                watch.add(size * (1 + n_classes / 16));
            }
        planner.begin_tile();
        sizes[0] = planner.n_runs;
        sizes[1] = planner.n_segments;
    });
}

// Sets the planes of some columns in a stretch of tiles. Row slots[k] of `block` is
// column k; state s of it becomes plane first_planes[k] + s, as far as the next column's
// first plane.
BAYLEAF_API int32_t bl_pack_planes(const uint8_t* block, int64_t n_slots, int64_t n_rows,
                                   const int64_t* slots, const int64_t* first_planes,
                                   int64_t n_columns, const Run* runs, int64_t n_runs,
                                   const Tile* tiles, int64_t n_tiles, uint64_t* words,
                                   int64_t n_panels, int64_t n_words) {
    return guarded([&] {
        const Matrix<const uint8_t> codes{block, n_slots, n_rows};
        const Panels<uint64_t> panels{words, n_panels, n_words};
        check_plan(view(tiles, n_tiles + 1), n_runs, n_words);
        check_columns(view(slots, n_columns), n_slots, view(first_planes, n_columns + 1),
                      n_panels * kPanelPlanes);
        std::vector<uint8_t> sorted;
        Watch watch;
        for (int64_t t = 0; t < n_tiles; ++t) {
            const Tile tile = tiles[t], next = tiles[t + 1];
            const Runs of_tile =
                view(runs + tile.first_run, next.first_run - tile.first_run);
            const int64_t size = (next.first_word - tile.first_word) * kWordRows;
            // Compression writes whole vectors, beyond the last row of the last class.
            sorted.resize(static_cast<std::size_t>(size + kWordRows));
            const std::span<uint8_t> own(sorted);
            check_runs(of_tile, n_rows, size);
            for (int64_t k = 0; k < n_columns; ++k) {
                sort_tile(codes[slots[k]], of_tile, own);
                set_planes(own.first(static_cast<std::size_t>(size)), panels,
                           first_planes[k], first_planes[k + 1], tile.first_word);
                const int64_t n_planes = first_planes[k + 1] - first_planes[k];
                watch.add(size / 8 * (1 + n_planes / 4));
            }
        }
    });
}
