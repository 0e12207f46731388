// The counts of a feature and its parents in one sampled network, as a tree over the
// parents' states: a node for each configuration of the first parents that exists.
//
// A node holds for each state of the feature, and for all of them together, the counts of
// some classes, as numbers of the distinct counts that the family has: one to four bytes
// each, and one look-up for their logarithms. Counts of other classes are zero.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "cpds/families.h"

namespace bayleaf {

class FamilyTrie {
public:
    struct Node {
        // Where counts and labels begin; the first child, and where their links begin; the
        // number of the count of all classes.
        uint32_t counts, labels, first_child, links, total;
        uint16_t n_labels, n_children;
    };
    static constexpr uint32_t kNone = 0xffffffff;
    // Up to so many classes, all nodes list all of them.
    static constexpr int64_t kFewClasses = 4;

    // Whether a node has a link for each state of its next parent; its children are searched
    // otherwise.
    static bool has_links(int64_t n_children, int64_t n_states) {
        return n_children > 0 && n_states <= std::max<int64_t>(16, 4 * n_children);
    }

    FamilyTrie(const Family& family, PseudoWeights rule, int64_t n_classes);

    std::span<const int64_t> variables() const { return variables_; }
    const Prior& prior() const { return prior_; }
    int64_t n_nodes() const { return std::ssize(nodes_); }
    // Bytes of all arrays.
    int64_t n_bytes() const;

    const Node& node(uint32_t number) const { return nodes_[number]; }
    // The child of a node for a state of its next parent, kNone without one.
    uint32_t child(const Node& node, uint16_t state) const {
        if (node.n_children == 0) return kNone;
        if (node.links != kNone) return links_[node.links + state];
        const auto first = states_.begin() + node.first_child;
        const auto found = std::lower_bound(first, first + node.n_children, state);
        if (found == first + node.n_children || *found != state) return kNone;
        return static_cast<uint32_t>(found - states_.begin());
    }
    // Classes of a node, where few of many have counts.
    const uint16_t* labels(const Node& node) const { return labels_.data() + node.labels; }

    // Calls body(numbers) with a pointer to the numbers of all counts.
    template <class Body>
    void with_numbers(Body&& body) const {
        if (width_ == 1)
            body(bytes_.data());
        else if (width_ == 2)
            body(reinterpret_cast<const uint16_t*>(bytes_.data()));
        else
            body(reinterpret_cast<const uint32_t*>(bytes_.data()));
    }
    // The distinct counts; ln((n + weight) / weight) of a state's counts, and
    // ln((n + strength) / strength) of those of all states.
    const double* values() const { return values_.data(); }
    const double* logs(int64_t state) const {
        return logs_.data() + (prior_.follows_shares ? state * std::ssize(values_) : 0);
    }
    const double* total_logs() const { return total_logs_.data(); }
    // ln of a state's share of the prior weight.
    double share_log(int64_t state) const { return share_logs_[state]; }
    // The row of counts of all states together: that of the reserved code.
    int64_t total_row() const { return std::ssize(prior_.weights) - 1; }

private:
    class Builder;
    std::vector<int64_t> variables_;
    Prior prior_;
    std::vector<Node> nodes_;
    // Of each node, the state of its last parent; dense links to children.
    std::vector<uint16_t> states_, labels_;
    std::vector<uint32_t> links_;
    std::vector<uint8_t> bytes_;
    int64_t width_ = 1;
    std::vector<double> values_, logs_, total_logs_, share_logs_;
};

}  // namespace bayleaf
