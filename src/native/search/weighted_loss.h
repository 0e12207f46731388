// The log-loss of softmax(biases + logs @ weights) over rows, and its slopes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

// The rows and what they say: the log-probabilities under each class but the first, less
// that under the first (rows, classes - 1, width), where width is the number of weights
// in whole lanes; the true class and the weight of each row.
struct LossRows {
    Stack<const float> contrasts;
    const int64_t* own;
    const double* row_weights;
    int64_t n_weights;

    int64_t n_classes() const { return contrasts.rows + 1; }
    // Where the biases stand behind the weights, and how long both are.
    int64_t first_bias() const { return contrasts.columns; }
    int64_t n_parameters() const { return first_bias() + whole_lanes(n_classes()); }

    // Weights and biases without gaps become two stretches of whole lanes, and back.
    std::vector<double> spread(const double* parameters) const;
    void gather(std::span<const double> spread, double* parameters) const;
};

// The loss of the rows of some ranges, by threads that take blocks of rows. Each block's
// sums are kept apart and added in the order of the blocks, so that the number of threads
// changes no bit. Reads every contrast once a point, from the first cache the second time.
class WeightedLoss {
public:
    // Throws std::invalid_argument for a range or a class that the rows do not have.
    WeightedLoss(const LossRows& rows, const Matrix<const int64_t>& ranges,
                 int64_t n_threads);

    // Adds the slopes at a point, spread, to `slope`; the loss in nats.
    double add(std::span<const double> point, std::span<double> slope);

private:
    struct Block {
        int64_t first, last;
    };
    static std::vector<Block> blocks_of(const LossRows& rows,
                                        const Matrix<const int64_t>& ranges);
    // Slopes and, behind them, the loss of a block, in whole lanes.
    int64_t sums_size() const { return rows_.n_parameters() + kLanes; }
    void add_block(int64_t block, int64_t member);

    const LossRows rows_;
    std::vector<Block> blocks_;
    // A row of slopes and the loss behind them for each block.
    std::vector<double> sums_;
    // Scores of the classes for the rows of a tile, for each thread.
    std::vector<double> scores_;
    std::span<const double> point_;
    Watch watch_;
    // Ends before what its threads use.
    Team team_;
};

}  // namespace bayleaf
