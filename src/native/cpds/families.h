// The sampled networks of averaged KDB: for each feature a family of the feature and its
// parents, strongest first, and the occupied cells of the family and the class.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "data/states.h"
#include "support/views.h"

namespace bayleaf {

// The cells of a feature and its parents in one network, in the order of the parents'
// states, then of the child's and the class; see OccupiedFamilies in
// bayleaf/counts/occupied.py. From the first parent on that has the reserved code, the
// configuration of the parents has too few rows to exist.
struct Family {
    std::span<const int64_t> variables;
    const Coding& coding;
    Matrix<const uint16_t> all_states;
    std::span<const uint16_t> classes;
    std::span<const double> weights;
    int64_t first_cell;

    int64_t n_cells() const { return std::ssize(classes); }
    int64_t n_variables() const { return std::ssize(variables); }
    // Number of states of the variable at a place, the reserved code counted.
    int64_t radix(int64_t place) const { return coding.radix(variables[place]); }
    // State of the variable at a place in each cell.
    std::span<const uint16_t> states(int64_t place) const {
        return all_states[place].subspan(first_cell, n_cells());
    }

    // Throws unless the cells lie within the states and classes, and are in order.
    void check(int64_t n_classes) const {
        bool fits = n_variables() > 0 && n_cells() > 0;
        for (int64_t k = 0; fits && k < n_variables(); ++k)
            fits = std::ranges::max(states(k)) < radix(k);
        fits = fits && std::ranges::max(states(0)) + 1 < radix(0) &&
               std::ranges::max(classes) < n_classes;
        for (int64_t cell = 1; fits && cell < n_cells(); ++cell)
            fits = is_in_order(cell - 1, cell);
        if (!fits)
            throw std::invalid_argument(
                "a network's families and cells do not fit together");
    }

private:
    bool is_in_order(int64_t before, int64_t cell) const {
        for (int64_t k = 1; k < n_variables(); ++k) {
            const auto of_parent = states(k);
            if (of_parent[before] != of_parent[cell])
                return of_parent[before] < of_parent[cell];
        }
        return true;
    }
};

// What a smoothing rule adds to the states of a feature: to each, to all together alike,
// and to all together by their shares of the training rows. One of them is above zero.
struct PseudoWeights {
    double each, together, shared;
};

// The prior weights of a feature's states under a rule; none for the reserved code.
struct Prior {
    std::vector<double> weights, marginal;
    double total = 0.0, strength;
    // Whether weights follow the states' shares of the training rows.
    bool follows_shares;

    Prior(const Family& family, PseudoWeights rule)
        : weights(static_cast<std::size_t>(family.radix(0))), marginal(weights.size()) {
        const auto children = family.states(0);
        for (int64_t cell = 0; cell < family.n_cells(); ++cell) {
            marginal[children[cell]] += family.weights[cell];
            total += family.weights[cell];
        }
        const auto n_states = static_cast<double>(weights.size() - 1);
        for (std::size_t state = 0; state + 1 < weights.size(); ++state)
            weights[state] = rule.each + rule.together / n_states +
                             rule.shared * marginal[state] / total;
        strength = rule.each * n_states + rule.together + rule.shared;
        follows_shares = rule.shared > 0.0;
    }

    // What is left of a fractional weight once it is subtracted from itself.
    static constexpr double kResidue = 1e-9;

    // A count once a row of this weight has left it.
    static double less(double count, double share) {
        const double rest = count - share;
        return rest > kResidue * share ? rest : 0.0;
    }

    // Prior weight of a state once a row of this weight has left the training rows.
    double without(int64_t state, double share) const {
        if (!follows_shares || weights[state] <= 0.0) return weights[state];
        const double weight = less(marginal[state], share), rest = total - share;
        return weight <= 0.0 || rest <= 0.0 ? 0.0 : strength * weight / rest;
    }
};

}  // namespace bayleaf
