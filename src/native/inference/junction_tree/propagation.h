// Messages between the cliques of a tree under some evidence, and what is read from them.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "inference/junction_tree/contraction.h"
#include "inference/junction_tree/evidence.h"
#include "inference/junction_tree/tree.h"
#include "support/watch.h"

namespace bayleaf::junction_tree {

// The log probability of what cannot be.
constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// What a question reads from the beliefs over cliques and separators.
enum class Reads { kNothing, kMarginals, kFamilies };

// Work memory of one question at a time; each thread needs its own.
class Propagation {
public:
    explicit Propagation(const Tree& tree);

    const Tree& tree;
    Evidence evidence;

    // Cells of memory that stay for the next question.
    int64_t n_cells() const { return n_cells_; }

    // Chooses the variables whose marginals or families are read, from the next question
    // on.
    void want_all();
    void want(std::span<const int64_t> variables);

    // Sends messages to the roots, and back as far as something is to be read there. The
    // log probability of the evidence, minus infinity if it is impossible.
    double propagate(Reads reads, Watch& watch);

    // Writes the marginal of a wanted variable, one number a state.
    void read_marginal(int32_t variable, double* marginal);

    // Adds the posterior of a wanted variable's family, times a weight, to a table of all
    // states in the order in which the distribution was given.
    void add_family(int32_t variable, double weight, double* totals);

    // Finds the most probable states of all variables; their log probability.
    double find_most_probable(std::span<int64_t> states, Watch& watch);

    // Counts the cells that messages of sums to the roots run through, and those of all
    // cliques.
    void count_cells(double& upwards, double& all);

private:
    friend void add_prior(Tree& tree);

    // Where a clique's message to its parent comes from.
    enum class Source { kComputed, kPrior, kOnes };

    struct CliqueState {
        Source source;
        bool has_evidence, is_read;  // in its subtree
        bool counts;                 // messages up to the root contain its own
        const double* up;            // the message to its parent
        double* own_up;
        double divisor;  // of that message
        double* down;    // what its parent believes of the separator, then its message
    };

    struct VariableState {
        bool is_wanted = false;
        const double* distribution;
        double* own_distribution;
        double* marginal;
    };

    void choose_sources(Rule rule);
    void choose_reads(Reads reads);
    bool is_settled(int32_t variable) const;
    double collect(Rule rule, Watch& watch);
    bool send_up(int32_t clique, Rule rule, Scale& scale, Watch& watch);
    void distribute(Reads reads, Watch& watch);
    void receive_down(int32_t clique, Reads reads, Watch& watch);
    void enter_tables(int32_t clique, Watch& watch);
    void multiply_tables(int32_t clique);
    void add_into_beliefs(int32_t clique, Reads reads);
    void add_into_marginals(const Members& reads);
    template <class Visit>
    void for_each_table(int32_t clique, Visit visit) const;
    void decode(std::span<int64_t> states, Watch& watch) const;

    std::vector<CliqueState> cliques_;
    std::vector<VariableState> variables_;
    Contraction contraction_;
    int64_t n_cells_ = 0;
    std::unique_ptr<double[]> cells_, family_cells_;
};

// Calls visit(scope, cells) for the tables that a clique multiplies before its parent's
// message comes.
template <class Visit>
void Propagation::for_each_table(int32_t clique, Visit visit) const {
    const Clique& here = tree.cliques[clique];
    for (const int32_t v : here.distributions)
        visit(Scope(tree.distributions[v].members), variables_[v].distribution);
    for (const int32_t child : here.children)
        if (cliques_[child].source != Source::kOnes)
            visit(Scope(tree.cliques[child].above.members), cliques_[child].up);
}

}  // namespace bayleaf::junction_tree
