// The log-loss of softmax(biases + logs @ weights) over rows, and its slopes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "support/team.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {

// Sums run in so many lanes, which are added up in a fixed order, so that every
// instruction set gives the same bits. Arrays are filled up with zeros to whole lanes.
constexpr int64_t kLanes = 8;

constexpr int64_t whole_lanes(int64_t size) {
    return (size + kLanes - 1) / kLanes * kLanes;
}

using Lanes = std::array<double, kLanes>;

inline double lane_sum(const Lanes& lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

// The rows and what they say: the log-probabilities under each class (rows, classes,
// weights); the true class and the weight of each row.
struct LossRows {
    Stack<const float> logs;
    const int64_t* own;
    const double* row_weights;

    int64_t n_classes() const { return logs.rows; }
    int64_t n_weights() const { return logs.columns; }
    // Where the biases stand behind the weights, and how long both are.
    int64_t first_bias() const { return whole_lanes(n_weights()); }
    int64_t n_parameters() const { return first_bias() + whole_lanes(n_classes()); }

    // Weights and biases without gaps become two stretches of whole lanes, and back.
    std::vector<double> spread(const double* parameters) const;
    void gather(std::span<const double> spread, double* parameters) const;
};

// Weights and biases, spread, and what they lose.
struct Point {
    std::vector<double> at, slope;
    double loss = 0.0;

    explicit Point(std::vector<double> start) : at(std::move(start)), slope(at.size()) {}
};

// The loss of the rows of some ranges, by threads that take blocks of rows. Each block's
// sums are kept apart and added in the order of the blocks, so that the number of threads
// changes no bit. Reads every log-probability once, however many points there are: what
// speaks for a class against the first stays in a near cache.
class WeightedLoss {
public:
    // Throws std::invalid_argument for a range or a class that the rows do not have.
    WeightedLoss(const LossRows& rows, const Matrix<const int64_t>& ranges,
                 int64_t n_threads);

    // Adds loss, in nats, and slopes at each point.
    void add(std::span<Point* const> points);

private:
    struct Block {
        int64_t first, last;
    };
    static std::vector<Block> blocks_of(const LossRows& rows,
                                        const Matrix<const int64_t>& ranges);
    // Slopes and, behind them, the loss of a block at a point, in whole lanes.
    int64_t sums_size() const { return rows_.n_parameters() + kLanes; }
    void add_block(int64_t block, int64_t member);

    const LossRows rows_;
    std::vector<Block> blocks_;
    // A row of slopes and the loss behind them for each block and point.
    std::vector<double> sums_;
    // Scores of the classes for the rows of a tile, and its contrasts, for each thread.
    std::vector<double> scores_;
    std::vector<float> contrasts_;
    std::span<Point* const> points_;
    Watch watch_;
    // Ends before what its threads use.
    Team team_;
};

}  // namespace bayleaf
