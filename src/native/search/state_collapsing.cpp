// Merges the joint states of two variables while that gains in description length
// (Langseth & Nielsen 2006, algorithm 2), and finds homes for those without rows.
//
// Each state keeps the later state with which it merges best, so that a merge mostly
// costs O(states * classes) logarithms; the start costs O(states^2 * classes).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Empty cells fit two states alike if the fits differ by less.
constexpr double kTie = 1e-12;
// A logarithm and what goes with it, in the steps of a Watch.
constexpr int64_t kLogarithm = 8;

// Sum of n_c ln(n_c / n) over classes with counts n_c. The quotient is taken before the
// logarithm: differences of terms n ln n would lose the last digits, on which ties hang,
// once n exceeds a million.
template <class Count>
double sum_of_logs(int64_t n_classes, Count count) {
    double total = 0.0;
    for (int64_t c = 0; c < n_classes; ++c) total += count(c);
    double amount = 0.0;
    for (int64_t c = 0; c < n_classes; ++c) {
        const double n = count(c);
        if (n > 0.0) amount += n * log_of(n / total);
    }
    return amount;
}

class Merging {
public:
    // Counts (n_states, n_classes) are overwritten.
    explicit Merging(const Matrix<double>& counts)
        : counts_(counts),
          group_(counts.rows),
          is_alive_(counts.rows, 1),
          terms_(counts.rows),
          best_(counts.rows),
          partner_(counts.rows) {
        std::iota(group_.begin(), group_.end(), 0);
    }

    // Merges while that gains; writes each gain, and returns the group of each state.
    const std::vector<int64_t>& run(double penalty, double tolerance, double* deltas) {
        for (int64_t i = 0; i < counts_.rows; ++i) set_term(i);
        for (int64_t i = 0; i < counts_.rows; ++i) search_row(i);
        for (int64_t n_left = counts_.rows; n_left > 1; --n_left) {
            const auto [i, j] = first_pair(tolerance);
            // No pair gains anything that can be compared where weights overflow.
            if (j < 0) break;
            const double delta = penalty + merged(i, j) - terms_[i] - terms_[j];
            if (delta <= tolerance) break;
            *deltas++ = delta;
            merge(i, j);
        }
        return group_;
    }

private:
    void set_term(int64_t i) {
        const auto own = counts_[i];
        terms_[i] = sum_of_logs(counts_.columns, [&](int64_t c) { return own[c]; });
    }

    // The term of two states taken as one.
    double merged(int64_t i, int64_t j) const {
        const auto one = counts_[i], other = counts_[j];
        return sum_of_logs(counts_.columns, [&](int64_t c) { return one[c] + other[c]; });
    }

    double gain(int64_t i, int64_t j) const { return merged(i, j) - terms_[i] - terms_[j]; }

    // Finds the later state with which state i merges best.
    void search_row(int64_t i) {
        best_[i] = -kInfinity;
        partner_[i] = -1;
        for (int64_t j = i + 1; j < counts_.rows; ++j) {
            if (!is_alive_[j]) continue;
            const double found = gain(i, j);
            if (found > best_[i]) {
                best_[i] = found;
                partner_[i] = j;
            }
        }
        watch_.add((counts_.rows - i) * counts_.columns * kLogarithm);
    }

    struct Pair {
        int64_t first = -1, second = -1;
    };

    // First pair, row by row, whose gain is within the tolerance of the largest.
    Pair first_pair(double tolerance) const {
        double largest = -kInfinity;
        for (int64_t i = 0; i < counts_.rows; ++i)
            if (is_alive_[i]) largest = std::max(largest, best_[i]);
        for (int64_t i = 0; i < counts_.rows; ++i) {
            if (!is_alive_[i] || best_[i] < largest - tolerance) continue;
            for (int64_t j = i + 1; j < counts_.rows; ++j)
                if (is_alive_[j] && gain(i, j) >= largest - tolerance) return {i, j};
        }
        return {};
    }

    // Puts state j into state i, and searches anew where that may change the best.
    void merge(int64_t i, int64_t j) {
        for (int64_t c = 0; c < counts_.columns; ++c) counts_(i, c) += counts_(j, c);
        set_term(i);
        is_alive_[j] = 0;
        std::replace(group_.begin(), group_.end(), j, i);
        search_row(i);
        for (int64_t k = 0; k < j; ++k) {
            if (!is_alive_[k] || k == i) continue;
            if (partner_[k] == i || partner_[k] == j) {
                search_row(k);
            } else if (k < i) {
                const double found = gain(k, i);
                if (found > best_[k]) {
                    best_[k] = found;
                    partner_[k] = i;
                }
            }
        }
        watch_.add(counts_.rows * counts_.columns * kLogarithm);
    }

    const Matrix<double> counts_;
    std::vector<int64_t> group_;
    std::vector<char> is_alive_;
    std::vector<double> terms_, best_;
    std::vector<int64_t> partner_;
    Watch watch_;
};

// The joint states of two variables, row by row: counts (n_classes, n_left, n_right).
struct Cells {
    Stack<const double> counts;

    int64_t size() const { return counts.rows * counts.columns; }
    double operator()(int64_t c, int64_t cell) const {
        return counts.data[c * size() + cell];
    }
};

