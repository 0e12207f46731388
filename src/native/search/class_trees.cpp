// Trees that correct class scores: each round grows a tree for every class on what the
// scores still get wrong (Friedman 2001), by Newton steps in its leaves, best leaf first.
//
// Gradients are whole numbers: those of all rows that share a state are added exactly, in
// one addition of two halves of a word, and what one side of a split holds is what all
// hold less the other side.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "search/weighted_loss.h"
#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// First and second derivative of the loss, in whole parts of the same size: the upper and
// the lower half of a word.
using Slope = int64_t;
constexpr int kHalf = 32;
// Sums of a half stay below this.
constexpr double kMostOfHalf = 0x1p30;

// Halves of 32 bits become vectors of doubles on every processor.
double second(Slope slope) { return static_cast<int32_t>(slope); }
double first(Slope slope) { return static_cast<int32_t>(slope >> kHalf); }

struct Rows {
    // Codes by row; a code at or above its feature's number of states is unknown.
    Matrix<const uint16_t> codes;
    std::span<const int64_t> cards;
    std::span<const bool> is_ordered;
    std::span<const int64_t> own;
    std::span<const double> weights;
    // The rows from this one on are held out.
    int64_t n_fitted;

    void check(int64_t n_classes) const {
        require_below(own, n_classes, "a row has a class that does not exist");
        if (n_fitted < 1 || n_fitted > codes.rows || n_classes < 2)
            throw std::invalid_argument("class trees need rows, and two classes");
        for (int64_t row = 0; row < codes.rows; ++row) {
            if (!(weights[row] >= 0.0) || weights[row] > kMostOfHalf)
                throw std::invalid_argument("a row's weight is none, negative or huge");
            for (int64_t f = 0; f < codes.columns; ++f)
                if (codes(row, f) > cards[f])
                    throw std::invalid_argument("a code lies beyond its feature's states");
        }
    }
};

struct Settings {
    int64_t max_rounds, patience, max_leaves;
    double rate, pull, least_curvature;
};

// Nodes of all trees, one after another; children lie side by side.
struct Trees {
    int64_t capacity;
    int64_t *features, *states, *children;
    double *values, *rows;
    int64_t n_nodes = 0;

    int64_t add(double value, double weight) {
        if (n_nodes == capacity) throw std::invalid_argument("there is no room for nodes");
        features[n_nodes] = -1;
        states[n_nodes] = children[n_nodes] = 0;
        values[n_nodes] = value;
        rows[n_nodes] = weight;
        return n_nodes++;
    }
};

struct Split {
    double gain = 0.0;
    int64_t feature = -1, state = 0;
    Slope left = 0;
};

struct Leaf {
    int64_t begin, end, node;
    Slope total;
    std::vector<Slope> sums;
    Split best;
};

// What nodes gain by a leaf's splits into what lies left and the rest.
struct Gains {
    Slope total;
    // Added to second derivatives, and least of each side.
    double pull, least;

    // Writes the gain of each split, of whole lanes, none for a side with too little; the
    // most. With locals alone, else compilers see no vectors.
    [[gnu::noinline]] double find(std::span<const Slope> lefts, double* gains) const {
        const Slope all = total;
        const double own_pull = pull, own_least = least;
        const auto strength = [=](Slope slope) {
            return first(slope) * first(slope) / (second(slope) + own_pull);
        };
        const double before = strength(all);
        const std::size_t size = lefts.size();
        for (std::size_t at = 0; at < size; ++at) {
            const Slope left = lefts[at], right = all - left;
            const double gain = strength(left) + strength(right) - before;
            const double has_left = second(left) < own_least ? 0.0 : gain;
            gains[at] = second(right) < own_least ? 0.0 : has_left;
        }
        Lanes most{};
        for (std::size_t at = 0; at < size; at += kLanes)
            for (int64_t lane = 0; lane < kLanes; ++lane)
                most[lane] = std::max(most[lane], gains[at + lane]);
        return std::ranges::max(most);
    }
};

