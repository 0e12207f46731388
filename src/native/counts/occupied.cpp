// Counts the joint states of families of variables and the class that occur at all.
//
// Rows are divided by the state of one parent after the other. A group of too few rows is
// divided no further: its cells have the reserved code as the states of the parents from
// there on, so that no deeper configuration of parents exists. Cells come in the order of
// their parents' states, then of the child's and the class. A family costs a few ns a row
// and parent, and memory is bounded by the number of rows.
#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "cpds/family_trie.h"
#include "data/states.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Groups of fewer rows are sorted by comparison.
constexpr int64_t kFewRows = 12;
// Joint states of a child and the class that are sorted with their rows.
constexpr int64_t kMostKeys = int64_t{1} << 31;

// One weight a row, `step` items apart: 0 where all rows share one.
struct RowWeights {
    const double* first;
    int64_t step;
    double operator[](int64_t row) const { return first[row * step]; }
};

// The training table in a network's coding; the class is the last variable of the codes.
struct TrainingRows {
    const CodeTable& codes;
    const Coding& coding;
    RowWeights weights;
    int64_t n_classes;
    std::vector<StateColumn> columns;
    StateColumn classes;

    // Reads the classes, and the states of all variables that some family has.
    void read(Matrix<const int64_t> families) {
        const int64_t n_variables = coding.n_variables();
        if (codes.n_rows > std::numeric_limits<int32_t>::max())
            throw std::invalid_argument("too many rows to be numbered");
        columns.resize(static_cast<std::size_t>(n_variables));
        std::vector<bool> is_used(static_cast<std::size_t>(n_variables));
        for (int64_t f = 0; f < families.rows; ++f) {
            if (families.columns == 0 || families(f, 0) < 0)
                throw std::invalid_argument("a family has no variable");
            for (const int64_t variable : families[f]) {
                if (variable < -1 || variable >= n_variables)
                    throw std::invalid_argument(
                        "a family has a variable that does not exist");
                if (variable >= 0) is_used[variable] = true;
            }
        }
        for (int64_t v = 0; v < n_variables; ++v)
            if (is_used[v]) columns[v].read(codes, v, coding, 0, codes.n_rows);
        codes.column(n_variables, [&](auto own) {
            if (std::ranges::any_of(own, [&](int64_t c) { return c >= n_classes; }))
                throw std::invalid_argument("a row has no class");
            classes.look_at(own);
        });
    }
};

// Cells of all families so far: states by place, classes and weights; and room for more.
struct CountedFamilies {
    int64_t n_cells = 0;
    std::vector<std::vector<uint16_t>> states;
    std::vector<uint16_t> classes;
    std::vector<double> weights;

    void make_room(std::size_t n_more) {
        const std::size_t needed = static_cast<std::size_t>(n_cells) + n_more;
        if (needed <= classes.size()) return;
        const std::size_t room = std::max(needed, 2 * classes.size());
        for (auto& place : states) place.resize(room);
        classes.resize(room);
        weights.resize(room);
    }
};

// What families take: cells, and of their trees the nodes, the counts and classes that
// nodes list, and the links to children; see cpds/family_trie.h.
struct FamilySizes {
    int64_t n_cells = 0, n_nodes = 0, n_counts = 0, n_labels = 0, n_links = 0;
};

class FamilyCounter {
public:
    // Without a place for cells, sizes alone are found.
    FamilyCounter(const TrainingRows& rows, double min_rows, CountedFamilies* found)
        : rows_(rows), min_rows_(min_rows), found_(found) {
        order_.resize(static_cast<std::size_t>(rows.codes.n_rows));
        sorted_.resize(order_.size());
        last_node_.resize(static_cast<std::size_t>(rows.n_classes), -1);
    }

    const FamilySizes& sizes() const { return sizes_; }

    // Counts the variables of one family, -1 after the last, and appends its cells.
    void count(std::span<const int64_t> family) {
        variables_ = family.first(std::ranges::find(family, -1) - family.begin());
        path_.assign(family.size(), 0);
        for (std::size_t row = 0; row < order_.size(); ++row)
            order_[row] = static_cast<int32_t>(row);
        if (found_) found_->make_room(order_.size());
        divide(0, std::ssize(order_), 1);
    }

private:
    // Divides rows by the states of the parents from a place on.
    void divide(int64_t first, int64_t last, int64_t place) {
        if (first == last) return;
        if (last - first == 1 && min_rows_ <= 1.0 && found_) return append_row(first, place);
        if (!found_) measure_node(first, last);
        if (place >= std::ssize(variables_)) return append_cells(first, last);
        const int64_t reserved = rows_.coding.radix(variables_[place]) - 1;
        sort_rows(first, last, place);
        const StateColumn& column = rows_.columns[variables_[place]];
        int64_t n_left = first, n_children = 0;
        for (int64_t begin = first, end; begin < last; begin = end) {
            const uint16_t state = column[order_[begin]];
            double weight = 0.0;
            for (end = begin; end < last && column[order_[end]] == state; ++end)
                weight += rows_.weights[order_[end]];
            if (state < reserved && (min_rows_ <= 1.0 || weight >= min_rows_)) {
                path_[place] = state;
                ++n_children;
                divide(begin, end, place + 1);
            } else {
                n_left = std::copy(&order_[begin], &order_[0] + end, &order_[n_left]) -
                         &order_[0];
            }
        }
        if (FamilyTrie::has_links(n_children, reserved + 1)) sizes_.n_links += reserved + 1;
        if (n_left == first) return;
        for (int64_t k = place; k < std::ssize(variables_); ++k)
            path_[k] = static_cast<uint16_t>(rows_.coding.radix(variables_[k]) - 1);
        append_cells(first, n_left);
    }

