// Learns how much each log-probability counts: a descent over weights, none negative,
// and biases to the least penalised log-loss of left-out rows.
//
// A projected quasi-Newton descent with limited memory: curvature counts among the
// parameters that are free to move, steps are cut off at zero and shortened until they
// gain enough (Bertsekas 1982; Nocedal & Wright 2006, section 7.2). Each point costs two
// products a contrast, each step some 120 a parameter besides.
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

struct Point {
    Numbers at, slope;
    double loss = 0.0;

    explicit Point(Numbers start) : at(std::move(start)), slope(at.size()) {}
};

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

class Descent {
public:
    Descent(const LossRows& rows, WeightedLoss& loss, Numbers centre, Numbers pull)
        : n_weights_(rows.first_bias()),
          loss_(loss),
          centre_(std::move(centre)),
          pull_(std::move(pull)) {}

    // Where no step, or none of `max_steps`, gains more than `tolerance` of the loss.
    Numbers go(Numbers start, int64_t max_steps, double tolerance) const {
        Point here(std::move(start)), there = here;
        Curvature curvature;
        measure(here);
        for (int64_t step = 0; step < max_steps; ++step) {
            const Numbers free = free_to_move(here);
            if (is_flat(here, free)) break;
            const Numbers direction = curvature.direction(here.slope, free);
            const double length = curvature.is_empty() ? first_length(here, free) : 1.0;
            search(here, there, direction, length);
            const double gain = here.loss - there.loss;
            if (!(gain > 0.0)) break;
            curvature.keep(here, there);
            std::swap(here, there);
            if (gain <= tolerance * std::max(here.loss, 1.0)) break;
        }
        return here.at;
    }

private:
    // Finds loss and slope at a point.
    void measure(Point& point) const {
        const auto off = [&](std::size_t f) { return point.at[f] - centre_[f]; };
        for (std::size_t f = 0; f < point.at.size(); ++f)
            point.slope[f] = pull_[f] * off(f);
        point.loss = sum_of(point.at.size(),
                            [&](auto f) { return 0.5 * pull_[f] * off(f) * off(f); });
        point.loss += loss_.add(point.at, point.slope);
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

    // Halves a step until it gains enough.
    void search(const Point& here, Point& there, const Numbers& direction,
                double length) const {
        for (int tries = 0;; ++tries, length *= 0.5) {
            for (std::size_t f = 0; f < here.at.size(); ++f)
                there.at[f] = here.at[f] + length * direction[f];
            for (int64_t f = 0; f < n_weights_; ++f)
                there.at[f] = std::max(there.at[f], 0.0);
            const double promised = sum_of(here.at.size(), [&](auto f) {
                return here.slope[f] * (there.at[f] - here.at[f]);
            });
            measure(there);
            const bool is_enough = !(there.loss > here.loss + kSufficient * promised);
            if (is_enough || tries == kShortenings) return;
        }
    }

    const int64_t n_weights_;
    WeightedLoss& loss_;
    const Numbers centre_, pull_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Loss in nats of some ranges of rows (n, 2), of which `gradient` becomes the slopes;
// weights, then biases.
BAYLEAF_API int32_t bl_weighted_loss(const float* contrasts, int64_t n_rows,
                                     int64_t n_contrasts, int64_t width, const int64_t* own,
                                     const double* row_weights, const int64_t* ranges,
                                     int64_t n_ranges, const double* parameters,
                                     int64_t n_weights, double* gradient, double* loss) {
    return guarded([&] {
        const LossRows rows{
            {contrasts, n_rows, n_contrasts, width}, own, row_weights, n_weights};
        WeightedLoss losses(rows, {ranges, n_ranges, 2}, 1);
        std::vector<double> slope(rows.n_parameters());
        *loss = losses.add(rows.spread(parameters), slope);
        rows.gather(slope, gradient);
    });
}

// Takes `parameters` from where they are to where the loss of the ranges of rows, and
// half of `pull` times the squared distance from `centre`, is least.
BAYLEAF_API int32_t bl_weights_descent(
    const float* contrasts, int64_t n_rows, int64_t n_contrasts, int64_t width,
    const int64_t* own, const double* row_weights, const int64_t* ranges, int64_t n_ranges,
    double* parameters, int64_t n_weights, const double* centre, const double* pull,
    int64_t max_steps, double tolerance, int64_t n_threads) {
    return guarded([&] {
        const LossRows rows{
            {contrasts, n_rows, n_contrasts, width}, own, row_weights, n_weights};
        WeightedLoss losses(rows, {ranges, n_ranges, 2}, n_threads);
        const Descent descent(rows, losses, rows.spread(centre), rows.spread(pull));
        rows.gather(descent.go(rows.spread(parameters), max_steps, tolerance), parameters);
    });
}
