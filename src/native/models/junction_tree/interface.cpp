// The C interface of junction trees: handles of trees and of work memories, and questions.
#include "support/interface.h"

#include <limits>
#include <memory>
#include <stdexcept>

#include "models/junction_tree/propagation.h"
#include "models/junction_tree/rows.h"

namespace bayleaf::junction_tree {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// What is known, as Python hands it over: pairs of a variable and its state, or -1 where
// the variable's next likelihoods are listed instead.
struct Known {
    Matrix<const int64_t> pairs;
    std::span<const double> likelihoods;
};

int32_t checked_variable(const Tree& tree, int64_t variable) {
    if (variable < 0 || variable >= static_cast<int64_t>(tree.variables.size()))
        throw std::invalid_argument("there is no such variable in the tree");
    return static_cast<int32_t>(variable);
}

// Enters what is known; false if it leaves a variable without a state.
bool enter(Propagation& propagation, Known known) {
    Evidence& evidence = propagation.evidence;
    evidence.clear();
    bool is_possible = true;
    for (int64_t i = 0; i < known.pairs.rows; ++i) {
        const int32_t v = checked_variable(propagation.tree, known.pairs(i, 0));
        const int64_t state = known.pairs(i, 1), card = propagation.tree.variables[v].card;
        if (state >= card) throw std::invalid_argument("there is no such state");
        if (state >= 0) {
            evidence.observe(v, static_cast<int32_t>(state));
            continue;
        }
        if (card > static_cast<int64_t>(known.likelihoods.size()))
            throw std::invalid_argument("there are too few likelihoods");
        is_possible &= evidence.weigh(v, known.likelihoods.first(card));
        known.likelihoods = known.likelihoods.subspan(card);
    }
    for (const int32_t v : propagation.tree.observed)
        if (is_possible && evidence.count(v) > 1)
            throw std::invalid_argument("a variable has to be observed in this tree");
    return is_possible;
}

// A table of codes, as Python hands it over; see Rows.
struct CodeTable {
    const uint8_t* narrow;
    const uint16_t* wide;
    const int64_t* slots;
    int64_t n_narrow, n_wide, n_variables, n_rows;
};

Rows checked_rows(const Tree& tree, const CodeTable& codes, int64_t first, int64_t n_rows) {
    const Rows rows{{codes.narrow, codes.n_narrow, codes.n_rows},
                    {codes.wide, codes.n_wide, codes.n_rows},
                    view(codes.slots, codes.n_variables),
                    first,
                    n_rows};
    if (rows.slots.size() != tree.variables.size() || !tree.observed.empty())
        throw std::invalid_argument("the rows are not those of the tree's variables");
    for (const int64_t slot : rows.slots)
        if (slot >= codes.n_narrow || -slot - 1 >= codes.n_wide)
            throw std::invalid_argument("the rows lack a variable");
    if (first < 0 || n_rows < 0 || first > codes.n_rows - n_rows)
        throw std::invalid_argument("the table has too few rows");
    return rows;
}

void check_lists(const Lists& lists) {
    int64_t last = 0;
    for (const int64_t start : lists.starts) {
        if (start < last || start > static_cast<int64_t>(lists.items.size()))
            throw std::invalid_argument("a list of variables ends before it begins");
        last = start;
    }
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
        check_lists(parts.families);
        check_lists(parts.cliques);
        auto tree = std::make_unique<Tree>(parts);
        if (with_prior && tree->observed.empty()) add_prior(*tree);
        *made = tree.release();
    });
}

BAYLEAF_API void bl_junction_tree_free(void* tree) {
    delete static_cast<Tree*>(tree);
}

// Makes a work memory; `n_cells` tells how many numbers it keeps.
BAYLEAF_API int32_t bl_propagation_new(const void* tree, void** made, int64_t* n_cells) {
    return guarded([&] {
        auto propagation = std::make_unique<Propagation>(*static_cast<const Tree*>(tree));
        *n_cells = propagation->n_cells();
        *made = propagation.release();
    });
}

BAYLEAF_API void bl_propagation_free(void* propagation) {
    delete static_cast<Propagation*>(propagation);
}

// Writes the log probability of the evidence, then the marginals of the wanted variables
// at their places among all states; of all variables if n_wanted < 0.
BAYLEAF_API int32_t bl_marginals(void* memory, const int64_t* known, int64_t n_known,
                                 const double* likelihoods, int64_t n_likelihoods,
                                 const int64_t* wanted, int64_t n_wanted, double* answer) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const Tree& tree = propagation.tree;
        Watch watch;
        answer[0] = kImpossible;
        for (int64_t i = 0; i < n_wanted; ++i) checked_variable(tree, wanted[i]);
        if (!enter(propagation, {{known, n_known, 2}, view(likelihoods, n_likelihoods)}))
            return;
        if (n_wanted < 0)
            propagation.want_all();
        else
            propagation.want(view(wanted, n_wanted));
        const Reads reads = n_wanted == 0 ? Reads::kNothing : Reads::kMarginals;
        answer[0] = propagation.propagate(reads, watch);
        if (answer[0] == kImpossible) return;
        const auto read = [&](int64_t variable) {
            const auto v = static_cast<int32_t>(variable);
            propagation.read_marginal(v, answer + 1 + tree.variables[v].first_state);
        };
        if (n_wanted >= 0)
            for (const int64_t v : view(wanted, n_wanted)) read(v);
        else
            for (std::size_t v = 0; v < tree.variables.size(); ++v)
                read(static_cast<int64_t>(v));
    });
}

