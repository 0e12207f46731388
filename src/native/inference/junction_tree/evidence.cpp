// Enters evidence and cuts tables down to the states that it leaves; linear in the cells
// that remain.
#include "inference/junction_tree/evidence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace bayleaf::junction_tree {
namespace {

// An axis of a table with more than one active state.
struct Axis {
    int32_t count;
    const int32_t* states;
    int64_t step;
};

// No table in memory has more axes of two and more states.
constexpr int kMostAxes = 62;

// Copies the active cells, the slowest axis last; gives where the next cell goes.
double* copy_active(const Axis* axes, int n_axes, const double* from, double* to) {
    if (n_axes == 0) {
        *to = *from;
        return to + 1;
    }
    const Axis& slowest = axes[n_axes - 1];
    if (n_axes == 1) {
        for (int32_t i = 0; i < slowest.count; ++i)
            to[i] = from[slowest.step * slowest.states[i]];
        return to + slowest.count;
    }
    for (int32_t i = 0; i < slowest.count; ++i)
        to = copy_active(axes, n_axes - 1, from + slowest.step * slowest.states[i], to);
    return to;
}

}  // namespace

Evidence::Evidence(const Tree& tree)
    : tree_(tree), states_(tree.n_states), likelihoods_(tree.n_states) {
    for (const Variable& variable : tree.variables) {
        int32_t* states = states_.data() + variable.first_state;
        std::iota(states, states + variable.card, 0);
        known_.push_back({variable.card, variable.card, states, false, false});
    }
    variables_.reserve(known_.size());
}

void Evidence::clear() {
    for (const int32_t v : variables_) {
        State& known = known_[v];
        // An observation moves nothing but the first state.
        if (known.count == 1)
            known.states[0] = 0;
        else
            std::iota(known.states, known.states + known.card, 0);
        known.count = known.card;
        known.is_evident = known.is_weighted = false;
    }
    variables_.clear();
}

void Evidence::mark(int32_t variable) {
    if (known_[variable].is_evident)
        throw std::invalid_argument("the evidence names a variable twice");
    known_[variable].is_evident = true;
    variables_.push_back(variable);
}

void Evidence::observe(int32_t variable, int32_t state) {
    State& known = known_[variable];
    if (known.card == 1) return;
    mark(variable);
    known.count = 1;
    known.states[0] = state;
    known.is_weighted = false;
}

bool Evidence::weigh(int32_t variable, std::span<const double> likelihoods) {
    State& known = known_[variable];
    bool is_known = false, is_weighted = false;
    int32_t count = 0;
    for (int32_t state = 0; state < known.card; ++state) {
        const double likelihood = likelihoods[state];
        if (!(likelihood >= 0.0) || !std::isfinite(likelihood))
            throw std::invalid_argument("likelihoods must be finite and not negative");
        is_known |= likelihood != 1.0;
        if (likelihood == 0.0) continue;
        is_weighted |= likelihood != 1.0;
        ++count;
    }
    if (!is_known) return true;
    if (count == 0) return false;
    mark(variable);
    double* kept = likelihoods_.data() + tree_.variables[variable].first_state;
    known.count = 0;
    for (int32_t state = 0; state < known.card; ++state) {
        if (likelihoods[state] == 0.0) continue;
        kept[known.count] = likelihoods[state];
        known.states[known.count++] = state;
    }
    known.is_weighted = is_weighted;
    return true;
}

int64_t Evidence::count(Scope scope) const {
    int64_t n_cells = 1;
    for (const int32_t v : scope) n_cells *= known_[v].count;
    return n_cells;
}

const double* Evidence::active(Scope scope, const double* cells, double* own) const {
    Axis axes[kMostAxes];
    int n_axes = 0;
    int64_t step = 1;
    bool is_whole = true;
    for (std::size_t j = scope.size(); j-- > 0;) {
        const State& known = known_[scope[j]];
        is_whole &= known.count == known.card;
        if (known.count > 1)
            axes[n_axes++] = {known.count, known.states, step};
        else
            cells += step * known.states[0];
        step *= known.card;
    }
    // A single cell is read where it lies.
    if (is_whole || n_axes == 0) return cells;
    copy_active(axes, n_axes, cells, own);
    return own;
}

const double* Evidence::distribution(int32_t variable, double* own) const {
    const Distribution& table = tree_.distributions[variable];
    const double* cells = active(table.members, table.cells.data(), own);
    const State& known = known_[variable];
    if (!known.is_weighted) return cells;
    int64_t outer = 1, inner = 1;
    bool is_inside = false;
    for (const int32_t v : table.members) {
        if (v == variable)
            is_inside = true;
        else
            (is_inside ? inner : outer) *= known_[v].count;
    }
    const double* likelihoods = &likelihoods_[tree_.variables[variable].first_state];
    double* next = own;
    for (int64_t block = 0; block < outer; ++block)
        for (int32_t i = 0; i < known.count; ++i)
            for (int64_t j = 0; j < inner; ++j) *next++ = *cells++ * likelihoods[i];
    return own;
}

}  // namespace bayleaf::junction_tree
