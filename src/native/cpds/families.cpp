// Sampled networks, which Python hands over one by one, and the scores of rows.
//
// The terms of a family are ln P(x | class, first j parents) for each j, where a
// configuration of parents that too few rows have repeats that of one parent fewer. They are
// read off the nodes that the row's states lead to, relative to the prior share P(x) of the
// state: states, parents and classes without counts add nothing. Families are gone through
// one by one for many rows, so that each stays in the first cache.
#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

#include "cpds/family_trie.h"
#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Rows whose states stay in the second cache.
constexpr int64_t kTile = 4096;
// Nodes whose logarithms are kept, where they list so many classes.
constexpr int64_t kFirstNodes = 64, kManyLabels = 8;
// A product of probabilities below this goes over into its logarithm.
constexpr double kSmall = 1e-150;

struct Member {
    Coding coding;
    std::vector<FamilyTrie> tries;
};

struct Networks {
    int64_t n_classes;
    PseudoWeights rule;
    double min_rows;
    std::vector<Member> members;

    int64_t n_features() const { return members.empty() ? 0 : std::ssize(members[0].tries); }
};

// Calls body(n_classes) with a number that is known to the compiler where it is small, so
// that loops over classes are unrolled.
template <class Body>
void with_classes(int64_t n_classes, Body&& body) {
    if (n_classes == 2)
        body(std::integral_constant<int64_t, 2>());
    else if (n_classes == 3)
        body(std::integral_constant<int64_t, 3>());
    else
        body(n_classes);
}

// States of all variables in some rows, in a network's coding.
class States {
public:
    void read(const CodeTable& codes, const Coding& coding, int64_t first, int64_t n_rows) {
        n_rows_ = n_rows;
        states_.resize(static_cast<std::size_t>(coding.n_variables() * n_rows));
        for (int64_t v = 0; v < coding.n_variables(); ++v) read_variable(codes, coding, v, first);
    }
    // Those of one family alone.
    void read(const CodeTable& codes, const Coding& coding, std::span<const int64_t> family) {
        n_rows_ = codes.n_rows;
        states_.resize(static_cast<std::size_t>(coding.n_variables() * n_rows_));
        for (const int64_t v : family) read_variable(codes, coding, v, 0);
    }
    const uint16_t* of(int64_t variable) const { return states_.data() + variable * n_rows_; }

private:
    void read_variable(const CodeTable& codes, const Coding& coding, int64_t v, int64_t first) {
        const auto map = coding.of(v);
        uint16_t* out = states_.data() + v * n_rows_;
        codes.column(v, [&](auto column) {
            for (int64_t row = 0; row < n_rows_; ++row) out[row] = map[column[first + row]];
        });
    }
    std::vector<uint16_t> states_;
    int64_t n_rows_ = 0;
};

// What each depth of each family counts, in one set of scales or several.
struct Scales {
    // (n_sets, n_families, n_depths): where a deeper one follows, and where none does.
    Stack<const double> followed;
    std::vector<double> deepest;
    std::span<const int64_t> set_of_row;

    Scales(Stack<const double> scales, std::span<const int64_t> sets)
        : followed(scales), set_of_row(sets) {
        require_below(sets, scales.layers, "a row has no scales");
        const int64_t n_depths = scales.columns;
        deepest.assign(scales.data, scales.data + scales.layers * scales.rows * n_depths);
        for (auto k = std::ssize(deepest) - 2; k >= 0; --k)
            if ((k + 1) % n_depths != 0) deepest[k] += deepest[k + 1];
    }
    // Depths of a family up to the last that counts in some set.
    int64_t n_depths(int64_t family) const {
        int64_t found = 0;
        for (int64_t set = 0; set < followed.layers; ++set)
            for (int64_t depth = found; depth < followed.columns; ++depth)
                if (deepest[place(set, family) + depth] != 0.0) found = depth + 1;
        return found;
    }
    int64_t place(int64_t set, int64_t family) const {
        return (set * followed.rows + family) * followed.columns;
    }
};

