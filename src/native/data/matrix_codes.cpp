// Turns a matrix of whole numbers into byte codes in one pass over memory.
//
// Rows are worked off in tiles: numbers are read in the order in which they lie, which
// runs on vectors at the memory's full speed, and become bytes that stay in the first
// cache until each column has picked its own. Differences are taken unsigned, because
// those wrap round by definition.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kTile = 128;
constexpr int64_t kTable = 256;
// Stands for all offsets that are no code.
constexpr uint64_t kBeyond = 255;

// A matrix in any layout: steps, in items, along its axes.
struct Numbers {
    const int64_t* data;
    int64_t rows, columns, row_step, column_step;
};

// Bytes of some rows of one column.
struct Bytes {
    const uint8_t* first;
    int64_t step, size;

    uint8_t operator[](int64_t i) const { return first[i * step]; }
};

// Writes offsets from `low`, of which there is one a number or one for all, as bytes.
template <class LowOf>
void clamp(const int64_t* values, int64_t step, int64_t size, LowOf low_of,
           uint8_t* bytes) {
    const auto clamped = [](int64_t value, int64_t low) {
        const uint64_t offset = static_cast<uint64_t>(value) - static_cast<uint64_t>(low);
        return static_cast<uint8_t>(std::min(offset, kBeyond));
    };
    if (step == 1)
        for (int64_t k = 0; k < size; ++k) bytes[k] = clamped(values[k], low_of(k));
    else
        for (int64_t k = 0; k < size; ++k) bytes[k] = clamped(values[k * step], low_of(k));
}

// Reads tiles of a matrix whose columns, or whose rows, lie closer together.
class Tiles {
public:
    Tiles(const Numbers& values, const int64_t* low)
        : values_(values),
          low_(view(low, values.columns)),
          by_row_(std::abs(values.column_step) < std::abs(values.row_step)),
          bytes_(static_cast<std::size_t>(kTile * values.columns)) {
        // Rows without gaps are read several at a time, against as many copies of `low`,
        // so that vectors are full where there are few columns.
        const bool has_gaps = values.column_step != 1 || values.row_step != values.columns;
        rows_at_once_ =
            has_gaps ? 1 : kTile / std::clamp<int64_t>(values.columns, 1, kTile);
        for (int64_t i = 0; i < rows_at_once_; ++i)
            lows_.insert(lows_.end(), low_.begin(), low_.end());
    }

    void read(int64_t start, int64_t size) {
        const int64_t* first = values_.data + start * values_.row_step;
        if (!by_row_) {
            for (int64_t j = 0; j < values_.columns; ++j)
                clamp(
                    first + j * values_.column_step, values_.row_step, size,
                    [lowest = low_[j]](int64_t) { return lowest; },
                    bytes_.data() + j * kTile);
            return;
        }
        const auto low_of = [lows = lows_.data()](int64_t k) { return lows[k]; };
        for (int64_t i = 0; i < size; i += rows_at_once_)
            clamp(first + i * values_.row_step, values_.column_step,
                  std::min(rows_at_once_, size - i) * values_.columns, low_of,
                  bytes_.data() + i * values_.columns);
    }

    Bytes column(int64_t j, int64_t size) const {
        return by_row_ ? Bytes{bytes_.data() + j, values_.columns, size}
                       : Bytes{bytes_.data() + j * kTile, 1, size};
    }

private:
    Numbers values_;
    std::span<const int64_t> low_;
    bool by_row_;
    std::vector<uint8_t> bytes_;
    int64_t rows_at_once_ = 1;
    std::vector<int64_t> lows_;
};

// Calls visit(column, first row, bytes) with each column's offsets from its lowest
// number, clamped to a byte, tile by tile.
template <class Visit>
void for_each_tile(const Numbers& values, const int64_t* low, Visit visit) {
    Tiles tiles(values, low);
    Watch watch;
    for (int64_t start = 0; start < values.rows; start += kTile) {
        const int64_t size = std::min(kTile, values.rows - start);
        tiles.read(start, size);
        for (int64_t j = 0; j < values.columns; ++j) visit(j, start, tiles.column(j, size));
        watch.add(size * values.columns);
    }
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
        for_each_tile({values, n_rows, n_columns, row_step, column_step}, low,
                      [&](int64_t j, int64_t start, Bytes bytes) {
                          uint8_t* out = codes + j * n_rows + start;
                          bool* occurs = seen + j * kTable;
                          for (int64_t i = 0; i < bytes.size; ++i) {
                              out[i] = bytes[i];
                              occurs[bytes[i]] = true;
                          }
                      });
        for (int64_t j = 0; j < n_columns; ++j)
            if (seen[j * kTable + static_cast<int64_t>(kBeyond)]) fits[j] = false;
    });
}

// Looks every number up in its column's table of codes (columns, 256), of which the last
// entry is for numbers outside the table.
BAYLEAF_API int32_t bl_table_codes(const int64_t* values, int64_t n_rows, int64_t n_columns,
                                   int64_t row_step, int64_t column_step,
                                   const int64_t* low, const uint8_t* table,
                                   uint8_t* codes) {
    return guarded([&] {
        for_each_tile({values, n_rows, n_columns, row_step, column_step}, low,
                      [&](int64_t j, int64_t start, Bytes bytes) {
                          uint8_t* out = codes + j * n_rows + start;
                          const uint8_t* lookup = table + j * kTable;
                          for (int64_t i = 0; i < bytes.size; ++i)
                              out[i] = lookup[bytes[i]];
                      });
    });
}
