// ln P(x | class, first j parents) of rows, for every class and depth j, as the mean over
// sampled networks; a training row can be left out of the counts.
//
// Rows of one joint state that leave out the same are one line. From depth to depth, lines
// and cells are told apart by one parent more, and cells whose parents' states no line has
// drop out. Networks multiply into one product a row, class and depth, so that there is
// one logarithm for all. A family costs a few ns a cell and depth, and about 1 ns a row,
// class and depth.
#include <bit>
#include <cmath>

#include "counts/distinct_keys.h"
#include "cpds/families.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// A product of probabilities below this goes over into its logarithm.
constexpr double kSmall = 1e-150;
constexpr int64_t kMostKeys = std::numeric_limits<int64_t>::max();

// What each row takes from the counts of its class, -1 for none.
struct LeftOut {
    std::span<const int64_t> own;
    std::span<const double> shares;

    double without(double count, double share) const {
        const double rest = count - share;
        return rest > Prior::kResidue * share ? rest : 0.0;
    }
};

// Probabilities of one depth, multiplied over networks, shape (n_rows, n_classes).
class Product {
public:
    explicit Product(int64_t size) : values_(static_cast<std::size_t>(size), 1.0) {}

    // Multiplies each row's line of `factors` (n_lines, n_classes) in, none of which is
    // below `smallest`.
    void multiply(std::span<const int32_t> line_of_row, Matrix<const double> factors,
                  double smallest) {
        if (least_ * smallest < kSmall) move_to_logs();
        least_ *= smallest;
        with_classes(factors.columns, [&](auto n_classes) {
            double* value = values_.data();
            for (const int32_t line : line_of_row) {
                const double* factor = factors.data + line * n_classes;
                for (int64_t c = 0; c < n_classes; ++c) value[c] *= factor[c];
                value += n_classes;
            }
        });
    }

    double log(int64_t place) const {
        const double value = log_of(values_[place]);
        return logs_.empty() ? value : value + logs_[place];
    }

private:
    void move_to_logs() {
        logs_.resize(values_.size());
        for (std::size_t i = 0; i < values_.size(); ++i) logs_[i] += log_of(values_[i]);
        std::ranges::fill(values_, 1.0);
        least_ = 1.0;
    }

    std::vector<double> values_, logs_;
    double least_ = 1.0;
};

class FeatureLogs {
public:
    FeatureLogs(const Networks& networks, const CodeTable& codes, LeftOut left_out,
                      int64_t n_depths)
        : n_classes_(networks.n_classes),
          codes_(codes),
          left_out_(left_out),
          line_of_row_(static_cast<std::size_t>(codes.n_rows)),
          products_(static_cast<std::size_t>(n_depths),
                    Product(n_classes_ * codes.n_rows)) {
        number_groups();
    }

    // Multiplies the probabilities of one network in; what is beyond the last parent
    // repeats the deepest.
    void multiply(const Family& family, PseudoWeights rule) {
        const int64_t n_depths = std::ssize(products_);
        const int64_t n_used = std::min(n_depths, family.n_variables());
        const Prior prior(family, rule);
        find_lines(family, n_used);
        const double smallest = find_priors(prior);
        start_at_root(family);
        for (int64_t depth = 0; depth < n_used; ++depth) {
            if (depth > 0) add_parent(family, depth);
            number_joint_states(family);
            count(family);
            find_factors(prior.strength);
            const int64_t last = depth + 1 == n_used ? n_depths : depth + 1;
            for (int64_t repeated = depth; repeated < last; ++repeated)
                products_[repeated].multiply(
                    line_of_row_, {factors_.data(), n_lines(), n_classes_}, smallest);
            watch_.add(std::ssize(cells_) * 5 + codes_.n_rows * n_classes_);
        }
    }

    // Writes the means of the networks' logarithms as (n_rows, n_classes, n_depths) into
    // the pieces from `first` on.
    template <class Value>
    void write(int64_t n_networks, Stack<Value> values, int64_t first) const {
        const auto n = static_cast<double>(n_networks);
        for (int64_t place = 0; place < codes_.n_rows * n_classes_; ++place) {
            Value* value = values.data + place * values.columns + first;
            for (const auto& product : products_)
                *value++ = static_cast<Value>(product.log(place) / n);
        }
    }

private:
    // A cell that some line's parents match, and the number of their joint state.
    struct Cell {
        int32_t place, parents;
    };