    // Sorts rows by the state of a parent; equal ones keep their order.
    void sort_rows(int64_t first, int64_t last, int64_t place) {
        const int64_t radix = rows_.coding.radix(variables_[place]);
        watch_.add(last - first);
        rows_.columns[variables_[place]].visit([&](const auto* states) {
            if (last - first < std::max(kFewRows, radix / 4)) {
                keys_.clear();
                for (int64_t i = first; i < last; ++i)
                    keys_.push_back(with_row(states[order_[i]], order_[i]));
                sort_keys();
                for (int64_t i = first; i < last; ++i) order_[i] = row_of(keys_[i - first]);
                return;
            }
            starts_.assign(static_cast<std::size_t>(radix + 1), 0);
            for (int64_t i = first; i < last; ++i) ++starts_[states[order_[i]] + 1];
            for (int64_t state = 0; state < radix; ++state)
                starts_[state + 1] += starts_[state];
            for (int64_t i = first; i < last; ++i)
                sorted_[starts_[states[order_[i]]]++] = order_[i];
            std::copy_n(sorted_.begin(), last - first, order_.begin() + first);
        });
    }

    // Appends the cells of rows whose parents have the states of the path.
    void append_cells(int64_t first, int64_t last) {
        const StateColumn& child = rows_.columns[variables_[0]];
        const int64_t n_keys = rows_.coding.radix(variables_[0]) * rows_.n_classes;
        const auto key_of = [&](int32_t row) {
            return child[row] * rows_.n_classes + rows_.classes[row];
        };
        if (n_keys <= kMostKeys && last - first < std::max(kFewRows, n_keys / 4)) {
            keys_.clear();
            for (int64_t i = first; i < last; ++i)
                keys_.push_back(with_row(key_of(order_[i]), order_[i]));
            sort_keys();
            int64_t before = -1;
            for (const uint64_t one : keys_) {
                const auto key = static_cast<int64_t>(one >> 32);
                if (key != before) append_cell(key, 0.0);
                if (found_)
                    found_->weights[found_->n_cells - 1] += rows_.weights[row_of(one)];
                before = key;
            }
            return;
        }
        sums_.assign(static_cast<std::size_t>(n_keys), 0.0);
        is_met_.assign(static_cast<std::size_t>(n_keys), 0);
        for (int64_t i = first; i < last; ++i) {
            const int64_t key = key_of(order_[i]);
            sums_[key] += rows_.weights[order_[i]];
            is_met_[key] = 1;
        }
        for (int64_t key = 0; key < n_keys; ++key)
            if (is_met_[key]) append_cell(key, sums_[key]);
    }

    // Appends the cell of one row, all of whose configurations exist.
    void append_row(int64_t i, int64_t place) {
        const int32_t row = order_[i];
        bool exists = true;
        for (int64_t k = place; k < std::ssize(variables_); ++k) {
            const auto reserved =
                static_cast<uint16_t>(rows_.coding.radix(variables_[k]) - 1);
            const uint16_t state = rows_.columns[variables_[k]][row];
            exists = exists && state < reserved;
            path_[k] = exists ? state : reserved;
        }
        const int64_t key = rows_.columns[variables_[0]][row] * rows_.n_classes;
        append_cell(key + rows_.classes[row], rows_.weights[row]);
    }

    // A number and a row, to be sorted by both.
    static uint64_t with_row(int64_t number, int32_t row) {
        return static_cast<uint64_t>(number) << 32 | static_cast<uint32_t>(row);
    }
    static int32_t row_of(uint64_t key) { return static_cast<int32_t>(key & 0xffffffff); }

    void sort_keys() {
        if (keys_.size() > 16) return std::ranges::sort(keys_), void();
        for (std::size_t i = 1; i < keys_.size(); ++i) {
            const uint64_t key = keys_[i];
            std::size_t k = i;
            for (; k > 0 && keys_[k - 1] > key; --k) keys_[k] = keys_[k - 1];
            keys_[k] = key;
        }
    }

