// Counts the rows of a tree's leaf, and parts them among the branches of a split.
//
// The codes of a row lie side by side, so that counting a leaf with every variable at
// once reads each of its rows once: O(rows * variables). Parting them is O(rows).
#include <algorithm>
#include <vector>

#include "support/checks.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kBlock = 4096;
constexpr char kNoSuchRow[] = "a leaf has rows that its table lacks";

using Rows = std::span<const int32_t>;

// Codes of rows side by side, bytes or pairs of them, with the rows' weights (null where
// all weigh one) and where each variable's states start in a table of counts.
struct Table {
    const void* cells;
    const int64_t* offsets;
    const double* weights;
    int64_t n_rows, n_variables, is_wide;
};

// Calls work(codes) with the cells of a table as what they are.
template <class Work>
void with_cells(const Table& table, Work work) {
    const auto as = [&]<class Cell>(const Cell* cells) {
        work(Matrix<const Cell>{cells, table.n_rows, table.n_variables});
    };
    if (table.is_wide)
        as(static_cast<const uint16_t*>(table.cells));
    else
        as(static_cast<const uint8_t*>(table.cells));
}

// Adds the weight of every row to counts[state of the child, state of each variable].
template <class Cell>
void count(const Matrix<const Cell>& table, const int64_t* offsets, const double* weights,
           Rows rows, int64_t child, const Matrix<double>& counts) {
    const int64_t n_variables = table.columns;
    for (const int32_t row : rows) {
        const Cell* cells = table[row].data();
        double* line = counts[cells[child]].data();
        const double weight = weights != nullptr ? weights[row] : 1.0;
        const auto add = [&](int64_t v) { line[offsets[v] + cells[v]] += weight; };
        int64_t v = 0;
        // Four at a time: counting the variables would cost a fifth of the loop.
        for (; v + 4 <= n_variables; v += 4) {
            add(v);
            add(v + 1);
            add(v + 2);
            add(v + 3);
        }
        for (; v < n_variables; ++v) add(v);
    }
}

// Orders rows by branch, stably, and writes where each branch starts.
template <class Cell>
void partition(const Matrix<const Cell>& table, std::span<int32_t> rows, int64_t variable,
               std::span<const int64_t> branch_of, std::span<int64_t> starts) {
    const std::vector<int32_t> before(rows.begin(), rows.end());
    // Kept, because looking a row's code up again costs more than all else.
    std::vector<int32_t> branches(rows.size());
    std::fill(starts.begin(), starts.end(), 0);
    for (std::size_t i = 0; i < before.size(); ++i) {
        branches[i] = static_cast<int32_t>(branch_of[table(before[i], variable)]);
        ++starts[branches[i] + 1];
    }
    for (std::size_t branch = 1; branch < starts.size(); ++branch)
        starts[branch] += starts[branch - 1];
    std::vector<int64_t> places(starts.begin(), starts.end());
    for (std::size_t i = 0; i < before.size(); ++i) rows[places[branches[i]]++] = before[i];
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Adds to `counts` (child card, all states) the weight of each state of every variable
// with each of the child's.
BAYLEAF_API int32_t bl_count_rows(const void* packed, const int32_t* rows,
                                  int64_t n_counted, int64_t child, double* counts) {
    return guarded([&] {
        const Table& table = *static_cast<const Table*>(packed);
        const int64_t* offsets = table.offsets;
        const Matrix<double> cells{counts, offsets[child + 1] - offsets[child],
                                   offsets[table.n_variables]};
        const Rows counted = view(rows, n_counted);
        require_below(counted, table.n_rows, kNoSuchRow);
        Watch watch;
        with_cells(table, [&](const auto& codes) {
            for (int64_t first = 0; first < n_counted; first += kBlock) {
                const int64_t size = std::min(kBlock, n_counted - first);
                count(codes, offsets, table.weights, counted.subspan(first, size), child,
                      cells);
                watch.add(size * table.n_variables);
            }
        });
    });
}

// Orders `rows` in place by branch_of[code of the variable] (card,), keeping their order
// within each branch; `starts` (n_branches + 1,) tells where the branches are.
BAYLEAF_API int32_t bl_partition_rows(const void* packed, int32_t* rows, int64_t n_ordered,
                                      int64_t variable, const int64_t* branch_of,
                                      int64_t card, int64_t* starts, int64_t n_branches) {
    return guarded([&] {
        const Table& table = *static_cast<const Table*>(packed);
        const auto branches = view(branch_of, card);
        require_below(branches, n_branches, "a state leads to a branch that a split lacks");
        const auto ordered = view(rows, n_ordered);
        require_below(Rows(ordered), table.n_rows, kNoSuchRow);
        with_cells(table, [&](const auto& codes) {
            partition(codes, ordered, variable, branches, view(starts, n_branches + 1));
        });
    });
}
