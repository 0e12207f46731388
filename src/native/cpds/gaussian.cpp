// What linear-Gaussian families say of the classes: for each row and class the logarithm
// of a Student t density of the child given its parents, as the mean over the families of
// a piece; a training row can be left out of its own class, exactly, by its leverage.
//
// Rows go through in blocks that stay in the first cache, column by column, so that every
// inner loop runs over rows. A family costs about p * p / 2 products a row and class.
#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kBlock = 128;
using Lane = std::array<double, kBlock>;

// No piece says more than this, in nats.
constexpr double kMost = 50.0;
// Degrees of freedom from which the series of the density's constant is exact.
constexpr double kSeriesFrom = 40.0;
constexpr double kLogOfPi = 1.1447298858494001741;

// ln Gamma((v + 1) / 2) - ln Gamma(v / 2) - ln(v pi) / 2 of v degrees of freedom.
double log_constant(double freedom) {
    double product = 1.0, v = freedom >= 1.0 ? freedom : 1.0;
    // Gamma((v + 3) / 2) / Gamma((v + 2) / 2) is (v + 1) / v times the ratio at v.
    for (; v < kSeriesFrom; v += 2.0) product *= v / (v + 1.0);
    const double inverse = 1.0 / v, square = inverse * inverse;
    const double series =
        -inverse * (0.25 - square * (1.0 / 24.0 - square * (0.05 - square * 17.0 / 112.0)));
    return log_of(product) + 0.5 * log_of(0.5 * v) + series -
           0.5 * (log_of(freedom) + kLogOfPi);
}

// The families of all pieces, class by class; see bayleaf/native/cpds.py.
struct Families {
    int64_t n_families, n_classes, n_columns, n_pieces;
    std::span<const int64_t> children, pieces, starts, parents;
    std::span<const double> shares;
    // By family and class: rows, sum of squares, and what the prior adds to it.
    Stack<const double> facts;
    // By class: coefficients, one a place, and rows of the triangles, one after another.
    Matrix<const double> coefficients, triangles;
    std::span<const int64_t> triangle_starts;
    // By class and column: mean and variance of the positions.
    Matrix<const double> means, variances;

    int64_t n_parents(int64_t family) const { return starts[family + 1] - starts[family]; }

    void check() const {
        require_below(children, n_columns, "a family has a child that does not exist");
        require_below(pieces, n_pieces, "a family belongs to no piece");
        require_below(parents, n_columns, "a family has a parent that does not exist");
        int64_t place = 0, corner = 0;
        for (int64_t family = 0; family < n_families; ++family) {
            const int64_t size = n_parents(family) + 1;
            if (size < 1 || starts[family] != place || triangle_starts[family] != corner)
                throw std::invalid_argument("the families' places do not fit");
            place += size - 1;
            corner += size * (size + 1) / 2;
        }
        if (place != std::ssize(parents) || corner != triangles.columns ||
            place + n_families != coefficients.columns)
            throw std::invalid_argument("the families' numbers do not fit");
    }
};

// Rows and what each takes from its class, -1 for none.
struct Rows {
    Matrix<const double> positions;
    std::span<const int64_t> own;
    std::span<const double> shares;
};

template <class Value>
class Writer {
public:
    Writer(const Families& families, const Rows& rows, Stack<Value> values, int64_t first)
        : families_(families), rows_(rows), values_(values), first_(first),
          deviations_(static_cast<std::size_t>(families.n_columns)),
          absent_(static_cast<std::size_t>(families.n_columns)),
          sums_(static_cast<std::size_t>(families.n_pieces)) {}

    void write() {
        for (int64_t start = 0; start < rows_.positions.columns; start += kBlock) {
            start_ = start;
            size_ = std::min(kBlock, rows_.positions.columns - start);
            for (int64_t c = 0; c < families_.n_classes; ++c) {
                center(c);
                for (auto& sum : sums_) sum.fill(0.0);
                for (int64_t family = 0; family < families_.n_families; ++family)
                    add(family, c);
                for (int64_t piece = 0; piece < families_.n_pieces; ++piece)
                    for (int64_t row = 0; row < size_; ++row)
                        values_(start + row, c, first_ + piece) =
                            static_cast<Value>(sums_[piece][row]);
            }
        }
    }

private:
    // Deviations from the means of a class; a missing position is none, and is noted.
    void center(int64_t c) {
        for (int64_t column = 0; column < families_.n_columns; ++column) {
            const double mean = families_.means(c, column);
            const double* positions = &rows_.positions(column, start_);
            Lane &deviation = deviations_[column], &absent = absent_[column];
            for (int64_t row = 0; row < size_; ++row) {
                const bool is_missing = !(positions[row] == positions[row]);
                deviation[row] = is_missing ? 0.0 : positions[row] - mean;
                absent[row] = is_missing ? 1.0 : 0.0;
            }
        }
    }

