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
// Bytes of the sums of rows that are worked off at a time.
constexpr int64_t kTileBytes = 1 << 21;
// Rows that go down all trees of a network side by side.
constexpr int64_t kFewRows = 16;
// Nodes whose logarithms are kept.
constexpr int64_t kFirstNodes = 16;

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
        resize(coding, n_rows);
        for (int64_t v = 0; v < coding.n_variables(); ++v) read_variable(codes, coding, v, first);
    }
    // Those of one family alone.
    void read(const CodeTable& codes, const Coding& coding, std::span<const int64_t> family,
              int64_t first, int64_t n_rows) {
        resize(coding, n_rows);
        for (const int64_t v : family) read_variable(codes, coding, v, first);
    }
    const uint16_t* of(int64_t variable) const { return states_.data() + variable * n_rows_; }

private:
    void resize(const Coding& coding, int64_t n_rows) {
        n_rows_ = n_rows;
        states_.resize(static_cast<std::size_t>(coding.n_variables() * n_rows));
    }
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

// The nodes of a row in all trees of a network. One tree after another, a row would wait
// for memory at each node; level by level, the trees wait together.
class Ways {
public:
    // Goes down tree f to n_depths[f] nodes at most.
    void find(const Member& member, const States& states, int64_t row,
              std::span<const int64_t> n_depths) {
        n_trees_ = std::ssize(member.tries);
        const int64_t n_levels = n_trees_ ? std::ranges::max(n_depths) : 0;
        nodes_.assign(static_cast<std::size_t>((n_levels + 1) * n_trees_), FamilyTrie::kNone);
        for (int64_t f = 0; f < n_trees_; ++f) {
            member.tries[f].prefetch_arrays();
            if (n_depths[f] > 0) nodes_[f] = 0;
        }
        // Calls body(f, the node of a tree that may have another, the state that leads on).
        const auto each = [&](int64_t level, auto&& body) {
            for (int64_t f = 0; f < n_trees_; ++f) {
                const auto variables = member.tries[f].variables();
                const uint32_t number = node(f, level - 1);
                if (number != FamilyTrie::kNone &&
                    level < std::min<int64_t>(n_depths[f], std::ssize(variables)))
                    body(f, number, states.of(variables[level])[row]);
            }
        };
        for (int64_t level = 1; level < n_levels; ++level) {
            each(level, [&](int64_t f, uint32_t number, uint16_t state) {
                member.tries[f].prefetch_child(number, state);
            });
            each(level, [&](int64_t f, uint32_t number, uint16_t state) {
                const uint32_t child = member.tries[f].child(number, state);
                nodes_[level * n_trees_ + f] = child;
                if (child != FamilyTrie::kNone) member.tries[f].prefetch_node(child);
            });
        }
    }
    // kNone past the last one.
    uint32_t node(int64_t f, int64_t level) const { return nodes_[level * n_trees_ + f]; }

private:
    int64_t n_trees_ = 0;
    std::vector<uint32_t> nodes_;
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
    ScoreAdder(const FamilyTrie& trie, const Scales& scales, int64_t family, int64_t n_depths,
               const States& states, int64_t first)
        : trie_(trie),
          scales_(scales.followed.data + scales.place(0, family)),
          deepest_(scales.deepest.data() + scales.place(0, family)),
          stride_(scales.place(1, 0)),
          sets_(scales.set_of_row.data() + first),
          states_(states),
          n_depths_(std::min<int64_t>(std::ssize(trie.variables()), n_depths)) {}

    template <class Number, class Classes>
    void add(const Number* numbers, Classes n_classes, int64_t n_rows, double* scores) const {
        std::vector<const uint16_t*> columns;
        for (const int64_t variable : trie_.variables()) columns.push_back(states_.of(variable));
        for (int64_t row = 0; row < n_rows; ++row, scores += n_classes)
            add_row(numbers, n_classes, row, scores, [&](uint32_t number, int64_t depth) {
                return depth < n_depths_ ? trie_.child(number, columns[depth][row])
                                         : FamilyTrie::kNone;
            });
    }

