// A junction forest with a root in each tree, and the distributions that its cliques
// multiply. It is made once for a network and const from then on, so that threads share
// it; what a question writes is a Propagation.
//
// All tables list their variables in one order, that of the tree's axes, the last one
// running fastest. The last variable of a clique is therefore contiguous in every table
// that mentions it.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/exp_log.h"
#include "support/views.h"

namespace bayleaf::junction_tree {

using Members = std::vector<int32_t>;
using Scope = std::span<const int32_t>;

// A positive number that may leave the range of doubles.
struct Scale {
    double mantissa = 1.0;
    int64_t exponent = 0;

    void multiply(double factor) {
        int shift = 0;
        mantissa = std::frexp(mantissa * factor, &shift);
        exponent += shift;
    }
    void multiply(const Scale& other) {
        multiply(other.mantissa);
        exponent += other.exponent;
    }
    double log() const {
        constexpr double kLogOfTwo = 0.693147180559945309417;
        return log_of(mantissa) + static_cast<double>(exponent) * kLogOfTwo;
    }
};

struct Variable {
    int32_t card = 0;
    int64_t first_state = 0;      // among the states of all variables
    int32_t home = -1;            // the clique that multiplies its distribution
    int32_t root = -1;            // that of its tree
    int32_t reader = -1;          // the clique whose beliefs its marginal is read from
    bool from_separator = false;  // or from its separator's, which has fewer cells
};

// P(variable | parents), or another table that came in its place.
struct Distribution {
    Members members;
    std::vector<double> cells;
    std::vector<int64_t> given_steps;  // of each member in the table as it was given
    int64_t first_cell = 0;            // among the cells of all distributions
};

// What a clique shares with its parent; nothing for a root.
struct Separator {
    Members members;
    Members reads;
    int64_t n_cells = 1;
};

struct Clique {
    Members members;
    Members distributions;
    Members reads;
    int32_t parent = -1;
    std::vector<int32_t> children;
    Separator above;
    // Its message is one everywhere as long as nothing in its subtree is observed.
    bool is_barren = true;
    // Its message without any evidence, and what that was divided by in its subtree.
    std::vector<double> prior;
    Scale prior_scale;
};

// Lists of numbers one after another: list i goes from starts[i] to before starts[i + 1].
struct Lists {
    std::span<const int64_t> starts, items;

    std::size_t size() const { return starts.size() - 1; }
    std::span<const int64_t> operator[](std::size_t i) const {
        return items.subspan(static_cast<std::size_t>(starts[i]),
                             static_cast<std::size_t>(starts[i + 1] - starts[i]));
    }
};

// What a tree is made of, checked for sizes only.
struct Parts {
    std::span<const int64_t> cards, rank;  // rank: the place among the axes of all tables
    Lists families;                        // variables of each distribution, as given
    std::span<const double> cells;         // of the distributions, one after another
    std::span<const bool> sums_to_one;     // whether a distribution is one
    std::span<const bool> observed;        // always so, and only in a clique of their own
    Lists cliques;
    Matrix<const int64_t> edges;
    int64_t target;  // a variable to be read at a root, or -1
};

struct Tree {
    std::vector<Variable> variables;
    std::vector<Distribution> distributions;
    std::vector<Clique> cliques;  // children before their parents
    Members observed;
    int64_t n_states = 0, n_cells = 0;
    // Marginals without any evidence; empty where they were not asked for.
    std::vector<double> prior_marginals;

    explicit Tree(const Parts& parts);

    bool has_prior() const { return !prior_marginals.empty(); }
    int32_t n_variables() const { return static_cast<int32_t>(variables.size()); }
    int32_t n_cliques() const { return static_cast<int32_t>(cliques.size()); }

    // A variable by its index, which a caller gave.
    int32_t checked(int64_t variable) const {
        if (variable < 0 || variable >= n_variables())
            throw std::invalid_argument("there is no such variable in the tree");
        return static_cast<int32_t>(variable);
    }
};

// Keeps the messages and marginals of the network without evidence.
void add_prior(Tree& tree);

}  // namespace bayleaf::junction_tree
