#include "cpds/family_trie.h"

#include <bit>
#include <numeric>

#include "counts/distinct_keys.h"
#include "support/exp_log.h"

namespace bayleaf {

constexpr int64_t kSmallCounts = 1024;

// Numbers of distinct counts: zero is the first, and integers are looked up.
class DistinctCounts {
public:
    DistinctCounts() : small_(kSmallCounts, -1) {
        small_[0] = 0;
        values.push_back(0.0);
        others_.start(std::numeric_limits<int64_t>::max(), 0);
    }
    std::vector<double> values;

    uint32_t number(double count) {
        if (count < kSmallCounts) {
            const auto whole = static_cast<int64_t>(count);
            if (static_cast<double>(whole) == count) {
                if (small_[whole] < 0) small_[whole] = add(count);
                return small_[whole];
            }
        }
        const auto key = static_cast<std::size_t>(others_.number(std::bit_cast<int64_t>(count)));
        if (key == numbers_.size()) numbers_.push_back(add(count));
        return numbers_[key];
    }

private:
    int32_t add(double count) {
        values.push_back(count);
        return static_cast<int32_t>(values.size() - 1);
    }
    std::vector<int32_t> small_, numbers_;
    DistinctKeys others_;
};

// Copies numbers into fewer bytes each.
template <class Narrow>
static void narrow(const std::vector<uint32_t>& numbers, std::vector<uint8_t>& bytes) {
    bytes.resize(numbers.size() * sizeof(Narrow));
    auto* out = reinterpret_cast<Narrow*>(bytes.data());
    for (const uint32_t number : numbers) *out++ = static_cast<Narrow>(number);
}

class FamilyTrie::Builder {
public:
    Builder(const Family& family, FamilyTrie& trie)
        : family_(family),
          n_classes_(trie.n_classes_),
          n_rows_(family.radix(0)),
          trie_(trie),
          sums_(static_cast<std::size_t>(n_rows_ * n_classes_)),
          places_(static_cast<std::size_t>(n_classes_)) {
        std::iota(places_.begin(), places_.end(), int64_t{0});
    }

    void build() {
        int64_t most = 0;
        for (int64_t k = 1; k < family_.n_variables(); ++k)
            most = std::max(most, family_.radix(k));
        trie_.states_.start(most > 0xff);
        trie_.links_.start(most > 0xff);
        ranges_ = {{0, family_.n_cells(), 1}};
        // Level by level, so that the children of a node are neighbours.
        for (std::size_t n = 0; n < ranges_.size(); ++n) {
            const Range range = ranges_[n];
            count(range);
            add_children(range);
        }
        if (std::max(trie_.labels_.size(), ranges_.size()) > kNone)
            throw std::length_error("a family has too many counts");
        store();
    }

private:
    // Cells of a node, the place of the parent that its children differ in, and the state
    // of the parent before.
    struct Range {
        int64_t first, last, place;
        uint16_t state = 0;
    };

    void count(const Range& range) {
        const auto children = family_.states(0);
        const bool has_all = n_classes_ <= kFewClasses;
        met_.clear();
        keys_.clear();
        double total = 0.0;
        const auto add = [&](int64_t row, int64_t own, double weight) {
            double& sum = sums_[row * n_classes_ + own];
            if (sum == 0.0) keys_.push_back({row, own});
            sum += weight;
        };
        for (int64_t cell = range.first; cell < range.last; ++cell) {
            const double weight = family_.weights[cell];
            const int64_t own = family_.classes[cell];
            if (!has_all && sums_[(n_rows_ - 1) * n_classes_ + own] == 0.0)
                met_.push_back(own);
            add(children[cell], own, weight);
            add(n_rows_ - 1, own, weight);
            total += weight;
        }
        if (!has_all) {
            std::ranges::sort(met_);
            trie_.label_starts_.push_back(static_cast<uint32_t>(trie_.labels_.size()));
            for (std::size_t k = 0; k < met_.size(); ++k) {
                trie_.labels_.push_back(static_cast<uint16_t>(met_[k]));
                places_[met_[k]] = static_cast<int64_t>(k);
            }
        }
        const int64_t n_labels = has_all ? n_classes_ : std::ssize(met_);
        const std::size_t begin = numbers_.size();
        numbers_.resize(begin + n_rows_ * n_labels + 1);
        for (const auto [row, own] : keys_) {
            double& sum = sums_[row * n_classes_ + own];
            numbers_[begin + row * n_labels + places_[own]] = distinct_.number(sum);
            sum = 0.0;
        }
        numbers_.back() = distinct_.number(total);
    }