class Booster {
public:
    Booster(const Rows& rows, const Settings& settings, Matrix<double> scores, Trees& trees)
        : rows_(rows), settings_(settings), scores_(scores), trees_(trees),
          order_(static_cast<std::size_t>(rows.n_fitted)), moved_(order_.size()),
          slopes_(order_.size()) {
        int64_t place = 0;
        for (const int64_t card : rows.cards) {
            starts_.push_back(place);
            place += card + 1;
        }
        n_places_ = place;
        places_.resize(static_cast<std::size_t>(rows.n_fitted * rows.codes.columns));
        auto own = places_.begin();
        for (int64_t row = 0; row < rows.n_fitted; ++row)
            for (int64_t f = 0; f < rows.codes.columns; ++f)
                *own++ = static_cast<uint32_t>(starts_[f] + rows.codes(row, f));
        for (int64_t row = 0; row < rows.n_fitted; ++row) weight_ += rows.weights[row];
        unit_ = std::exp2(std::floor(std::log2(kMostOfHalf / std::max(weight_, 1.0))));
        shares_.resize(static_cast<std::size_t>(rows.n_fitted * scores.columns));
    }

    // Writes the held-out loss before and after each round; the number of rounds.
    int64_t run(std::span<double> losses) {
        double least = losses[0] = held_out_loss();
        int64_t best = 0, round = 0;
        const int64_t n_classes = scores_.columns;
        while (round < settings_.max_rounds && round - best < settings_.patience) {
            find_shares();
            for (int64_t c = n_classes == 2 ? 1 : 0; c < n_classes; ++c) grow(c);
            losses[++round] = held_out_loss();
            if (losses[round] < least || rows_.n_fitted == scores_.rows) {
                least = losses[round];
                best = round;
            }
        }
        return round;
    }

private:
    // Posteriors of the fitted rows, class by class.
    void find_shares() {
        const int64_t n_classes = scores_.columns;
        std::vector<double> shares(static_cast<std::size_t>(n_classes));
        for (int64_t row = 0; row < rows_.n_fitted; ++row) {
            const auto scores = scores_[row];
            const double most = *std::max_element(scores.begin(), scores.end());
            double sum = 0.0;
            for (int64_t c = 0; c < n_classes; ++c)
                sum += shares[c] = exp_of_negative(scores[c] - most);
            for (int64_t c = 0; c < n_classes; ++c)
                shares_[c * rows_.n_fitted + row] = shares[c] / sum;
        }
        watch_.add(rows_.n_fitted * n_classes * 6);
    }

    double held_out_loss() {
        double loss = 0.0;
        for (int64_t row = rows_.n_fitted; row < scores_.rows; ++row) {
            const auto scores = scores_[row];
            const double most = *std::max_element(scores.begin(), scores.end());
            double sum = 0.0;
            for (const double score : scores) sum += exp_of_negative(score - most);
            const double own = scores[rows_.own[row]] - most;
            loss += rows_.weights[row] * (log_of_normal(sum) - own);
        }
        watch_.add((scores_.rows - rows_.n_fitted) * scores_.columns * 6);
        return loss;
    }

    void find_slopes(int64_t c) {
        const int64_t n_classes = scores_.columns;
        // Friedman's diagonal step: classes share what they move.
        const double factor =
            n_classes == 2 ? 1.0 : static_cast<double>(n_classes) / (n_classes - 1.0);
        const double* shares = shares_.data() + c * rows_.n_fitted;
        for (int64_t row = 0; row < rows_.n_fitted; ++row) {
            const double share = shares[row];
            const double weight = rows_.weights[row] * unit_;
            const double down = (rows_.own[row] == c ? 1.0 : 0.0) - share;
            const double curve = factor * share * (1.0 - share);
            slopes_[row] = (static_cast<Slope>(std::floor(weight * down + 0.5)) << kHalf) +
                           static_cast<Slope>(std::floor(weight * curve + 0.5));
        }
    }

    double value_of(Slope total) const {
        return settings_.rate * first(total) / (second(total) + settings_.pull * unit_);
    }