// Adds scale * ln(P(x | class, ...) / P(x)) of one family to rows' scores.
class ScoreAdder {
public:
    ScoreAdder(const FamilyTrie& trie, const Scales& scales, int64_t family,
               const States& states, int64_t first)
        : trie_(trie),
          scales_(scales.followed.data + scales.place(0, family)),
          deepest_(scales.deepest.data() + scales.place(0, family)),
          stride_(scales.place(1, 0)),
          sets_(scales.set_of_row.data() + first),
          n_depths_(std::min<int64_t>(std::ssize(trie.variables()), scales.n_depths(family))) {
        for (const int64_t variable : trie.variables()) columns_.push_back(states.of(variable));
    }

    bool is_silent() const { return n_depths_ == 0; }

    template <class Number, class Classes>
    void add(const Number* numbers, Classes n_classes, int64_t n_rows, double* scores) const {
        const double* weights = trie_.prior().weights.data();
        for (int64_t row = 0; row < n_rows; ++row, scores += n_classes) {
            const uint16_t x = columns_[0][row];
            if (weights[x] > 0.0) add_row(numbers, n_classes, row, x, scores);
        }
    }

private:
    template <class Number, class Classes>
    void add_row(const Number* numbers, Classes n_classes, int64_t row, uint16_t x,
                 double* scores) const {
        const double* logs = trie_.logs(x);
        const double* total_logs = trie_.total_logs();
        const int64_t total_row = trie_.total_row();
        const double* scales = scales_ + sets_[row] * stride_;
        const double* deepest = deepest_ + sets_[row] * stride_;
        uint32_t number = 0;
        for (int64_t depth = 0;; ++depth) {
            const FamilyTrie::Node node = trie_.node(number);
            number = depth + 1 < n_depths_ ? trie_.child(number, columns_[depth + 1][row])
                                           : FamilyTrie::kNone;
            const bool is_last = number == FamilyTrie::kNone;
            const double scale = is_last ? deepest[depth] : scales[depth];
            const Number* counts = numbers + node.counts;
            if constexpr (!std::is_same_v<Classes, int64_t>) {
                const Number* own = counts + x * n_classes;
                const Number* all = counts + total_row * n_classes;
                for (int64_t c = 0; c < n_classes; ++c)
                    scores[c] += scale * (logs[own[c]] - total_logs[all[c]]);
            } else {
                const int64_t n_labels = node.n_labels;
                const Number* own = counts + x * n_labels;
                const Number* all = counts + total_row * n_labels;
                const uint16_t* labels = trie_.labels(node);
                if (n_labels == n_classes)
                    for (int64_t c = 0; c < n_labels; ++c)
                        scores[c] += scale * (logs[own[c]] - total_logs[all[c]]);
                else
                    for (int64_t k = 0; k < n_labels; ++k)
                        scores[labels[k]] += scale * (logs[own[k]] - total_logs[all[k]]);
            }
            if (is_last) return;
        }
    }

    const FamilyTrie& trie_;
    const double *scales_, *deepest_;
    int64_t stride_;
    const int64_t* sets_;
    int64_t n_depths_;
    std::vector<const uint16_t*> columns_;
};

void add_scores(const Networks& networks, const CodeTable& codes, const Scales& scales,
                double* scores) {
    States states;
    Watch watch;
    for (int64_t first = 0; first < codes.n_rows; first += kTile) {
        const int64_t n_rows = std::min(kTile, codes.n_rows - first);
        double* const out = scores + first * networks.n_classes;
        for (const Member& member : networks.members) {
            states.read(codes, member.coding, first, n_rows);
            for (int64_t f = 0; f < std::ssize(member.tries); ++f) {
                const FamilyTrie& trie = member.tries[f];
                const ScoreAdder adder(trie, scales, f, states, first);
                if (adder.is_silent()) continue;
                trie.with_numbers([&](const auto* numbers) {
                    with_classes(networks.n_classes, [&](auto n_classes) {
                        adder.add(numbers, n_classes, n_rows, out);
                    });
                });
                watch.add(n_rows * 20);
            }
        }
    }
}

// What each row takes from the counts of its class, -1 for none.
struct LeftOut {
    std::span<const int64_t> own;
    std::span<const double> shares;
};