    int64_t n_lines() const { return std::ssize(first_rows_); }

    // Rows of one class and share leave out the same.
    void number_groups() {
        DistinctKeys shares, groups;
        const int64_t n_rows = codes_.n_rows;
        shares.start(kMostKeys, n_rows);
        groups.start(kMostKeys, n_rows);
        for (int64_t row = 0; row < n_rows; ++row) {
            const int64_t share =
                shares.number(std::bit_cast<int64_t>(left_out_.shares[row]));
            group_of_row_.push_back(
                groups.number(share * (n_classes_ + 1) + left_out_.own[row] + 1));
        }
        n_groups_ = groups.size();
    }

    // Numbers the rows' joint states and groups.
    void find_lines(const Family& family, int64_t n_used) {
        const int64_t n_rows = codes_.n_rows;
        keys_.assign(static_cast<std::size_t>(n_rows), 0);
        columns_.resize(std::max<std::size_t>(columns_.size(), n_used));
        int64_t n_keys = 1;
        for (int64_t k = 0; k < n_used; ++k) {
            columns_[k].read(codes_, family.variables[k], family.coding, 0, n_rows);
            append_digit(keys_, columns_[k], 0, family.radix(k));
            n_keys *= family.radix(k);
        }
        if (n_keys > kMostKeys / n_groups_) {
            joint_.start(n_keys, n_rows);
            for (auto& key : keys_) key = joint_.number(key);
            n_keys = joint_.size();
        }
        joint_.start(n_keys * n_groups_, n_rows);
        first_rows_.clear();
        for (int64_t row = 0; row < n_rows; ++row) {
            line_of_row_[row] = joint_.number(keys_[row] * n_groups_ + group_of_row_[row]);
            if (line_of_row_[row] == n_lines()) first_rows_.push_back(row);
        }
    }

    // Finds the prior weight of each line's state; a bound below all probabilities.
    double find_priors(const Prior& prior) {
        double least = std::numeric_limits<double>::infinity();
        priors_.clear();
        for (const int64_t row : first_rows_) {
            const double weight = prior.without(columns_[0][row], left_out_.shares[row]);
            if (weight > 0.0) least = std::min(least, weight);
            priors_.push_back(weight);
        }
        return std::min(1.0, least / (prior.total + prior.strength));
    }

    // Without parents, all lines and cells agree.
    void start_at_root(const Family& family) {
        parents_of_line_.assign(first_rows_.size(), 0);
        n_parents_ = 1;
        cells_.clear();
        for (int64_t cell = 0; cell < family.n_cells(); ++cell)
            cells_.push_back({static_cast<int32_t>(cell), 0});
    }

    // Tells lines and cells apart by one parent more.
    void add_parent(const Family& family, int64_t place) {
        const int64_t radix = family.radix(place);
        parents_.start(n_parents_ * radix, n_lines());
        columns_[place].visit([&](const auto* states) {
            for (int64_t line = 0; line < n_lines(); ++line)
                parents_of_line_[line] = parents_.number(parents_of_line_[line] * radix +
                                                         states[first_rows_[line]]);
        });
        n_parents_ = parents_.size();
        const auto states = family.states(place);
        std::size_t n_kept = 0;
        for (const Cell cell : cells_) {
            const int32_t found = parents_.find(cell.parents * radix + states[cell.place]);
            cells_[n_kept] = {cell.place, found};
            n_kept += found >= 0;
        }
        cells_.resize(n_kept);
    }

    // Numbers the lines' joint states of child and parents.
    void number_joint_states(const Family& family) {
        const int64_t radix = family.radix(0);
        joint_.start(n_parents_ * radix, n_lines());
        joint_of_line_.resize(first_rows_.size());
        columns_[0].visit([&](const auto* states) {
            for (int64_t line = 0; line < n_lines(); ++line)
                joint_of_line_[line] = joint_.number(parents_of_line_[line] * radix +
                                                     states[first_rows_[line]]);
        });
    }

    // Sums the cells' weights by class, for joint states and for those of the parents.
    void count(const Family& family) {
        const int64_t radix = family.radix(0);
        const auto children = family.states(0);
        parents_counts_.assign(static_cast<std::size_t>(n_parents_ * n_classes_), 0.0);
        // Cells that match no line in full go to one row more.
        joint_counts_.assign(static_cast<std::size_t>((joint_.size() + 1) * n_classes_),
                             0.0);
        double* const joint_counts = joint_counts_.data() + n_classes_;
        for (const Cell cell : cells_) {
            const double weight = family.weights[cell.place];
            const int64_t own = family.classes[cell.place];
            const int64_t joint = joint_.find(cell.parents * radix + children[cell.place]);
            parents_counts_[cell.parents * n_classes_ + own] += weight;
            joint_counts[joint * n_classes_ + own] += weight;
        }
    }

