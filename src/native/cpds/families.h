// The sampled networks of averaged KDB: for each feature a family of the feature and its
// parents, strongest first, and the occupied cells of the family and the class.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "data/states.h"
#include "support/exp_log.h"
#include "support/views.h"

namespace bayleaf {

// A feature and its parents in one network. Arrays are Python's, see OccupiedFamilies in
// bayleaf/counts/occupied.py.
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
};

struct CountedNetwork {
    Coding coding;
    Matrix<const int64_t> families;
    Matrix<const uint16_t> states;
    std::span<const uint16_t> classes;
    std::span<const double> weights;
    std::span<const int64_t> starts;

    Family family(int64_t feature) const {
        const auto places = families[feature];
        const auto n_cells = starts[feature + 1] - starts[feature];
        return {places.first(std::ranges::find(places, -1) - places.begin()),
                coding,
                states,
                classes.subspan(starts[feature], n_cells),
                weights.subspan(starts[feature], n_cells),
                starts[feature]};
    }

    // Throws unless every cell lies within the states of its variables and classes.
    void check(int64_t n_classes) const {
        bool fits = starts.front() == 0 && starts.back() == std::ssize(classes);
        for (int64_t f = 0; fits && f < families.rows; ++f)
            fits = starts[f] <= starts[f + 1] && starts[f + 1] <= starts.back() &&
                   is_sound(f, n_classes);
        if (!fits)
            throw std::invalid_argument(
                "a network's families and cells do not fit together");
    }

private:
    bool is_sound(int64_t feature, int64_t n_classes) const {
        for (const int64_t variable : families[feature])
            if (variable < -1 || variable >= coding.n_variables()) return false;
        const Family family = this->family(feature);
        const auto is_below = [](std::span<const uint16_t> codes, int64_t limit) {
            return codes.empty() || std::ranges::max(codes) < limit;
        };
        int64_t n_keys = 1;
        for (int64_t k = 0; k < family.n_variables(); ++k) {
            if (!is_below(family.states(k), family.radix(k))) return false;
            if (n_keys > std::numeric_limits<int64_t>::max() / family.radix(k))
                return false;
            n_keys *= family.radix(k);
        }
        return family.n_variables() > 0 && is_below(family.classes, n_classes);
    }
};

// Networks over the same features.
struct Networks {
    int64_t n_classes;
    std::vector<CountedNetwork> members;

    int64_t size() const { return std::ssize(members); }
    int64_t n_features() const { return members.empty() ? 0 : members[0].families.rows; }
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

// What a smoothing rule adds to the states of a feature: to each, to all together alike,
// and to all together by their shares of the training rows. One of them is above zero.
struct PseudoWeights {
    double each, together, shared;
};

// The prior weights of a feature's states under a rule; none for the reserved code.
struct Prior {
    std::vector<double> weights, marginal;
    double total = 0.0, strength;

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
        follows_shares_ = rule.shared > 0.0;
    }

    // What is left of a fractional weight once it is subtracted from itself.
    static constexpr double kResidue = 1e-9;

    // Prior weight of a state once a row of this weight has left the training rows.
    double without(int64_t state, double share) const {
        if (!follows_shares_ || weights[state] <= 0.0) return weights[state];
        const double weight = marginal[state] - share, rest = total - share;
        return weight <= kResidue * share || rest <= 0.0 ? 0.0 : strength * weight / rest;
    }

    // scale * ln(P(x | class, parents) / P(x)) from the counts of x and of all states.
    double scaled_log_probability(int64_t state, double count, double all,
                                  double scale) const {
        const double weight = weights[state];
        return scale * log_of((count + weight) / (all + strength) * (strength / weight));
    }
    // The same for states without counts, whichever they are.
    double scaled_absence(double all, double scale) const {
        return scale * log_of(strength / (all + strength));
    }

private:
    bool follows_shares_;
};

}  // namespace bayleaf
