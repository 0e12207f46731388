// Compiles cliques, links and distributions to a rooted junction forest: chooses roots,
// gives every distribution a clique, and every marginal the smallest table to read it
// from. Linear in the number of cliques times their variables.
#include "models/junction_tree/tree.h"

#include <algorithm>
#include <limits>
#include <new>
#include <numeric>
#include <stdexcept>

namespace bayleaf::junction_tree {
namespace {

// Messages beyond this could not be stored anyway; products up to here do not overflow.
constexpr double kMostCells = 1e15;

bool contains(const Members& members, int32_t variable) {
    return std::find(members.begin(), members.end(), variable) != members.end();
}

// Cliques while they are being numbered, and their tables' sizes once observed variables
// have one state.
class Compiler {
public:
    Compiler(const Parts& parts, Tree& tree) : parts_(parts), tree_(tree) {}

    void compile() {
        check_rank();
        add_variables();
        for (std::size_t v = 0; v < parts_.families.size(); ++v) add_distribution(v);
        add_cliques();
        give_homes();
        give_readers();
        mark_barren();
    }

private:
    bool is_observed(int64_t variable) const {
        return parts_.observed[static_cast<std::size_t>(variable)];
    }

    double table_cells(std::span<const int32_t> members) const {
        double cells = 1.0;
        for (const int32_t v : members)
            if (!is_observed(v)) cells *= tree_.variables[v].card;
        return cells;
    }

    void check_rank() const {
        std::vector<bool> is_taken(parts_.rank.size(), false);
        for (const int64_t place : parts_.rank) {
            if (place < 0 || place >= static_cast<int64_t>(is_taken.size()) ||
                is_taken[place])
                throw std::invalid_argument("the order of axes lists no variable once");
            is_taken[place] = true;
        }
    }

    // Checks variables that Python lists, and sorts them by the order of axes.
    Members members_of(std::span<const int64_t> listed) const {
        const auto n = static_cast<int64_t>(parts_.cards.size());
        Members members;
        for (const int64_t v : listed) {
            if (v < 0 || v >= n)
                throw std::invalid_argument(
                    "a table mentions a variable that is not there");
            members.push_back(static_cast<int32_t>(v));
        }
        std::sort(members.begin(), members.end(), [&](int32_t one, int32_t other) {
            return parts_.rank[one] < parts_.rank[other];
        });
        if (std::adjacent_find(members.begin(), members.end()) != members.end())
            throw std::invalid_argument("a table mentions a variable twice");
        return members;
    }

    void add_variables() {
        for (std::size_t v = 0; v < parts_.cards.size(); ++v) {
            const int64_t card = parts_.cards[v];
            if (card < 1 || card > std::numeric_limits<int32_t>::max())
                throw std::invalid_argument("a variable has no state, or too many");
            tree_.variables.push_back({static_cast<int32_t>(card), tree_.n_states});
            tree_.n_states += card;
            if (parts_.observed[v]) tree_.observed.push_back(static_cast<int32_t>(v));
        }
    }

