// What is known of the variables: which states are left of each, and their likelihoods.
//
// Evidence leaves each variable with its active states only, and every table is cut down
// to those before it is multiplied. A variable that was observed thereby drops out of all
// loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "inference/junction_tree/tree.h"

namespace bayleaf::junction_tree {

class Evidence {
public:
    explicit Evidence(const Tree& tree);

    void clear();

    // Leaves one state of a variable.
    void observe(int32_t variable, int32_t state);

    // Enters a likelihood for each state; false if none is left.
    bool weigh(int32_t variable, std::span<const double> likelihoods);

    // Variables of which something is known.
    std::span<const int32_t> variables() const { return variables_; }

    int64_t count(int32_t variable) const { return known_[variable].count; }
    int64_t count(Scope scope) const;
    const int32_t* states(int32_t variable) const {
        return &states_[tree_.variables[variable].first_state];
    }

    // A table at the active states: itself if none is ruled out, else copied to `own`.
    const double* active(Scope scope, const double* cells, double* own) const;

    // A variable's distribution at the active states, its likelihoods multiplied in.
    const double* distribution(int32_t variable, double* own) const;

private:
    struct State {
        int32_t card, count;
        int32_t* states;
        bool is_evident, is_weighted;
    };

    void mark(int32_t variable);

    const Tree& tree_;
    std::vector<State> known_;
    std::vector<int32_t> states_;      // of all variables, the active ones first
    std::vector<double> likelihoods_;  // of the active states
    Members variables_;
};

}  // namespace bayleaf::junction_tree
