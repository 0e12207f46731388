// Look-up tables of the weighted log-probabilities of sampled networks, and their sums for
// rows.
//
// A row's score is the sum over networks, features and depths j of
//     scale * ln(P(x | class, first j parents) / P(x)),
// where P(x) is the prior share of the state x: a state or parents without data say
// nothing. One table with a place for every joint state holds the sum over the depths that
// it can; deeper families are hashed, each on its own, and list the classes with data
// alone. To build all takes some 20 ns a cell and depth, a row one look-up for each
// network and feature in the dense table and one or two for each deeper family.
#include <memory>
#include <utility>

#include "cpds/dense_values.h"
#include "cpds/hashed_level.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Rows whose keys stay in the first cache, and rows whose states stay in the second.
constexpr int64_t kChunk = 1024, kTile = 32768;
// A dense table this small is worth it, and one of so many values a cell.
constexpr int64_t kFewValues = 2048, kValuesPerCell = 8;

// How many variables of a family, the child among them, one table can cover.
int64_t n_dense_variables(const Family& family, int64_t n_used, int64_t n_classes,
                          int64_t most_values) {
    const int64_t limit =
        std::min(most_values, std::max(kFewValues, kValuesPerCell * family.n_cells()));
    int64_t n = 1, n_values = family.radix(0) * n_classes;
    while (n < n_used && n_values * family.radix(n) <= limit) n_values *= family.radix(n++);
    return n;
}

// The weighted log-probabilities of one family.
class NestedTable {
public:
    NestedTable(const Family& family, PseudoWeights rule, std::span<const double> scales,
                int64_t n_classes, int64_t most_values)
        : n_classes_(n_classes) {
        const auto n_used = std::ssize(scales);
        for (int64_t place = 0; place < n_used; ++place) {
            variables_.push_back(family.variables[place]);
            radices_.push_back(family.radix(place));
        }
        const Prior prior(family, rule);
        n_dense_ = n_dense_variables(family, n_used, n_classes, most_values);
        std::vector<int64_t> parent_keys(static_cast<std::size_t>(family.n_cells()));
        int64_t n_parents = 1;
        for (int64_t place = 0; place < n_used; ++place) {
            if (place > 0) {
                const auto states = family.states(place);
                for (std::size_t cell = 0; cell < parent_keys.size(); ++cell)
                    parent_keys[cell] = parent_keys[cell] * radices_[place] + states[cell];
                n_parents *= radices_[place];
            }
            if (place + 1 == n_dense_)
                fill_dense(family, prior, scales, parent_keys, n_parents);
            else if (place >= n_dense_ && scales[place] > 0.0)
                levels_.emplace_back(family, prior, scales[place], place,
                                     ParentKeys{parent_keys, n_parents}, n_classes);
        }
    }

    // Adds those of rows from `first` on to their scores (n_rows, n_classes).
    void add(std::span<const StateColumn> columns, int64_t first,
             Matrix<double> scores) const {
        add_dense(columns, first, scores);
        if (!levels_.empty()) add_hashed(columns, first, scores);
    }

    std::span<const int64_t> variables() const { return variables_; }

private:
    void fill_dense(const Family& family, const Prior& prior,
                    std::span<const double> scales, std::span<const int64_t> parent_keys,
                    int64_t n_parents) {
        std::vector<DenseValues> counts;
        counts.emplace_back(radices_[0], n_parents, n_classes_);
        const auto children = family.states(0);
        for (int64_t cell = 0; cell < family.n_cells(); ++cell)
            counts[0].at(children[cell], parent_keys[cell])[family.classes[cell]] +=
                family.weights[cell];
        for (int64_t place = n_dense_ - 1; place > 0; --place)
            counts.push_back(counts.back().without_last(radices_[place]));
        DenseValues sum(radices_[0], 1, n_classes_);
        for (int64_t place = 0; place < n_dense_; ++place) {
            if (place > 0) sum = sum.with_one_more(radices_[place]);
            if (scales[place] > 0.0)
                sum.add_log_probabilities(counts[n_dense_ - 1 - place], prior,
                                          scales[place]);
        }
        dense_ = std::move(sum.values);
    }

    void add_dense(std::span<const StateColumn> columns, int64_t first,
                   Matrix<double> scores) const {
        int64_t cells[kChunk] = {};
        const auto keys = view(cells, scores.rows);
        for (int64_t place = 0; place < n_dense_; ++place)
            append_digit(keys, columns[variables_[place]], first, radices_[place]);
        with_classes(n_classes_, [&](auto n_classes) {
            double* score = scores.data;
            for (const int64_t key : keys) {
                const double* value = dense_.data() + key * n_classes;
                for (int64_t c = 0; c < n_classes; ++c) score[c] += value[c];
                score += n_classes;
            }
        });
    }

