// Learns how much each log-probability counts: a descent over weights, none negative,
// and biases to the least penalised log-loss of left-out rows.
//
// A projected quasi-Newton descent with limited memory: curvature counts among the
// parameters that are free to move, steps are cut off at zero and shortened until they
// gain enough (Bertsekas 1982; Nocedal & Wright 2006, section 7.2). Each point costs two
// products a contrast, each step some 120 a parameter besides. Descents under different
// penalties go side by side, so that rows are read once for the next points of all.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "search/weighted_loss.h"
#include "support/interface.h"
#include "support/views.h"

namespace bayleaf {
namespace {

// Pairs of steps and changes of slope that a descent remembers.
constexpr int64_t kMemory = 20;
// A step has to gain this share of what the slope promises, else it is shortened.
constexpr double kSufficient = 1e-4;
constexpr int kShortenings = 29;
// A slope below this in every direction that is open ends a descent.
constexpr double kFlat = 1e-5;
// A curvature below this share of its change of slope is rounding.
constexpr double kLeastCurvature = 1e-12;

using Numbers = std::vector<double>;

// The sum of term(f), in lanes; `size` is a multiple of them.
template <class Term>
double sum_of(std::size_t size, Term term) {
    Lanes sums{};
    for (std::size_t f = 0; f < size; f += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(f + lane);
    return lane_sum(sums);
}

// The last steps and the changes of slope along them.
class Curvature {
public:
    void keep(const Point& from, const Point& to) {
        const std::size_t size = from.at.size();
        Pair& pair = pairs_[n_kept_++ % kMemory];
        pair.step.resize(size);
        pair.change.resize(size);
        for (std::size_t f = 0; f < size; ++f) {
            pair.step[f] = to.at[f] - from.at[f];
            pair.change[f] = to.slope[f] - from.slope[f];
        }
    }

    // The quasi-Newton direction down among the parameters that are free (1, else 0).
    Numbers direction(const Numbers& slope, const Numbers& free) const {
        const std::size_t size = slope.size();
        Numbers found(size);
        for (std::size_t f = 0; f < size; ++f) found[f] = -slope[f] * free[f];
        std::array<double, kMemory> shares{}, curvatures{};
        const int64_t n_used = std::min(n_kept_, kMemory);
        double scale = 0.0;
        for (int64_t back = 0; back < n_used; ++back) {
            const Numbers &step = recent(back).step, &change = recent(back).change;
            const double along =
                sum_of(size, [&](auto f) { return step[f] * (change[f] * free[f]); });
            const double bend = sum_of(
                size, [&](auto f) { return change[f] * free[f] * (change[f] * free[f]); });
            if (along <= kLeastCurvature * bend || bend == 0.0) continue;
            if (scale == 0.0) scale = along / bend;
            curvatures[back] = along;
            shares[back] = sum_of(size, [&](auto f) { return step[f] * found[f]; }) / along;
            for (std::size_t f = 0; f < size; ++f)
                found[f] -= shares[back] * change[f] * free[f];
        }
        if (scale != 0.0)
            for (double& value : found) value *= scale;
        for (int64_t back = n_used - 1; back >= 0; --back) {
            if (curvatures[back] == 0.0) continue;
            const Numbers &step = recent(back).step, &change = recent(back).change;
            const double share = sum_of(size, [&](auto f) { return change[f] * found[f]; });
            const double rest = shares[back] - share / curvatures[back];
            for (std::size_t f = 0; f < size; ++f) found[f] += rest * step[f] * free[f];
        }
        return found;
    }

    bool is_empty() const { return n_kept_ == 0; }

private:
    struct Pair {
        Numbers step, change;
    };
    const Pair& recent(int64_t back) const {
        return pairs_[(n_kept_ - 1 - back) % kMemory];
    }
    std::array<Pair, kMemory> pairs_;
    int64_t n_kept_ = 0;
};

// What ends a descent: so many steps, or a step that gains no more than this share.
struct Patience {
    int64_t max_steps;
    double tolerance;
};

// Goes where no step, or none of the most, gains more than the tolerance.
class Descent {
public:
    Descent(const LossRows& rows, Numbers start, Numbers centre, Numbers pull,
            Patience patience)
        : n_weights_(rows.first_bias()),
          centre_(std::move(centre)),
          pull_(std::move(pull)),
          patience_(patience),
          here_(std::move(start)),
          there_(here_) {
        penalise(there_);
    }

    // Where the loss is needed next, the penalty and its slopes in place.
    Point& next() { return there_; }

    // Goes on, once the loss is added there; false at the end.
    bool go_on() {
        if (n_steps_ >= 0) {
            const bool is_enough = !(there_.loss > here_.loss + kSufficient * promised_);
            if (!is_enough && n_shortenings_ < kShortenings) {
                ++n_shortenings_;
                propose(0.5 * length_);
                return true;
            }
            const double gain = here_.loss - there_.loss;
            if (!(gain > 0.0)) return false;
            curvature_.keep(here_, there_);
            std::swap(here_, there_);
            if (gain <= patience_.tolerance * std::max(here_.loss, 1.0)) return false;
        } else {
            std::swap(here_, there_);
        }
        if (++n_steps_ == patience_.max_steps) return false;
        const Numbers free = free_to_move(here_);
        if (is_flat(here_, free)) return false;
        direction_ = curvature_.direction(here_.slope, free);
        n_shortenings_ = 0;
        propose(curvature_.is_empty() ? first_length(here_, free) : 1.0);
        return true;
    }

    const Numbers& found() const { return here_.at; }

private:
    // Begins loss and slopes by the penalty.
    void penalise(Point& point) const {
        const auto off = [&](std::size_t f) { return point.at[f] - centre_[f]; };
        for (std::size_t f = 0; f < point.at.size(); ++f)
            point.slope[f] = pull_[f] * off(f);
        point.loss = sum_of(point.at.size(),
                            [&](auto f) { return 0.5 * pull_[f] * off(f) * off(f); });
    }

    // 1 for each parameter but weights that are zero and would become negative.
    Numbers free_to_move(const Point& point) const {
        Numbers free(point.at.size(), 1.0);
        for (int64_t f = 0; f < n_weights_; ++f)
            if (point.at[f] <= 0.0 && point.slope[f] >= 0.0) free[f] = 0.0;
        return free;
    }

    static bool is_flat(const Point& point, const Numbers& free) {
        for (std::size_t f = 0; f < free.size(); ++f)
            if (std::abs(point.slope[f]) * free[f] > kFlat) return false;
        return true;
    }

    // A first step changes the parameters by one in all, at most.
    static double first_length(const Point& point, const Numbers& free) {
        const double steepness =
            sum_of(free.size(), [&](auto f) { return std::abs(point.slope[f] * free[f]); });
        return std::min(1.0, 1.0 / steepness);
    }

    // A step of some length, cut off at zero.
    void propose(double length) {
        length_ = length;
        for (std::size_t f = 0; f < here_.at.size(); ++f)
            there_.at[f] = here_.at[f] + length * direction_[f];
        for (int64_t f = 0; f < n_weights_; ++f) there_.at[f] = std::max(there_.at[f], 0.0);
        promised_ = sum_of(here_.at.size(), [&](auto f) {
            return here_.slope[f] * (there_.at[f] - here_.at[f]);
        });
        penalise(there_);
    }

    int64_t n_weights_;
    Numbers centre_, pull_;
    Patience patience_;
    // The best point so far, once it is measured, and the next.
    Point here_, there_;
    Curvature curvature_;
    Numbers direction_;
    double length_ = 0.0, promised_ = 0.0;
    int64_t n_steps_ = -1;
    int n_shortenings_ = 0;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Loss in nats of some ranges of rows (n, 2), of which `gradient` becomes the slopes;
// weights, then biases.
BAYLEAF_API int32_t bl_weighted_loss(const float* logs, int64_t n_rows, int64_t n_classes,
                                     int64_t n_weights, const int64_t* own,
                                     const double* row_weights, const int64_t* ranges,
                                     int64_t n_ranges, const double* parameters,
                                     double* gradient, double* loss) {
    return guarded([&] {
        const LossRows rows{{logs, n_rows, n_classes, n_weights}, own, row_weights};
        WeightedLoss losses(rows, {ranges, n_ranges, 2}, 1);
        Point point(rows.spread(parameters));
        losses.add(std::array{&point});
        *loss = point.loss;
        rows.gather(point.slope, gradient);
    });
}

// Takes each row of `parameters` from where it is to where the loss of the ranges of rows,
// and half of its row of `pulls` times the squared distance from that of `centres`, is
// least.
BAYLEAF_API int32_t bl_weights_descents(
    const float* logs, int64_t n_rows, int64_t n_classes, int64_t n_weights,
    const int64_t* own, const double* row_weights, const int64_t* ranges, int64_t n_ranges,
    double* parameters, int64_t n_descents, const double* centres, const double* pulls,
    int64_t max_steps, double tolerance, int64_t n_threads) {
    return guarded([&] {
        const LossRows rows{{logs, n_rows, n_classes, n_weights}, own, row_weights};
        WeightedLoss losses(rows, {ranges, n_ranges, 2}, n_threads);
        std::vector<Descent> descents;
        for (int64_t i = 0; i < n_descents; ++i) {
            const int64_t begin = i * (n_weights + n_classes);
            descents.emplace_back(rows, rows.spread(parameters + begin),
                                  rows.spread(centres + begin), rows.spread(pulls + begin),
                                  Patience{max_steps, tolerance});
        }
        std::vector<Descent*> active;
        for (Descent& descent : descents) active.push_back(&descent);
        std::vector<Point*> points;
        while (!active.empty()) {
            points.clear();
            for (Descent* descent : active) points.push_back(&descent->next());
            losses.add(points);
            std::erase_if(active, [](Descent* descent) { return !descent->go_on(); });
        }
        for (int64_t i = 0; i < n_descents; ++i)
            rows.gather(descents[i].found(), parameters + i * (n_weights + n_classes));
    });
}