    void append_cell(int64_t key, double weight) {
        ++sizes_.n_cells;
        if (!found_) return;
        const int64_t cell = found_->n_cells++;
        path_[0] = static_cast<uint16_t>(key / rows_.n_classes);
        for (std::size_t k = 0; k < path_.size(); ++k) found_->states[k][cell] = path_[k];
        found_->classes[cell] = static_cast<uint16_t>(key - path_[0] * rows_.n_classes);
        found_->weights[cell] = weight;
    }

    // Adds the node of some rows, and the classes that these have.
    void measure_node(int64_t first, int64_t last) {
        int64_t n_labels = rows_.n_classes;
        if (n_labels > FamilyTrie::kFewClasses) {
            n_labels = 0;
            for (int64_t i = first; i < last; ++i) {
                int64_t& node = last_node_[rows_.classes[order_[i]]];
                n_labels += node != sizes_.n_nodes;
                node = sizes_.n_nodes;
            }
            sizes_.n_labels += n_labels;
        }
        ++sizes_.n_nodes;
        sizes_.n_counts += n_labels * rows_.coding.radix(variables_[0]);
    }

    const TrainingRows& rows_;
    double min_rows_;
    CountedFamilies* found_;
    FamilySizes sizes_;
    std::vector<int64_t> last_node_;
    std::span<const int64_t> variables_;
    std::vector<uint16_t> path_;
    std::vector<int32_t> order_, sorted_;
    std::vector<int64_t> starts_;
    std::vector<uint64_t> keys_;
    std::vector<double> sums_;
    std::vector<char> is_met_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Counts families (n_families, n_places) of variables, -1 after the last of each. Gives
// where the cells of each begin (n_families + 1), and all cells for `bl_take_families`.
BAYLEAF_API int32_t bl_count_families(const uint8_t* narrow, int64_t n_narrow,
                                      const uint16_t* wide, int64_t n_wide,
                                      const int64_t* slots, int64_t n_slots, int64_t n_rows,
                                      const double* weights, int64_t weight_step,
                                      const int64_t* families, int64_t n_families,
                                      int64_t n_places, const uint16_t* values,
                                      int64_t n_values, const int64_t* value_starts,
                                      int64_t n_classes, double min_rows, int64_t* starts,
                                      void** found) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const Coding coding(values, n_values, value_starts, n_slots - 1);
        TrainingRows rows{codes, coding, {weights, weight_step}, n_classes, {}, {}};
        const Matrix<const int64_t> places{families, n_families, n_places};
        rows.read(places);
        auto counted = std::make_unique<CountedFamilies>();
        counted->states.resize(static_cast<std::size_t>(n_places));
        FamilyCounter counter(rows, min_rows, counted.get());
        starts[0] = 0;
        for (int64_t f = 0; f < n_families; ++f) {
            counter.count(places[f]);
            starts[f + 1] = counted->n_cells;
        }
        *found = counted.release();
    });
}

// What the same families take without being kept: cells, and nodes, counts, labels and
// links of their trees.
BAYLEAF_API int32_t bl_family_sizes(const uint8_t* narrow, int64_t n_narrow,
                                    const uint16_t* wide, int64_t n_wide,
                                    const int64_t* slots, int64_t n_slots, int64_t n_rows,
                                    const double* weights, int64_t weight_step,
                                    const int64_t* families, int64_t n_families,
                                    int64_t n_places, const uint16_t* values,
                                    int64_t n_values, const int64_t* value_starts,
                                    int64_t n_classes, double min_rows, int64_t* sizes) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const Coding coding(values, n_values, value_starts, n_slots - 1);
        TrainingRows rows{codes, coding, {weights, weight_step}, n_classes, {}, {}};
        const Matrix<const int64_t> places{families, n_families, n_places};
        rows.read(places);
        FamilyCounter counter(rows, min_rows, nullptr);
        for (int64_t f = 0; f < n_families; ++f) counter.count(places[f]);
        const FamilySizes found = counter.sizes();
        for (const int64_t size : {found.n_cells, found.n_nodes, found.n_counts,
                                   found.n_labels, found.n_links})
            *sizes++ = size;
    });
}

// Copies the cells out: states (n_places, n_cells), classes and weights.
BAYLEAF_API int32_t bl_take_families(const void* found, uint16_t* states, uint16_t* classes,
                                     double* weights) {
    return guarded([&] {
        const auto& counted = *static_cast<const CountedFamilies*>(found);
        for (const auto& place : counted.states)
            states = std::copy_n(place.begin(), counted.n_cells, states);
        std::copy_n(counted.classes.begin(), counted.n_cells, classes);
        std::copy_n(counted.weights.begin(), counted.n_cells, weights);
    });
}

BAYLEAF_API void bl_free_families(void* capsule) {
    delete static_cast<CountedFamilies*>(content_of(capsule));
}