    void add(int64_t family, int64_t c) {
        const int64_t first = families_.starts[family];
        const int64_t n_parents = families_.n_parents(family);
        const double* coefficients = &families_.coefficients(c, first + family);
        const double* triangle = &families_.triangles(c, families_.triangle_starts[family]);
        const int64_t child = families_.children[family];
        Lane residual = deviations_[child], leverage, more;
        more.fill(0.0);
        for (int64_t row = 0; row < size_; ++row) residual[row] -= coefficients[0];
        for (int64_t p = 0; p < n_parents; ++p) {
            const int64_t parent = families_.parents[first + p];
            const double slope = coefficients[1 + p];
            const double spread = slope * slope * families_.variances(c, parent);
            const Lane &x = deviations_[parent], &absent = absent_[parent];
            for (int64_t row = 0; row < size_; ++row) {
                residual[row] -= slope * x[row];
                more[row] += spread * absent[row];
            }
        }
        find_leverage(first, n_parents, triangle, leverage);
        const double share = families_.shares[family];
        const Lane& absent = absent_[child];
        Lane& sum = sums_[families_.pieces[family]];
        find_densities(family, c, residual, leverage, more);
        for (int64_t row = 0; row < size_; ++row)
            sum[row] += absent[row] > 0.0 ? 0.0 : share * densities_[row];
        watch_.add(size_ * (20 + n_parents * n_parents / 4));
    }

    // The squared length of the triangle's product with (1, parents).
    void find_leverage(int64_t first, int64_t n_parents, const double* triangle,
                       Lane& leverage) {
        leverage.fill(0.0);
        for (int64_t k = 0; k <= n_parents; ++k) {
            Lane product;
            product.fill(k == 0 ? *triangle++ : 0.0);
            for (int64_t p = std::max<int64_t>(k, 1); p <= n_parents; ++p) {
                const double factor = *triangle++;
                const Lane& x = deviations_[families_.parents[first + p - 1]];
                for (int64_t row = 0; row < size_; ++row) product[row] += factor * x[row];
            }
            for (int64_t row = 0; row < size_; ++row)
                leverage[row] += product[row] * product[row];
        }
    }

    // Log densities of one family; rows of this class are left out by their share.
    void find_densities(int64_t family, int64_t c, Lane& residual, Lane& leverage,
                        Lane& more) {
        const double n_rows = families_.facts(family, c, 0);
        const double squares = families_.facts(family, c, 1);
        const double prior = families_.facts(family, c, 2);
        const double constant = log_constant(n_rows + 2.0);
        Lane scale, freedom, constants;
        for (int64_t row = 0; row < size_; ++row) {
            scale[row] = (squares + prior) / (n_rows + 2.0);
            freedom[row] = n_rows + 2.0;
            constants[row] = constant;
        }
        for (int64_t row = 0; row < size_; ++row) {
            if (rows_.own[start_ + row] != c) continue;
            const double share = rows_.shares[start_ + row];
            const double kept = 1.0 - share * leverage[row];
            const double e = residual[row];
            const double rest = std::max(squares - share * e * e / kept, 0.0);
            if (more[row] > 0.0)
                more[row] = left_out_spread(family, c, row, share * e / kept);
            residual[row] = e / kept;
            leverage[row] /= kept;
            freedom[row] = n_rows - share + 2.0;
            scale[row] = (rest + prior) / freedom[row];
            if (share != share_) {
                share_ = share;
                shared_constants_.clear();
            }
            constants[row] = left_out_constant(family, c, freedom[row]);
        }
        for (int64_t row = 0; row < size_; ++row) {
            const double spread = scale[row] * (1.0 + leverage[row]) + more[row];
            const double e = residual[row];
            const double far = log_of_normal(1.0 + e * e / (spread * freedom[row]));
            // A spread is at least the prior's share, above the square root of nothing.
            const double found = constants[row] - 0.5 * log_of_positive(spread) -
                                 0.5 * (freedom[row] + 1.0) * far;
            densities_[row] = std::min(std::max(found, -kMost), kMost);
        }
    }

