// Boosted regression trees of a number over ranks of states: each tree is grown on the
// residuals of a random sample of the rows (Friedman 2001; 2002, stochastic boosting), depth
// first, and each node chooses among features drawn at random.
//
// A node adds up its rows by rank, for each feature drawn: rows x features x depth
// additions per tree.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/checks.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kMaxDepth = 64, kMaxCard = 1 << 16;
// Least gain of a split per unit of weight, in squares of the target's unit: below it
// there is only rounding.
constexpr double kLeastGain = 1e-10;

struct Rows {
    // By feature and row; the rows from the target's end on are held out.
    Matrix<const uint16_t> ranks;
    std::span<const int64_t> cards;
    std::span<const double> target, weights;

    void check() const {
        if (target.empty() || std::ssize(target) > ranks.columns ||
            ranks.columns > std::numeric_limits<int32_t>::max())
            throw std::invalid_argument("target trees need a number of each fitted row");
        for (int64_t f = 0; f < ranks.rows; ++f)
            require_below(ranks[f], cards[f], "a rank lies beyond its feature's states");
        if (std::ranges::any_of(cards, [](int64_t card) { return card > kMaxCard; }))
            throw std::invalid_argument("a feature has more states than ranks");
    }
};

struct Growth {
    int64_t n_trees, max_depth, min_rows, n_features, n_sampled;
    double rate;

    void check(const Rows& rows) const {
        if (max_depth < 1 || max_depth > kMaxDepth || min_rows < 1 || n_features < 1 ||
            n_trees < 0 || n_sampled < 1 || n_sampled > std::ssize(rows.target))
            throw std::invalid_argument("target trees cannot be grown like this");
    }
};

// Nodes of all trees; a left child follows its parent.
struct Trees {
    int64_t capacity;
    int64_t *roots, *features, *right;
    double *thresholds, *values;
    int64_t n_nodes = 0;

    int64_t add(double value) {
        if (n_nodes == capacity) throw std::invalid_argument("trees have too many nodes");
        features[n_nodes] = -1;
        right[n_nodes] = 0;
        thresholds[n_nodes] = 0.0;
        values[n_nodes] = value;
        return n_nodes++;
    }
};

// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}

    int64_t below(int64_t bound) {
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
        return static_cast<int64_t>(((mixed >> 32) * static_cast<uint64_t>(bound)) >> 32);
    }

private:
    uint64_t state_;
};

struct Sum {
    double residual = 0.0, weight = 0.0;
    int64_t n_rows = 0;

    void add(double residual_of_row, double weight_of_row) {
        residual += residual_of_row;
        weight += weight_of_row;
        ++n_rows;
    }
    void add(const Sum& other) {
        residual += other.residual;
        weight += other.weight;
        n_rows += other.n_rows;
    }
    double strength() const { return residual * residual / weight; }
};

struct Split {
    double strength;
    int64_t feature = -1;
    double threshold = 0.0;
};

class Booster {
public:
    Booster(const Rows& rows, const Growth& growth, uint64_t seed, Trees& trees)
        : rows_(rows), growth_(growth), random_(seed), trees_(trees),
          sums_(static_cast<std::size_t>(rows.ranks.columns)),
          residuals_(rows.target.size()), order_(sums_.size()), moved_(sums_.size()) {
        for (int64_t f = 0; f < rows.ranks.rows; ++f) features_.push_back(f);
        if (!features_.empty())
            bins_.resize(static_cast<std::size_t>(std::ranges::max(rows.cards)));
    }

    // Writes the sums after each stage, an equal part of the trees.
    void run(Matrix<double> stages) {
        const auto sampled = static_cast<std::size_t>(growth_.n_sampled);
        int64_t tree = 0;
        for (int64_t stage = 0; stage < stages.rows; ++stage) {
            for (; tree < growth_.n_trees * (stage + 1) / stages.rows; ++tree) {
                trees_.roots[tree] = trees_.n_nodes;
                sample_rows();
                grow(std::span(order_).first(sampled), std::span(order_).subspan(sampled), 0);
            }
            std::ranges::copy(sums_, stages[stage].begin());
        }
    }

private:
    using Places = std::span<int32_t>;

    // Sampled rows first, then all others, both in order.
    void sample_rows() {
        const int64_t n_rows = std::ssize(order_), n_fitted = std::ssize(rows_.target);
        int64_t sampled = 0, other = growth_.n_sampled;
        for (int64_t row = 0; row < n_rows; ++row) {
            const bool is_sampled =
                row < n_fitted &&
                random_.below(n_fitted - row) < growth_.n_sampled - sampled;
            if (is_sampled)
                residuals_[row] = rows_.weights[row] * (rows_.target[row] - sums_[row]);
            order_[is_sampled ? sampled++ : other++] = static_cast<int32_t>(row);
        }
        watch_.add(n_rows * 4);
    }

