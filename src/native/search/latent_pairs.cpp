// How much X and Y depend on each other given the class, for many pairs of variables,
// from their joint counts (Langseth & Nielsen 2006, equation 4 and section 6.2).
//
// A statistic costs O(classes) logarithms a cell, its moments O(classes^2) steps a cell.
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kLogarithm = 8;

enum Kind : int64_t { kLikelihoodRatio = 0, kDivergence = 1, kMatchedDivergence = 2 };

// The counts of one pair, part of a wide table, and their sums.
class PairTable {
public:
    const int64_t n_classes, n_left, n_right;

    // The cells at (top, start) of counts (n_classes, all left states, all right states).
    PairTable(const Stack<const double>& dense, int64_t top, int64_t start, int64_t n_left,
              int64_t n_right)
        : n_classes(dense.layers),
          n_left(n_left),
          n_right(n_right),
          dense_(dense),
          top_(top),
          start_(start),
          left_(n_classes * n_left),
          right_(n_classes * n_right),
          by_class_(n_classes) {
        for (int64_t c = 0; c < n_classes; ++c) {
            for (int64_t x = 0; x < n_left; ++x) {
                for (int64_t y = 0; y < n_right; ++y) {
                    left_[c * n_left + x] += count(c, x, y);
                    right_[c * n_right + y] += count(c, x, y);
                }
            }
            for (int64_t x = 0; x < n_left; ++x) by_class_[c] += left(c, x);
        }
    }

    double count(int64_t c, int64_t x, int64_t y) const {
        return dense_(c, top_ + x, start_ + y);
    }
    double left(int64_t c, int64_t x) const { return left_[c * n_left + x]; }
    double right(int64_t c, int64_t y) const { return right_[c * n_right + y]; }
    double weight(int64_t c) const { return by_class_[c]; }
    // The count to expect where X and Y are independent given the class.
    double expected(int64_t c, int64_t x, int64_t y) const {
        return left(c, x) * right(c, y) / weight(c);
    }

private:
    const Stack<const double>& dense_;
    int64_t top_, start_;
    std::vector<double> left_, right_, by_class_;
};

// G^2 of X and Y given the class, nats.
double likelihood_ratio(const PairTable& table) {
    double amount = 0.0;
    for (int64_t c = 0; c < table.n_classes; ++c)
        for (int64_t x = 0; x < table.n_left; ++x)
            for (int64_t y = 0; y < table.n_right; ++y) {
                const double count = table.count(c, x, y);
                if (count > 0.0)
                    amount += count * log_of(count / table.expected(c, x, y));
            }
    return std::max(2.0 * amount, 0.0);
}

// Twice the weight times the mean divergence of P(class | x, y) from naive Bayes.
double divergence(const PairTable& table) {
    double amount = 0.0;
    for (int64_t x = 0; x < table.n_left; ++x) {
        for (int64_t y = 0; y < table.n_right; ++y) {
            double total = 0.0, expected_total = 0.0;
            for (int64_t c = 0; c < table.n_classes; ++c) {
                if (table.weight(c) <= 0.0) continue;
                total += table.count(c, x, y);
                expected_total += table.expected(c, x, y);
            }
            for (int64_t c = 0; c < table.n_classes; ++c) {
                const double count = table.count(c, x, y);
                if (count <= 0.0) continue;
                const double apart = total * table.expected(c, x, y);
                amount += count * log_of(count * expected_total / apart);
            }
        }
    }
    return std::max(2.0 * amount, 0.0);
}

// Mean and variance of the divergence where X and Y are independent given the class.
//
// It is a quadratic form in normal variables then, whose matrix has, for classes c and
// d, the block (I - a a')(x)(I - b b') W (I - a~ a~')(x)(I - b~ b~'), where a and b are
// roots of P(x | c) and P(y | c), a~ and b~ of d, and W is diagonal. The mean is a trace
// |C| (|X| - 1) (|Y| - 1) - tr M, the variance twice that of the square.
class Moments {
public:
    explicit Moments(const PairTable& table)
        : table_(table),
          left_roots_(table.n_classes * table.n_left),
          right_roots_(table.n_classes * table.n_right),
          joint_(table.n_left * table.n_right),
          u_(table.n_left),
          v_(table.n_right),
          left_rest_(table.n_left),
          right_rest_(table.n_right),
          right_sums_(table.n_right) {
        for (int64_t c = 0; c < table.n_classes; ++c) {
            if (table.weight(c) <= 0.0) continue;
            for (int64_t x = 0; x < table.n_left; ++x) {
                left_roots_[c * table.n_left + x] =
                    std::sqrt(table.left(c, x) / table.weight(c));
                for (int64_t y = 0; y < table.n_right; ++y)
                    joint_[x * table.n_right + y] += table.expected(c, x, y);
            }
            for (int64_t y = 0; y < table.n_right; ++y)
                right_roots_[c * table.n_right + y] =
                    std::sqrt(table.right(c, y) / table.weight(c));
        }
    }

