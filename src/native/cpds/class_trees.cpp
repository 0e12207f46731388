// What class trees add to the scores of rows, and what each split along a row's way adds.
#include <stdexcept>

#include "data/codes.h"
#include "support/checks.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Nodes of all trees, one after another; children lie side by side, behind their parent.
struct Trees {
    std::span<const int64_t> roots, classes;
    std::span<const int64_t> features, states, children;
    std::span<const double> values;
    // By feature: number of states, and whether a split takes all states up to one.
    std::span<const int64_t> cards;
    std::span<const bool> is_ordered;

    double change(int64_t node, int64_t child) const { return values[child] - values[node]; }

    void check(int64_t n_classes) const {
        const int64_t n_nodes = std::ssize(features);
        require_below(roots, n_nodes, "a class tree has no root");
        require_below(classes, n_classes, "a class tree is of no class");
        for (int64_t node = 0; node < n_nodes; ++node) {
            if (features[node] < 0) continue;
            if (features[node] >= std::ssize(cards) || children[node] <= node ||
                children[node] >= n_nodes - 1)
                throw std::invalid_argument("a class tree's split leads nowhere");
        }
    }
};

// Walks every row down every tree; visit(row, tree, node, child) at every split. A row
// stops where it does not know a split's feature.
template <class Visit>
void walk(const Trees& trees, const CodeTable& codes, Visit&& visit) {
    Watch watch;
    for (int64_t row = 0; row < codes.n_rows; ++row) {
        int64_t steps = 0;
        for (int64_t tree = 0; tree < std::ssize(trees.roots); ++tree) {
            int64_t node = trees.roots[tree];
            while (trees.features[node] >= 0) {
                const int64_t feature = trees.features[node], slot = codes.slots[feature];
                const int64_t code = slot >= 0 ? codes.narrow(slot, row)
                                               : codes.wide(-slot - 1, row);
                if (code >= trees.cards[feature]) break;
                const int64_t state = trees.states[node];
                const bool is_left = trees.is_ordered[feature] ? code <= state : code == state;
                const int64_t child = trees.children[node] + (is_left ? 0 : 1);
                visit(row, tree, node, child);
                node = child;
                ++steps;
            }
        }
        watch.add(steps * 4);
    }
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Adds to scores of shape (n_rows, n_classes) what the trees say; or, by feature, to
// values of shape (n_rows, n_classes, n_features, 2) what each split adds: those at a root
// in the first place of the split's feature, those below in the second.
BAYLEAF_API int32_t bl_add_class_trees(
    const uint8_t* narrow, int64_t n_narrow, const uint16_t* wide, int64_t n_wide,
    const int64_t* slots, int64_t n_features, int64_t n_rows, const int64_t* cards,
    const bool* is_ordered, const int64_t* roots, const int64_t* classes, int64_t n_trees,
    const int64_t* features, const int64_t* states, const int64_t* children,
    const double* node_values, int64_t n_nodes, int64_t n_classes, bool by_feature,
    double* values) {
    return guarded([&] {
        const CodeTable codes{narrow, n_narrow, wide, n_wide, slots, n_features, n_rows};
        const Trees trees{view(roots, n_trees),      view(classes, n_trees),
                          view(features, n_nodes),   view(states, n_nodes),
                          view(children, n_nodes),   view(node_values, n_nodes),
                          view(cards, n_features),   view(is_ordered, n_features)};
        trees.check(n_classes);
        if (by_feature) {
            walk(trees, codes, [&](int64_t row, int64_t tree, int64_t node, int64_t child) {
                const int64_t cell = (row * n_classes + trees.classes[tree]) * n_features;
                const bool is_below = node != trees.roots[tree];
                values[2 * (cell + trees.features[node]) + is_below] +=
                    trees.change(node, child);
            });
        } else {
            walk(trees, codes, [&](int64_t row, int64_t tree, int64_t node, int64_t child) {
                values[row * n_classes + trees.classes[tree]] += trees.change(node, child);
            });
        }
    });
}