    void grow(Places sampled, Places others, int64_t depth) {
        Sum total;
        for (const int32_t row : sampled) total.add(residuals_[row], rows_.weights[row]);
        const double value =
            total.weight > 0.0 ? growth_.rate * total.residual / total.weight : 0.0;
        const int64_t node = trees_.add(value);
        const Split best = find_split(sampled, total, depth);
        if (best.feature < 0) {
            for (const int32_t row : sampled) sums_[row] += value;
            for (const int32_t row : others) sums_[row] += value;
            return;
        }
        trees_.features[node] = best.feature;
        trees_.thresholds[node] = best.threshold;
        const std::size_t left = part(sampled, best), left_others = part(others, best);
        grow(sampled.first(left), others.first(left_others), depth + 1);
        trees_.right[node] = trees_.n_nodes;
        grow(sampled.subspan(left), others.subspan(left_others), depth + 1);
    }

    Split find_split(Places rows, const Sum& total, int64_t depth) {
        Split best{total.strength() + kLeastGain * total.weight};
        if (depth == growth_.max_depth || total.n_rows < 2 * growth_.min_rows) return best;
        const int64_t n_features = std::ssize(features_);
        for (int64_t drawn = 0; drawn < n_features; ++drawn) {
            // Where none of the features drawn splits the node, others are tried.
            if (drawn >= growth_.n_features && best.feature >= 0) break;
            const int64_t other = drawn + random_.below(n_features - drawn);
            std::swap(features_[drawn], features_[other]);
            try_splits(features_[drawn], rows, total, best);
        }
        return best;
    }

    void try_splits(int64_t feature, Places rows, const Sum& total, Split& best) {
        const int64_t card = rows_.cards[feature];
        std::fill_n(bins_.begin(), card, Sum{});
        const auto ranks = rows_.ranks[feature];
        for (const int32_t row : rows)
            bins_[ranks[row]].add(residuals_[row], rows_.weights[row]);
        Sum left;
        int64_t last = 0;
        for (int64_t rank = 0; rank < card; ++rank) {
            if (bins_[rank].n_rows == 0) continue;
            const Sum right{total.residual - left.residual, total.weight - left.weight,
                            total.n_rows - left.n_rows};
            if (right.n_rows < growth_.min_rows) break;
            if (left.n_rows >= growth_.min_rows) {
                const double strength = left.strength() + right.strength();
                if (strength > best.strength)
                    best = {strength, feature, static_cast<double>(last + rank) / 2.0};
            }
            left.add(bins_[rank]);
            last = rank;
        }
        watch_.add(std::ssize(rows) * 2 + card * 4);
    }

    // Moves the rows of the left child to the front, each side in order; their number.
    std::size_t part(Places rows, const Split& split) {
        const auto ranks = rows_.ranks[split.feature];
        std::size_t n_left = 0, n_moved = 0;
        for (const int32_t row : rows) {
            const bool is_left = ranks[row] <= split.threshold;
            rows[n_left] = row;
            moved_[n_moved] = row;
            n_left += is_left;
            n_moved += !is_left;
        }
        std::copy_n(moved_.begin(), n_moved, rows.begin() + static_cast<int64_t>(n_left));
        watch_.add(std::ssize(rows) * 2);
        return n_left;
    }

    const Rows rows_;
    const Growth growth_;
    Random random_;
    Trees& trees_;
    std::vector<double> sums_;
    // Weighted, of the sampled rows.
    std::vector<double> residuals_;
    std::vector<int32_t> order_, moved_;
    std::vector<int64_t> features_;
    std::vector<Sum> bins_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Grows trees on the first n_fitted rows; writes the sums of all rows after each stage,
// where trees begin, the nodes' features and right children, their thresholds and values,
// and their number.
BAYLEAF_API int32_t bl_grow_target_trees(
    const uint16_t* ranks, int64_t n_features, int64_t n_rows, const int64_t* cards,
    const double* target, const double* weights, int64_t n_fitted, int64_t n_trees,
    int64_t max_depth, int64_t min_rows, int64_t n_features_drawn, int64_t n_sampled,
    double rate, int64_t seed, double* sums, int64_t n_stages, int64_t* roots,
    int64_t* places, double* numbers, int64_t capacity, int64_t* n_nodes) {
    return guarded([&] {
        const Rows rows{{ranks, n_features, n_rows}, view(cards, n_features),
                        view(target, n_fitted), view(weights, n_fitted)};
        rows.check();
        const Growth growth{n_trees, max_depth, min_rows, n_features_drawn, n_sampled, rate};
        growth.check(rows);
        Trees trees{capacity, roots, places, places + capacity, numbers, numbers + capacity};
        Booster(rows, growth, static_cast<uint64_t>(seed), trees).run({sums, n_stages, n_rows});
        *n_nodes = trees.n_nodes;
    });
}