// Adds the posteriors of all families to their tables, one after another, each in the
// order in which its distribution was given.
BAYLEAF_API int32_t bl_families(void* memory, const int64_t* known, int64_t n_known,
                                const double* likelihoods, int64_t n_likelihoods,
                                double* totals) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        Watch watch;
        if (!enter(propagation, {{known, n_known, 2}, view(likelihoods, n_likelihoods)}))
            return;
        propagation.want_all();
        if (propagation.propagate(Reads::kFamilies, watch) == kImpossible) return;
        for (std::size_t v = 0; v < propagation.tree.variables.size(); ++v)
            propagation.add_family(static_cast<int32_t>(v), 1.0,
                                   totals + propagation.tree.distributions[v].first_cell);
    });
}

// Writes the most probable states of all variables, and their log probability.
BAYLEAF_API int32_t bl_most_probable(void* memory, const int64_t* known, int64_t n_known,
                                     const double* likelihoods, int64_t n_likelihoods,
                                     int64_t* states, double* log_probability) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const auto n_variables = static_cast<int64_t>(propagation.tree.variables.size());
        Watch watch;
        *log_probability = kImpossible;
        if (enter(propagation, {{known, n_known, 2}, view(likelihoods, n_likelihoods)}))
            *log_probability =
                propagation.find_most_probable(view(states, n_variables), watch);
    });
}

// Writes how many cells of cliques the messages of sums to the roots run through, and how
// many all have; and marks the variables of which evidence leaves one state.
BAYLEAF_API int32_t bl_count_cells(void* memory, const int64_t* known, int64_t n_known,
                                   const double* likelihoods, int64_t n_likelihoods,
                                   double* cells, bool* is_observed) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        enter(propagation, {{known, n_known, 2}, view(likelihoods, n_likelihoods)});
        cells[0] = propagation.count_cells_upwards(Rule::kSum);
        cells[1] = propagation.count_cells();
        for (int64_t i = 0; i < n_known; ++i) {
            const int64_t v = known[2 * i];
            is_observed[v] = propagation.evidence.count(static_cast<int32_t>(v)) == 1;
        }
    });
}

// Writes the log probability of each row's observed cells, from row `first` on.
BAYLEAF_API int32_t bl_log_evidence_of_rows(void* memory, const CodeTable* codes,
                                            int64_t first, int64_t n_rows,
                                            double* log_evidence) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const Rows rows = checked_rows(propagation.tree, *codes, first, n_rows);
        fill_log_evidence(propagation, rows, view(log_evidence, n_rows));
    });
}

// Writes each row's posterior of the target given its other cells, (n_rows, card), and
// the log probability of those.
BAYLEAF_API int32_t bl_posteriors_of_rows(void* memory, const CodeTable* codes,
                                          int64_t first, int64_t n_rows, int64_t target,
                                          double* posteriors, double* log_evidence) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const Rows rows = checked_rows(propagation.tree, *codes, first, n_rows);
        const int32_t v = checked_variable(propagation.tree, target);
        fill_posteriors(propagation, rows, v,
                        {posteriors, n_rows, propagation.tree.variables[v].card},
                        view(log_evidence, n_rows));
    });
}

// Adds some nodes' family posteriors of all rows, each times its weight, to their tables,
// one after another, each in the order in which its distribution was given.
BAYLEAF_API int32_t bl_families_of_rows(void* memory, const CodeTable* codes, int64_t first,
                                        int64_t n_rows, const double* weights,
                                        const int64_t* nodes, int64_t n_nodes,
                                        double* totals, int64_t n_totals) {
    return guarded([&] {
        Propagation& propagation = *static_cast<Propagation*>(memory);
        const Rows rows = checked_rows(propagation.tree, *codes, first, n_rows);
        std::size_t n_cells = 0;
        for (const int64_t node : view(nodes, n_nodes)) {
            const int32_t v = checked_variable(propagation.tree, node);
            n_cells += propagation.tree.distributions[v].cells.size();
        }
        if (n_cells != static_cast<std::size_t>(n_totals))
            throw std::invalid_argument("the tables of the nodes have other sizes");
        add_families(propagation, rows, view(weights, n_rows), view(nodes, n_nodes),
                     view(totals, n_totals));
    });
}