// Sums over networks of a feature's logarithms, by row, class and depth: what all classes
// share, ln P(x), and what those with counts add.
class FeatureLogs {
public:
    FeatureLogs(const Networks& networks, const CodeTable& codes, LeftOut left_out,
                int64_t n_depths)
        : networks_(networks),
          codes_(codes),
          left_out_(left_out),
          n_depths_(n_depths),
          shared_(static_cast<std::size_t>(codes.n_rows)),
          sums_(static_cast<std::size_t>(codes.n_rows * networks.n_classes * n_depths)),
          products_(static_cast<std::size_t>(codes.n_rows * n_depths), 1.0),
          deltas_(static_cast<std::size_t>(networks.n_classes)) {
        for (const double share : left_out.shares)
            leaves_out_alike_ = leaves_out_alike_ && share == left_out.shares[0];
    }

    // Sums those of one feature.
    void add(int64_t feature) {
        std::ranges::fill(shared_, 0.0);
        std::ranges::fill(sums_, 0.0);
        std::ranges::fill(products_, 1.0);
        for (const Member& member : networks_.members) {
            const FamilyTrie& trie = member.tries[feature];
            states_.read(codes_, member.coding, trie.variables());
            columns_.clear();
            for (const int64_t v : trie.variables()) columns_.push_back(states_.of(v));
            if (networks_.n_classes >= kManyLabels) {
                kept_.assign(static_cast<std::size_t>(kFirstNodes * (trie.total_row() + 1)),
                             -1);
                kept_deltas_.clear();
            }
            trie.with_numbers([&](const auto* numbers) {
                if (number_lines(trie, member.coding))
                    add_lines(trie, numbers);
                else
                    for (int64_t row = 0; row < codes_.n_rows; ++row)
                        add_row(trie, numbers, row, place_of(row));
            });
            watch_.add(codes_.n_rows * n_depths_ * 15);
        }
    }

    // Writes the means of the networks' logarithms as (n_rows, n_classes, n_depths) into
    // the pieces from `first` on.
    template <class Value>
    void write(Stack<Value> values, int64_t first) const {
        const auto n = static_cast<double>(std::ssize(networks_.members));
        const int64_t n_classes = networks_.n_classes;
        for (int64_t row = 0; row < codes_.n_rows; ++row)
            for (int64_t depth = 0; depth < n_depths_; ++depth) {
                const double* sum = &sums_[(row * n_depths_ + depth) * n_classes];
                for (int64_t c = 0; c < n_classes; ++c) {
                    double total = shared_[row] + sum[c];
                    if (c == left_out_.own[row])
                        total += log_of(products_[row * n_depths_ + depth]);
                    values(row, c, first + depth) = static_cast<Value>(total / n);
                }
            }
    }

private:
    // Where something is summed by depth and class; the product of the own class by depth.
    struct Place {
        double *shared, *sums, *products;
    };

    Place place_of(int64_t row) {
        return {&shared_[row], &sums_[row * n_depths_ * networks_.n_classes],
                &products_[row * n_depths_]};
    }

    // Whether many rows are alike in a family, and leave out the same; numbers them then.
    bool number_lines(const FamilyTrie& trie, const Coding& coding) {
        if (codes_.n_rows == 0 || !leaves_out_alike_) return false;
        const int64_t limit = codes_.n_rows / 2;
        int64_t n_keys = networks_.n_classes + 1;
        for (const int64_t v : trie.variables()) {
            n_keys *= coding.radix(v);
            if (n_keys > limit) return false;
        }
        line_of_key_.assign(static_cast<std::size_t>(n_keys), -1);
        line_of_row_.resize(static_cast<std::size_t>(codes_.n_rows));
        first_rows_.clear();
        for (int64_t row = 0; row < codes_.n_rows; ++row) {
            int64_t key = left_out_.own[row] + 1;
            for (std::size_t k = 0; k < columns_.size(); ++k)
                key = key * coding.radix(trie.variables()[k]) + columns_[k][row];
            if (line_of_key_[key] < 0) {
                line_of_key_[key] = static_cast<int32_t>(first_rows_.size());
                first_rows_.push_back(row);
            }
            line_of_row_[row] = line_of_key_[key];
        }
        return true;
    }

