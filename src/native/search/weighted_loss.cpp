#include "search/weighted_loss.h"

#include <algorithm>
#include <stdexcept>

#include "support/checks.h"
#include "support/exp_log.h"

namespace bayleaf {
namespace {

// Rows whose sums are kept together, whatever the number of threads.
constexpr int64_t kBlockRows = 128;
// Rows whose contrasts are read twice in a row, and the bytes that they may fill.
constexpr int64_t kTileRows = 64, kTileBytes = 24 * 1024;
using TileNumbers = std::array<double, kTileRows>;

// The contrasts of rows that are worked off side by side, because the sums of one row
// would wait for one another.
constexpr int64_t kAbreast = 4;
using RowsAbreast = std::array<const float*, kAbreast>;

// Writes the products of four rows with the weights, in lanes. Left to itself: some
// compilers see the vectors in these loops only where nothing around them is mixed in.
[[gnu::noinline]] void multiply(const RowsAbreast& rows, std::span<const double> weights,
                                Lanes* found) {
    // Sums with names of their own stay in registers, which an array of them does not.
    const auto [x0, x1, x2, x3] = rows;
    Lanes s0{}, s1{}, s2{}, s3{};
    for (std::size_t first = 0; first < weights.size(); first += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const std::size_t f = first + lane;
            s0[lane] += x0[f] * weights[f];
            s1[lane] += x1[f] * weights[f];
            s2[lane] += x2[f] * weights[f];
            s3[lane] += x3[f] * weights[f];
        }
    found[0] = s0;
    found[1] = s1;
    found[2] = s2;
    found[3] = s3;
}

// Numbers that a row's contrasts take.
int64_t contrasts_of_row(const LossRows& rows) {
    return std::max<int64_t>(rows.n_classes() - 1, 0) * rows.first_bias();
}

int64_t rows_of_tile(const LossRows& rows) {
    const int64_t bytes = 4 * contrasts_of_row(rows);
    const int64_t fitting = kTileBytes / std::max<int64_t>(bytes, 1);
    return std::clamp(fitting / kLanes * kLanes, kLanes, kTileRows);
}

// Some rows of one block, and their scores, then errors, of each class (classes, rows).
struct Tile {
    const LossRows& rows;
    int64_t first, size;
    double* numbers;
    // The log-probabilities under each class but the first, less that under the first
    // (rows, classes - 1, first_bias), filled up with zeros.
    float* contrasts;

    float* contrast(int64_t row, int64_t c) const {
        return contrasts + (row * (rows.n_classes() - 1) + c - 1) * rows.first_bias();
    }

