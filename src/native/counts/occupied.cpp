// Counts the joint states of families of variables and the class that occur at all.
//
// A row's joint state becomes one whole number, the first variable the most significant
// digit and the class the last. Distinct numbers are cells, in the order in which the rows
// bring them; memory is bounded by the number of rows, however many joint states there
// are. A family costs about 5 ns a row.
#include <algorithm>
#include <memory>
#include <vector>

#include "counts/distinct_keys.h"
#include "data/states.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

constexpr int64_t kTile = 1024;
// Keys may be no larger than this, see MAX_CELLS in bayleaf/counts/occupied.py.
constexpr int64_t kMostKeys = int64_t{1} << 62;

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
        columns.resize(static_cast<std::size_t>(n_variables));
        std::vector<bool> is_used(static_cast<std::size_t>(n_variables));
        for (int64_t f = 0; f < families.rows; ++f)
            for (const int64_t variable : families[f]) {
                if (variable < -1 || variable >= n_variables)
                    throw std::invalid_argument(
                        "a family has a variable that does not exist");
                if (variable >= 0) is_used[variable] = true;
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

// Cells of all families so far: states by place, classes and weights.
struct CountedFamilies {
    std::vector<std::vector<uint16_t>> states;
    std::vector<uint16_t> classes;
    std::vector<double> weights;
};

class FamilyCounter {
public:
    explicit FamilyCounter(const TrainingRows& rows) : rows_(rows) {}

    // Counts the variables of one family, -1 after the last, and appends its cells.
    void count(std::span<const int64_t> family, CountedFamilies& found) {
        variables_ = family.first(std::ranges::find(family, -1) - family.begin());
        number_rows();
        for (std::size_t k = 0; k < found.states.size(); ++k) {
            auto& states = found.states[k];
            const auto begin = states.size();
            states.resize(begin + first_rows_.size());
            if (k < variables_.size())
                gather(rows_.columns[variables_[k]], states.data() + begin);
        }
        const auto begin = found.classes.size();
        found.classes.resize(begin + first_rows_.size());
        gather(rows_.classes, found.classes.data() + begin);
        found.weights.insert(found.weights.end(), sums_.begin(), sums_.end());
    }

private:
    void number_rows() {
        const int64_t n_rows = rows_.codes.n_rows;
        int64_t n_keys = rows_.n_classes;
        for (const int64_t variable : variables_) {
            if (n_keys > kMostKeys / rows_.coding.radix(variable))
                throw std::invalid_argument(
                    "a family has too many joint states to be told apart");
            n_keys *= rows_.coding.radix(variable);
        }
        cells_.start(n_keys, n_rows);
        first_rows_.clear();
        sums_.clear();
        int64_t keys[kTile];
        int32_t numbers[kTile];
        for (int64_t first = 0; first < n_rows; first += kTile) {
            const int64_t size = std::min(kTile, n_rows - first);
            write_keys(first, view(keys, size));
            for (int64_t i = 0; i < size; ++i) {
                numbers[i] = cells_.number(keys[i]);
                if (cells_.size() > std::ssize(first_rows_))
                    first_rows_.push_back(first + i);
            }
            sums_.resize(first_rows_.size());
            for (int64_t i = 0; i < size; ++i)
                sums_[numbers[i]] += rows_.weights[first + i];
            watch_.add(size * (4 + std::ssize(variables_)));
        }
    }

    void write_keys(int64_t first, std::span<int64_t> keys) const {
        std::ranges::fill(keys, 0);
        for (const int64_t variable : variables_)
            append_digit(keys, rows_.columns[variable], first,
                         rows_.coding.radix(variable));
        append_digit(keys, rows_.classes, first, rows_.n_classes);
    }

    // The state that a column has in the first row of each cell.
    void gather(const StateColumn& column, uint16_t* states) const {
        column.visit([&](const auto* of_row) {
            for (std::size_t cell = 0; cell < first_rows_.size(); ++cell)
                states[cell] = of_row[first_rows_[cell]];
        });
    }

    const TrainingRows& rows_;
    std::span<const int64_t> variables_;
    DistinctKeys cells_;
    std::vector<int64_t> first_rows_;
    std::vector<double> sums_;
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
                                      int64_t n_classes, int64_t* starts, void** found) {
    return guarded([&] {
        const CodeTable codes(narrow, n_narrow, wide, n_wide, slots, n_slots, n_rows);
        const Coding coding(values, n_values, value_starts, n_slots - 1);
        TrainingRows rows{codes, coding, {weights, weight_step}, n_classes, {}, {}};
        const Matrix<const int64_t> places{families, n_families, n_places};
        rows.read(places);
        FamilyCounter counter(rows);
        auto counted = std::make_unique<CountedFamilies>();
        counted->states.resize(static_cast<std::size_t>(n_places));
        starts[0] = 0;
        for (int64_t f = 0; f < n_families; ++f) {
            counter.count(places[f], *counted);
            starts[f + 1] = std::ssize(counted->classes);
        }
        *found = counted.release();
    });
}

// Copies the cells out: states (n_places, n_cells), classes and weights.
BAYLEAF_API int32_t bl_take_families(const void* found, uint16_t* states, uint16_t* classes,
                                     double* weights) {
    return guarded([&] {
        const auto& counted = *static_cast<const CountedFamilies*>(found);
        for (const auto& place : counted.states)
            states = std::ranges::copy(place, states).out;
        std::ranges::copy(counted.classes, classes);
        std::ranges::copy(counted.weights, weights);
    });
}

BAYLEAF_API void bl_free_families(void* capsule) {
    delete static_cast<CountedFamilies*>(content_of(capsule));
}