// What naive Bayes says of the class of a cell, by add-one estimates.
class Prediction {
public:
    explicit Prediction(const Cells& cells)
        : n_left_(cells.counts.rows),
          n_right_(cells.counts.columns),
          by_class_(cells.counts.layers),
          shares_(cells.counts.layers),
          by_left_(cells.counts.layers * n_left_, 1.0),
          by_right_(cells.counts.layers * n_right_, 1.0) {
        double weight = 0.0;
        for (int64_t c = 0; c < n_classes(); ++c) {
            for (int64_t cell = 0; cell < cells.size(); ++cell) {
                const double count = cells(c, cell);
                by_left_[c * n_left_ + cell / n_right_] += count;
                by_right_[c * n_right_ + cell % n_right_] += count;
                by_class_[c] += count;
            }
            weight += by_class_[c];
        }
        const double divisor = weight + static_cast<double>(n_classes());
        for (int64_t c = 0; c < n_classes(); ++c)
            shares_[c] = (by_class_[c] + 1.0) / divisor;
    }

    int64_t n_classes() const { return static_cast<int64_t>(by_class_.size()); }
    double share(int64_t c) const { return shares_[c]; }

    // Fills in P(class | cell).
    void predict(int64_t cell, std::vector<double>& q) const {
        const int64_t x = cell / n_right_, y = cell % n_right_;
        double total = 0.0;
        for (int64_t c = 0; c < n_classes(); ++c) {
            const double left = by_left_[c * n_left_ + x] / (by_class_[c] + n_left_);
            q[c] =
                shares_[c] * left * by_right_[c * n_right_ + y] / (by_class_[c] + n_right_);
            total += q[c];
        }
        for (double& share : q) share /= total;
    }

private:
    int64_t n_left_, n_right_;
    std::vector<double> by_class_, shares_, by_left_, by_right_;
};

// Gives each empty cell the state whose class distribution its prediction fits best.
// Merged counts (n_filled, n_classes) stand where a group's first cell is.
void place_empty_cells(const Cells& cells, const Matrix<double>& merged,
                       const std::vector<int64_t>& filled,
                       const std::vector<int64_t>& group, std::span<int64_t> states) {
    const Prediction prediction(cells);
    std::vector<std::size_t> groups;
    for (std::size_t k = 0; k < filled.size(); ++k) {
        if (group[k] != static_cast<int64_t>(k)) continue;
        groups.push_back(k);
        const auto own = merged[static_cast<int64_t>(k)];
        const double total = std::accumulate(own.begin(), own.end(), 0.0);
        for (std::size_t c = 0; c < own.size(); ++c) {
            const double share = prediction.share(static_cast<int64_t>(c));
            own[c] = log_of((own[c] + share) / (total + 1.0));
        }
    }
    std::vector<double> q(prediction.n_classes());
    Watch watch;
    for (int64_t cell = 0; cell < cells.size(); ++cell) {
        if (states[cell] >= 0) continue;
        prediction.predict(cell, q);
        double largest = -kInfinity;
        states[cell] = filled[groups.front()];
        for (const std::size_t k : groups) {
            const auto logs = merged[static_cast<int64_t>(k)];
            double fit = 0.0;
            for (std::size_t c = 0; c < q.size(); ++c) fit += q[c] * logs[c];
            if (fit > largest + kTie) {
                largest = fit;
                states[cell] = filled[k];
            }
        }
        watch.add(static_cast<int64_t>(groups.size() * q.size()));
    }
}

// Numbers states anew, in the order of their first cells.
void number_states(std::span<int64_t> states) {
    std::vector<int64_t> number(states.size(), -1);
    int64_t n_states = 0;
    for (int64_t& state : states) {
        if (number[state] < 0) number[state] = n_states++;
        state = number[state];
    }
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Writes the state of each cell of counts (n_classes, n_left, n_right) to `states`
// (n_left * n_right,), and the gain of each merge to `deltas` (n_left * n_right,), NaN
// after the last. A merge saves `penalty`, and must gain more than `tolerance`.
BAYLEAF_API int32_t bl_collapse(const double* counts, int64_t n_classes, int64_t n_left,
                                int64_t n_right, double penalty, double tolerance,
                                int64_t* states, double* deltas) {
    return guarded([&] {
        const Cells cells{{counts, n_classes, n_left, n_right}};
        std::vector<int64_t> filled;
        for (int64_t cell = 0; cell < cells.size(); ++cell) {
            double weight = 0.0;
            for (int64_t c = 0; c < n_classes; ++c) weight += cells(c, cell);
            if (weight > 0.0) filled.push_back(cell);
        }
        if (filled.empty()) throw std::invalid_argument("no joint state has any weight");
        std::vector<double> by_state;
        for (const int64_t cell : filled)
            for (int64_t c = 0; c < n_classes; ++c) by_state.push_back(cells(c, cell));
        const Matrix<double> merged{by_state.data(), static_cast<int64_t>(filled.size()),
                                    n_classes};
        std::fill_n(deltas, cells.size(), std::numeric_limits<double>::quiet_NaN());
        Merging merging(merged);
        const std::vector<int64_t>& group = merging.run(penalty, tolerance, deltas);
        const auto found = view(states, cells.size());
        std::fill(found.begin(), found.end(), -1);
        for (std::size_t k = 0; k < filled.size(); ++k) found[filled[k]] = filled[group[k]];
        if (static_cast<int64_t>(filled.size()) < cells.size())
            place_empty_cells(cells, merged, filled, group, found);
        number_states(found);
    });
}