    // Deeper levels hold nothing for rows whose parents' states never met.
    void add_hashed(std::span<const StateColumn> columns, int64_t first,
                    Matrix<double> scores) const {
        int64_t parent_keys[kChunk] = {};
        const auto keys = view(parent_keys, scores.rows);
        int64_t n_children = 0, children[kChunk] = {}, alive[kChunk];
        append_digit(view(children, scores.rows), columns[variables_[0]], first, 1);
        for (int64_t row = 0; row < scores.rows; ++row)
            if (children[row] < radices_[0] - 1) alive[n_children++] = row;
        int64_t place = 1;
        for (const auto& level : levels_) {
            for (; place <= level.depth(); ++place)
                append_digit(keys, columns[variables_[place]], first, radices_[place]);
            int64_t n_alive = 0;
            for (int64_t k = 0; k < n_children; ++k) {
                const int64_t row = alive[k];
                alive[n_alive] = row;
                n_alive += level.add(keys[row], children[row], scores[row].data());
            }
            n_children = n_alive;
        }
    }

    int64_t n_classes_, n_dense_ = 1;
    std::vector<int64_t> variables_, radices_;
    std::vector<double> dense_;
    std::vector<HashedLevel> levels_;
};

// Weights of the depths that a family has, those beyond its last parent counted for the
// deepest, without zeros at the end.
std::vector<double> used_scales(std::span<const double> scales, int64_t n_variables) {
    const auto n_used = std::min<int64_t>(n_variables, std::ssize(scales));
    std::vector<double> used(scales.begin(), scales.begin() + n_used);
    for (const double deeper : scales.subspan(n_used)) used.back() += deeper;
    while (!used.empty() && used.back() == 0.0) used.pop_back();
    return used;
}

// The tables of all networks, with codings of their own: nothing of Python's is kept.
class LogProbabilityTables {
public:
    LogProbabilityTables(const Networks& networks, PseudoWeights rule,
                   Matrix<const double> scales, int64_t most_values)
        : n_classes_(networks.n_classes) {
        Watch watch;
        for (const auto& network : networks.members) {
            auto& tables = networks_.emplace_back(network.coding);
            for (int64_t feature = 0; feature < scales.rows; ++feature) {
                const Family family = network.family(feature);
                const auto used = used_scales(scales[feature], family.n_variables());
                if (used.empty()) continue;
                tables.features.emplace_back(family, rule, used, n_classes_, most_values);
                watch.add(family.n_cells() * std::ssize(used) * 20);
            }
        }
    }

    // Adds the log-probabilities of all rows to their scores (n_rows, n_classes).
    void add(const CodeTable& codes, double* scores) const {
        std::vector<StateColumn> columns(codes.slots.size());
        Watch watch;
        for (int64_t tile = 0; tile < codes.n_rows; tile += kTile) {
            const int64_t end = std::min(tile + kTile, codes.n_rows);
            for (const auto& network : networks_) {
                network.read(codes, tile, end - tile, columns);
                for (const auto& table : network.features) {
                    for (int64_t first = tile; first < end; first += kChunk) {
                        const int64_t size = std::min(kChunk, end - first);
                        table.add(columns, first - tile,
                                  {scores + first * n_classes_, size, n_classes_});
                    }
                    watch.add((end - tile) * 10);
                }
            }
        }
    }

private:
    struct NetworkTables {
        std::vector<uint16_t> states;
        std::vector<int64_t> starts;
        std::vector<NestedTable> features;

        explicit NetworkTables(const Coding& coding)
            : states(coding.states.begin(), coding.states.end()),
              starts(coding.starts.begin(), coding.starts.end()) {}

        void read(const CodeTable& codes, int64_t first, int64_t n_rows,
                  std::vector<StateColumn>& columns) const {
            const Coding coding(states.data(), std::ssize(states), starts.data(),
                                std::ssize(starts) - 1);
            if (std::ssize(codes.slots) < coding.n_variables())
                throw std::invalid_argument("the rows lack a variable of the networks");
            std::vector<bool> is_read(columns.size());
            for (const auto& table : features)
                for (const int64_t variable : table.variables())
                    if (!is_read[variable]) {
                        columns[variable].read(codes, variable, coding, first, n_rows);
                        is_read[variable] = true;
                    }
        }
    };

    int64_t n_classes_;
    std::vector<NetworkTables> networks_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Builds the tables of networks under a rule; `scales` (n_features, n_depths) are the
// weights of each feature, dense tables hold at most `most_values` values.
BAYLEAF_API int32_t bl_tables_new(const void* networks, double each, double together,
                                  double shared, const double* scales, int64_t n_depths,
                                  int64_t most_values, void** tables) {
    return guarded([&] {
        const auto& all = *static_cast<const Networks*>(networks);
        *tables = std::make_unique<LogProbabilityTables>(
                      all, PseudoWeights{each, together, shared},
                      Matrix<const double>{scales, all.n_features(), n_depths}, most_values)
                      .release();
    });
}

// Adds the log-probabilities of all rows to their scores (n_rows, n_classes).
BAYLEAF_API int32_t bl_tables_add(const void* tables, const uint8_t* narrow,
                                  int64_t n_narrow, const uint16_t* wide, int64_t n_wide,
                                  const int64_t* slots, int64_t n_slots, int64_t n_rows,
                                  double* scores) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        static_cast<const LogProbabilityTables*>(tables)->add(codes, scores);
    });
}

BAYLEAF_API void bl_tables_free(void* capsule) {
    delete static_cast<LogProbabilityTables*>(content_of(capsule));
}
