// The C interface of junction trees: handles of trees and of work memories, and questions
// with one piece of evidence. Those with a table of it stand in rows.cpp.
#include "support/interface.h"

#include <memory>

#include "inference/junction_tree/propagation.h"
#include "support/checks.h"

namespace bayleaf::junction_tree {
namespace {

// Enters what is known: pairs of a variable and its state, or -1 where the variable's next
// likelihoods are listed instead. False if that leaves a variable without a state.
bool enter(Propagation& propagation, Matrix<const int64_t> pairs,
           std::span<const double> likelihoods) {
    const Tree& tree = propagation.tree;
    Evidence& evidence = propagation.evidence;
    evidence.clear();
    bool is_possible = true;
    for (int64_t i = 0; i < pairs.rows; ++i) {
        const int32_t v = tree.checked(pairs(i, 0));
        const int64_t state = pairs(i, 1), card = tree.variables[v].card;
        if (state >= card) throw std::invalid_argument("there is no such state");
        if (state >= 0) {
            evidence.observe(v, static_cast<int32_t>(state));
            continue;
        }
        if (card > std::ssize(likelihoods))
            throw std::invalid_argument("there are too few likelihoods");
        is_possible &= evidence.weigh(v, likelihoods.first(card));
        likelihoods = likelihoods.subspan(card);
    }
    for (const int32_t v : tree.observed)
        if (is_possible && evidence.count(v) > 1)
            throw std::invalid_argument("a variable has to be observed in this tree");
    return is_possible;
}

}  // namespace
}  // namespace bayleaf::junction_tree

using namespace bayleaf;
using namespace bayleaf::junction_tree;

// Compiles a tree; `with_prior` prepares it for questions with little evidence. Families
// and cliques are lists that begin at `*_starts`, whose last entry is where the last ends.
BAYLEAF_API int32_t bl_junction_tree_new(int64_t n_variables, const int64_t* cards,
                                         const int64_t* rank, const int64_t* family_starts,
                                         const int64_t* families, int64_t n_family_items,
                                         const double* cells, int64_t n_cells,
                                         const bool* sums_to_one, const bool* observed,
                                         int64_t n_cliques, const int64_t* clique_starts,
                                         const int64_t* cliques, int64_t n_clique_items,
                                         const int64_t* edges, int64_t n_edges,
                                         int64_t target, bool with_prior, void** made) {
    return guarded([&] {
        const Parts parts{
            .cards = view(cards, n_variables),
            .rank = view(rank, n_variables),
            .families = {view(family_starts, n_variables + 1),
                         view(families, n_family_items)},
            .cells = view(cells, n_cells),
            .sums_to_one = view(sums_to_one, n_variables),
            .observed = view(observed, n_variables),
            .cliques = {view(clique_starts, n_cliques + 1), view(cliques, n_clique_items)},
            .edges = {edges, n_edges, 2},
            .target = target};
        require_starts(parts.families.starts, n_family_items);
        require_starts(parts.cliques.starts, n_clique_items);
        auto tree = std::make_unique<Tree>(parts);
        if (with_prior) add_prior(*tree);
        *made = tree.release();
    });
}

BAYLEAF_API void bl_junction_tree_free(void* capsule) {
    delete static_cast<Tree*>(content_of(capsule));
}

// Makes a work memory; `n_cells` becomes the number of cells that it keeps.
BAYLEAF_API int32_t bl_junction_memory_new(const void* tree, int64_t* n_cells,
                                           void** made) {
    return guarded([&] {
        auto propagation = std::make_unique<Propagation>(*static_cast<const Tree*>(tree));
        *n_cells = propagation->n_cells();
        *made = propagation.release();
    });
}

BAYLEAF_API void bl_junction_memory_free(void* capsule) {
    delete static_cast<Propagation*>(content_of(capsule));
}

// Writes the log probability of what is known, then the marginals of the wanted variables
// at their places among all states; of all variables if n_wanted < 0.
BAYLEAF_API int32_t bl_junction_marginals(void* memory, const int64_t* known,
                                          int64_t n_known, const double* likelihoods,
                                          int64_t n_likelihoods, const int64_t* wanted,
                                          int64_t n_wanted, double* answer) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const Tree& tree = propagation.tree;
        Watch watch;
        for (int64_t i = 0; i < n_wanted; ++i) tree.checked(wanted[i]);
        answer[0] = kImpossible;
        if (!enter(propagation, {known, n_known, 2}, view(likelihoods, n_likelihoods)))
            return;
        if (n_wanted < 0)
            propagation.want_all();
        else
            propagation.want(view(wanted, n_wanted));
        const Reads reads = n_wanted == 0 ? Reads::kNothing : Reads::kMarginals;
        answer[0] = propagation.propagate(reads, watch);
        if (answer[0] == kImpossible) return;
        const int64_t n_read = n_wanted < 0 ? tree.n_variables() : n_wanted;
        for (int64_t i = 0; i < n_read; ++i) {
            const auto v = static_cast<int32_t>(n_wanted < 0 ? i : wanted[i]);
            propagation.read_marginal(v, answer + 1 + tree.variables[v].first_state);
        }
    });
}

// Adds the posteriors of all families to their tables, one after another, each in the
// order in which its distribution was given; nothing if the evidence is impossible.
BAYLEAF_API int32_t bl_junction_families(void* memory, const int64_t* known,
                                         int64_t n_known, const double* likelihoods,
                                         int64_t n_likelihoods, double* totals) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        Watch watch;
        if (!enter(propagation, {known, n_known, 2}, view(likelihoods, n_likelihoods)))
            return;
        propagation.want_all();
        if (propagation.propagate(Reads::kFamilies, watch) == kImpossible) return;
        for (int32_t v = 0; v < propagation.tree.n_variables(); ++v)
            propagation.add_family(v, 1.0,
                                   totals + propagation.tree.distributions[v].first_cell);
    });
}

// Writes the most probable states of all variables, and their log probability.
BAYLEAF_API int32_t bl_junction_most_probable(void* memory, const int64_t* known,
                                              int64_t n_known, const double* likelihoods,
                                              int64_t n_likelihoods, int64_t* states,
                                              double* log_probability) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        Watch watch;
        *log_probability = kImpossible;
        if (enter(propagation, {known, n_known, 2}, view(likelihoods, n_likelihoods)))
            *log_probability = propagation.find_most_probable(
                view(states, propagation.tree.n_variables()), watch);
    });
}

// Writes how many cells of cliques the messages of sums to the roots run through, and how
// many all have; and marks the variables of which evidence leaves one state.
BAYLEAF_API int32_t bl_junction_cells(void* memory, const int64_t* known, int64_t n_known,
                                      const double* likelihoods, int64_t n_likelihoods,
                                      double* cells, bool* is_observed) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        enter(propagation, {known, n_known, 2}, view(likelihoods, n_likelihoods));
        propagation.count_cells(cells[0], cells[1]);
        for (int64_t i = 0; i < n_known; ++i) {
            const auto v = static_cast<int32_t>(known[2 * i]);
            is_observed[v] = propagation.evidence.count(v) == 1;
        }
    });
}