    // Finds P(x | class, parents) of each line, shape (n_lines, n_classes). A state
    // without prior weight says nothing: 1.
    void find_factors(double strength) {
        factors_.assign(static_cast<std::size_t>(n_lines() * n_classes_), 1.0);
        with_classes(n_classes_, [&](auto n_classes) {
            for (int64_t line = 0; line < n_lines(); ++line) {
                const double prior = priors_[line];
                if (prior <= 0.0) continue;
                const double* counts =
                    &joint_counts_[(1 + joint_of_line_[line]) * n_classes];
                const double* totals = &parents_counts_[parents_of_line_[line] * n_classes];
                double* factors = &factors_[line * n_classes];
                for (int64_t c = 0; c < n_classes; ++c)
                    factors[c] = (counts[c] + prior) / (totals[c] + strength);
                const int64_t row = first_rows_[line], own = left_out_.own[row];
                if (own < 0) continue;
                const double share = left_out_.shares[row];
                factors[own] = (left_out_.without(counts[own], share) + prior) /
                               (left_out_.without(totals[own], share) + strength);
            }
        });
    }

    int64_t n_classes_;
    const CodeTable& codes_;
    LeftOut left_out_;
    std::vector<int32_t> group_of_row_, line_of_row_;
    int64_t n_groups_ = 1;
    std::vector<Product> products_;
    std::vector<StateColumn> columns_;
    std::vector<int64_t> keys_, first_rows_;
    std::vector<double> priors_, parents_counts_, joint_counts_, factors_;
    std::vector<int32_t> joint_of_line_;
    std::vector<int64_t> parents_of_line_;
    DistinctKeys parents_, joint_;
    int64_t n_parents_ = 1;
    std::vector<Cell> cells_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

namespace {

template <class Value>
void write_log_probabilities(const Networks& networks, int64_t feature,
                             const CodeTable& codes, PseudoWeights rule,
                             LeftOut left_out, Stack<Value> values, int64_t first,
                             int64_t n_depths) {
    FeatureLogs logs(networks, codes, left_out, n_depths);
    for (const auto& network : networks.members)
        logs.multiply(network.family(feature), rule);
    logs.write(networks.size(), values, first);
}

void check_rows(const Networks& networks, const CodeTable& codes, LeftOut left_out) {
    const auto has_class = [&](int64_t own) {
        return own >= -1 && own < networks.n_classes;
    };
    if (!std::ranges::all_of(left_out.own, has_class))
        throw std::invalid_argument("a row leaves out a class that does not exist");
    for (const auto& network : networks.members)
        if (std::ssize(codes.slots) < network.coding.n_variables())
            throw std::invalid_argument("the rows lack a variable of the networks");
}

}  // namespace

// Writes the log-probabilities of a feature at depths 0 .. n_depths - 1 into values of
// shape (n_rows, n_classes, n_pieces), from piece `first` on; of one or two words each.
BAYLEAF_API int32_t bl_write_log_probabilities(const void* networks, int64_t feature,
                                      const uint8_t* narrow, int64_t n_narrow,
                                      const uint16_t* wide, int64_t n_wide,
                                      const int64_t* slots, int64_t n_slots, int64_t n_rows,
                                      double each, double together, double shared,
                                      const int64_t* own, const double* shares,
                                      void* values, int64_t n_pieces, int64_t first,
                                      int64_t n_depths, bool is_single) {
    return guarded([&] {
        const auto& all = *static_cast<const Networks*>(networks);
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const LeftOut left_out{view(own, n_rows), view(shares, n_rows)};
        check_rows(all, codes, left_out);
        const PseudoWeights rule{each, together, shared};
        const auto write = [&]<class Value>(Value* out) {
            const Stack<Value> pieces{out, n_rows, all.n_classes, n_pieces};
            write_log_probabilities(all, feature, codes, rule, left_out, pieces, first,
                                    n_depths);
        };
        if (is_single)
            write(static_cast<float*>(values));
        else
            write(static_cast<double*>(values));
    });
}
