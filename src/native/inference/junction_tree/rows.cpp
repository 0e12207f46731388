// Questions asked of each row of a table: one propagation a row, whose time is that of the
// cliques at or above observed cells.
#include <algorithm>
#include <limits>

#include "data/codes.h"
#include "inference/junction_tree/propagation.h"
#include "support/interface.h"

namespace bayleaf::junction_tree {
namespace {

constexpr int64_t kNone = -1;

// Some rows of a table over the variables of a tree, asked one after another.
class Rows {
public:
    Rows(void* memory, const CodeTable& codes, int64_t first, int64_t n_rows)
        : propagation(*static_cast<Propagation*>(memory)), codes_(codes), first_(first) {
        if (std::ssize(codes.slots) != propagation.tree.n_variables() ||
            !propagation.tree.observed.empty())
            throw std::invalid_argument("the rows are not those of the tree's variables");
        if (first < 0 || n_rows < 0 || first > codes.n_rows - n_rows)
            throw std::invalid_argument("the table has too few rows");
    }

    // Enters a row's observed cells, that of one variable left out, and propagates.
    double ask(int64_t row, int32_t hidden, Reads reads) {
        Evidence& evidence = propagation.evidence;
        evidence.clear();
        for (int32_t v = 0; v < propagation.tree.n_variables(); ++v) {
            const int64_t code =
                codes_.column(v, [&](auto codes) { return int64_t{codes[first_ + row]}; });
            if (code < propagation.tree.variables[v].card && v != hidden)
                evidence.observe(v, static_cast<int32_t>(code));
        }
        return propagation.propagate(reads, watch_);
    }

    Propagation& propagation;

private:
    const CodeTable& codes_;
    int64_t first_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf::junction_tree

using namespace bayleaf;
using namespace bayleaf::junction_tree;

// Writes the log probability of each row's observed cells, from row `first` on.
BAYLEAF_API int32_t bl_junction_row_evidence(void* memory, const uint8_t* narrow,
                                             int64_t n_narrow, const uint16_t* wide,
                                             int64_t n_wide, const int64_t* slots,
                                             int64_t n_slots, int64_t n_table_rows,
                                             int64_t first, int64_t n_rows,
                                             double* log_evidence) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_table_rows);
        Rows rows(memory, codes, first, n_rows);
        for (int64_t i = 0; i < n_rows; ++i)
            log_evidence[i] = rows.ask(i, kNone, Reads::kNothing);
    });
}

// Writes each row's posterior of the target given its other observed cells, (n_rows,
// card), NaN if those are impossible together; and their log probability.
BAYLEAF_API int32_t bl_junction_row_posteriors(void* memory, const uint8_t* narrow,
                                               int64_t n_narrow, const uint16_t* wide,
                                               int64_t n_wide, const int64_t* slots,
                                               int64_t n_slots, int64_t n_table_rows,
                                               int64_t first, int64_t n_rows,
                                               int64_t target, double* posteriors,
                                               double* log_evidence) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_table_rows);
        Rows rows(memory, codes, first, n_rows);
        const int32_t v = rows.propagation.tree.checked(target);
        const Matrix<double> found{posteriors, n_rows,
                                   rows.propagation.tree.variables[v].card};
        rows.propagation.want({&target, 1});
        for (int64_t i = 0; i < n_rows; ++i) {
            log_evidence[i] = rows.ask(i, v, Reads::kMarginals);
            if (log_evidence[i] > kImpossible)
                rows.propagation.read_marginal(v, found[i].data());
            else
                std::ranges::fill(found[i], std::numeric_limits<double>::quiet_NaN());
        }
    });
}

// Adds some nodes' family posteriors of all possible rows, each times its weight, to their
// tables, one after another, each in the order in which its distribution was given; writes
// the log probability of each row's observed cells.
BAYLEAF_API int32_t bl_junction_row_families(
    void* memory, const uint8_t* narrow, int64_t n_narrow, const uint16_t* wide,
    int64_t n_wide, const int64_t* slots, int64_t n_slots, int64_t n_table_rows,
    int64_t first, int64_t n_rows, const double* weights, const int64_t* nodes,
    int64_t n_nodes, double* totals, int64_t n_totals, double* log_evidence) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_table_rows);
        Rows rows(memory, codes, first, n_rows);
        const Tree& tree = rows.propagation.tree;
        int64_t n_cells = 0;
        for (const int64_t node : view(nodes, n_nodes))
            n_cells += std::ssize(tree.distributions[tree.checked(node)].cells);
        if (n_cells != n_totals)
            throw std::invalid_argument("the tables of the nodes have other sizes");
        rows.propagation.want(view(nodes, n_nodes));
        for (int64_t i = 0; i < n_rows; ++i) {
            log_evidence[i] = rows.ask(i, kNone, Reads::kFamilies);
            if (log_evidence[i] == kImpossible) continue;
            double* next = totals;
            for (const int64_t node : view(nodes, n_nodes)) {
                rows.propagation.add_family(static_cast<int32_t>(node), weights[i], next);
                next += tree.distributions[node].cells.size();
            }
        }
    });
}
