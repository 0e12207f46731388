// Passes over rows that search for latent variables: dealing rows to folds, counting
// joint states of two nodes, and predicting the class with and without a change.
//
// Codes of a node are its states and then the missing one; a run of a row is its fold (or
// part) times the number of classes plus its class. Every pass is O(rows), or O(rows *
// classes) where classes are predicted.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kBlock = 4096;
// Classes whose scores differ by less are equally probable: sums of logarithms that are
// equal differ by rounding.
constexpr double kTie = 1e-9;
constexpr char kNoSuchState[] = "a joint state leads to a state that a table lacks";

// One weight a row, or a single one for all.
struct Weights {
    const double* data;
    bool are_alike;

    double operator[](int64_t row) const { return data[are_alike ? 0 : row]; }
};

// The joint state of two nodes in every row.
struct JointStates {
    const uint16_t *left, *right;
    int64_t n_right;

    int64_t operator[](int64_t row) const { return left[row] * n_right + right[row]; }
};

// Calls work(first, last) for the rows, block by block.
template <class Work>
void in_blocks(int64_t n_rows, int64_t steps, Work work) {
    Watch watch;
    for (int64_t first = 0; first < n_rows; first += kBlock) {
        const int64_t last = std::min(first + kBlock, n_rows);
        work(first, last);
        watch.add((last - first) * steps);
    }
}

// What rows gain by fold and joint state, class by class.
struct Gains {
    Stack<const double> table;
    JointStates states;
    const int32_t* runs;

    int32_t fold(int64_t row) const {
        return runs[row] / static_cast<int32_t>(table.columns);
    }
    const double* of(int64_t row) const { return &table(fold(row), states[row], 0); }
    int32_t class_of(int64_t row) const {
        return runs[row] - fold(row) * static_cast<int32_t>(table.columns);
    }
};

struct Score {
    double correct = 0.0, likelihood = 0.0;
};

template <bool wants_likelihood>
Score predict(const Gains& gains, const Weights& weights,
              const Matrix<const double>& scores) {
    const int64_t n_classes = scores.columns;
    std::vector<double> values(n_classes);
    Score score;
    in_blocks(scores.rows, n_classes * (wants_likelihood ? 8 : 2),
              [&](int64_t first, int64_t last) {
                  for (int64_t row = first; row < last; ++row) {
                      const double* own = scores[row].data();
                      const double* gain = gains.of(row);
                      double largest = -std::numeric_limits<double>::infinity();
                      for (int64_t c = 0; c < n_classes; ++c) {
                          values[c] = own[c] + gain[c];
                          largest = std::max(largest, values[c]);
                      }
                      // Of equally probable classes the first is predicted.
                      int64_t best = 0;
                      while (best + 1 < n_classes && values[best] < largest - kTie) ++best;
                      const int32_t true_class = gains.class_of(row);
                      if (best == true_class) score.correct += weights[row];
                      if constexpr (wants_likelihood) {
                          double total = 0.0;
                          for (int64_t c = 0; c < n_classes; ++c)
                              total += exp_of_negative(values[c] - largest);
                          const double log_share =
                              values[true_class] - largest - log_of(total);
                          score.likelihood += weights[row] * log_share;
                      }
                  }
              });
    return score;
}

