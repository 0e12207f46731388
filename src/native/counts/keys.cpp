// Counts by key: the joint state of a family's parents, against many children.
//
// A row's key is the number of its joint state, the first variable slowest; -1 where one
// is missing. Counting takes 0.2 to 0.4 ns for each row and column, mostly for the
// increments: places in the table are worked out before, in a loop that runs on vectors.
#include <algorithm>
#include <vector>

#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Cells up to which a table is counted in four copies, so that rows of equal place need
// not wait for one another.
constexpr int64_t kSmallTable = 1024;
// Rows whose places in a table are worked out before their weights are added; a multiple
// of the number of copies.
constexpr int64_t kKeyRows = 1024;

// The place behind `place` places of `n` cells and `code` more. Codes out of range may
// wrap round, which unsigned numbers do by definition.
uint32_t next_place(int32_t place, int32_t n, int32_t code) {
    return static_cast<uint32_t>(place) * static_cast<uint32_t>(n) +
           static_cast<uint32_t>(code);
}

template <class Code>
void extend(std::span<int32_t> keys, const Code* codes, int32_t n_states) {
    for (std::size_t row = 0; row < keys.size(); ++row) {
        const int32_t key = keys[row], code = codes[row];
        const auto longer = static_cast<int32_t>(next_place(key, n_states, code));
        const bool is_lacking = (key < 0) | (code >= n_states);
        keys[row] = is_lacking ? -1 : longer;
    }
}

// A table (n_keys + 1, width), in several copies where it is small. Every cell is summed
// in the order of rows, so that the sum does not depend on other columns.
struct Copies {
    std::vector<double> cells;
    int64_t n_cells, copy;

    explicit Copies(int64_t n)
        : cells(static_cast<std::size_t>(n <= kSmallTable ? 4 * n : n)),
          n_cells(n),
          copy(n <= kSmallTable ? n : 0) {}

    double total(int64_t cell) const {
        if (copy == 0) return cells[cell];
        return cells[cell] + cells[cell + copy] +
               (cells[cell + 2 * copy] + cells[cell + 3 * copy]);
    }

    // Adds weight_of(row) to the place of each of some rows.
    template <class WeightOf>
    void add(std::span<const uint32_t> places, WeightOf weight_of) {
        double* first = cells.data();
        double *second = first + copy, *third = second + copy, *fourth = third + copy;
        const std::size_t n_whole = places.size() / 4 * 4;
        for (std::size_t row = 0; row < n_whole; row += 4) {
            first[places[row]] += weight_of(row);
            second[places[row + 1]] += weight_of(row + 1);
            third[places[row + 2]] += weight_of(row + 2);
            fourth[places[row + 3]] += weight_of(row + 3);
        }
        for (std::size_t row = n_whole; row < places.size(); ++row)
            first[places[row]] += weight_of(row);
    }
};

template <class Code>
void count_column(std::span<const int32_t> keys, const Code* codes, int32_t width,
                  std::span<const double> weights, Copies& table, Watch& watch) {
    const int64_t n_rows = static_cast<int64_t>(keys.size());
    uint32_t places[kKeyRows];
    for (int64_t first = 0; first < n_rows; first += kKeyRows) {
        const int64_t size = std::min(kKeyRows, n_rows - first);
        // Unsigned places spare the test for negative ones; the highest bit stands for
        // any place beyond the table.
        const auto last = static_cast<uint32_t>(table.n_cells - 1);
        uint32_t beyond = 0;
        for (int64_t i = 0; i < size; ++i) {
            // Keys begin at -1.
            const uint32_t place = next_place(keys[first + i], width, codes[first + i]) +
                                   static_cast<uint32_t>(width);
            places[i] = place;
            beyond |= place | (last - place);
        }
        if (beyond >> 31 != 0)
            throw std::invalid_argument("a key or a code is out of its range");
        const std::span<const uint32_t> own(places, static_cast<std::size_t>(size));
        const double* weight = weights.data();
        if (weights.size() == 1)
            table.add(own, [alike = *weight](std::size_t) { return alike; });
        else
            table.add(own,
                      [of_rows = weight + first](std::size_t i) { return of_rows[i]; });
        watch.add(size / 2);
    }
}

// Where the counts of some columns go: columns starts[k] to starts[k] + widths[k] of a
// table with a row for each key and, before them, one for rows without a key.
struct Targets {
    std::span<const int64_t> slots, starts, widths;
    Matrix<double> tables;
};

template <class Code>
void count_columns(std::span<const int32_t> keys, const Matrix<const Code>& block,
                   const Targets& targets, std::span<const double> weights) {
    Watch watch;
    for (std::size_t k = 0; k < targets.slots.size(); ++k) {
        const int64_t slot = targets.slots[k], start = targets.starts[k];
        const int64_t width = targets.widths[k], n_rows = targets.tables.rows;
        if (slot < 0 || slot >= block.rows || width < 0 || start < 0 ||
            start + width > targets.tables.columns || n_rows * width > INT32_MAX)
            throw std::invalid_argument("a column or its counts are out of range");
        Copies table(n_rows * width);
        count_column(keys, block[slot].data(), static_cast<int32_t>(width), weights, table,
                     watch);
        for (int64_t key = 0; key < n_rows; ++key)
            for (int64_t code = 0; code < width; ++code)
                targets.tables(key, start + code) += table.total(key * width + code);
        watch.add(n_rows * width);
    }
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Makes one more variable, whose codes have one or two bytes, the fastest digit of each
// row's key. Rows whose code is n_states or above get the key -1.
BAYLEAF_API int32_t bl_extend_keys(int32_t* keys, int64_t n_rows, const void* codes,
                                   bool is_wide, int64_t n_states) {
    return guarded([&] {
        const auto own = view(keys, n_rows);
        const auto states = static_cast<int32_t>(n_states);
        if (is_wide)
            extend(own, static_cast<const uint16_t*>(codes), states);
        else
            extend(own, static_cast<const uint8_t*>(codes), states);
    });
}

// Adds up the weight of each key and state for some columns of `block` (n_slots, n_rows),
// whose codes have one or two bytes.
BAYLEAF_API int32_t bl_key_counts(const int32_t* keys, int64_t n_rows, const void* block,
                                  bool is_wide, int64_t n_slots, const int64_t* slots,
                                  const int64_t* starts, const int64_t* widths,
                                  int64_t n_columns, const double* weights,
                                  int64_t n_weights, double* tables, int64_t n_keys,
                                  int64_t n_cells) {
    return guarded([&] {
        const auto of_rows = view(keys, n_rows);
        const auto own = view(weights, n_weights);
        const Targets targets{view(slots, n_columns),
                              view(starts, n_columns),
                              view(widths, n_columns),
                              {tables, n_keys, n_cells}};
        if (is_wide)
            count_columns<uint16_t>(of_rows,
                                    {static_cast<const uint16_t*>(block), n_slots, n_rows},
                                    targets, own);
        else
            count_columns<uint8_t>(of_rows,
                                   {static_cast<const uint8_t*>(block), n_slots, n_rows},
                                   targets, own);
    });
}
