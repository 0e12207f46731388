// Compiles cliques, links and distributions to a rooted junction forest: chooses roots,
// gives every distribution a clique, and every marginal the smallest table to read it
// from. Linear in the variables of all cliques, but for the look-up of homes.
#include "inference/junction_tree/tree.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>

#include "support/checks.h"

namespace bayleaf::junction_tree {
namespace {

// Messages beyond this could not be stored anyway; products up to here do not overflow.
constexpr double kMostCells = 1e12;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool contains(Scope scope, int32_t variable) {
    return std::ranges::find(scope, variable) != scope.end();
}

class Compiler {
public:
    Compiler(const Parts& parts, Tree& tree) : parts_(parts), tree_(tree) {}

    void compile() {
        check_rank();
        for (std::size_t v = 0; v < parts_.cards.size(); ++v)
            add_variable(parts_.cards[v], parts_.observed[v]);
        for (int32_t v = 0; v < tree_.n_variables(); ++v) add_distribution(v);
        add_cliques();
        give_homes();
        give_readers();
        mark_barren();
    }

private:
    // Cells of a table once variables that are always observed have one state.
    double size_of(Scope scope) const {
        double cells = 1.0;
        for (const int32_t v : scope)
            if (!parts_.observed[v]) cells *= tree_.variables[v].card;
        return cells;
    }

    void check_rank() const {
        std::vector<bool> is_taken(parts_.rank.size());
        for (const int64_t place : parts_.rank) {
            if (place < 0 || place >= std::ssize(parts_.rank) || is_taken[place])
                throw std::invalid_argument("the order of axes is none");
            is_taken[place] = true;
        }
    }

    // Variables as they were given, in the order of the tree's axes.
    Members members_of(std::span<const int64_t> given) const {
        Members members;
        for (const int64_t v : given) members.push_back(tree_.checked(v));
        std::ranges::sort(members, {}, [this](int32_t v) { return parts_.rank[v]; });
        if (std::ranges::adjacent_find(members) != members.end())
            throw std::invalid_argument("a table mentions a variable twice");
        return members;
    }

    void add_variable(int64_t card, bool is_observed) {
        if (card < 1 || card > std::numeric_limits<int32_t>::max())
            throw std::invalid_argument("a variable has no state, or too many");
        if (is_observed) tree_.observed.push_back(tree_.n_variables());
        Variable& variable = tree_.variables.emplace_back();
        variable.card = static_cast<int32_t>(card);
        variable.first_state = tree_.n_states;
        tree_.n_states += card;
    }

    // Copies a table with its axes in the order of the tree's.
    void add_distribution(int32_t variable) {
        const auto family = parts_.families[variable];
        Distribution& table = tree_.distributions.emplace_back();
        table.members = members_of(family);
        table.first_cell = tree_.n_cells;
        if (!contains(table.members, variable))
            throw std::invalid_argument("a distribution does not mention its variable");
        double size = 1.0;
        for (const int32_t v : table.members) size *= tree_.variables[v].card;
        if (size > static_cast<double>(std::ssize(parts_.cells) - tree_.n_cells))
            throw std::invalid_argument("the distributions have too few cells");
        table.given_steps.resize(family.size());
        int64_t step = 1;
        for (auto v = family.rbegin(); v != family.rend(); ++v) {
            const auto place = std::ranges::find(table.members, static_cast<int32_t>(*v));
            table.given_steps[place - table.members.begin()] = step;
            step *= tree_.variables[*v].card;
        }
        table.cells.reserve(step);
        append_cells(table, 0, &parts_.cells[tree_.n_cells]);
        tree_.n_cells += step;
    }

    void append_cells(Distribution& table, std::size_t axis, const double* given) const {
        if (axis == table.members.size()) {
            table.cells.push_back(*given);
            return;
        }
        const int32_t card = tree_.variables[table.members[axis]].card;
        for (int32_t state = 0; state < card; ++state)
            append_cells(table, axis + 1, given + state * table.given_steps[axis]);
    }

    void add_cliques() {
        std::vector<Members> given;
        for (std::size_t c = 0; c < parts_.cliques.size(); ++c)
            given.push_back(members_of(parts_.cliques[c]));
        std::vector<int32_t> above(given.size()), number(given.size());
        const Members upwards = children_first(given, above);
        tree_.cliques.resize(given.size());
        for (int32_t c = 0; c < tree_.n_cliques(); ++c) {
            number[upwards[c]] = c;
            tree_.cliques[c].members = std::move(given[upwards[c]]);
        }
        for (int32_t c = 0; c < tree_.n_cliques(); ++c)
            if (above[upwards[c]] >= 0) link(c, number[above[upwards[c]]]);
    }

    void link(int32_t child, int32_t parent) {
        Clique& below = tree_.cliques[child];
        below.parent = parent;
        tree_.cliques[parent].children.push_back(child);
        double cells = 1.0;
        for (const int32_t v : below.members) {
            if (!contains(tree_.cliques[parent].members, v)) continue;
            below.above.members.push_back(v);
            cells *= tree_.variables[v].card;
        }
        if (cells > kMostCells) throw std::bad_alloc();
        below.above.n_cells = static_cast<int64_t>(cells);
    }

