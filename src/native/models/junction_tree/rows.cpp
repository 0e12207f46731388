// One propagation a row: the time is that of the cliques at or above observed cells.
#include "models/junction_tree/rows.h"

#include <algorithm>
#include <limits>

namespace bayleaf::junction_tree {
namespace {

constexpr int64_t kHiddenNone = -1;

// Enters the observed cells of a row, that of the variable `hidden` left out.
void enter_row(Evidence& evidence, const Tree& tree, const Rows& rows, int64_t row,
               int64_t hidden) {
    evidence.clear();
    for (std::size_t v = 0; v < tree.variables.size(); ++v) {
        const int64_t code = rows.code(v, row);
        if (code < tree.variables[v].card && static_cast<int64_t>(v) != hidden)
            evidence.observe(static_cast<int32_t>(v), static_cast<int32_t>(code));
    }
}

}  // namespace

void fill_log_evidence(Propagation& propagation, const Rows& rows,
                       std::span<double> log_evidence) {
    Watch watch;
    for (int64_t i = 0; i < rows.size; ++i) {
        enter_row(propagation.evidence, propagation.tree, rows, rows.first + i,
                  kHiddenNone);
        log_evidence[i] = propagation.propagate(Reads::kNothing, watch);
    }
}

void fill_posteriors(Propagation& propagation, const Rows& rows, int32_t target,
                     const Matrix<double>& posteriors, std::span<double> log_evidence) {
    Watch watch;
    const int64_t wanted = target;
    propagation.want({&wanted, 1});
    for (int64_t i = 0; i < rows.size; ++i) {
        enter_row(propagation.evidence, propagation.tree, rows, rows.first + i, target);
        log_evidence[i] = propagation.propagate(Reads::kMarginals, watch);
        if (log_evidence[i] == -std::numeric_limits<double>::infinity())
            std::ranges::fill(posteriors[i], std::numeric_limits<double>::quiet_NaN());
        else
            propagation.read_marginal(target, &posteriors(i, 0));
    }
}

void add_families(Propagation& propagation, const Rows& rows,
                  std::span<const double> weights, std::span<const int64_t> nodes,
                  std::span<double> totals) {
    Watch watch;
    propagation.want(nodes);
    for (int64_t i = 0; i < rows.size; ++i) {
        enter_row(propagation.evidence, propagation.tree, rows, rows.first + i,
                  kHiddenNone);
        const double log_evidence = propagation.propagate(Reads::kFamilies, watch);
        if (log_evidence == -std::numeric_limits<double>::infinity()) continue;
        double* next = totals.data();
        for (const int64_t node : nodes) {
            propagation.add_family(static_cast<int32_t>(node), weights[i], next);
            next += propagation.tree.distributions[node].cells.size();
        }
    }
}

}  // namespace bayleaf::junction_tree