    void grow(int64_t c) {
        find_slopes(c);
        const Slope total = std::accumulate(slopes_.begin(), slopes_.end(), Slope{0});
        std::iota(order_.begin(), order_.end(), int64_t{0});
        const int64_t root = trees_.add(value_of(total), weight_);
        leaves_.clear();
        leaves_.push_back({0, rows_.n_fitted, root, total, take_sums(), {}});
        sum_slopes(leaves_[0]);
        find_split(leaves_[0]);
        while (std::ssize(leaves_) < settings_.max_leaves) {
            auto leaf = std::max_element(
                leaves_.begin(), leaves_.end(),
                [](const Leaf& a, const Leaf& b) { return a.best.gain < b.best.gain; });
            if (leaf->best.gain <= 0.0) break;
            split(static_cast<std::size_t>(leaf - leaves_.begin()));
        }
        for (Leaf& leaf : leaves_) {
            const double value = trees_.values[leaf.node];
            for (int64_t at = leaf.begin; at < leaf.end; ++at)
                scores_(order_[at], c) += value;
            if (!leaf.sums.empty()) spare_.push_back(std::move(leaf.sums));
        }
        for (int64_t row = rows_.n_fitted; row < scores_.rows; ++row)
            scores_(row, c) += trees_.values[reached(root, row)];
        watch_.add((scores_.rows - rows_.n_fitted) * 20);
    }

    int64_t reached(int64_t node, int64_t row) const {
        while (trees_.features[node] >= 0)
            node = trees_.children[node] +
                   (is_left(row, trees_.features[node], trees_.states[node]) ? 0 : 1);
        return node;
    }

    bool is_left(int64_t row, int64_t feature, int64_t state) const {
        const int64_t code = rows_.codes(row, feature);
        return rows_.is_ordered[feature] ? code <= state : code == state;
    }

    std::vector<Slope> take_sums() {
        if (spare_.empty()) return std::vector<Slope>(static_cast<std::size_t>(n_places_));
        std::vector<Slope> sums = std::move(spare_.back());
        spare_.pop_back();
        return sums;
    }

    // Adds up the slopes of a leaf's rows by state of each feature.
    void sum_slopes(Leaf& leaf) {
        std::fill(leaf.sums.begin(), leaf.sums.end(), Slope{0});
        const int64_t n_features = std::ssize(rows_.cards);
        Slope* sums = leaf.sums.data();
        for (int64_t at = leaf.begin; at < leaf.end; ++at) {
            const int64_t row = order_[at];
            const Slope slope = slopes_[row];
            const uint32_t* places = &places_[static_cast<std::size_t>(row * n_features)];
            for (int64_t f = 0; f < n_features; ++f) sums[places[f]] += slope;
        }
        watch_.add((leaf.end - leaf.begin) * n_features);
    }

    void find_split(Leaf& leaf) {
        leaf.best = {};
        const double least = settings_.least_curvature * unit_;
        if (second(leaf.total) < 2.0 * least) return;
        const Gains gains{leaf.total, settings_.pull * unit_, least};
        for (int64_t f = 0; f < std::ssize(rows_.cards); ++f) {
            const auto sums = view(leaf.sums.data() + starts_[f], rows_.cards[f]);
            // Nothing is right of the lanes behind the last state.
            lefts_.assign(whole_lanes(rows_.cards[f]), leaf.total);
            if (rows_.is_ordered[f])
                std::partial_sum(sums.begin(), sums.end(), lefts_.begin());
            else
                std::ranges::copy(sums, lefts_.begin());
            gains_.resize(lefts_.size());
            const auto is_more = [&](double gain) {
                return gain > leaf.best.gain * (1.0 + 1e-12) + 1e-9 * unit_;
            };
            if (!is_more(gains.find(lefts_, gains_.data()))) continue;
            for (int64_t state = 0; state < rows_.cards[f]; ++state)
                if (is_more(gains_[state]))
                    leaf.best = {gains_[state], f, state, lefts_[state]};
        }
        watch_.add(n_places_ * 2);
    }