    // Adds the terms of a row; next(node, depth) is the node at a depth below another.
    template <class Number, class Classes, class Next>
    void add_row(const Number* numbers, Classes n_classes, int64_t row, double* scores,
                 Next&& next) const {
        const uint16_t x = states_.of(trie_.variables()[0])[row];
        if (trie_.prior().weights[x] > 0.0) add_terms(numbers, n_classes, row, x, scores, next);
    }

private:
    template <class Number, class Classes, class Next>
    void add_terms(const Number* numbers, Classes n_classes, int64_t row, uint16_t x,
                   double* scores, Next&& next) const {
        const double* logs = trie_.logs(x);
        const double* total_logs = trie_.total_logs();
        const int64_t total_row = trie_.total_row();
        const double* scales = scales_ + sets_[row] * stride_;
        const double* deepest = deepest_ + sets_[row] * stride_;
        uint32_t number = 0;
        for (int64_t depth = 0;; ++depth) {
            const FamilyTrie::Node node = trie_.node(number);
            number = next(number, depth + 1);
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
    const States& states_;
    int64_t n_depths_;
};

void add_scores(const Networks& networks, const CodeTable& codes, const Scales& scales,
                double* scores) {
    States states;
    Ways ways;
    Watch watch;
    std::vector<int64_t> n_depths;
    for (int64_t f = 0; f < networks.n_features(); ++f) n_depths.push_back(scales.n_depths(f));
    for (int64_t first = 0; first < codes.n_rows; first += kTile) {
        const int64_t n_rows = std::min(kTile, codes.n_rows - first);
        double* const out = scores + first * networks.n_classes;
        for (const Member& member : networks.members) {
            states.read(codes, member.coding, first, n_rows);
            // Calls add(adder, numbers, n_classes) for each family that counts.
            const auto each = [&](auto&& add) {
                for (int64_t f = 0; f < std::ssize(member.tries); ++f) {
                    if (n_depths[f] == 0) continue;
                    const FamilyTrie& trie = member.tries[f];
                    const ScoreAdder adder(trie, scales, f, n_depths[f], states, first);
                    trie.with_numbers([&](const auto* numbers) {
                        with_classes(networks.n_classes, [&](auto n_classes) {
                            add(adder, f, numbers, n_classes);
                        });
                    });
                }
                watch.add(n_rows * 20 * std::ssize(member.tries));
            };
            if (n_rows > kFewRows) {
                each([&](const ScoreAdder& adder, int64_t, const auto* numbers, auto n_classes) {
                    adder.add(numbers, n_classes, n_rows, out);
                });
                continue;
            }
            for (int64_t row = 0; row < n_rows; ++row) {
                ways.find(member, states, row, n_depths);
                each([&](const ScoreAdder& adder, int64_t f, const auto* numbers,
                         auto n_classes) {
                    adder.add_row(numbers, n_classes, row, out + row * networks.n_classes,
                                  [&](uint32_t, int64_t depth) { return ways.node(f, depth); });
                });
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
// share, ln P(x), and what those with counts add. Some rows at a time go down each tree
// side by side, so that they need not wait for one another.
class FeatureLogs {
public:
    FeatureLogs(const Networks& networks, const CodeTable& codes, LeftOut left_out,
                int64_t n_depths)
        : networks_(networks), codes_(codes), left_out_(left_out), n_depths_(n_depths) {
        const int64_t bytes = 8 * networks.n_classes * n_depths;
        tile_ = std::clamp<int64_t>(kTileBytes / bytes, 16, kTile);
        const auto n_rows = static_cast<std::size_t>(std::min(tile_, codes.n_rows));
        const auto n_classes = static_cast<std::size_t>(networks.n_classes);
        shared_.resize(n_rows);
        weights_.resize(n_rows);
        nodes_.resize(n_rows);
        deltas_.resize(n_rows * n_classes);
        sums_.resize(static_cast<std::size_t>(n_depths) * deltas_.size());
        for (int64_t row = 0; row < codes.n_rows; ++row)
            leaves_out_alike_ = leaves_out_alike_ && share_of(row) == share_of(0);
        if (codes.n_rows > 0) share_of_all_ = share_of(0);
    }

    // Writes the means of the networks' logarithms of a feature as (n_rows, n_classes,
    // n_depths) into the pieces from `first` on; depths that are not used repeat the last.
    template <class Value>
    void write(int64_t feature, int64_t n_used, Stack<Value> values, int64_t first) {
        for (first_row_ = 0; first_row_ < codes_.n_rows; first_row_ += tile_) {
            n_rows_ = std::min(tile_, codes_.n_rows - first_row_);
            std::ranges::fill(shared_, 0.0);
            std::ranges::fill(sums_, 0.0);
            const auto& members = networks_.members;
            for (std::size_t m = 0; m < members.size(); ++m) {
                if (m + 2 < members.size()) members[m + 2].tries[feature].prefetch();
                if (m + 1 < members.size()) members[m + 1].tries[feature].prefetch_arrays();
                add(members[m], feature, n_used);
            }
            write_means(values, first, shared_.data(), sums_.data());
        }
    }

    // Whether all features of the rows may be written at once, network by network, whose
    // trees are neighbours in memory.
    bool writes_all() const {
        const int64_t bytes = 8 * std::ssize(sums_) * networks_.n_features();
        return codes_.n_rows <= kFewRows && bytes <= kTileBytes &&
               std::ranges::all_of(left_out_.own, [](int64_t own) { return own < 0; });
    }

    // Does so, where no row is left out, and each feature uses so many depths.
    template <class Value>
    void write_all(std::span<const int64_t> n_used, Stack<Value> values, int64_t first) {
        n_rows_ = codes_.n_rows;
        const int64_t n_features = networks_.n_features();
        const auto n_sums = std::ssize(sums_), size = std::ssize(deltas_);
        shared_.assign(static_cast<std::size_t>(n_features * n_rows_), 0.0);
        sums_.assign(static_cast<std::size_t>(n_features * n_sums), 0.0);
        for (const Member& member : networks_.members) {
            states_.read(codes_, member.coding, 0, n_rows_);
            for (int64_t row = 0; row < n_rows_; ++row) {
                ways_.find(member, states_, row, n_used);
                for (int64_t f = 0; f < n_features; ++f)
                    add_way(member.tries[f], f, n_used[f], row, &shared_[f * n_rows_ + row],
                            &sums_[f * n_sums + row * networks_.n_classes], size);
            }
            watch_.add(n_features * n_rows_ * n_depths_ * (5 + networks_.n_classes));
        }
        for (int64_t f = 0; f < n_features; ++f)
            write_means(values, first + f * n_depths_, &shared_[f * n_rows_],
                        &sums_[f * n_sums]);
    }

private:
    // Adds the logarithms of a row in one tree: to sums of classes, by depth in strides.
    void add_way(const FamilyTrie& trie, int64_t feature, int64_t n_used, int64_t row,
                 double* shared, double* sums, int64_t stride) {
        columns_.assign(1, states_.of(trie.variables()[0]));
        const uint16_t x = columns_[0][row];
        if (!start(trie, row, x, *shared)) return;
        double* const deltas = deltas_.data();
        trie.with_numbers([&](const auto* numbers) {
            with_classes(networks_.n_classes, [&](auto n_classes) {
                for (int64_t depth = 0; depth < n_depths_; ++depth, sums += stride) {
                    const uint32_t number =
                        depth < n_used ? ways_.node(feature, depth) : FamilyTrie::kNone;
                    if (number != FamilyTrie::kNone) {
                        nodes_[row] = number;
                        find_deltas(trie, numbers, n_classes, row, deltas);
                    }
                    for (int64_t c = 0; c < n_classes; ++c) sums[c] += deltas[c];
                }
            });
        });
    }

    // Begins a row's way at the root of a tree; false if its state has no prior weight.
    bool start(const FamilyTrie& trie, int64_t row, uint16_t x, double& shared) {
        const Prior& prior = trie.prior();
        const double weight = prior.without(x, share_of(first_row_ + row));
        if (weight <= 0.0) return false;
        shared += weight == prior.weights[x] ? trie.share_log(x)
                                             : log_of(weight / prior.strength);
        weights_[row] = weight;
        nodes_[row] = 0;
        return true;
    }

    double share_of(int64_t row) const {
        return left_out_.own[row] < 0 ? 0.0 : left_out_.shares[row];
    }

    // Adds the logarithms of one network.
    void add(const Member& member, int64_t feature, int64_t n_used) {
        const FamilyTrie& trie = member.tries[feature];
        states_.read(codes_, member.coding, trie.variables(), first_row_, n_rows_);
        columns_.clear();
        for (const int64_t v : trie.variables()) columns_.push_back(states_.of(v));
        look_up_own(trie);
        if (networks_.n_classes > FamilyTrie::kFewClasses && n_rows_ > kFirstNodes) {
            kept_places_.assign(static_cast<std::size_t>(kFirstNodes * trie.total_row()), -1);
            kept_.clear();
        }
        trie.with_numbers([&](const auto* numbers) {
            with_classes(networks_.n_classes, [&](auto n_classes) {
                add_rows(trie, numbers, n_classes,
                         std::min<int64_t>(n_used, std::ssize(columns_)));
            });
        });
        watch_.add(n_rows_ * n_depths_ * (5 + networks_.n_classes));
    }

    // Tabulates the logarithms of counts that a row has left, where all rows leave out the
    // same and the prior weights stay.
    void look_up_own(const FamilyTrie& trie) {
        const Prior& prior = trie.prior();
        const double share = share_of_all_, weight = prior.weights[0];
        has_own_logs_ = leaves_out_alike_ && share > 0.0 && !prior.follows_shares &&
                        n_rows_ > std::ssize(trie.values());
        if (!has_own_logs_) return;
        own_logs_.clear();
        own_total_logs_.clear();
        for (const double value : trie.values()) {
            const double rest = Prior::less(value, share);
            own_logs_.push_back(log_of((rest + weight) / weight));
            own_total_logs_.push_back(log_of((rest + prior.strength) / prior.strength));
        }
    }

    template <class Number, class Classes>
    void add_rows(const FamilyTrie& trie, const Number* numbers, Classes n_classes,
                  int64_t n_used) {
        const int64_t size = n_rows_ * n_classes;
        std::fill_n(deltas_.begin(), size, 0.0);
        active_.clear();
        for (int64_t row = 0; row < n_rows_; ++row) {
            if (start(trie, row, columns_[0][row], shared_[row]))
                active_.push_back(static_cast<int32_t>(row));
        }
        for (int64_t depth = 0; depth < n_depths_; ++depth) {
            if (depth > 0 && depth < n_used) descend(trie, numbers, columns_[depth]);
            if (depth < n_used) find_all_deltas(trie, numbers, n_classes);
            // A row without a deeper node repeats the one before.
            double* sums = sums_.data() + depth * size;
            for (int64_t k = 0; k < size; ++k) sums[k] += deltas_[k];
        }
    }

    // Writes what the nodes of all rows that are still on their way add.
    template <class Number, class Classes>
    void find_all_deltas(const FamilyTrie& trie, const Number* numbers, Classes n_classes) {
        if constexpr (!std::is_same_v<Classes, int64_t>) {
            if (has_own_logs_) return find_alike_deltas(trie, numbers, n_classes);
        }
        for (const int32_t row : active_)
            find_deltas(trie, numbers, n_classes, row, deltas_.data() + row * n_classes);
    }

    // The same where all rows leave out alike and all nodes list all classes: look-ups alone.
    template <class Number, class Classes>
    void find_alike_deltas(const FamilyTrie& trie, const Number* numbers, Classes n_classes) {
        const double *logs = trie.logs(0), *total_logs = trie.total_logs();
        const double *own_logs = own_logs_.data(), *own_total_logs = own_total_logs_.data();
        const int64_t* owns = left_out_.own.data() + first_row_;
        const int64_t total_row = trie.total_row() * n_classes;
        for (const int32_t row : active_) {
            const Number* of_all = numbers + trie.node(nodes_[row]).counts + total_row;
            const Number* of_x = of_all - total_row + columns_[0][row] * n_classes;
            double* out = deltas_.data() + row * n_classes;
            for (int64_t c = 0; c < n_classes; ++c)
                out[c] = logs[of_x[c]] - total_logs[of_all[c]];
            const int64_t own = owns[row];
            out[own] = own_logs[of_x[own]] - own_total_logs[of_all[own]];
        }
    }

    // Takes rows to the nodes of one parent more; drops those of which too few rows are
    // left in it.
    template <class Number>
    void descend(const FamilyTrie& trie, const Number* numbers, const uint16_t* states) {
        // A sum of weights below one is as good as any.
        const double least = networks_.min_rows > 1.0 ? networks_.min_rows : 0.0;
        const double* values = trie.values().data();
        std::size_t n_left = 0;
        for (const int32_t row : active_) {
            const uint32_t child = trie.child(nodes_[row], states[row]);
            if (child == FamilyTrie::kNone) continue;
            const double share = leaves_out_alike_ ? share_of_all_ : share_of(first_row_ + row);
            if (share > 0.0) {
                const Number total = numbers[trie.total(trie.node(child))];
                const double rest = Prior::less(values[total], share);
                if (rest < least || rest == 0.0) continue;
            }
            nodes_[row] = child;
            active_[n_left++] = row;
        }
        active_.resize(n_left);
    }

    // Writes ln(P(x | class, ...) / P(x)) at a row's node.
    template <class Number, class Classes>
    void find_deltas(const FamilyTrie& trie, const Number* numbers, Classes n_classes,
                     int64_t row, double* out) {
        const Prior& prior = trie.prior();
        const uint16_t x = columns_[0][row];
        const uint32_t number = nodes_[row];
        const double weight = weights_[row], nothing = weight / prior.strength;
        const FamilyTrie::Node node = trie.node(number);
        const int64_t n_labels = node.n_labels;
        const bool has_all = n_labels == n_classes;
        const uint16_t* labels = has_all ? nullptr : trie.labels(node);
        const Number* of_x = numbers + node.counts + x * n_labels;
        const Number* of_all = numbers + node.counts + trie.total_row() * n_labels;
        const bool is_unchanged = weight == prior.weights[x];
        const double* logs = trie.logs(x);
        const double* total_logs = trie.total_logs();
        // The row that is left out may have changed the state's share.
        const auto delta = [&](int64_t k) {
            if (is_unchanged) return logs[of_x[k]] - total_logs[of_all[k]];
            return log_of((trie.values()[of_x[k]] + weight) /
                          (trie.values()[of_all[k]] + prior.strength) / nothing);
        };
        if constexpr (!std::is_same_v<Classes, int64_t>) {
            for (int64_t c = 0; c < n_classes; ++c) out[c] = delta(c);
        } else {
            int64_t* kept = nullptr;
            if (number < kFirstNodes && is_unchanged && !kept_places_.empty())
                kept = &kept_places_[number * trie.total_row() + x];
            if (kept && *kept >= 0) {
                std::copy_n(kept_.data() + *kept, n_classes, out);
            } else {
                if (!has_all) std::fill_n(out, n_classes, 0.0);
                if (is_unchanged)
                    look_up(of_x, of_all, logs, total_logs, labels, n_labels, out);
                else
                    for (int64_t k = 0; k < n_labels; ++k) out[has_all ? k : labels[k]] = delta(k);
                if (kept) {
                    *kept = std::ssize(kept_);
                    kept_.insert(kept_.end(), out, out + n_classes);
                }
            }
        }
        const int64_t own = left_out_.own[first_row_ + row];
        if (own < 0) return;
        const int64_t k = has_all ? own : place_of(own, labels, n_labels);
        if (k < 0) return;
        if (has_own_logs_) {
            out[own] = own_logs_[of_x[k]] - own_total_logs_[of_all[k]];
            return;
        }
        const double share = left_out_.shares[first_row_ + row];
        const double count = Prior::less(trie.values()[of_x[k]], share);
        const double total = Prior::less(trie.values()[of_all[k]], share);
        out[own] = log_of((count + weight) / (total + prior.strength) / nothing);
    }

    // Writes the logarithms of a node's counts less those of all states; left to itself,
    // else compilers run out of registers.
    template <class Number>
    [[gnu::noinline]] static void look_up(const Number* of_x, const Number* of_all,
                                          const double* logs, const double* total_logs,
                                          const uint16_t* labels, int64_t n_labels,
                                          double* out) {
        if (labels)
            for (int64_t k = 0; k < n_labels; ++k)
                out[labels[k]] = logs[of_x[k]] - total_logs[of_all[k]];
        else
            for (int64_t k = 0; k < n_labels; ++k)
                out[k] = logs[of_x[k]] - total_logs[of_all[k]];
    }

    // Where a class is among those of a node, -1 without it.
    static int64_t place_of(int64_t label, const uint16_t* labels, int64_t n_labels) {
        // Without branches, which no processor could foresee.
        uint16_t place = 0;
        for (int64_t k = 0; k < n_labels; ++k) place += labels[k] < label ? 1 : 0;
        return place < n_labels && labels[place] == label ? place : -1;
    }

    template <class Value>
    void write_means(Stack<Value> values, int64_t first, const double* shared,
                     const double* sums) const {
        const auto n = static_cast<double>(std::ssize(networks_.members));
        const int64_t n_classes = networks_.n_classes, size = n_rows_ * n_classes;
        for (int64_t row = 0; row < n_rows_; ++row)
            for (int64_t c = 0; c < n_classes; ++c)
                for (int64_t depth = 0; depth < n_depths_; ++depth) {
                    const double sum = sums[depth * size + row * n_classes + c];
                    values(first_row_ + row, c, first + depth) =
                        static_cast<Value>((shared[row] + sum) / n);
                }
    }

    const Networks& networks_;
    const CodeTable& codes_;
    LeftOut left_out_;
    int64_t n_depths_, tile_, first_row_ = 0, n_rows_ = 0;
    bool leaves_out_alike_ = true, has_own_logs_ = false;
    double share_of_all_ = 0.0;
    // Of the rows of a tile: what all classes share, the prior weight of the state, the
    // node, and what classes add there; the sums have the shape (n_depths, rows, classes).
    std::vector<double> shared_, weights_, deltas_, sums_;
    std::vector<uint32_t> nodes_;
    // Rows that have gone down so far.
    std::vector<int32_t> active_;
    // Logarithms of what a row leaves of its own class's counts.
    std::vector<double> own_logs_, own_total_logs_;
    // What the first nodes, which many rows meet, add for each state.
    std::vector<double> kept_;
    std::vector<int64_t> kept_places_;
    States states_;
    Ways ways_;
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
// Past the depths that a feature uses, the last is repeated.
BAYLEAF_API int32_t bl_write_log_probabilities(
    const void* networks, int64_t feature, int64_t n_features, const int64_t* n_used,
    const uint8_t* narrow, int64_t n_narrow, const uint16_t* wide, int64_t n_wide, const int64_t* slots, int64_t n_slots,
    int64_t n_rows, const int64_t* own, const double* shares, void* values,
    int64_t n_pieces, int64_t first, int64_t n_depths, bool is_single) {
    return guarded([&] {
        const auto& all = *static_cast<const Networks*>(networks);
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const LeftOut left_out{view(own, n_rows), view(shares, n_rows)};
        const auto has_class = [&](int64_t c) { return c >= -1 && c < all.n_classes; };
        if (!std::ranges::all_of(left_out.own, has_class))
            throw std::invalid_argument("a row leaves out a class that does not exist");
        const auto used = view(n_used, n_features);
        if (!std::ranges::all_of(used, [&](int64_t n) { return n >= 1 && n <= n_depths; }))
            throw std::invalid_argument("a feature uses depths that do not exist");
        check_rows(all, codes);
        const auto write = [&]<class Value>(Value* out) {
            FeatureLogs logs(all, codes, left_out, n_depths);
            const Stack<Value> pieces{out, n_rows, all.n_classes, n_pieces};
            if (n_features == all.n_features() && logs.writes_all()) {
                logs.write_all(used, pieces, first);
                return;
            }
            for (int64_t f = 0; f < n_features; ++f)
                logs.write(feature + f, used[f], pieces, first + f * n_depths);
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
