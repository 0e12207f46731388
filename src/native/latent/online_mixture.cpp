// One pass of online generalised EM over the rows of a mixture of naive Bayes whose
// gates are naive Bayes, too (Wiering 2003, section 3.2).
//
// Nodes are numbered level by level from the root, experts last; node n owns the counter
// columns columns[n] to columns[n + 1], one an output. A row costs O(features * columns).
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Least probability whose logarithm is taken.
constexpr double kLeast = 1e-300;

struct Tree {
    std::span<const int64_t> columns;
    std::span<const int64_t> first_child;

    int64_t n_gates() const { return static_cast<int64_t>(first_child.size()); }
    int64_t n_nodes() const { return static_cast<int64_t>(columns.size()) - 1; }
    int64_t n_columns() const { return columns.back(); }
    int64_t n_outputs(int64_t node) const { return columns[node + 1] - columns[node]; }

    // Throws unless every node has outputs and every output of a gate a later node.
    void check(int64_t n_columns) const {
        bool fits =
            n_gates() < n_nodes() && columns.front() == 0 && columns.back() == n_columns;
        for (int64_t node = 0; node < n_nodes(); ++node) fits &= n_outputs(node) > 0;
        for (int64_t gate = 0; fits && gate < n_gates(); ++gate)
            fits = first_child[gate] > gate &&
                   first_child[gate] <= n_nodes() - n_outputs(gate);
        if (!fits) throw std::invalid_argument("columns and children make up no tree");
    }
};

// Weight of each output, of each value with each output, and what the latter is divided
// by. None exceeds `highest`, and no product of `most_factors` shares of it underflows.
struct Counters {
    std::span<double> priors;
    Matrix<double> cells, totals;
    double highest;
    int64_t most_factors;
};

class Learner {
public:
    Learner(const Tree& tree, const Counters& counters, double sigma, bool all_rows)
        : tree_(tree),
          counters_(counters),
          sigma_(sigma),
          all_rows_(all_rows),
          shares_(tree.n_columns()),
          logs_(tree.n_columns()),
          values_(tree.n_nodes()),
          true_shares_(tree.n_nodes()),
          paths_(tree.n_nodes()),
          learned_(tree.n_nodes()) {}

    // Predicts a row, then learns it; -weight ln P(class | row), nats. `cells_of_row`
    // holds the row of cells that each feature counts in, -1 where it is missing.
    double learn(std::span<const int32_t> cells_of_row, int64_t own, double weight) {
        for (const int32_t cell : cells_of_row)
            if (cell >= counters_.cells.rows)
                throw std::invalid_argument("a row has a value that no counter is for");
        score_outputs(cells_of_row);
        weigh_experts(own);
        weigh_gates();
        find_paths(weight);
        update(cells_of_row);
        return -weight * log_of(std::max(true_shares_[0], kLeast));
    }

private:
    // Finds P(output | row) of every node. Ratios are multiplied, so many of them at
    // most that no product underflows before its logarithm is taken.
    void score_outputs(std::span<const int32_t> cells_of_row) {
        const int64_t n_columns = tree_.n_columns();
        double* shares = shares_.data();
        for (int64_t j = 0; j < n_columns; ++j)
            shares[j] = counters_.priors[j] / counters_.highest;
        int64_t n_factors = 1;
        bool took_logs = false;
        for (std::size_t k = 0; k < cells_of_row.size(); ++k) {
            if (cells_of_row[k] < 0) continue;
            if (n_factors == counters_.most_factors) {
                for (int64_t j = 0; j < n_columns; ++j) {
                    logs_[j] = (took_logs ? logs_[j] : 0.0) + log_of(shares[j]);
                    shares[j] = 1.0;
                }
                n_factors = 0;
                took_logs = true;
            }
            const double* cells = counters_.cells[cells_of_row[k]].data();
            const double* totals = counters_.totals[static_cast<int64_t>(k)].data();
            for (int64_t j = 0; j < n_columns; ++j) shares[j] *= cells[j] / totals[j];
            ++n_factors;
        }
        for (int64_t node = 0; node < tree_.n_nodes(); ++node) {
            if (took_logs) exponentiate(node);
            normalize(node);
        }
    }

    // Turns exp(logs) * shares of a node into numbers whose largest is 1.
    void exponentiate(int64_t node) {
        const int64_t first = tree_.columns[node], last = tree_.columns[node + 1];
        for (int64_t j = first; j < last; ++j) logs_[j] += log_of(shares_[j]);
        const double most = *std::max_element(logs_.begin() + first, logs_.begin() + last);
        for (int64_t j = first; j < last; ++j) shares_[j] = exp_of_negative(logs_[j] - most);
    }

