// Turns a matrix of whole numbers into byte codes in one pass over memory.
//
// Rows are worked off in tiles that are first copied as they lie in memory, which runs
// at the memory's full speed; the strided reads of single columns then hit the first
// cache. Differences are taken unsigned, because those wrap round by definition.
#include <algorithm>
#include <cstring>
#include <vector>

#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kTile = 128;
constexpr int64_t kTable = 256;

// A matrix in any layout: steps, in items, along its axes.
struct Numbers {
    const int64_t* data;
    int64_t rows, columns, row_step, column_step;

    // Copies some rows to a tile (rows, columns), in the order in which they lie.
    void copy_rows(int64_t first, int64_t size, uint64_t* tile) const {
        const int64_t* start = data + first * row_step;
        if (column_step == 1 && row_step == columns) {
            std::memcpy(tile, start,
                        static_cast<std::size_t>(size * columns) * sizeof *tile);
        } else {
            for (int64_t j = 0; j < columns; ++j)
                for (int64_t i = 0; i < size; ++i)
                    tile[i * columns + j] =
                        static_cast<uint64_t>(start[i * row_step + j * column_step]);
        }
    }
};

// Calls visit(column, first row, offsets) with each column's offsets from its lowest
// number, tile by tile.
template <class Visit>
void for_each_tile(const Numbers& values, const int64_t* low, Visit visit) {
    std::vector<uint64_t> tile(kTile * values.columns);
    uint64_t offsets[kTile];
    Watch watch;
    for (int64_t start = 0; start < values.rows; start += kTile) {
        const int64_t size = std::min(kTile, values.rows - start);
        values.copy_rows(start, size, tile.data());
        for (int64_t j = 0; j < values.columns; ++j) {
            const uint64_t lowest = static_cast<uint64_t>(low[j]);
            for (int64_t i = 0; i < size; ++i)
                offsets[i] = tile[i * values.columns + j] - lowest;
            visit(j, start, std::span<const uint64_t>(offsets, size));
        }
        watch.add(size * values.columns);
    }
}

// Marks the bytes that occur; below 64 by one OR of a bit each, which runs on vectors.
void mark_seen(std::span<const uint8_t> codes, uint64_t spread, bool* seen) {
    if (spread > 63) {
        for (const uint8_t code : codes) seen[code] = true;
        return;
    }
    uint64_t bits = 0;
    for (const uint8_t code : codes) bits |= uint64_t(1) << (code & 63);
    for (int value = 0; value < 64; ++value)
        if (bits >> value & 1) seen[value] = true;
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Writes values - low as bytes (columns, rows), marks the offsets that occur in `seen`
// (columns, 256), and clears `fits` where an offset is outside 0..254.
BAYLEAF_API int32_t bl_offset_codes(const int64_t* values, int64_t n_rows,
                                    int64_t n_columns, int64_t row_step,
                                    int64_t column_step, const int64_t* low, uint8_t* codes,
                                    bool* seen, bool* fits) {
    return guarded([&] {
        const Matrix<uint8_t> out{codes, n_columns, n_rows};
        for_each_tile({values, n_rows, n_columns, row_step, column_step}, low,
                      [&](int64_t j, int64_t start, std::span<const uint64_t> offsets) {
                          const auto tile = out[j].subspan(start, offsets.size());
                          // Every bit above the lowest eight survives in `spread`.
                          uint64_t spread = 0;
                          for (std::size_t i = 0; i < offsets.size(); ++i) {
                              spread |= offsets[i];
                              tile[i] = static_cast<uint8_t>(offsets[i]);
                          }
                          if (spread > 255) fits[j] = false;
                          mark_seen(tile, spread, seen + j * kTable);
                      });
        // A byte of 255 is no code: it is kept for numbers outside a table.
        for (int64_t j = 0; j < n_columns; ++j)
            if (seen[j * kTable + 255]) fits[j] = false;
    });
}

// Looks every number up in its column's table of codes (columns, 256), of which the last
// entry is for numbers outside the table.
BAYLEAF_API int32_t bl_table_codes(const int64_t* values, int64_t n_rows, int64_t n_columns,
                                   int64_t row_step, int64_t column_step,
                                   const int64_t* low, const uint8_t* table,
                                   uint8_t* codes) {
    return guarded([&] {
        const Matrix<uint8_t> out{codes, n_columns, n_rows};
        for_each_tile({values, n_rows, n_columns, row_step, column_step}, low,
                      [&](int64_t j, int64_t start, std::span<const uint64_t> offsets) {
                          const uint8_t* lookup = table + j * kTable;
                          uint8_t places[kTile];
                          for (std::size_t i = 0; i < offsets.size(); ++i)
                              places[i] =
                                  static_cast<uint8_t>(std::min<uint64_t>(offsets[i], 255));
                          for (std::size_t i = 0; i < offsets.size(); ++i)
                              out(j, start + static_cast<int64_t>(i)) = lookup[places[i]];
                      });
    });
}