    // Copies a table with its axes in the tree's order.
    void add_distribution(std::size_t v) {
        const auto family = parts_.families[v];
        Distribution table;
        table.members = members_of(family);
        table.first_cell = tree_.n_cells;
        if (!contains(table.members, static_cast<int32_t>(v)))
            throw std::invalid_argument("a distribution does not mention its variable");
        double size = 1.0;
        for (const int32_t u : table.members) size *= tree_.variables[u].card;
        if (static_cast<double>(tree_.n_cells) + size >
            static_cast<double>(parts_.cells.size()))
            throw std::invalid_argument("the distributions have too few cells");
        table.cells.reserve(static_cast<std::size_t>(size));
        table.given_steps.resize(family.size());
        int64_t step = 1;
        for (std::size_t j = family.size(); j-- > 0;) {
            const auto place = std::find(table.members.begin(), table.members.end(),
                                         static_cast<int32_t>(family[j]));
            table.given_steps[place - table.members.begin()] = step;
            step *= tree_.variables[family[j]].card;
        }
        append_cells(table, 0, parts_.cells.data() + tree_.n_cells);
        tree_.n_cells += step;
        tree_.distributions.push_back(std::move(table));
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
        std::vector<int32_t> above;
        const std::vector<int32_t> order = upwards(given, above);
        std::vector<int32_t> number(given.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            number[order[i]] = static_cast<int32_t>(i);
        tree_.cliques.resize(given.size());
        for (std::size_t i = 0; i < order.size(); ++i) {
            tree_.cliques[i].members = std::move(given[order[i]]);
            if (above[order[i]] >= 0) tree_.cliques[i].parent = number[above[order[i]]];
        }
        for (std::size_t i = 0; i < order.size(); ++i) link_to_parent(i);
    }

    void link_to_parent(std::size_t i) {
        Clique& clique = tree_.cliques[i];
        if (clique.parent < 0) return;
        Clique& parent = tree_.cliques[clique.parent];
        parent.children.push_back(static_cast<int32_t>(i));
        double cells = 1.0;
        for (const int32_t v : clique.members) {
            if (!contains(parent.members, v)) continue;
            clique.above.members.push_back(v);
            cells *= tree_.variables[v].card;
        }
        if (cells > kMostCells) throw std::bad_alloc();
        clique.above.n_cells = static_cast<int64_t>(cells);
    }

    // Cliques as given, children first, and each one's parent. Each tree's largest table
    // becomes its root, because a root is worked off once and the others twice; but the
    // target's smallest clique is one if there is a target.
    std::vector<int32_t> upwards(const std::vector<Members>& cliques,
                                 std::vector<int32_t>& above) const {
        const std::size_t n = cliques.size();
        std::vector<std::vector<int32_t>> around(n);
        for (int64_t edge = 0; edge < parts_.edges.rows; ++edge) {
            const auto ends = parts_.edges[edge];
            for (const int64_t end : ends)
                if (end < 0 || end >= static_cast<int64_t>(n))
                    throw std::invalid_argument("an edge links a clique that is not there");
            around[ends[0]].push_back(static_cast<int32_t>(ends[1]));
            around[ends[1]].push_back(static_cast<int32_t>(ends[0]));
        }
        std::vector<double> sizes(n);
        for (std::size_t c = 0; c < n; ++c) sizes[c] = table_cells(cliques[c]);
        std::vector<int32_t> preferred(n);
        std::iota(preferred.begin(), preferred.end(), 0);
        std::stable_sort(
            preferred.begin(), preferred.end(),
            [&](int32_t one, int32_t other) { return sizes[one] > sizes[other]; });
        if (parts_.target >= 0) prefer_target(cliques, preferred);
        constexpr int32_t kUnseen = -2;
        above.assign(n, kUnseen);
        std::vector<int32_t> downwards, stack;
        for (const int32_t root : preferred) {
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
        std::reverse(downwards.begin(), downwards.end());
        return downwards;
    }

    // Moves the smallest clique that holds the target to the front.
    void prefer_target(const std::vector<Members>& cliques,
                       std::vector<int32_t>& preferred) const {
        auto best = preferred.end();
        double least = std::numeric_limits<double>::infinity();
        for (auto place = preferred.begin(); place != preferred.end(); ++place) {
            const Members& members = cliques[*place];
            const double size = table_cells(members);
            if (size < least && contains(members, static_cast<int32_t>(parts_.target))) {
                best = place;
                least = size;
            }
        }
        if (best == preferred.end())
            throw std::invalid_argument("no clique holds the target");
        std::rotate(preferred.begin(), best, best + 1);
    }

    // The clique with the smallest table among those that hold a whole family.
    void give_homes() {
        std::vector<std::vector<int32_t>> holding(tree_.variables.size());
        for (std::size_t c = 0; c < tree_.cliques.size(); ++c)
            for (const int32_t v : tree_.cliques[c].members)
                holding[v].push_back(static_cast<int32_t>(c));
        for (std::size_t v = 0; v < tree_.variables.size(); ++v) {
            Members family;
            for (const int32_t u : tree_.distributions[v].members)
                if (!is_observed(u)) family.push_back(u);
            if (family.empty()) family.push_back(static_cast<int32_t>(v));
            const int32_t home = smallest_holding(family, holding);
            tree_.variables[v].home = home;
            tree_.cliques[home].distributions.push_back(static_cast<int32_t>(v));
            int32_t root = home;
            while (!tree_.is_root(root)) root = tree_.cliques[root].parent;
            tree_.variables[v].root = root;
        }
    }

    int32_t smallest_holding(const Members& family,
                             const std::vector<std::vector<int32_t>>& holding) const {
        const int32_t rarest = *std::min_element(
            family.begin(), family.end(), [&](int32_t one, int32_t other) {
                return holding[one].size() < holding[other].size();
            });
        int32_t best = -1;
        double least = std::numeric_limits<double>::infinity();
        for (const int32_t c : holding[rarest]) {
            const Members& members = tree_.cliques[c].members;
            const bool holds = std::all_of(family.begin(), family.end(),
                                           [&](int32_t u) { return contains(members, u); });
            const double size = table_cells(members);
            if (holds && size < least) {
                best = c;
                least = size;
            }
        }
        if (best < 0) throw std::invalid_argument("no clique holds a family");
        return best;
    }

    // The smallest clique or separator that holds each variable; the root for a target.
    void give_readers() {
        std::vector<double> least(tree_.variables.size(),
                                  std::numeric_limits<double>::infinity());
        for (const bool from_separator : {true, false})
            for (std::size_t c = 0; c < tree_.cliques.size(); ++c) {
                const Clique& clique = tree_.cliques[c];
                const Members& members =
                    from_separator ? clique.above.members : clique.members;
                const double size = table_cells(members);
                for (const int32_t v : members) {
                    if (size >= least[v]) continue;
                    least[v] = size;
                    tree_.variables[v].reader = static_cast<int32_t>(c);
                    tree_.variables[v].from_separator = from_separator;
                }
            }
        if (parts_.target >= 0) {
            Variable& target = tree_.variables[parts_.target];
            target.reader = target.root;
            target.from_separator = false;
        }
        for (std::size_t v = 0; v < tree_.variables.size(); ++v) {
            const Variable& variable = tree_.variables[v];
            if (variable.reader < 0)
                throw std::invalid_argument("no clique holds a variable");
            Clique& clique = tree_.cliques[variable.reader];
            Members& reads = variable.from_separator ? clique.above.reads : clique.reads;
            reads.push_back(static_cast<int32_t>(v));
        }
    }

    // A message is one everywhere if no distribution in the subtree is that of a variable
    // which the parent holds too (barren nodes; Shachter 1986), and all sum to one.
    void mark_barren() {
        for (std::size_t v = 0; v < tree_.variables.size(); ++v) {
            for (int32_t c = tree_.variables[v].home; c >= 0; c = tree_.cliques[c].parent) {
                // A variable outside the separator is in no separator further up.
                const Members& shared = tree_.cliques[c].above.members;
                if (parts_.sums_to_one[v] && !contains(shared, static_cast<int32_t>(v)))
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