    void split(std::size_t which) {
        Leaf& leaf = leaves_[which];
        const Split best = leaf.best;
        int64_t middle = leaf.begin, n_moved = 0;
        // Both places are written, as no processor foresees the side.
        const int64_t lowest = rows_.is_ordered[best.feature] ? 0 : best.state;
        for (int64_t at = leaf.begin; at < leaf.end; ++at) {
            const int64_t row = order_[at], code = rows_.codes(row, best.feature);
            const bool goes_left = (code >= lowest) & (code <= best.state);
            order_[middle] = moved_[n_moved] = row;
            middle += goes_left;
            n_moved += !goes_left;
        }
        std::copy_n(moved_.begin(), n_moved, order_.begin() + middle);
        double weight = 0.0;
        for (int64_t at = leaf.begin; at < middle; ++at) weight += rows_.weights[order_[at]];
        const Slope rest = leaf.total - best.left;
        const double all = trees_.rows[leaf.node];
        const int64_t children = trees_.add(value_of(best.left), weight);
        trees_.add(value_of(rest), all - weight);
        trees_.features[leaf.node] = best.feature;
        trees_.states[leaf.node] = best.state;
        trees_.children[leaf.node] = children;
        Leaf left{leaf.begin, middle, children, best.left, {}, {}};
        Leaf right{middle, leaf.end, children + 1, rest, {}, {}};
        const bool left_is_less = middle - leaf.begin < leaf.end - middle;
        Leaf &less = left_is_less ? left : right, &more = left_is_less ? right : left;
        if (std::ssize(leaves_) + 1 < settings_.max_leaves) {
            less.sums = take_sums();
            sum_slopes(less);
            more.sums = std::move(leaf.sums);
            for (std::size_t place = 0; place < more.sums.size(); ++place)
                more.sums[place] -= less.sums[place];
            leaves_[which] = std::move(left);
            leaves_.push_back(std::move(right));
            find_split(leaves_[which]);
            find_split(leaves_.back());
        } else {
            spare_.push_back(std::move(leaf.sums));
            leaves_[which] = std::move(left);
            leaves_.push_back(std::move(right));
        }
    }

    const Rows rows_;
    const Settings settings_;
    Matrix<double> scores_;
    Trees& trees_;
    // Where the states of each feature begin among those of all, and each row's states.
    std::vector<int64_t> starts_;
    std::vector<uint32_t> places_;
    int64_t n_places_ = 0;
    // Of all fitted rows.
    double weight_ = 0.0, unit_ = 1.0;
    std::vector<double> shares_;
    std::vector<int64_t> order_, moved_;
    std::vector<Slope> slopes_;
    // What lies left of each split of a feature, and what it gains.
    std::vector<Slope> lefts_;
    std::vector<double> gains_;
    std::vector<Leaf> leaves_;
    std::vector<std::vector<Slope>> spare_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Grows trees and adds them to scores; writes the losses of the held-out rows, the nodes'
// features, states and children, their values and rows, and how many rounds and nodes
// there are.
BAYLEAF_API int32_t bl_grow_class_trees(
    const uint16_t* codes, int64_t n_rows, int64_t n_features, const int64_t* cards,
    const bool* is_ordered, const int64_t* own, const double* weights, double* scores,
    int64_t n_classes, int64_t n_fitted, int64_t max_rounds, int64_t patience,
    int64_t max_leaves, double rate, double pull, double least_curvature, double* losses,
    int64_t* places, double* numbers, int64_t capacity, int64_t* counts) {
    return guarded([&] {
        const Rows rows{{codes, n_rows, n_features}, view(cards, n_features),
                        view(is_ordered, n_features), view(own, n_rows),
                        view(weights, n_rows), n_fitted};
        rows.check(n_classes);
        Trees trees{capacity, places, places + capacity, places + 2 * capacity,
                    numbers, numbers + capacity};
        const Settings settings{max_rounds, patience, max_leaves,
                                rate, pull, least_curvature};
        Booster booster(rows, settings, {scores, n_rows, n_classes}, trees);
        counts[0] = booster.run(view(losses, max_rounds + 1));
        counts[1] = trees.n_nodes;
    });
}
