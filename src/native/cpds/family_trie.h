// The counts of a feature and its parents in one sampled network, as a tree over the
// parents' states: a node for each configuration of the first parents that exists.
//
// A node holds for each state of the feature, and for all of them together, the counts of
// some classes, and last the count of all classes: as numbers of the distinct counts that
// the family has, of one to four bytes each, and one look-up for their logarithms. Counts
// of other classes are zero. Nodes lie level by level, so that the children of one node
// follow those of the node before; those behind the last that has children have nothing
// but counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "cpds/families.h"

namespace bayleaf {

// Integers of two bytes, kept in one each where all are small.
class ShortIntegers {
public:
    void start(bool is_wide) { is_wide_ = is_wide; }
    uint16_t operator[](std::size_t place) const {
        if (!is_wide_) return bytes_[place];
        uint16_t value;
        std::memcpy(&value, bytes_.data() + 2 * place, 2);
        return value;
    }
    void set(std::size_t place, uint16_t value) {
        if (is_wide_)
            std::memcpy(bytes_.data() + 2 * place, &value, 2);
        else
            bytes_[place] = static_cast<uint8_t>(value);
    }
    void prefetch(std::size_t place) const {
        __builtin_prefetch(bytes_.data() + place * (is_wide_ ? 2 : 1));
    }
    std::size_t size() const { return bytes_.size() / (is_wide_ ? 2 : 1); }
    // New ones have all bits set.
    void resize(std::size_t size) { bytes_.resize(size * (is_wide_ ? 2 : 1), 0xff); }
    uint16_t all_bits() const { return is_wide_ ? 0xffff : 0xff; }
    void shrink_to_fit() { bytes_.shrink_to_fit(); }
    std::size_t capacity() const { return bytes_.capacity(); }

private:
    bool is_wide_ = false;
    std::vector<uint8_t> bytes_;
};

class FamilyTrie {
public:
    // Where a node's counts and its classes begin, and how many classes these are.
    struct Node {
        int64_t counts, labels, n_labels;
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

    // Brings into the cache what a row reads first: of single rows that go down many trees,
    // most of the time is waiting for memory.
    void prefetch() const {
        const auto* self = reinterpret_cast<const char*>(this);
        for (std::size_t byte = 0; byte < sizeof(*this); byte += 64)
            __builtin_prefetch(self + byte);
    }
    void prefetch_arrays() const {
        for (const void* first : {static_cast<const void*>(variables_.data()),
                                  static_cast<const void*>(prior_.weights.data()),
                                  static_cast<const void*>(branches_.data()),
                                  static_cast<const void*>(bytes_.data()),
                                  static_cast<const void*>(logs_.data()),
                                  static_cast<const void*>(total_logs_.data())})
            __builtin_prefetch(first);
    }

    // The same for a node, and for the look-up of its child.
    void prefetch_node(uint32_t number) const {
        __builtin_prefetch(branches_.data() + std::min<std::size_t>(number, branches_.size()));
        __builtin_prefetch(bytes_.data() + node(number).counts * width_);
    }
    void prefetch_child(uint32_t number, uint16_t state) const {
        if (number + std::size_t{1} >= branches_.size()) return;
        const auto [first, links] = branches_[number];
        if (links != kNone)
            links_.prefetch(links + state);
        else
            states_.prefetch(first);
    }

    std::span<const int64_t> variables() const { return variables_; }
    const Prior& prior() const { return prior_; }
    int64_t n_nodes() const { return n_nodes_; }
    // Bytes of all arrays.
    int64_t n_bytes() const;

    Node node(uint32_t number) const {
        const int64_t n_rows = std::ssize(prior_.weights);
        if (label_starts_.empty())
            return {number * (n_rows * n_classes_ + 1), 0, n_classes_};
        const int64_t first = label_starts_[number], last = label_starts_[number + 1];
        return {first * n_rows + number, first, last - first};
    }
    // The child of a node for a state of its next parent, kNone without one.
    uint32_t child(uint32_t number, uint16_t state) const {
        if (number + std::size_t{1} >= branches_.size()) return kNone;
        const auto [first, links] = branches_[number];
        if (links != kNone) {
            const uint16_t link = links_[links + state];
            return link == links_.all_bits() ? kNone : first + link;
        }
        uint32_t begin = first, end = branches_[number + 1].first_child;
        const uint32_t last = end;
        while (begin < end) {
            const uint32_t middle = begin + (end - begin) / 2;
            if (states_[middle] < state)
                begin = middle + 1;
            else
                end = middle;
        }
        return begin < last && states_[begin] == state ? begin : kNone;
    }
    // Classes of a node, where few of many have counts.
    const uint16_t* labels(const Node& node) const { return labels_.data() + node.labels; }
    // The place of the count of all classes.
    int64_t total(const Node& node) const {
        return node.counts + std::ssize(prior_.weights) * node.n_labels;
    }

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
    std::span<const double> values() const { return values_; }
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
    // Where a node's children begin, and their links: one for each state of the next parent,
    // relative to the first child.
    struct Branch {
        uint32_t first_child, links;
    };
    std::vector<int64_t> variables_;
    Prior prior_;
    int64_t n_classes_, n_nodes_ = 0;
    // Of the nodes up to the last with children, and where all children end.
    std::vector<Branch> branches_;
    // Of each node, the state of its last parent.
    ShortIntegers states_, links_;
    // Of each node, where its labels begin, and their end; empty if nodes list all classes.
    std::vector<uint32_t> label_starts_;
    std::vector<uint16_t> labels_;
    std::vector<uint8_t> bytes_;
    int64_t width_ = 1;
    std::vector<double> values_, logs_, total_logs_, share_logs_;
};

}  // namespace bayleaf