    // The variance that a row's missing parents add under the slopes without it, which
    // differ from the slopes by `change` times the row's weights in the regression.
    double left_out_spread(int64_t family, int64_t c, int64_t row, double change) const {
        const int64_t first = families_.starts[family];
        const int64_t n_parents = families_.n_parents(family);
        const double* coefficients = &families_.coefficients(c, first + family);
        const double* triangle = &families_.triangles(c, families_.triangle_starts[family]);
        const auto value = [&](int64_t place) {
            return place == 0 ? 1.0
                              : deviations_[families_.parents[first + place - 1]][row];
        };
        std::vector<double> moved(static_cast<std::size_t>(n_parents + 1), 0.0);
        for (int64_t k = 0; k <= n_parents; triangle += n_parents + 1 - k, ++k) {
            double product = 0.0;
            for (int64_t p = k; p <= n_parents; ++p) product += triangle[p - k] * value(p);
            for (int64_t p = k; p <= n_parents; ++p) moved[p] += triangle[p - k] * product;
        }
        double spread = 0.0;
        for (int64_t p = 1; p <= n_parents; ++p) {
            const int64_t parent = families_.parents[first + p - 1];
            const double slope = coefficients[p] - change * moved[p];
            spread += slope * slope * families_.variances(c, parent) * absent_[parent][row];
        }
        return spread;
    }

    // The constant where a row is left out: once a family and class for equal shares.
    double left_out_constant(int64_t family, int64_t c, double freedom) {
        if (shared_constants_.empty())
            shared_constants_.assign(
                static_cast<std::size_t>(families_.n_families * families_.n_classes),
                std::nan(""));
        double& kept = shared_constants_[family * families_.n_classes + c];
        if (!(kept == kept)) kept = log_constant(freedom);
        return kept;
    }

    static double log_of_positive(double x) {
        // Scaled up by a power of two, so that the logarithm is of one or more.
        constexpr double kScale = 0x1p100, kLogOfScale = 100.0 * 0x1.62e42fefa39efp-1;
        return log_of_normal(std::max(x * kScale, 1.0)) - kLogOfScale;
    }

    const Families& families_;
    const Rows& rows_;
    Stack<Value> values_;
    int64_t first_, start_ = 0, size_ = 0;
    std::vector<Lane> deviations_, absent_, sums_;
    Lane densities_{};
    double share_ = -1.0;
    std::vector<double> shared_constants_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Writes what the families say into values of shape (n_rows, n_classes, n_all), from piece
// `first` on; values of one word or of two.
BAYLEAF_API int32_t bl_gaussian_families(
    int64_t n_families, int64_t n_classes, int64_t n_columns, int64_t n_pieces,
    const int64_t* children, const int64_t* pieces, const int64_t* starts,
    const int64_t* parents, int64_t n_places, const double* shares, const double* facts,
    const double* coefficients, const double* triangles, int64_t n_corners,
    const int64_t* triangle_starts, const double* means, const double* variances,
    const double* positions, int64_t n_rows, const int64_t* own, const double* row_shares,
    void* values, int64_t n_all, int64_t first, bool is_single) {
    return guarded([&] {
        const Families families{n_families, n_classes, n_columns, n_pieces,
                                view(children, n_families), view(pieces, n_families),
                                view(starts, n_families + 1), view(parents, n_places),
                                view(shares, n_families),
                                {facts, n_families, n_classes, 3},
                                {coefficients, n_classes, n_places + n_families},
                                {triangles, n_classes, n_corners},
                                view(triangle_starts, n_families),
                                {means, n_classes, n_columns},
                                {variances, n_classes, n_columns}};
        families.check();
        if (first < 0 || first + n_pieces > n_all)
            throw std::invalid_argument("the pieces do not fit into the values");
        const Rows rows{{positions, n_columns, n_rows}, view(own, n_rows),
                        view(row_shares, n_rows)};
        const auto write = [&]<class Value>(Value* out) {
            const Stack<Value> values{out, n_rows, n_classes, n_all};
            Writer(families, rows, values, first).write();
        };
        if (is_single)
            write(static_cast<float*>(values));
        else
            write(static_cast<double*>(values));
    });
}