    std::span<double> of_class(int64_t c) const {
        return view(numbers + c * kTileRows, filled());
    }
    // Rows in whole lanes; those beyond the last repeat it, and weigh nothing.
    int64_t filled() const { return whole_lanes(size); }
    RowsAbreast abreast(int64_t place, int64_t c) const {
        RowsAbreast found;
        for (int64_t r = 0; r < kAbreast; ++r)
            found[r] = contrast(std::min(place + r, size - 1), c);
        return found;
    }
};

[[gnu::noinline]] void subtract(std::span<const float> from, const float* what, float* out) {
    for (std::size_t f = 0; f < from.size(); ++f) out[f] = from[f] - what[f];
}

// Takes the first class's log-probabilities from those of the others.
void find_contrasts(const Tile& tile) {
    for (int64_t r = 0; r < tile.size; ++r) {
        const auto logs = tile.rows.logs[tile.first + r];
        for (int64_t c = 1; c < logs.rows; ++c)
            subtract(view(&logs(c, 0), logs.columns), &logs(0, 0), tile.contrast(r, c));
    }
}

// Weighs the log-probabilities of a tile's rows.
void score(const Tile& tile, std::span<const double> point) {
    const auto weights = point.first(tile.rows.first_bias());
    const auto biases = point.subspan(tile.rows.first_bias());
    std::ranges::fill(tile.of_class(0), biases[0]);
    for (int64_t c = 1; c < tile.rows.n_classes(); ++c) {
        const auto scores = tile.of_class(c);
        std::array<Lanes, kTileRows> sums;
        for (int64_t j = 0; j < tile.filled(); j += kAbreast)
            multiply(tile.abreast(j, c), weights, &sums[j]);
        for (int64_t j = 0; j < tile.filled(); ++j)
            scores[j] = lane_sum(sums[j]) + biases[c];
    }
}

// Turns scores into weighted errors of the probabilities; adds up losses, and the slopes
// of the biases.
void turn_to_errors(const Tile& tile, Lanes& loss, double* slope) {
    const int64_t n_classes = tile.rows.n_classes(), filled = tile.filled();
    TileNumbers highest, total{}, truth{}, weight{};
    std::ranges::copy(tile.of_class(0), highest.begin());
    for (int64_t c = 1; c < n_classes; ++c)
        for (int64_t j = 0; j < filled; ++j)
            highest[j] = std::max(highest[j], tile.of_class(c)[j]);
    for (int64_t j = 0; j < tile.size; ++j) {
        truth[j] = tile.of_class(tile.rows.own[tile.first + j])[j];
        weight[j] = tile.rows.row_weights[tile.first + j];
    }
    for (int64_t c = 0; c < n_classes; ++c) {
        const auto shares = tile.of_class(c);
        for (int64_t j = 0; j < filled; ++j) {
            shares[j] = exp_of_negative(shares[j] - highest[j]);
            total[j] += shares[j];
        }
    }
    for (int64_t j = 0; j < filled; j += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const int64_t i = j + lane;
            loss[lane] +=
                weight[i] * (log_of_normal(total[i]) + (highest[i] - truth[i]));
        }
    for (int64_t j = 0; j < filled; ++j) total[j] = weight[j] / total[j];
    for (int64_t c = 0; c < n_classes; ++c)
        for (int64_t j = 0; j < filled; ++j) tile.of_class(c)[j] *= total[j];
    for (int64_t j = 0; j < tile.size; ++j)
        tile.of_class(tile.rows.own[tile.first + j])[j] -= weight[j];
    for (int64_t c = 0; c < n_classes; ++c) {
        Lanes sums{};
        for (int64_t j = 0; j < filled; j += kLanes)
            for (int64_t lane = 0; lane < kLanes; ++lane)
                sums[lane] += tile.of_class(c)[j + lane];
        slope[c] += lane_sum(sums);
    }
}

// Adds four rows' contrasts, each times its error, to slopes; left to itself as well.
[[gnu::noinline]] void add_products(const RowsAbreast& rows, const double* errors,
                                    std::span<double> slopes) {
    const auto [x0, x1, x2, x3] = rows;
    const double e0 = errors[0], e1 = errors[1], e2 = errors[2], e3 = errors[3];
    for (std::size_t first = 0; first < slopes.size(); first += kLanes)
        for (int64_t lane = 0; lane < kLanes; ++lane) {
            const std::size_t f = first + lane;
            slopes[f] += (e0 * x0[f] + e1 * x1[f]) + (e2 * x2[f] + e3 * x3[f]);
        }
}

// Adds the slopes of the weights.
void add_slopes(const Tile& tile, double* slope) {
    const auto slopes = view(slope, tile.rows.first_bias());
    for (int64_t c = 1; c < tile.rows.n_classes(); ++c)
        for (int64_t j = 0; j < tile.filled(); j += kAbreast)
            add_products(tile.abreast(j, c), &tile.of_class(c)[j], slopes);
}

}  // namespace

std::vector<double> LossRows::spread(const double* parameters) const {
    std::vector<double> found(n_parameters());
    std::copy_n(parameters, n_weights(), found.begin());
    std::copy_n(parameters + n_weights(), n_classes(), found.begin() + first_bias());
    return found;
}

void LossRows::gather(std::span<const double> spread, double* parameters) const {
    std::copy_n(spread.begin(), n_weights(), parameters);
    std::copy_n(spread.begin() + first_bias(), n_classes(), parameters + n_weights());
}

WeightedLoss::WeightedLoss(const LossRows& rows, const Matrix<const int64_t>& ranges,
                           int64_t n_threads)
    : rows_(rows),
      blocks_(blocks_of(rows, ranges)),
      scores_(std::max<int64_t>(n_threads, 1) * rows.n_classes() * kTileRows),
      contrasts_(std::max<int64_t>(n_threads, 1) * rows_of_tile(rows) *
                 contrasts_of_row(rows)),
      team_(n_threads, static_cast<int64_t>(blocks_.size()),
            [this](int64_t block, int64_t member) { add_block(block, member); }) {}

std::vector<WeightedLoss::Block> WeightedLoss::blocks_of(
    const LossRows& rows, const Matrix<const int64_t>& ranges) {
    std::vector<Block> blocks;
    for (int64_t r = 0; r < ranges.rows; ++r) {
        const int64_t first = ranges(r, 0), last = ranges(r, 1);
        if (first < 0 || first > last || last > rows.logs.layers)
            throw std::invalid_argument("a range of rows lies outside the table");
        for (int64_t start = first; start < last; start += kBlockRows)
            blocks.push_back({start, std::min(start + kBlockRows, last)});
    }
    require_below(view(rows.own, rows.logs.layers), rows.n_classes(),
                  "a row's class lies outside the table");
    return blocks;
}

void WeightedLoss::add(std::span<Point* const> points) {
    points_ = points;
    sums_.resize(blocks_.size() * points.size() * sums_size());
    team_.run();
    for (std::size_t p = 0; p < points.size(); ++p) {
        Point& point = *points[p];
        double loss = 0.0;
        for (std::size_t block = 0; block < blocks_.size(); ++block) {
            const double* sums = sums_.data() + (block * points.size() + p) * sums_size();
            for (std::size_t f = 0; f < point.slope.size(); ++f) point.slope[f] += sums[f];
            loss += sums[point.slope.size()];
        }
        point.loss += loss;
    }
}

void WeightedLoss::add_block(int64_t block, int64_t member) {
    const auto [first, last] = blocks_[block];
    double* const slopes = sums_.data() + block * std::ssize(points_) * sums_size();
    std::fill_n(slopes, std::ssize(points_) * sums_size(), 0.0);
    std::vector<Lanes> losses(points_.size());
    const int64_t tile_rows = rows_of_tile(rows_);
    for (int64_t start = first; start < last; start += tile_rows) {
        const Tile tile{rows_, start, std::min(tile_rows, last - start),
                        scores_.data() + member * rows_.n_classes() * kTileRows,
                        contrasts_.data() + member * tile_rows * contrasts_of_row(rows_)};
        find_contrasts(tile);
        for (std::size_t p = 0; p < points_.size(); ++p) {
            double* slope = slopes + p * sums_size();
            score(tile, points_[p]->at);
            turn_to_errors(tile, losses[p], slope + rows_.first_bias());
            add_slopes(tile, slope);
            // Another thread has no signals to look for.
            if (member == 0) watch_.add(tile.size * contrasts_of_row(rows_));
        }
    }
    for (std::size_t p = 0; p < points_.size(); ++p)
        slopes[p * sums_size() + rows_.n_parameters()] = lane_sum(losses[p]);
}

}  // namespace bayleaf