// The value that all of some states have, or `unknown`.
template <class State>
int64_t common(int64_t n_states, int64_t unknown, State state) {
    for (int64_t i = 1; i < n_states; ++i)
        if (state(i) != state(0)) return unknown;
    return n_states > 0 ? state(0) : unknown;
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Deals rows, in an order, to the parts (n_rows,) with least weight of their class; among
// those the part with the least weight in all takes the row, and then the first. Sums that
// differ by their rounding alone are equal, so that the scale of weights changes no part.
BAYLEAF_API int32_t bl_deal(const int64_t* order, const uint16_t* classes, int64_t n_rows,
                            const double* weights, bool are_alike, int64_t n_classes,
                            int64_t n_parts, int32_t* parts) {
    return guarded([&] {
        const Weights weight_of{weights, are_alike};
        const auto is_less = [](double a, double b) { return a < b - kTie * b; };
        std::vector<double> of_class(n_classes * n_parts), of_all(n_parts);
        require_below(view(order, n_rows), n_rows, "a row to deal does not exist");
        require_below(view(classes, n_rows), n_classes, "a row has a class that is none");
        in_blocks(n_rows, n_parts, [&](int64_t first, int64_t last) {
            for (int64_t place = first; place < last; ++place) {
                const int64_t row = order[place];
                double* own = &of_class[classes[row] * n_parts];
                int64_t best = 0;
                for (int64_t k = 1; k < n_parts; ++k)
                    if (is_less(own[k], own[best]) ||
                        (!is_less(own[best], own[k]) && is_less(of_all[k], of_all[best])))
                        best = k;
                parts[row] = static_cast<int32_t>(best);
                own[best] += weight_of[row];
                of_all[best] += weight_of[row];
            }
        });
    });
}

// Adds each row's weight to counts[run, joint state], shape (n_runs, n_cells).
BAYLEAF_API int32_t bl_count_cells(const uint16_t* left, const uint16_t* right,
                                   int64_t n_right, const int32_t* runs, int64_t n_rows,
                                   const double* weights, bool are_alike, double* counts,
                                   int64_t n_cells) {
    return guarded([&] {
        const JointStates states{left, right, n_right};
        const Weights weight_of{weights, are_alike};
        in_blocks(n_rows, 2, [&](int64_t first, int64_t last) {
            for (int64_t row = first; row < last; ++row)
                counts[runs[row] * n_cells + states[row]] += weight_of[row];
        });
    });
}

// Adds a row and a column for missing children to the states (n_left, n_right) of a
// latent variable. Where a child is missing, the latent variable is known only if it is
// the same for all states of that child.
BAYLEAF_API int32_t bl_with_missing(const int64_t* states, int64_t n_left, int64_t n_right,
                                    int64_t* padded) {
    return guarded([&] {
        const Matrix<const int64_t> map{states, n_left, n_right};
        const Matrix<int64_t> wide{padded, n_left + 1, n_right + 1};
        const int64_t unknown = 1 + *std::max_element(states, states + n_left * n_right);
        for (int64_t x = 0; x < n_left; ++x) {
            std::copy_n(map[x].data(), n_right, wide[x].data());
            wide(x, n_right) =
                common(n_right, unknown, [&](int64_t y) { return map(x, y); });
        }
        for (int64_t y = 0; y < n_right; ++y)
            wide(n_left, y) = common(n_left, unknown, [&](int64_t x) { return map(x, y); });
        wide(n_left, n_right) = unknown == 1 ? 0 : unknown;
    });
}

// Writes the code of a latent variable in every row, by its padded map (n_cells,).
BAYLEAF_API int32_t bl_latent_codes(const uint16_t* left, const uint16_t* right,
                                    int64_t n_right, int64_t n_rows, const int64_t* padded,
                                    int64_t n_cells, int64_t n_codes, uint16_t* codes) {
    return guarded([&] {
        require_below(view(padded, n_cells), n_codes, kNoSuchState);
        const JointStates states{left, right, n_right};
        in_blocks(n_rows, 1, [&](int64_t first, int64_t last) {
            for (int64_t row = first; row < last; ++row)
                codes[row] = static_cast<uint16_t>(padded[states[row]]);
        });
    });
}

// Adds counts (n_runs, n_cells) of joint states to those of a latent variable's states
// (n_runs, n_states); cells in which it is unknown are left out.
BAYLEAF_API int32_t bl_merge_cells(const double* counts, int64_t n_runs,
                                   const int64_t* padded, int64_t n_cells, double* merged,
                                   int64_t n_states) {
    return guarded([&] {
        const Matrix<const double> cells{counts, n_runs, n_cells};
        const Matrix<double> sums{merged, n_runs, n_states};
        for (int64_t run = 0; run < n_runs; ++run)
            for (int64_t cell = 0; cell < n_cells; ++cell)
                if (padded[cell] >= 0 && padded[cell] < n_states)
                    sums(run, padded[cell]) += cells(run, cell);
    });
}

// Fills in what log scores gain, (n_folds, n_left * n_right, n_classes), where a latent
// variable takes two nodes' place, from log tables (n_folds, codes, n_classes).
BAYLEAF_API int32_t bl_changes(const double* left, int64_t n_left, const double* right,
                               int64_t n_right, const double* joined, int64_t n_states,
                               const int64_t* padded, int64_t n_folds, int64_t n_classes,
                               double* gains) {
    return guarded([&] {
        const Stack<const double> lefts{left, n_folds, n_left, n_classes};
        const Stack<const double> rights{right, n_folds, n_right, n_classes};
        const Stack<const double> latents{joined, n_folds, n_states, n_classes};
        require_below(view(padded, n_left * n_right), n_states, kNoSuchState);
        for (int64_t fold = 0; fold < n_folds; ++fold) {
            for (int64_t x = 0; x < n_left; ++x) {
                for (int64_t y = 0; y < n_right; ++y, gains += n_classes) {
                    const auto latent = latents[fold][padded[x * n_right + y]];
                    for (int64_t c = 0; c < n_classes; ++c)
                        gains[c] = latent[c] - (lefts(fold, x, c) + rights(fold, y, c));
                }
            }
        }
    });
}

// Writes the weight of rows predicted right, and the log-likelihood of their classes if
// asked for, after gains (n_folds, n_cells, n_classes) are added to scores (n_rows,
// n_classes).
BAYLEAF_API int32_t bl_predictive_scores(const uint16_t* left, const uint16_t* right,
                                         int64_t n_right, const int32_t* runs,
                                         int64_t n_rows, const double* weights,
                                         bool are_alike, const double* scores,
                                         const double* gains, int64_t n_folds,
                                         int64_t n_cells, int64_t n_classes,
                                         bool wants_likelihood, double* found) {
    return guarded([&] {
        const Gains table{
            {gains, n_folds, n_cells, n_classes}, {left, right, n_right}, runs};
        const Weights weight_of{weights, are_alike};
        const Matrix<const double> before{scores, n_rows, n_classes};
        const Score score = wants_likelihood ? predict<true>(table, weight_of, before)
                                             : predict<false>(table, weight_of, before);
        found[0] = score.correct;
        found[1] = score.likelihood;
    });
}

// Adds gains to scores for good.
BAYLEAF_API int32_t bl_add_gains(const uint16_t* left, const uint16_t* right,
                                 int64_t n_right, const int32_t* runs, int64_t n_rows,
                                 const double* gains, int64_t n_folds, int64_t n_cells,
                                 int64_t n_classes, double* scores) {
    return guarded([&] {
        const Gains table{
            {gains, n_folds, n_cells, n_classes}, {left, right, n_right}, runs};
        in_blocks(n_rows, n_classes, [&](int64_t first, int64_t last) {
            for (int64_t row = first; row < last; ++row) {
                const double* gain = table.of(row);
                for (int64_t c = 0; c < n_classes; ++c)
                    scores[row * n_classes + c] += gain[c];
            }
        });
    });
}