    void compute(double& mean, double& variance) {
        double trace = 0.0, square = 0.0;
        for (int64_t c = 0; c < table_.n_classes; ++c) {
            if (table_.weight(c) <= 0.0) continue;
            trace += own_trace(c);
            square += shared_square(c, c);
            for (int64_t d = 0; d < c; ++d)
                if (table_.weight(d) > 0.0) square += 2.0 * shared_square(c, d);
        }
        const double freedom = static_cast<double>(table_.n_classes * (table_.n_left - 1) *
                                                   (table_.n_right - 1));
        mean = freedom - trace;
        variance = 2.0 * (freedom - 2.0 * trace + square);
    }

private:
    // What class c adds to tr M.
    double own_trace(int64_t c) const {
        double trace = 0.0;
        for (int64_t x = 0; x < table_.n_left; ++x) {
            for (int64_t y = 0; y < table_.n_right; ++y) {
                const double own = table_.expected(c, x, y);
                if (own <= 0.0) continue;
                double others = 1.0 - table_.left(c, x) / table_.weight(c);
                others *= 1.0 - table_.right(c, y) / table_.weight(c);
                trace += own * others / joint_[x * table_.n_right + y];
            }
        }
        return trace;
    }

    // What classes c and d share of tr M^2, tr(A W B W').
    //
    // A, over pairs of states of X, is the entrywise product of two matrices I - a a',
    // which is u u' and a diagonal rest, u = a a~; and so is B over those of Y. Thus
    // the trace takes a pass over the cells, no products of matrices.
    double shared_square(int64_t c, int64_t d) {
        split(c, d, left_roots_, u_, left_rest_);
        split(c, d, right_roots_, v_, right_rest_);
        std::fill(right_sums_.begin(), right_sums_.end(), 0.0);
        const double scale = std::sqrt(table_.weight(c) * table_.weight(d));
        double amount = 0.0, both = 0.0;
        for (int64_t x = 0; x < table_.n_left; ++x) {
            double left_sum = 0.0, rests = 0.0;
            for (int64_t y = 0; y < table_.n_right; ++y) {
                const double joint = joint_[x * table_.n_right + y];
                if (joint <= 0.0) continue;
                const double w = scale * u_[x] * v_[y] / joint;
                rests += w * w * right_rest_[y];
                left_sum += w * v_[y];
                right_sums_[y] += w * u_[x];
            }
            amount += left_rest_[x] * (rests + left_sum * left_sum);
            both += u_[x] * left_sum;
        }
        for (int64_t y = 0; y < table_.n_right; ++y)
            amount += right_rest_[y] * right_sums_[y] * right_sums_[y];
        return amount + both * both;
    }

    // Products of two classes' roots, and the diagonal (1 - a^2) (1 - a~^2) without them.
    static void split(int64_t c, int64_t d, const std::vector<double>& roots,
                      std::vector<double>& products, std::vector<double>& rest) {
        const int64_t size = static_cast<int64_t>(products.size());
        for (int64_t i = 0; i < size; ++i) {
            const double one = roots[c * size + i], other = roots[d * size + i];
            products[i] = one * other;
            rest[i] = 1.0 - one * one - other * other;
        }
    }

    const PairTable& table_;
    std::vector<double> left_roots_, right_roots_, joint_;
    std::vector<double> u_, v_, left_rest_, right_rest_, right_sums_;
};

// Throws unless the states of variables and their missing ones make up a width.
void check_cards(std::span<const int64_t> cards, int64_t width) {
    for (const int64_t card : cards) {
        if (card < 0 || card >= width)
            throw std::invalid_argument("a variable has other states than its counts");
        width -= card + 1;
    }
    if (width != 0)
        throw std::invalid_argument("variables have other states than their counts");
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Fills in the statistic of each left with each right variable, (n_left, n_right), of a
// triangle those above the diagonal; and of a matched divergence its mean and variance.
// The states of each variable and then its missing one stand side by side in `dense`
// (n_classes, left_width, right_width).
BAYLEAF_API int32_t bl_pair_statistics(const double* dense, int64_t n_classes,
                                       int64_t left_width, int64_t right_width,
                                       const int64_t* left_cards, int64_t n_left,
                                       const int64_t* right_cards, int64_t n_right,
                                       bool triangle, int64_t kind, double* statistics,
                                       double* means, double* variances) {
    return guarded([&] {
        const Stack<const double> counts{dense, n_classes, left_width, right_width};
        check_cards(view(left_cards, n_left), left_width);
        check_cards(view(right_cards, n_right), right_width);
        Watch watch;
        for (int64_t i = 0, top = 0; i < n_left; top += left_cards[i++] + 1) {
            for (int64_t j = 0, start = 0; j < n_right; start += right_cards[j++] + 1) {
                if (triangle && j <= i) continue;
                const PairTable table(counts, top, start, left_cards[i], right_cards[j]);
                const int64_t place = i * n_right + j;
                statistics[place] =
                    kind == kLikelihoodRatio ? likelihood_ratio(table) : divergence(table);
                int64_t steps = n_classes * kLogarithm;
                if (kind == kMatchedDivergence) {
                    Moments(table).compute(means[place], variances[place]);
                    steps += n_classes * n_classes;
                }
                watch.add(table.n_left * table.n_right * steps);
            }
        }
    });
}