    // The cliques by the numbers that they were given, and each one's parent, -1 for roots.
    Members children_first(const std::vector<Members>& cliques,
                           std::vector<int32_t>& above) const {
        std::vector<Members> around(cliques.size());
        for (int64_t edge = 0; edge < parts_.edges.rows; ++edge) {
            const auto ends = parts_.edges[edge];
            require_below(ends, std::ssize(cliques), "an edge links what is no clique");
            around[ends[0]].push_back(static_cast<int32_t>(ends[1]));
            around[ends[1]].push_back(static_cast<int32_t>(ends[0]));
        }
        constexpr int32_t kUnseen = -2;
        std::ranges::fill(above, kUnseen);
        Members downwards, stack;
        for (const int32_t root : roots_first(cliques)) {
            if (above[root] != kUnseen) continue;
            above[root] = -1;
            stack.push_back(root);
            while (!stack.empty()) {
                const int32_t clique = stack.back();
                stack.pop_back();
                downwards.push_back(clique);
                for (const int32_t other : around[clique]) {
                    if (above[other] != kUnseen) continue;
                    above[other] = clique;
                    stack.push_back(other);
                }
            }
        }
        std::ranges::reverse(downwards);
        return downwards;
    }

    // Each tree's largest table becomes its root, which has one message less to multiply
    // and to send; but the target's smallest clique is one if there is a target.
    Members roots_first(const std::vector<Members>& cliques) const {
        std::vector<double> sizes;
        for (const Members& members : cliques) sizes.push_back(size_of(members));
        Members preferred(cliques.size());
        std::iota(preferred.begin(), preferred.end(), 0);
        std::ranges::stable_sort(preferred, std::ranges::greater{},
                                 [&](int32_t c) { return sizes[c]; });
        if (parts_.target < 0) return preferred;
        const int32_t target = tree_.checked(parts_.target);
        const auto smallest =
            std::ranges::find_if(preferred.rbegin(), preferred.rend(),
                                 [&](int32_t c) { return contains(cliques[c], target); });
        if (smallest == preferred.rend())
            throw std::invalid_argument("no clique holds the target");
        std::rotate(preferred.begin(), smallest.base() - 1, smallest.base());
        return preferred;
    }

    // The clique with the smallest table among those that hold a whole family.
    void give_homes() {
        std::vector<Members> holding(tree_.variables.size());
        for (int32_t c = 0; c < tree_.n_cliques(); ++c)
            for (const int32_t v : tree_.cliques[c].members) holding[v].push_back(c);
        for (int32_t v = 0; v < tree_.n_variables(); ++v) {
            Members family = tree_.distributions[v].members;
            std::erase_if(family, [this](int32_t u) { return parts_.observed[u]; });
            if (family.empty()) family.push_back(v);
            const int32_t rarest = *std::ranges::min_element(
                family, {}, [&](int32_t u) { return holding[u].size(); });
            int32_t home = -1;
            double least = kInfinity;
            for (const int32_t c : holding[rarest]) {
                const Members& members = tree_.cliques[c].members;
                const double size = size_of(members);
                const auto is_inside = [&](int32_t u) { return contains(members, u); };
                if (size >= least || !std::ranges::all_of(family, is_inside)) continue;
                home = c;
                least = size;
            }
            if (home < 0) throw std::invalid_argument("no clique holds a family");
            tree_.variables[v].home = home;
            tree_.cliques[home].distributions.push_back(v);
            while (tree_.cliques[home].parent >= 0) home = tree_.cliques[home].parent;
            tree_.variables[v].root = home;
        }
    }

    // The smallest separator or clique that holds each variable; the root for a target.
    void give_readers() {
        std::vector<double> least(tree_.variables.size(), kInfinity);
        for (const bool from_separator : {true, false})
            for (int32_t c = 0; c < tree_.n_cliques(); ++c) {
                const Clique& clique = tree_.cliques[c];
                const Scope scope = from_separator ? clique.above.members : clique.members;
                const double size = size_of(scope);
                for (const int32_t v : scope) {
                    if (size >= least[v]) continue;
                    least[v] = size;
                    tree_.variables[v].reader = c;
                    tree_.variables[v].from_separator = from_separator;
                }
            }
        for (int32_t v = 0; v < tree_.n_variables(); ++v) {
            Variable& variable = tree_.variables[v];
            if (variable.reader < 0)
                throw std::invalid_argument("no clique holds a variable");
            if (v == parts_.target && contains(tree_.cliques[variable.root].members, v)) {
                variable.reader = variable.root;
                variable.from_separator = false;
            }
            Clique& clique = tree_.cliques[variable.reader];
            (variable.from_separator ? clique.above.reads : clique.reads).push_back(v);
        }
    }

    // A message is one everywhere if no distribution in the subtree is that of a variable
    // which the parent holds too (barren nodes; Shachter 1986), and all sum to one.
    void mark_barren() {
        for (int32_t v = 0; v < tree_.n_variables(); ++v) {
            for (int32_t c = tree_.variables[v].home; c >= 0; c = tree_.cliques[c].parent) {
                // A variable outside the separator is in no separator further up.
                if (parts_.sums_to_one[v] && !contains(tree_.cliques[c].above.members, v))
                    break;
                tree_.cliques[c].is_barren = false;
            }
        }
    }

    const Parts& parts_;
    Tree& tree_;
};

}  // namespace

Tree::Tree(const Parts& parts) {
    Compiler(parts, *this).compile();
}

}  // namespace bayleaf::junction_tree