    template <class Number>
    void add_lines(const FamilyTrie& trie, const Number* numbers) {
        const int64_t n_lines = std::ssize(first_rows_);
        const int64_t size = n_depths_ * networks_.n_classes;
        line_shared_.assign(static_cast<std::size_t>(n_lines), 0.0);
        line_sums_.assign(static_cast<std::size_t>(n_lines * size), 0.0);
        line_products_.assign(static_cast<std::size_t>(n_lines * n_depths_), 1.0);
        for (int64_t line = 0; line < n_lines; ++line)
            add_row(trie, numbers, first_rows_[line],
                    {&line_shared_[line], &line_sums_[line * size],
                     &line_products_[line * n_depths_]});
        for (int64_t row = 0; row < codes_.n_rows; ++row) {
            const int64_t line = line_of_row_[row];
            const Place place = place_of(row);
            *place.shared += line_shared_[line];
            for (int64_t k = 0; k < size; ++k) place.sums[k] += line_sums_[line * size + k];
            for (int64_t depth = 0; depth < n_depths_; ++depth)
                multiply(place, row, depth, line_products_[line * n_depths_ + depth]);
        }
    }

    template <class Number>
    void add_row(const FamilyTrie& trie, const Number* numbers, int64_t row, Place place) {
        const Prior& prior = trie.prior();
        const uint16_t x = columns_[0][row];
        const double share = left_out_.own[row] < 0 ? 0.0 : left_out_.shares[row];
        const double weight = prior.without(x, share);
        if (weight <= 0.0) return;
        *place.shared += weight == prior.weights[x] ? trie.share_log(x)
                                                   : log_of(weight / prior.strength);
        const int64_t n_used = std::min<int64_t>(n_depths_, std::ssize(trie.variables()));
        uint32_t number = 0;
        for (int64_t depth = 0; number != FamilyTrie::kNone;) {
            const FamilyTrie::Node node = trie.node(number);
            const int64_t before = number;
            number = depth + 1 < n_used
                         ? next(trie, numbers, number, row, depth + 1, share)
                         : FamilyTrie::kNone;
            // Without a deeper node, this one is repeated.
            const int64_t end = number == FamilyTrie::kNone ? n_depths_ : depth + 1;
            add_node(trie, numbers, before, node, row, place, depth, end, weight);
            depth = end;
        }
    }

    // Adds the logarithms of a node at some depths.
    template <class Number>
    void add_node(const FamilyTrie& trie, const Number* numbers, int64_t number,
                  const FamilyTrie::Node& node, int64_t row, Place place, int64_t first,
                  int64_t end, double weight) {
        const Prior& prior = trie.prior();
        const uint16_t x = columns_[0][row];
        const int64_t n_classes = networks_.n_classes, own = left_out_.own[row];
        const int64_t n_labels = node.n_labels;
        const bool has_all = n_labels == n_classes;
        const uint16_t* labels = has_all ? nullptr : trie.labels(node);
        const Number* of_x = numbers + node.counts + x * n_labels;
        const Number* of_all = numbers + node.counts + trie.total_row() * n_labels;
        const double nothing = weight / prior.strength;
        const double* deltas;
        if (weight == prior.weights[x]) {
            deltas = unchanged_deltas(trie, number, n_labels, x, of_x, of_all);
        } else {
            // The row that is left out has changed the state's share.
            for (int64_t k = 0; k < n_labels; ++k)
                deltas_[k] = log_of((trie.values()[of_x[k]] + weight) /
                                    (trie.values()[of_all[k]] + prior.strength) / nothing);
            deltas = deltas_.data();
        }
        double of_own = 0.0;
        if (own >= 0) {
            const int64_t k =
                has_all ? own : std::lower_bound(labels, labels + n_labels, own) - labels;
            if (k < n_labels && (has_all || labels[k] == own)) {
                const double share = left_out_.shares[row];
                const double count = Prior::less(trie.values()[of_x[k]], share);
                const double total = Prior::less(trie.values()[of_all[k]], share);
                const double ratio = (count + weight) / (total + prior.strength) / nothing;
                for (int64_t depth = first; depth < end; ++depth)
                    multiply(place, row, depth, ratio);
                of_own = deltas[k];
            }
        }
        for (int64_t depth = first; depth < end; ++depth) {
            double* sum = place.sums + depth * n_classes;
            // The row's own class has a product instead.
            if (of_own != 0.0) sum[own] -= of_own;
            if (has_all)
                for (int64_t c = 0; c < n_classes; ++c) sum[c] += deltas[c];
            else
                for (int64_t k = 0; k < n_labels; ++k) sum[labels[k]] += deltas[k];
        }
    }