    void normalize(int64_t node) {
        const int64_t first = tree_.columns[node], last = tree_.columns[node + 1];
        double total = 0.0;
        for (int64_t j = first; j < last; ++j) total += shares_[j];
        for (int64_t j = first; j < last; ++j) shares_[j] /= total;
    }

    // The value of every expert, which learns the true class.
    void weigh_experts(int64_t own) {
        for (int64_t node = tree_.n_gates(); node < tree_.n_nodes(); ++node) {
            if (own < 0 || own >= tree_.n_outputs(node))
                throw std::invalid_argument("a row has a class that an expert lacks");
            learned_[node] = tree_.columns[node] + own;
            true_shares_[node] = shares_[learned_[node]];
            values_[node] = exp_of_negative(-sigma_ * (1.0 - true_shares_[node]));
        }
    }

    // From the experts up, the value of every gate, which learns of its best child.
    void weigh_gates() {
        for (int64_t node = tree_.n_gates() - 1; node >= 0; --node) {
            const int64_t first = tree_.columns[node], child = tree_.first_child[node];
            double value = 0.0, true_share = 0.0;
            int64_t best = 0;
            for (int64_t j = 0; j < tree_.n_outputs(node); ++j) {
                value += shares_[first + j] * values_[child + j];
                true_share += shares_[first + j] * true_shares_[child + j];
                if (values_[child + j] > values_[child + best]) best = j;
            }
            values_[node] = value;
            true_shares_[node] = true_share;
            learned_[node] = first + best;
        }
    }

    // From the root down, the weight with which every node learns.
    void find_paths(double weight) {
        paths_[0] = weight;
        for (int64_t node = 0; node < tree_.n_gates(); ++node) {
            const int64_t first = tree_.columns[node], child = tree_.first_child[node];
            for (int64_t j = 0; j < tree_.n_outputs(node); ++j) {
                const double part = shares_[first + j] * values_[child + j] / values_[node];
                paths_[child + j] = paths_[node] * part;
            }
        }
    }

    void add_paths(double* counters) const {
        for (std::size_t node = 0; node < paths_.size(); ++node)
            counters[learned_[node]] += paths_[node];
    }

    void update(std::span<const int32_t> cells_of_row) {
        add_paths(counters_.priors.data());
        for (std::size_t k = 0; k < cells_of_row.size(); ++k) {
            if (cells_of_row[k] >= 0) add_paths(counters_.cells[cells_of_row[k]].data());
            if (cells_of_row[k] >= 0 || all_rows_)
                add_paths(counters_.totals[static_cast<int64_t>(k)].data());
        }
    }

    const Tree tree_;
    const Counters counters_;
    const double sigma_;
    const bool all_rows_;
    std::vector<double> shares_, logs_, values_, true_shares_, paths_;
    std::vector<int64_t> learned_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Learns the rows in an order, changing `priors` (n_columns,), `cells` (n_values,
// n_columns) and `totals` (n_features, n_columns); writes the sum of the losses.
BAYLEAF_API int32_t bl_learn_pass(
    const int64_t* order, int64_t n_visits, const int32_t* row_cells, int64_t n_rows,
    int64_t n_features, const int64_t* classes, const double* weights,
    const int64_t* columns, int64_t n_nodes, const int64_t* first_child, int64_t n_gates,
    double sigma, bool all_rows, double highest, int64_t most_factors, double* priors,
    double* cells, double* totals, int64_t n_columns, int64_t n_values, double* loss) {
    return guarded([&] {
        const Tree tree{view(columns, n_nodes + 1), view(first_child, n_gates)};
        tree.check(n_columns);
        const Counters counters{view(priors, n_columns),
                                {cells, n_values, n_columns},
                                {totals, n_features, n_columns},
                                highest,
                                most_factors};
        Learner learner(tree, counters, sigma, all_rows);
        const Matrix<const int32_t> cells_of{row_cells, n_rows, n_features};
        const auto visits = view(order, n_visits);
        require_below(visits, n_rows, "the order has a row that the table lacks");
        Watch watch;
        *loss = 0.0;
        for (const int64_t row : visits) {
            *loss += learner.learn(cells_of[row], classes[row], weights[row]);
            watch.add((n_features + 1) * n_columns);
        }
    });
}
