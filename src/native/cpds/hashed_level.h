// The weighted log-probabilities of a family at one depth, for the joint states that occur.
#pragma once

#include "counts/distinct_keys.h"
#include "cpds/families.h"

namespace bayleaf {

// For some keys, a list of classes and values each.
class ClassLists {
public:
    DistinctKeys keys;

    void add_to_last(double value, int32_t label) { entries_.push_back({value, label}); }
    void end_list() { starts_.push_back(std::ssize(entries_)); }
    double& value(int32_t number, int64_t place) {
        return entries_[starts_[number] + place].value;
    }
    int64_t n_lists() const { return std::ssize(starts_) - 1; }

    void add(int32_t number, double* scores) const {
        for (int64_t k = starts_[number]; k < starts_[number + 1]; ++k)
            scores[entries_[k].label] += entries_[k].value;
    }

private:
    struct Entry {
        double value;
        int32_t label;
    };
    std::vector<int64_t> starts_{0};
    std::vector<Entry> entries_;
};

// The numbers of the parents' joint states, below n_keys, in each cell of a family.
struct ParentKeys {
    std::span<const int64_t> of_cells;
    int64_t n_keys;
};

// A joint state of child and parents lists the classes that its parents' state has; the
// parents' state itself lists what they say of a state of the child that it never met.
class HashedLevel {
public:
    HashedLevel(const Family& family, const Prior& prior, double scale, int64_t depth,
                ParentKeys parents, int64_t n_classes);

    // Adds what the level holds for a row; false if its parents' states never met.
    bool add(int64_t parent_key, int64_t child, double* scores) const {
        const int32_t joint = joint_.keys.find(parent_key * n_children_ + child);
        if (joint >= 0) {
            joint_.add(joint, scores);
            return true;
        }
        const int32_t parents = parents_.keys.find(parent_key);
        if (parents >= 0) parents_.add(parents, scores);
        return parents >= 0;
    }
    // Number of parents.
    int64_t depth() const { return depth_; }

private:
    friend class LevelBuilder;
    int64_t depth_, n_children_;
    ClassLists joint_, parents_;
};

}  // namespace bayleaf
