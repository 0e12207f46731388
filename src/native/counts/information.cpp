// Conditional mutual information of many pairs of variables, straight from stored counts.
//
// Sums of n ln n are kept as whole multiples of a small unit, so that they do not depend
// on the order of states (`LogTerms` in bayleaf/counts/information.py). Sums on the way
// may wrap round, which leaves their differences exact: they are taken unsigned. Most of
// the time goes into looking up n ln n, once for each cell of each table.
#include <algorithm>
#include <cmath>
#include <vector>

#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Variables of either side that are gone through together: their cells, those below the
// diagonal too, stay in the first cache.
constexpr int64_t kLeftBlock = 8, kRightBlock = 64;

// n ln n in units of 1 / scale.
struct Terms {
    std::span<const int64_t> table;
    double scale;

    uint64_t of_large(double count) const {
        if (!(count > 0.0)) return 0;
        return static_cast<uint64_t>(
            static_cast<int64_t>(std::rint(count * log_of(count) * scale)));
    }
    bool cover(double count) const { return count < static_cast<double>(table.size()); }
    // Of a whole n >= 0, looked up where it is small.
    uint64_t of_whole(int64_t count) const {
        const auto place = static_cast<uint64_t>(count);
        return place < table.size() ? static_cast<uint64_t>(table[place])
                                    : of_large(static_cast<double>(count));
    }
    // Of any n >= 0.
    uint64_t of(double count) const {
        const auto whole = static_cast<int64_t>(count);
        return static_cast<double>(whole) == count ? of_whole(whole) : of_large(count);
    }
};

// One variable along an axis of stored counts. `n_stored` of its `n_states` codes are
// stored, from place `start` on; `n_observed` of them are states, the rest is missing.
// A whole variable lacks no cell and its last state is not stored; `sum` is its own sum
// of n ln n over class and state.
struct Variable {
    int64_t start, n_stored, n_states, n_observed, is_whole, sum;

    bool leaves_over() const { return n_stored < n_states; }
    bool is_whole_boolean() const { return is_whole && n_stored == 1; }
};

// One axis: its variables, and counts of class and stored state.
struct Side {
    std::span<const Variable> variables;
    Matrix<const double> margins;
};

// Information times weight, in units of 1 / scale, and weight.
struct Amount {
    uint64_t information = 0;
    double weight = 0.0;

    double per_weight(double scale) const {
        if (weight <= 0.0) return 0.0;
        return static_cast<double>(static_cast<int64_t>(information)) / scale / weight;
    }
};

template <class Count>
struct Pairs {
    Stack<const Count> stored;
    std::span<const double> class_counts;
    Side left, right;
    Terms terms;

    // Sum of n ln n over one class's table of whole variables, of which the last row and
    // the last column are not stored. `below` takes the counts of the last row.
    uint64_t whole_terms(int64_t state, const Variable& a, const Variable& b,
                         std::vector<int64_t>& below) const {
        const double* margin = &right.margins(state, b.start);
        int64_t corner = static_cast<int64_t>(class_counts[state]);
        for (int64_t y = 0; y < b.n_stored; ++y) {
            below[y] = static_cast<int64_t>(margin[y]);
            corner -= below[y];
        }
        uint64_t sum = 0;
        for (int64_t x = 0; x < a.n_stored; ++x) {
            const Count* row = &stored(state, a.start + x, b.start);
            int64_t rest = static_cast<int64_t>(left.margins(state, a.start + x));
            for (int64_t y = 0; y < b.n_stored; ++y) {
                const int64_t count = static_cast<int64_t>(row[y]);
                sum += terms.of_whole(count);
                rest -= count;
                below[y] -= count;
            }
            sum += terms.of_whole(rest);
            corner -= rest;
        }
        for (int64_t y = 0; y < b.n_stored; ++y) sum += terms.of_whole(below[y]);
        return sum + terms.of_whole(corner);
    }

    // Adds the same for a and each of some neighbours, all whole and of two states, whose
    // tables follow from one cell and the margins.
    template <class TermOf>
    void add_boolean_terms(int64_t state, const Variable& a, int64_t start, TermOf term_of,
                           std::span<uint64_t> sums) const {
        const Count* cells = &stored(state, a.start, start);
        const double* margins = &right.margins(state, start);
        const auto in_row = static_cast<int64_t>(left.margins(state, a.start));
        const int64_t below = static_cast<int64_t>(class_counts[state]) - in_row;
        for (std::size_t k = 0; k < sums.size(); ++k) {
            const auto count = static_cast<int64_t>(cells[k]);
            const int64_t under = static_cast<int64_t>(margins[k]) - count;
            sums[k] += term_of(count) + term_of(in_row - count) + term_of(under) +
                       term_of(below - under);
        }
    }