    // The logarithms of a node for a state. Those of the first nodes, which many rows meet,
    // are kept for the family if there are many classes.
    template <class Number>
    const double* unchanged_deltas(const FamilyTrie& trie, int64_t number, int64_t n_labels,
                                   uint16_t x, const Number* of_x, const Number* of_all) {
        double* out = deltas_.data();
        if (n_labels >= kManyLabels && number < kFirstNodes) {
            int64_t& begin = kept_[number * (trie.total_row() + 1) + x];
            if (begin >= 0) return kept_deltas_.data() + begin;
            begin = std::ssize(kept_deltas_);
            kept_deltas_.resize(kept_deltas_.size() + n_labels);
            out = kept_deltas_.data() + begin;
        }
        const double* logs = trie.logs(x);
        const double* total_logs = trie.total_logs();
        for (int64_t k = 0; k < n_labels; ++k)
            out[k] = logs[of_x[k]] - total_logs[of_all[k]];
        return out;
    }

    // Multiplies what the row's own class has at a depth.
    void multiply(Place place, int64_t row, int64_t depth, double ratio) {
        double& product = place.products[depth];
        product *= ratio;
        if (product < kSmall || product > 1.0 / kSmall) {
            place.sums[depth * networks_.n_classes + left_out_.own[row]] += log_of(product);
            product = 1.0;
        }
    }

    // The node of one parent more; kNone if too few rows are left in it.
    template <class Number>
    uint32_t next(const FamilyTrie& trie, const Number* numbers, uint32_t number,
                  int64_t row, int64_t place, double share) const {
        const uint32_t child = trie.child(number, columns_[place][row]);
        if (child == FamilyTrie::kNone || share <= 0.0) return child;
        const double rest = Prior::less(
            trie.values()[numbers[trie.total(trie.node(child))]], share);
        // A sum of weights below one is as good as any.
        const bool exists = networks_.min_rows > 1.0 ? rest >= networks_.min_rows : rest > 0.0;
        return exists ? child : FamilyTrie::kNone;
    }

    const Networks& networks_;
    const CodeTable& codes_;
    LeftOut left_out_;
    int64_t n_depths_;
    bool leaves_out_alike_ = true;
    std::vector<double> shared_, sums_, products_, deltas_, kept_deltas_;
    std::vector<int64_t> kept_;
    std::vector<double> line_shared_, line_sums_, line_products_;
    std::vector<int32_t> line_of_key_, line_of_row_;
    std::vector<int64_t> first_rows_;
    States states_;
    std::vector<const uint16_t*> columns_;
    Watch watch_;
};

