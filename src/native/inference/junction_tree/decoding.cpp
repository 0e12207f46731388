// Reads the most probable states off the messages that took maxima, root first (Dawid
// 1992). Costs a product of all tables for each cell that a clique's parent leaves open.
#include <algorithm>
#include <vector>

#include "inference/junction_tree/propagation.h"

namespace bayleaf::junction_tree {
namespace {

// Products of a clique that are closer than this are taken as equal.
constexpr double kRounding = 1e-12;
constexpr int32_t kOpen = -1;

// The cells of a clique whose states are open, the last of its variables running fastest.
class OpenCells {
public:
    OpenCells(const Evidence& evidence, std::vector<int32_t>& chosen)
        : evidence_(evidence), chosen_(chosen) {}

    // By index, so that ties go to the lowest state of the lowest variable.
    void over(Scope members) {
        open_.clear();
        at_.clear();
        for (const int32_t v : members)
            if (chosen_[v] == kOpen) open_.push_back(v);
        std::sort(open_.begin(), open_.end());
        steps_.assign(open_.size(), {});
    }

    bool is_empty() const { return open_.empty(); }

    void multiply(Scope scope, const double* cells) {
        for (auto& steps : steps_) steps.push_back(0);
        int64_t step = 1;
        for (std::size_t j = scope.size(); j-- > 0;) {
            const int32_t v = scope[j];
            if (chosen_[v] == kOpen) {
                const auto place = std::lower_bound(open_.begin(), open_.end(), v);
                steps_[place - open_.begin()].back() = step;
            } else {
                cells += step * chosen_[v];
            }
            step *= evidence_.count(v);
        }
        at_.push_back(cells);
    }

    // Chooses the states of the largest product.
    void choose_best(Watch& watch) {
        std::vector<int32_t> states(open_.size(), 0), best_states = states;
        double best = -1.0;
        for (;;) {
            watch.add(4 + static_cast<int64_t>(at_.size()));
            double value = 1.0;
            for (const double* cell : at_) value *= *cell;
            if (value > best * (1.0 + kRounding)) {
                best = value;
                best_states = states;
            }
            std::size_t axis = open_.size();
            while (axis > 0 && !advance(states, axis - 1)) --axis;
            if (axis == 0) break;
        }
        for (std::size_t j = 0; j < open_.size(); ++j) chosen_[open_[j]] = best_states[j];
    }

private:
    // Goes to an axis' next state; false if it starts over.
    bool advance(std::vector<int32_t>& states, std::size_t axis) {
        const auto count = static_cast<int32_t>(evidence_.count(open_[axis]));
        const int64_t forward = states[axis] + 1 < count ? 1 : 1 - count;
        states[axis] += static_cast<int32_t>(forward);
        for (std::size_t k = 0; k < at_.size(); ++k) at_[k] += forward * steps_[axis][k];
        return forward > 0;
    }

    const Evidence& evidence_;
    std::vector<int32_t>& chosen_;  // active state of each variable
    Members open_;
    std::vector<const double*> at_;            // the present cell of each table
    std::vector<std::vector<int64_t>> steps_;  // of each table along each open variable
};

}  // namespace

void Propagation::decode(std::span<int64_t> states, Watch& watch) const {
    std::vector<int32_t> chosen(variables_.size(), kOpen);
    for (int32_t v = 0; v < tree.n_variables(); ++v)
        if (evidence.count(v) == 1) chosen[v] = 0;
    OpenCells cells(evidence, chosen);
    for (int32_t c = tree.n_cliques(); c-- > 0;) {
        cells.over(tree.cliques[c].members);
        if (cells.is_empty()) continue;
        for_each_table(
            c, [&](Scope scope, const double* table) { cells.multiply(scope, table); });
        cells.choose_best(watch);
    }
    for (int32_t v = 0; v < tree.n_variables(); ++v)
        states[v] = evidence.states(v)[chosen[v]];
}

}  // namespace bayleaf::junction_tree