    // Fills in the table (n_states, n_states) of one class, of all codes.
    void complete(int64_t state, const Variable& a, const Variable& b,
                  Matrix<double> table) const {
        const int64_t last = b.n_states - 1;
        if (a.leaves_over()) {
            const auto below = table[a.n_stored];
            double rest = class_counts[state];
            for (int64_t y = 0; y < b.n_stored; ++y) {
                below[y] = right.margins(state, b.start + y);
                rest -= below[y];
            }
            if (b.leaves_over()) below[last] = rest;
        }
        for (int64_t x = 0; x < a.n_stored; ++x) {
            double rest = left.margins(state, a.start + x);
            for (int64_t y = 0; y < b.n_stored; ++y) {
                const auto count =
                    static_cast<double>(stored(state, a.start + x, b.start + y));
                table(x, y) = count;
                rest -= count;
            }
            if (b.leaves_over()) table(x, last) = rest;
            if (!a.leaves_over()) continue;
            for (int64_t y = 0; y < b.n_states; ++y) table(a.n_stored, y) -= table(x, y);
        }
    }
};

// Adds what a table of observed states tells.
void add_observed(const Matrix<double>& table, const Variable& a, const Variable& b,
                  const Terms& terms, std::vector<double>& margins, Amount& amount) {
    std::fill(margins.begin(), margins.end(), 0.0);
    uint64_t sum = 0;
    double weight = 0.0;
    for (int64_t x = 0; x < a.n_observed; ++x) {
        double in_row = 0.0;
        for (int64_t y = 0; y < b.n_observed; ++y) {
            const double count = table(x, y);
            sum += terms.of(count);
            in_row += count;
            margins[y] += count;
        }
        sum -= terms.of(in_row);
        weight += in_row;
    }
    for (int64_t y = 0; y < b.n_observed; ++y) sum -= terms.of(margins[y]);
    amount.information += sum + terms.of(weight);
    amount.weight += weight;
}

// Measures one pair after another; holds the room that tables take.
template <class Count>
struct Meter : Pairs<Count> {
    Watch watch;
    std::vector<uint64_t> sums;
    std::vector<int64_t> below;
    std::vector<double> cells, margins;
    Amount of_class;

    explicit Meter(const Pairs<Count>& pairs) : Pairs<Count>(pairs) {
        int64_t tallest = 0, widest = 0;
        for (const Variable& a : pairs.left.variables)
            tallest = std::max(tallest, a.n_states);
        for (const Variable& b : pairs.right.variables)
            widest = std::max(widest, b.n_states);
        below.resize(static_cast<std::size_t>(widest));
        margins.resize(static_cast<std::size_t>(widest));
        cells.resize(static_cast<std::size_t>(tallest * widest));
        for (const double count : pairs.class_counts) {
            of_class.information += pairs.terms.of(count);
            of_class.weight += count;
        }
    }

    // Calls write(j, nats) for some of the right variables that stand behind a place.
    template <class Write>
    void measure(const Variable& a, std::span<const Variable> some, int64_t after,
                 Write write) {
        const double scale = this->terms.scale;
        for (std::size_t j = 0; j < some.size();) {
            if (some[j].start <= after) {
                ++j;
            } else if (a.is_whole_boolean() && some[j].is_whole_boolean()) {
                measure_booleans(a, some.subspan(j));
                for (const uint64_t sum : sums)
                    write(j++, Amount{sum, of_class.weight}.per_weight(scale));
            } else {
                const Variable& b = some[j];
                watch.add(a.n_states * b.n_states * this->stored.layers);
                const Amount amount =
                    a.is_whole && b.is_whole ? of_whole(a, b) : of_any(a, b);
                write(j++, amount.per_weight(scale));
            }
        }
    }

    // Fills `sums` for as many of some variables as are whole, of two states, and stored
    // side by side.
    void measure_booleans(const Variable& a, std::span<const Variable> some) {
        sums.clear();
        for (const Variable& b : some) {
            const auto n = static_cast<int64_t>(sums.size());
            if (!b.is_whole_boolean() || b.start != some[0].start + n) break;
            sums.push_back(of_margins(a, b));
        }
        const auto n_classes = static_cast<int64_t>(this->class_counts.size());
        const auto& terms = this->terms;
        // Where the table covers a class no count is beyond it; the limit costs less than a
        // test, and keeps counts that contradict one another from reading elsewhere.
        const auto look_up = [table = terms.table.data(),
                              last = terms.table.size() - 1](int64_t count) {
            return static_cast<uint64_t>(
                table[std::min<uint64_t>(static_cast<uint64_t>(count), last)]);
        };
        const auto work_out = [&](int64_t count) { return terms.of_whole(count); };
        for (int64_t state = 0; state < n_classes; ++state)
            if (terms.cover(this->class_counts[state]))
                this->add_boolean_terms(state, a, some[0].start, look_up, sums);
            else
                this->add_boolean_terms(state, a, some[0].start, work_out, sums);
        watch.add(4 * n_classes * static_cast<int64_t>(sums.size()));
    }