    void add_children(const Range& range) {
        Branch branch{static_cast<uint32_t>(ranges_.size()), kNone};
        if (range.place < family_.n_variables()) {
            const auto states = family_.states(range.place);
            const int64_t radix = family_.radix(range.place), reserved = radix - 1;
            for (int64_t begin = range.first, end; begin < range.last; begin = end) {
                const uint16_t state = states[begin];
                if (state == reserved) break;
                end = begin;
                while (end < range.last && states[end] == state) ++end;
                ranges_.push_back({begin, end, range.place + 1, state});
            }
            const auto n_children = std::ssize(ranges_) - branch.first_child;
            if (n_children > 0) n_inner_ = trie_.branches_.size() + 1;
            if (has_links(n_children, radix)) {
                branch.links = static_cast<uint32_t>(trie_.links_.size());
                trie_.links_.resize(trie_.links_.size() + radix);
                for (int64_t child = 0; child < n_children; ++child)
                    trie_.links_.set(
                        branch.links + ranges_[branch.first_child + child].state,
                        static_cast<uint16_t>(child));
            }
        }
        trie_.branches_.push_back(branch);
    }

    // Numbers in as few bytes as they need, and the logarithms of the distinct counts.
    void store() {
        trie_.n_nodes_ = std::ssize(ranges_);
        trie_.states_.resize(ranges_.size());
        for (std::size_t n = 0; n < ranges_.size(); ++n)
            trie_.states_.set(n, ranges_[n].state);
        trie_.branches_.resize(n_inner_);
        trie_.branches_.push_back({static_cast<uint32_t>(ranges_.size()), kNone});
        if (n_classes_ > kFewClasses)
            trie_.label_starts_.push_back(static_cast<uint32_t>(trie_.labels_.size()));
        const auto& values = distinct_.values;
        trie_.width_ = values.size() <= 256 ? 1 : values.size() <= 65536 ? 2 : 4;
        if (trie_.width_ == 1)
            narrow<uint8_t>(numbers_, trie_.bytes_);
        else if (trie_.width_ == 2)
            narrow<uint16_t>(numbers_, trie_.bytes_);
        else
            narrow<uint32_t>(numbers_, trie_.bytes_);
        const Prior& prior = trie_.prior_;
        const int64_t n_lists = prior.follows_shares ? n_rows_ : 1;
        trie_.logs_.reserve(n_lists * values.size());
        trie_.total_logs_.reserve(values.size());
        for (int64_t state = 0; state < n_lists; ++state) {
            // The reserved code, and states without prior weight, are never looked up.
            const double weight = std::max(prior.weights[state], 0.0);
            for (const double value : values)
                trie_.logs_.push_back(weight > 0.0 ? log_of((value + weight) / weight) : 0.0);
        }
        for (const double value : values)
            trie_.total_logs_.push_back(log_of((value + prior.strength) / prior.strength));
        for (const double weight : prior.weights)
            trie_.share_logs_.push_back(weight > 0.0 ? log_of(weight / prior.strength) : 0.0);
        trie_.values_ = values;
        trie_.branches_.shrink_to_fit();
        trie_.label_starts_.shrink_to_fit();
        trie_.labels_.shrink_to_fit();
        trie_.links_.shrink_to_fit();
    }

    const Family& family_;
    int64_t n_classes_, n_rows_;
    FamilyTrie& trie_;
    // Sums of weights by state and class; those above zero, and their classes where nodes
    // list few of many.
    std::vector<double> sums_;
    struct Key {
        int64_t row, own;
    };
    std::vector<Key> keys_;
    std::vector<int64_t> met_;
    // Position of the counts of a class among those of a state.
    std::vector<int64_t> places_;
    std::vector<Range> ranges_;
    std::size_t n_inner_ = 0;
    std::vector<uint32_t> numbers_;
    DistinctCounts distinct_;
};

FamilyTrie::FamilyTrie(const Family& family, PseudoWeights rule, int64_t n_classes)
    : variables_(family.variables.begin(), family.variables.end()), prior_(family, rule),
      n_classes_(n_classes) {
    Builder(family, *this).build();
}

int64_t FamilyTrie::n_bytes() const {
    const auto size_of = [](const auto& vector) {
        return static_cast<int64_t>(vector.capacity() * sizeof(vector[0]));
    };
    return static_cast<int64_t>(sizeof(*this)) + size_of(variables_) +
           size_of(branches_) + size_of(label_starts_) + size_of(labels_) + size_of(bytes_) +
           size_of(values_) + size_of(logs_) + size_of(total_logs_) + size_of(share_logs_) +
           size_of(prior_.weights) + size_of(prior_.marginal) +
           static_cast<int64_t>(states_.capacity() + links_.capacity());
}

}  // namespace bayleaf
