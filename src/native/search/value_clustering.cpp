// Joins the values of a variable step by step, those first whose joining loses least
// (desJardins, Rathod & Getoor 2008, figure 6).
//
// A step computes the losses of the new cluster with all others, and looks for the least
// of all pairs: O(values^2 * cells + values^3) in all.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// What rounding may make of a loss that is none, where all shares are at most one.
constexpr double kRounding = 1e-13;

double x_log_x(double x) {
    return x > 0.0 ? x * log_of(x) : 0.0;
}

// A cluster in the list: its number, and the slot where its shares and losses stand.
struct Cluster {
    int64_t number, slot;
};

struct Pair {
    std::size_t left = 0, right = 1;
    double loss = std::numeric_limits<double>::infinity();
};

class Joining {
public:
    // Shares (n_values, n_cells) are overwritten: a new cluster takes a member's slot.
    Joining(const Matrix<double>& shares, std::span<const int64_t> starts, bool by_modes,
            double mode_rounding)
        : shares_(shares),
          starts_(starts),
          by_modes_(by_modes),
          mode_rounding_(mode_rounding),
          rounding_(kRounding * static_cast<double>(starts.size())),
          own_(shares.rows),
          modes_(shares.rows * n_contexts()),
          losses_(shares.rows * shares.rows) {}

    void run(double margin, std::span<int64_t> parents) {
        for (int64_t value = 0; value < shares_.rows; ++value) add({value, value});
        for (int64_t number = shares_.rows; list_.size() > 1; ++number) {
            const std::vector<bool> is_member = members(margin);
            Cluster joined{number, -1};
            std::vector<Cluster> rest;
            for (std::size_t i = 0; i < list_.size(); ++i) {
                if (!is_member[i]) {
                    rest.push_back(list_[i]);
                    continue;
                }
                parents[list_[i].number] = number;
                if (joined.slot < 0)
                    joined.slot = list_[i].slot;
                else
                    add_shares(joined.slot, list_[i].slot);
            }
            list_ = std::move(rest);
            add(joined);
        }
    }

private:
    int64_t n_contexts() const { return static_cast<int64_t>(starts_.size()) - 1; }
    double& loss(std::size_t i, std::size_t j) {
        return losses_[list_[i].slot * shares_.rows + list_[j].slot];
    }

    void add_shares(int64_t slot, int64_t other) {
        const auto sums = shares_[slot];
        const auto more = shares_[other];
        for (std::size_t cell = 0; cell < sums.size(); ++cell) sums[cell] += more[cell];
    }

    // Puts a cluster at the end of the list, and computes its losses with the others.
    void add(const Cluster& cluster) {
        if (by_modes_)
            find_modes(cluster.slot);
        else
            own_[cluster.slot] = information(
                [&, own = shares_[cluster.slot]](int64_t cell) { return own[cell]; });
        list_.push_back(cluster);
        const std::size_t last = list_.size() - 1;
        for (std::size_t i = 0; i < last; ++i)
            loss(i, last) = loss(last, i) = loss_of_joining(list_[i].slot, cluster.slot);
        watch_.add(static_cast<int64_t>(last) * shares_.columns * (by_modes_ ? 1 : 16));
    }

    // Part of the mutual information that shares of cells account for.
    template <class Share>
    double information(Share share) const {
        double total = 0.0;
        for (int64_t context = 0; context < n_contexts(); ++context) {
            double sum = 0.0;
            for (int64_t cell = starts_[context]; cell < starts_[context + 1]; ++cell) {
                const double part = share(cell);
                sum += part;
                total += x_log_x(part);
            }
            total -= x_log_x(sum);
        }
        return total;
    }

    // Sets the most frequent cell of each context variable, the first of equal ones.
    void find_modes(int64_t slot) {
        const auto own = shares_[slot];
        for (int64_t context = 0; context < n_contexts(); ++context) {
            const auto cells = own.subspan(
                starts_[context], starts_[context + 1] - starts_[context]);
            const double least = std::ranges::max(cells) * (1.0 - mode_rounding_);
            const auto first =
                std::ranges::find_if(cells, [&](double share) { return share >= least; });
            modes_[slot * n_contexts() + context] = first - cells.begin();
        }
    }

    // Information that two clusters lose as one, or in how many modes they differ.
    double loss_of_joining(int64_t first, int64_t second) const {
        if (by_modes_) {
            int64_t n_differing = 0;
            const int64_t* modes = modes_.data();
            for (int64_t context = 0; context < n_contexts(); ++context)
                n_differing += modes[first * n_contexts() + context] !=
                               modes[second * n_contexts() + context];
            return static_cast<double>(n_differing);
        }
        const auto one = shares_[first], other = shares_[second];
        const double joined =
            information([&](int64_t cell) { return one[cell] + other[cell]; });
        return std::max(own_[first] + own_[second] - joined, 0.0);
    }

    // The first pair in the list that loses least.
    Pair cheapest() {
        Pair best;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            const double* losses = &losses_[list_[i].slot * shares_.rows];
            for (std::size_t j = i + 1; j < list_.size(); ++j) {
                const double loss = losses[list_[j].slot];
                if (loss < best.loss - rounding_) best = {i, j, loss};
            }
        }
        watch_.add(static_cast<int64_t>(list_.size() * list_.size()));
        return best;
    }

    // What is joined next: the cheapest pair, and what chains of losses up to a margin
    // above the least tie to it unless the margin is negative.
    std::vector<bool> members(double margin) {
        const Pair pair = cheapest();
        std::vector<bool> is_member(list_.size());
        is_member[pair.left] = is_member[pair.right] = true;
        if (margin < 0.0) return is_member;
        const double limit = pair.loss * (1.0 + margin) + rounding_;
        std::vector<std::size_t> waiting{pair.left, pair.right};
        while (!waiting.empty()) {
            const std::size_t i = waiting.back();
            waiting.pop_back();
            for (std::size_t j = 0; j < list_.size(); ++j) {
                if (is_member[j] || loss(i, j) > limit) continue;
                is_member[j] = true;
                waiting.push_back(j);
            }
        }
        return is_member;
    }

    const Matrix<double> shares_;
    const std::span<const int64_t> starts_;
    const bool by_modes_;
    const double mode_rounding_;
    const double rounding_;
    std::vector<double> own_;
    std::vector<int64_t> modes_;
    std::vector<double> losses_;
    std::vector<Cluster> list_;
    Watch watch_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Joins until one cluster is left, and writes which cluster each value and each cluster
// went into to `parents` (2 * n_values - 1,), -1 for the last and what is beyond.
BAYLEAF_API int32_t bl_join_values(double* shares, int64_t n_values, int64_t n_cells,
                                   const int64_t* starts, int64_t n_contexts, bool by_modes,
                                   double mode_rounding, double margin, int64_t* parents) {
    return guarded([&] {
        const auto first_cells = view(starts, n_contexts + 1);
        if (n_values < 1) throw std::invalid_argument("there are no values to join");
        if (first_cells.front() != 0 || first_cells.back() != n_cells ||
            std::adjacent_find(first_cells.begin(), first_cells.end(),
                               std::greater_equal<>()) != first_cells.end())
            throw std::invalid_argument(
                "starts of context variables must grow from 0 to the number of cells");
        const auto found = view(parents, 2 * n_values - 1);
        std::fill(found.begin(), found.end(), -1);
        Joining({shares, n_values, n_cells}, first_cells, by_modes, mode_rounding)
            .run(margin, found);
    });
}