    // What the margins of two whole variables contribute.
    uint64_t of_margins(const Variable& a, const Variable& b) const {
        return of_class.information - static_cast<uint64_t>(a.sum) -
               static_cast<uint64_t>(b.sum);
    }

    Amount of_whole(const Variable& a, const Variable& b) {
        uint64_t sum = of_margins(a, b);
        const auto n_classes = static_cast<int64_t>(this->class_counts.size());
        for (int64_t state = 0; state < n_classes; ++state)
            sum += this->whole_terms(state, a, b, below);
        return {sum, of_class.weight};
    }

    Amount of_any(const Variable& a, const Variable& b) {
        const Matrix<double> table{cells.data(), a.n_states, b.n_states};
        const auto n_classes = static_cast<int64_t>(this->class_counts.size());
        Amount amount;
        for (int64_t state = 0; state < n_classes; ++state) {
            this->complete(state, a, b, table);
            add_observed(table, a, b, this->terms, margins, amount);
        }
        return amount;
    }
};

void check_side(const Side& side, int64_t n_places) {
    for (const Variable& v : side.variables)
        if (v.start < 0 || v.n_stored < 0 || v.n_stored > v.n_states ||
            v.n_states > v.n_stored + 1 || v.n_observed < 0 || v.n_observed > v.n_states ||
            v.start + v.n_stored > n_places)
            throw std::invalid_argument("a variable's states are out of range");
}

// Which pairs are measured, and where they go in a matrix of all variables: variable i
// of the left side to row first_row + i, variable j of the right to first_column + j.
struct Target {
    int64_t first, last;
    bool triangle;
    Matrix<double> information;
    int64_t first_row, first_column;
};

template <class Count>
void fill(const Pairs<Count>& pairs, const Target& target) {
    Meter<Count> meter(pairs);
    const auto left = pairs.left.variables, right = pairs.right.variables;
    const auto n_right = static_cast<int64_t>(right.size());
    for (int64_t i = target.first; i < target.last; i += kLeftBlock)
        for (int64_t j = 0; j < n_right; j += kRightBlock) {
            const auto some = right.subspan(j, std::min(kRightBlock, n_right - j));
            for (int64_t own = i; own < std::min(i + kLeftBlock, target.last); ++own) {
                const int64_t row = target.first_row + own;
                const int64_t first = target.first_column + j;
                meter.measure(left[own], some, target.triangle ? left[own].start : -1,
                              [&](std::size_t k, double nats) {
                                  const int64_t column = first + static_cast<int64_t>(k);
                                  target.information(row, column) = nats;
                                  target.information(column, row) = nats;
                              });
            }
        }
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Measures the pairs of the left variables `first` to `last` with all right ones, in nats
// per unit of weight, and writes each to both of its cells in `information`, a matrix of
// n_variables: variable i of the left side has row first_row + i, variable j of the right
// one column first_column + j. `stored` (n_classes, n_rows, n_columns) holds int32 or,
// where is_real, doubles; of a triangle only pairs stored in order are measured.
BAYLEAF_API int32_t bl_pair_information(
    const void* stored, bool is_real, bool triangle, int64_t n_classes, int64_t n_rows,
    int64_t n_columns, const double* class_counts, const Variable* left, int64_t n_left,
    const Variable* right, int64_t n_right, const double* left_margins,
    const double* right_margins, const int64_t* terms, int64_t n_terms, double scale,
    int64_t first, int64_t last, double* information, int64_t n_variables,
    int64_t first_row, int64_t first_column) {
    return guarded([&] {
        const Side rows{view(left, n_left), {left_margins, n_classes, n_rows}};
        const Side columns{view(right, n_right), {right_margins, n_classes, n_columns}};
        check_side(rows, n_rows);
        check_side(columns, n_columns);
        if (first < 0 || last > n_left || first_row < 0 || first_column < 0 ||
            first_row + n_left > n_variables || first_column + n_right > n_variables)
            throw std::invalid_argument("the variables asked for are out of range");
        const Target target{first,     last,
                            triangle,  {information, n_variables, n_variables},
                            first_row, first_column};
        const Terms own{view(terms, n_terms), scale};
        const auto counts = view(class_counts, n_classes);
        const auto run = [&]<class Count>(const Count* cells) {
            fill<Count>({{cells, n_classes, n_rows, n_columns}, counts, rows, columns, own},
                        target);
        };
        if (is_real)
            run(static_cast<const double*>(stored));
        else
            run(static_cast<const int32_t*>(stored));
    });
}
