// Runs through the cells of a clique row by row, a row being its last axis; neighbouring
// axes that all tables run through alike are one. Costs a multiplication or addition a
// table and cell.
//
// Sums run in eight lanes that are added up in a fixed order, so that compilers may use
// vectors of any length and all give the same bits.
#include "inference/junction_tree/contraction.h"

#include <algorithm>
#include <stdexcept>

namespace bayleaf::junction_tree {
namespace {

// Axes are joined to rows up to this length, which stay in the first cache.
constexpr int64_t kLongestRow = 1024;
constexpr int kLanes = 8;

struct Sum {
    static double join(double total, double value) { return total + value; }
};

struct Max {
    static double join(double total, double value) { return total < value ? value : total; }
};

// Products of rows of cells: of none, one or two.
struct Ones {
    double operator[](int64_t) const { return 1.0; }
};

struct Cells {
    const double* one;
    double operator[](int64_t i) const { return one[i]; }
};

struct Products {
    const double* one;
    const double* other;
    double operator[](int64_t i) const { return one[i] * other[i]; }
};

template <class How, class Row>
double joined(Row row, int64_t length) {
    if (length < kLanes) {
        double total = row[0];
        for (int64_t i = 1; i < length; ++i) total = How::join(total, row[i]);
        return total;
    }
    double lanes[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = row[lane];
    int64_t i = kLanes;
    for (; i + kLanes <= length; i += kLanes)
        for (int lane = 0; lane < kLanes; ++lane)
            lanes[lane] = How::join(lanes[lane], row[i + lane]);
    for (int lane = 0; i < length; ++i, ++lane)
        lanes[lane] = How::join(lanes[lane], row[i]);
    for (int half = kLanes / 2; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane)
            lanes[lane] = How::join(lanes[lane], lanes[lane + half]);
    return lanes[0];
}

}  // namespace

Contraction::Contraction(const Tree& tree) : axis_of_(tree.variables.size()) {
    int64_t longest = kLongestRow;
    for (const Variable& variable : tree.variables)
        longest = std::max<int64_t>(longest, variable.card);
    row_.resize(static_cast<std::size_t>(longest));
}

void Contraction::over(Scope scope, const Evidence& evidence) {
    evidence_ = &evidence;
    n_factors_ = n_results_ = 0;
    constant_ = 1.0;
    // An axis of one cell, so that there is always one; it is joined to the next.
    sizes_[0] = 1;
    n_axes_ = 1;
    for (const int32_t v : scope) {
        const int64_t count = evidence.count(v);
        if (count == 1) continue;
        if (n_axes_ == kMostAxes)
            throw std::invalid_argument(
                "a clique has too many variables to be summed over");
        axis_of_[v] = n_axes_;
        sizes_[n_axes_++] = count;
    }
}

// Finds a table's steps along the axes.
Contraction::Table& Contraction::lay(std::vector<Table>& tables, std::size_t place,
                                     Scope scope) {
    if (place == tables.size()) tables.emplace_back();
    Table& table = tables[place];
    std::fill_n(table.steps.begin(), n_axes_, 0);
    table.n_cells = 1;
    for (std::size_t j = scope.size(); j-- > 0;) {
        const int64_t count = evidence_->count(scope[j]);
        if (count == 1) continue;
        table.steps[axis_of_[scope[j]]] = table.n_cells;
        table.n_cells *= count;
    }
    return table;
}

void Contraction::multiply(Scope scope, const double* cells) {
    Table& factor = lay(factors_, n_factors_, scope);
    factor.cells = cells;
    if (factor.n_cells > 1)
        ++n_factors_;
    else
        constant_ *= *cells;
}

void Contraction::add_into(Scope scope, double* cells) {
    Table& result = lay(results_, n_results_++, scope);
    result.cells = cells;
    std::fill_n(cells, result.n_cells, 0.0);
}

void Contraction::run(Rule rule, Watch& watch) {
    merge_axes();
    start();
    if (rule == Rule::kSum)
        run_rows<Sum>(watch);
    else
        run_rows<Max>(watch);
}

// Joins neighbouring axes that all tables run through alike.
void Contraction::merge_axes() {
    int kept = 0;
    for (int axis = 1; axis < n_axes_; ++axis) {
        const bool is_short = sizes_[kept] * sizes_[axis] <= kLongestRow;
        if (sizes_[kept] == 1 || (is_short && runs_alike(kept, axis)))
            sizes_[kept] *= sizes_[axis];
        else
            sizes_[++kept] = sizes_[axis];
        for (std::size_t k = 0; k < n_factors_; ++k)
            factors_[k].steps[kept] = factors_[k].steps[axis];
        for (std::size_t k = 0; k < n_results_; ++k)
            results_[k].steps[kept] = results_[k].steps[axis];
    }
    n_axes_ = kept + 1;
}

bool Contraction::runs_alike(int one, int next) const {
    const auto is_alike = [&](const Table& table) {
        return table.steps[one] == table.steps[next] * sizes_[next];
    };
    return std::all_of(factors_.begin(), factors_.begin() + n_factors_, is_alike) &&
           std::all_of(results_.begin(), results_.begin() + n_results_, is_alike);
}

// Goes to the first row.
void Contraction::start() {
    at_.clear();
    jumps_.resize((n_factors_ + n_results_) * static_cast<std::size_t>(n_axes_));
    for (std::size_t k = 0; k < n_factors_; ++k)
        if (factors_[k].steps[n_axes_ - 1] == 0) start(factors_[k]);
    n_constant_ = at_.size();
    for (std::size_t k = 0; k < n_factors_; ++k)
        if (factors_[k].steps[n_axes_ - 1] != 0) start(factors_[k]);
    for (std::size_t k = 0; k < n_results_; ++k) start(results_[k]);
    std::fill_n(counters_.begin(), n_axes_, 0);
}

void Contraction::start(const Table& table) {
    const std::size_t n = n_factors_ + n_results_, slot = at_.size();
    at_.push_back(table.cells);
    int64_t behind = 0;
    for (int axis = n_axes_ - 2; axis >= 0; --axis) {
        jumps_[axis * n + slot] = table.steps[axis] - behind;
        behind += table.steps[axis] * (sizes_[axis] - 1);
    }
}

// Goes to the next row; false after the last one.
bool Contraction::advance() {
    int axis = n_axes_ - 2;
    while (axis >= 0 && ++counters_[axis] == sizes_[axis]) counters_[axis--] = 0;
    if (axis < 0) return false;
    const int64_t* jump = &jumps_[axis * at_.size()];
    for (std::size_t slot = 0; slot < at_.size(); ++slot) at_[slot] += jump[slot];
    return true;
}

template <class How>
void Contraction::run_rows(Watch& watch) {
    const int64_t work = 8 + sizes_[n_axes_ - 1] * static_cast<int64_t>(at_.size()) / 4;
    do {
        watch.add(work);
        double value = constant_;
        for (std::size_t slot = 0; slot < n_constant_; ++slot) value *= *at_[slot];
        if (value != 0.0) add_products<How>(value);
    } while (advance());
}

// Adds up the products of a row, the factors that are constant along it being `value`.
template <class How>
void Contraction::add_products(double value) {
    const std::size_t n_rows = n_factors_ - n_constant_;
    const double* const* rows = at_.data() + n_constant_;
    if (n_rows == 0) return add_rows<How>(value, Ones{});
    if (n_rows == 1) return add_rows<How>(value, Cells{rows[0]});
    const Products products{rows[0], rows[1]};
    if (n_rows == 2 && n_results_ == 1) return add_rows<How>(value, products);
    const int64_t length = sizes_[n_axes_ - 1];
    double* __restrict row = row_.data();
    for (int64_t i = 0; i < length; ++i) row[i] = products[i];
    for (std::size_t k = 2; k < n_rows; ++k) {
        const double* cells = rows[k];
        for (int64_t i = 0; i < length; ++i) row[i] *= cells[i];
    }
    add_rows<How>(value, Cells{row});
}

// Adds a row, times a value, to each result's cell or row of cells.
template <class How, class Row>
void Contraction::add_rows(double value, Row row) {
    const int last = n_axes_ - 1;
    const int64_t length = sizes_[last];
    for (std::size_t k = 0; k < n_results_; ++k) {
        // Results stand behind the factors, which alone are only read.
        double* __restrict cells = const_cast<double*>(at_[n_factors_ + k]);
        if (results_[k].steps[last] == 0)
            *cells = How::join(*cells, value * joined<How>(row, length));
        else
            for (int64_t i = 0; i < length; ++i)
                cells[i] = How::join(cells[i], value * row[i]);
    }
}

}  // namespace bayleaf::junction_tree