void check_rows(const Networks& networks, const CodeTable& codes) {
    for (const Member& member : networks.members)
        if (std::ssize(codes.slots) < member.coding.n_variables())
            throw std::invalid_argument("the rows lack a variable of the networks");
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Networks under a smoothing rule, in which configurations of parents exist that so many
// rows have.
BAYLEAF_API int32_t bl_networks_new(int64_t n_classes, double each, double together,
                                    double shared, double min_rows, void** networks) {
    return guarded([&] {
        *networks = std::make_unique<Networks>(
                        Networks{n_classes, {each, together, shared}, min_rows, {}})
                        .release();
    });
}

// Adds a network: families (n_families, n_places), the coding's values and where each
// variable's begin, which stay where they are, and states (n_places, n_cells), classes,
// weights and starts of the cells, which are copied.
BAYLEAF_API int32_t bl_networks_add(void* networks, const int64_t* families,
                                    int64_t n_families, int64_t n_places,
                                    const uint16_t* values, int64_t n_values,
                                    const int64_t* value_starts, int64_t n_variables,
                                    const uint16_t* states, const uint16_t* classes,
                                    const double* weights, int64_t n_cells,
                                    const int64_t* starts) {
    return guarded([&] {
        auto& all = *static_cast<Networks*>(networks);
        if (!all.members.empty() && n_families != all.n_features())
            throw std::invalid_argument("networks have different numbers of features");
        Member member{{values, n_values, value_starts, n_variables}, {}};
        const Matrix<const int64_t> places{families, n_families, n_places};
        bool fits = starts[0] == 0 && starts[n_families] == n_cells;
        for (int64_t f = 0; fits && f < n_families; ++f) {
            fits = starts[f] <= starts[f + 1];
            for (const int64_t variable : places[f])
                fits = fits && variable >= -1 && variable < n_variables;
        }
        if (!fits)
            throw std::invalid_argument(
                "a network's families and cells do not fit together");
        member.tries.reserve(static_cast<std::size_t>(n_families));
        for (int64_t f = 0; f < n_families; ++f) {
            const auto own = places[f];
            const int64_t size = starts[f + 1] - starts[f];
            const Family family{own.first(std::ranges::find(own, -1) - own.begin()),
                                member.coding,
                                {states, n_places, n_cells},
                                view(classes + starts[f], size),
                                view(weights + starts[f], size),
                                starts[f]};
            family.check(all.n_classes);
            member.tries.emplace_back(family, all.rule, all.n_classes);
        }
        all.members.push_back(std::move(member));
    });
}

// Bytes that the networks take, and their nodes.
BAYLEAF_API int32_t bl_networks_size(const void* networks, int64_t* n_bytes,
                                     int64_t* n_nodes) {
    return guarded([&] {
        *n_bytes = *n_nodes = 0;
        for (const Member& member : static_cast<const Networks*>(networks)->members)
            for (const FamilyTrie& trie : member.tries) {
                *n_bytes += trie.n_bytes();
                *n_nodes += trie.n_nodes();
            }
    });
}

// Adds scale * ln(P(x | class, ...) / P(x)) of all families to scores (n_rows, n_classes);
// scales have the shape (n_features, n_depths).
BAYLEAF_API int32_t bl_networks_add_scores(const void* networks, const uint8_t* narrow,
                                           int64_t n_narrow, const uint16_t* wide,
                                           int64_t n_wide, const int64_t* slots,
                                           int64_t n_slots, int64_t n_rows,
                                           const double* scales, int64_t n_sets,
                                           int64_t n_depths, const int64_t* sets,
                                           double* scores) {
    return guarded([&] {
        const auto& all = *static_cast<const Networks*>(networks);
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        check_rows(all, codes);
        const Stack<const double> by_set{scales, n_sets, all.n_features(), n_depths};
        add_scores(all, codes, {by_set, view(sets, n_rows)}, scores);
    });
}

// Writes the log-probabilities of some features at depths 0 .. n_depths - 1 into values of
// shape (n_rows, n_classes, n_pieces), from piece `first` on; of one or two words each.
BAYLEAF_API int32_t bl_write_log_probabilities(
    const void* networks, int64_t feature, int64_t n_features, const uint8_t* narrow, int64_t n_narrow,
    const uint16_t* wide, int64_t n_wide, const int64_t* slots, int64_t n_slots,
    int64_t n_rows, const int64_t* own, const double* shares, void* values,
    int64_t n_pieces, int64_t first, int64_t n_depths, bool is_single) {
    return guarded([&] {
        const auto& all = *static_cast<const Networks*>(networks);
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const LeftOut left_out{view(own, n_rows), view(shares, n_rows)};
        const auto has_class = [&](int64_t c) { return c >= -1 && c < all.n_classes; };
        if (!std::ranges::all_of(left_out.own, has_class))
            throw std::invalid_argument("a row leaves out a class that does not exist");
        check_rows(all, codes);
        const auto write = [&]<class Value>(Value* out) {
            FeatureLogs logs(all, codes, left_out, n_depths);
            for (int64_t f = 0; f < n_features; ++f) {
                logs.add(feature + f);
                logs.write(Stack<Value>{out, n_rows, all.n_classes, n_pieces},
                           first + f * n_depths);
            }
        };
        if (is_single)
            write(static_cast<float*>(values));
        else
            write(static_cast<double*>(values));
    });
}

BAYLEAF_API void bl_networks_free(void* capsule) {
    delete static_cast<Networks*>(content_of(capsule));
}
