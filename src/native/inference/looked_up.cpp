// Look-up of log-probabilities for many rows: fused tables, and one-dependence networks.
//
// The sums of a tile of rows stay in the first cache while the tables pass by. What a row
// looks up is worked out in loops of their own, which run on vectors; a look-up then
// costs one read of a table.
#include <algorithm>
#include <array>

#include "data/codes.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kTile = 1024;
using Places = std::array<int32_t, kTile>;

// Sums of log-probabilities over some variables, one table a group: group g reads the
// variables bounds[g] .. bounds[g + 1] - 1 of the codes, whose codes times strides add up
// to a cell of its table of shape (n_classes, n_cells).
struct Groups {
    CodeTable codes;
    std::span<const int64_t> strides, bounds, starts;
    std::span<const double> tables;

    int64_t size() const { return static_cast<int64_t>(bounds.size()) - 1; }

    void check(int64_t n_classes) const {
        bool fits = bounds.front() == 0 && bounds.back() == std::ssize(strides) &&
                    starts.front() == 0 && starts.back() == std::ssize(tables);
        for (int64_t g = 0; g < size(); ++g) {
            const int64_t n_values = starts[g + 1] - starts[g];
            fits = fits && bounds[g] <= bounds[g + 1] && n_values > 0 &&
                   n_values % n_classes == 0;
        }
        if (!fits)
            throw std::invalid_argument(
                "bounds or starts do not cut up what they belong to");
    }

    void find_places(int64_t group, int64_t first, int64_t size, Places& places) const {
        std::fill_n(places.begin(), size, 0);
        for (int64_t k = bounds[group]; k < bounds[group + 1]; ++k) {
            const auto stride = static_cast<int32_t>(strides[k]);
            codes.column(k, [&](auto column) {
                const auto* row = column.data() + first;
                for (int64_t i = 0; i < size; ++i) places[i] += row[i] * stride;
            });
        }
    }
};

void add_looked_up(const Groups& groups, Matrix<double> scores) {
    const int64_t n_classes = scores.rows, n_rows = scores.columns;
    groups.check(n_classes);
    Places places;
    Watch watch;
    for (int64_t first = 0; first < n_rows; first += kTile) {
        const int64_t size = std::min(kTile, n_rows - first);
        for (int64_t g = 0; g < groups.size(); ++g) {
            groups.find_places(g, first, size, places);
            const int64_t n_cells = (groups.starts[g + 1] - groups.starts[g]) / n_classes;
            for (int64_t c = 0; c < n_classes; ++c) {
                const double* table = groups.tables.data() + groups.starts[g] + c * n_cells;
                double* sums = &scores(c, first);
                for (int64_t i = 0; i < size; ++i) sums[i] += table[places[i]];
            }
        }
        watch.add(size * n_classes * groups.size());
    }
}

// Adds log P(child | class, super-parent) of all children. Where the state of the
// super-parent has position p and that of the child position q, it is tables(c, p, q).
void add_children(Stack<const double> tables, const int64_t* parents,
                  Matrix<const int32_t> children, Matrix<double> scores) {
    const int64_t n_rows = children.columns;
    Watch watch;
    for (int64_t first = 0; first < n_rows; first += kTile) {
        const int64_t size = std::min(kTile, n_rows - first);
        for (int64_t c = 0; c < tables.layers; ++c) {
            const double* given[kTile];
            for (int64_t i = 0; i < size; ++i)
                given[i] = tables[c][parents[first + i]].data();
            double* sums = &scores(c, first);
            for (int64_t j = 0; j < children.rows; ++j) {
                const int32_t* child = &children(j, first);
                for (int64_t i = 0; i < size; ++i) sums[i] += given[i][child[i]];
            }
        }
        watch.add(size * tables.layers * children.rows);
    }
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Adds each group's table entry to the scores (n_classes, n_rows), group after group.
BAYLEAF_API int32_t bl_add_looked_up(const uint8_t* narrow, int64_t n_narrow,
                                     const uint16_t* wide, int64_t n_wide,
                                     const int64_t* slots, int64_t n_places, int64_t n_rows,
                                     const int64_t* strides, const int64_t* bounds,
                                     const int64_t* starts, int64_t n_groups,
                                     const double* tables, int64_t n_values, double* scores,
                                     int64_t n_classes) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_places, n_rows);
        add_looked_up({codes, view(strides, n_places), view(bounds, n_groups + 1),
                       view(starts, n_groups + 1), view(tables, n_values)},
                      {scores, n_classes, n_rows});
    });
}

// Adds all children of one super-parent to the scores (n_classes, n_rows).
BAYLEAF_API int32_t bl_add_children(const double* tables, int64_t n_classes,
                                    int64_t n_positions, const int64_t* parents,
                                    const int32_t* children, int64_t n_features,
                                    int64_t n_rows, double* scores) {
    return guarded([&] {
        add_children({tables, n_classes, n_positions, n_positions}, parents,
                     {children, n_features, n_rows}, {scores, n_classes, n_rows});
    });
}
