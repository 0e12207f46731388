// Cuts a column where the classes change, as long as a cut shortens their description
// (Fayyad & Irani 1993; MDLP).
//
// Rows come in the order of their values. Only boundary points are tried, that is cuts
// between values that are not both wholly of one and the same class: the rows between two
// of them form a block. The best cut of a segment of blocks is found by branch and bound
// over checkpoints, at which the class counts of all blocks before are kept, so that few
// cuts are ever tried: a column of n distinct values costs about n steps in all, not n
// for each cut. Weights are such that their sums are exact, whatever the order.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Cuts whose class entropies differ by at most this many bits a row are tied. Far above
// what two ways of summing differ by, far below any difference that tells something.
constexpr double kTieBits = 1e-12;

using Counts = std::vector<double>;

// count * log2(count), zero for an empty cell.
double n_log_n(double count) {
    return count > 0.0 ? count * std::log2(count) : 0.0;
}

double sum_of(const Counts& counts) {
    double sum = 0.0;
    for (const double count : counts) sum += count;
    return sum;
}

// Weight times class entropy, in bits.
double class_bits(const Counts& counts) {
    double bits = 0.0;
    for (const double count : counts) bits += n_log_n(count);
    return n_log_n(sum_of(counts)) - bits;
}

// Bits that the classes of both sides of a cut take, given the sides.
double split_bits(const Counts& left, const Counts& total) {
    double n_left = 0.0, n_right = 0.0, bits = 0.0;
    for (std::size_t c = 0; c < total.size(); ++c) {
        const double right = total[c] - left[c];
        n_left += left[c];
        n_right += right;
        bits -= n_log_n(left[c]) + n_log_n(right);
    }
    return bits + n_log_n(n_left) + n_log_n(n_right);
}

// Lower bound of split_bits over all counts between `low` and `high`.
//
// With L of n rows on the left, the bits are L log L + (n - L) log(n - L) less a sum of
// the same convex function over the cells. The first part lies above its tangent at the
// middle of the box, which is linear in the counts; what then remains is concave in each
// count by itself, so that its minimum lies at one of the two ends.
double least_bits(const Counts& low, const Counts& high, const Counts& total) {
    const double n_left = 0.5 * (sum_of(low) + sum_of(high));
    const double n_right = sum_of(total) - n_left;
    if (n_left <= 0.0 || n_right <= 0.0) return 0.0;
    const double slope = std::log2(n_left / n_right);
    double bits = n_log_n(n_left) + n_log_n(n_right) - slope * n_left;
    for (std::size_t c = 0; c < total.size(); ++c) {
        const double at_low = slope * low[c] - n_log_n(low[c]) - n_log_n(total[c] - low[c]);
        const double at_high =
            slope * high[c] - n_log_n(high[c]) - n_log_n(total[c] - high[c]);
        bits += std::min(at_low, at_high);
    }
    return bits;
}

// The rows of a column in the order of their values.
struct Rows {
    std::span<const double> values;
    std::span<const int64_t> classes;
    std::span<const double> weights;

    int64_t size() const { return static_cast<int64_t>(values.size()); }

    // First row of each block, and the number of rows.
    std::vector<int64_t> block_starts(Watch& watch) const {
        std::vector<int64_t> starts;
        int64_t first = 0;
        bool was_mixed = false;
        while (first < size()) {
            int64_t end = first + 1;
            bool is_mixed = false;
            for (; end < size() && values[end] == values[first]; ++end)
                is_mixed |= classes[end] != classes[first];
            const bool is_boundary =
                first == 0 || is_mixed || was_mixed || classes[first] != classes[first - 1];
            if (is_boundary) starts.push_back(first);
            was_mixed = is_mixed;
            watch.add(2 * (end - first));
            first = end;
        }
        starts.push_back(size());
        return starts;
    }
};

// Blocks start to stop - 1, with the class counts before and in them.
struct Segment {
    int64_t start, stop;
    Counts base, total;
};

// A cut before `block`, and its bits; -1 if there is none.
struct Cut {
    int64_t block;
    double bits;
};

// Whether a cut shortens the description (Fayyad & Irani 1993, section 3).
bool pays(const Counts& whole, const Counts& left, const Counts& right) {
    struct Part {
        double n, bits, n_classes;
    };
    const auto part = [](const Counts& counts) {
        const auto present =
            std::count_if(counts.begin(), counts.end(), [](double n) { return n > 0.0; });
        return Part{sum_of(counts), class_bits(counts), static_cast<double>(present)};
    };
    const Part s = part(whole), a = part(left), b = part(right);
    // log2(3^k - 2); where 3^k overflows, the 2 is far below rounding.
    const double pairs = s.n_classes < 600.0 ? std::log2(std::pow(3.0, s.n_classes) - 2.0)
                                             : s.n_classes * std::log2(3.0);
    const double delta = pairs - (s.n_classes * s.bits / s.n - a.n_classes * a.bits / a.n -
                                  b.n_classes * b.bits / b.n);
    const double position = std::log2(std::max(s.n - 1.0, 1.0));
    return s.bits - a.bits - b.bits > position + delta;
}

class Column {
public:
    // Keeps checkpoints of as many counts as given, at every `stride_`th block.
    Column(const Rows& rows, int64_t n_classes, int64_t most_counts)
        : rows_(rows),
          starts_(rows.block_starts(watch_)),
          low_(static_cast<std::size_t>(n_classes)),
          high_(low_) {
        const int64_t n_blocks = this->n_blocks();
        stride_ = 1 + n_blocks * n_classes / most_counts;
        const int64_t n_checkpoints = (n_blocks - 1) / stride_ + 2;
        counts_.resize(static_cast<std::size_t>(n_checkpoints * n_classes));
        checkpoints_ = {counts_.data(), n_checkpoints, n_classes};
        Counts before(static_cast<std::size_t>(n_classes));
        for (int64_t k = 0; k < n_checkpoints; ++k) {
            std::copy(before.begin(), before.end(), checkpoints_[k].begin());
            const int64_t end = std::min((k + 1) * stride_, n_blocks);
            if (k * stride_ < n_blocks) add_blocks(k * stride_, end, before);
            watch_.add(n_classes + 4 * stride_);
        }
    }

    // First rows of the blocks before which the description length asks for a cut.
    std::vector<int64_t> accepted_cuts() {
        const auto all = checkpoints_[checkpoints_.rows - 1];
        const Counts total(all.begin(), all.end());
        std::vector<Segment> waiting{{0, n_blocks(), Counts(total.size()), total}};
        std::vector<int64_t> accepted;
        while (!waiting.empty()) {
            const Segment segment = std::move(waiting.back());
            waiting.pop_back();
            if (segment.stop - segment.start < 2) continue;
            const int64_t block = best_cut(segment);
            const Counts left = counts_before(segment, block);
            Counts right(left.size()), base(left.size());
            for (std::size_t c = 0; c < left.size(); ++c) {
                right[c] = segment.total[c] - left[c];
                base[c] = segment.base[c] + left[c];
            }
            if (!pays(segment.total, left, right)) continue;
            accepted.push_back(starts_[block]);
            waiting.push_back({segment.start, block, segment.base, left});
            waiting.push_back({block, segment.stop, base, right});
        }
        std::sort(accepted.begin(), accepted.end());
        return accepted;
    }

private:
    int64_t n_blocks() const { return static_cast<int64_t>(starts_.size()) - 1; }

    void add_blocks(int64_t first, int64_t last, Counts& counts) const {
        for (int64_t row = starts_[first]; row < starts_[last]; ++row)
            counts[rows_.classes[row]] += rows_.weights[row];
    }

    // Class counts of a segment's blocks before a checkpoint.
    void count_left(const Segment& segment, int64_t checkpoint, Counts& counts) const {
        const int64_t block = checkpoint * stride_;
        const auto before = checkpoints_[std::min(checkpoint, checkpoints_.rows - 1)];
        for (std::size_t c = 0; c < counts.size(); ++c)
            counts[c] = block <= segment.start  ? 0.0
                        : block >= segment.stop ? segment.total[c]
                                                : before[c] - segment.base[c];
    }

    // Class counts of a segment's blocks before one of them.
    Counts counts_before(const Segment& segment, int64_t block) const {
        Counts counts(segment.total.size());
        const int64_t checkpoint = block / stride_;
        count_left(segment, checkpoint, counts);
        add_blocks(std::max(checkpoint * stride_, segment.start), block, counts);
        return counts;
    }

    // The lowest of the cuts with least entropy.
    int64_t best_cut(const Segment& segment) {
        const double tolerance = kTieBits * sum_of(segment.total);
        const double infinity = std::numeric_limits<double>::infinity();
        const double least = search(segment, infinity, tolerance, false).bits;
        return search(segment, least + tolerance, tolerance, true).block;
    }

    // Finds the best cut of at most `limit` bits, or the first one if `is_lowest`, by
    // halving the segment at checkpoints and leaving out every part whose lower bound
    // exceeds the limit by more than rounding, the `slack`.
    Cut search(const Segment& segment, double limit, double slack, bool is_lowest) {
        Cut best{-1, limit};
        const int64_t end = (segment.stop + stride_ - 1) / stride_;
        parts_.assign(1, {segment.start / stride_, end});
        while (!parts_.empty()) {
            const auto [first, last] = parts_.back();
            parts_.pop_back();
            watch_.add(100 * static_cast<int64_t>(low_.size()));
            count_left(segment, first, low_);
            count_left(segment, last, high_);
            if (least_bits(low_, high_, segment.total) > best.bits + slack) continue;
            const int64_t middle = (first + last) / 2;
            const bool found = middle == first ? walk(segment, first, is_lowest, best)
                                               : try_checkpoint(segment, middle, best);
            // Whatever waits lies above a cut that is good enough.
            if (found && is_lowest) parts_.clear();
            if (middle == first) continue;
            if (!(found && is_lowest)) parts_.push_back({middle, last});
            parts_.push_back({first, middle});
        }
        return best;
    }

    bool try_checkpoint(const Segment& segment, int64_t checkpoint, Cut& best) {
        count_left(segment, checkpoint, low_);
        return improve(checkpoint * stride_, split_bits(low_, segment.total), best);
    }

    // Tries the cuts between a checkpoint and the next, block by block; `low_` holds the
    // counts before the first of these blocks.
    bool walk(const Segment& segment, int64_t checkpoint, bool is_lowest, Cut& best) {
        const int64_t begin = std::max(checkpoint * stride_, segment.start);
        const int64_t end = std::min((checkpoint + 1) * stride_, segment.stop);
        bool found = false;
        for (int64_t block = begin; block + 1 < end; ++block) {
            add_blocks(block, block + 1, low_);
            found |= improve(block + 1, split_bits(low_, segment.total), best);
            if (found && is_lowest) break;
        }
        return found;
    }

    static bool improve(int64_t block, double bits, Cut& best) {
        if (bits > best.bits) return false;
        best = {block, bits};
        return true;
    }

    struct Part {
        int64_t first, last;
    };

    Watch watch_;
    Rows rows_;
    std::vector<int64_t> starts_;
    int64_t stride_ = 1;
    Counts counts_;
    Matrix<double> checkpoints_;
    // Room for one search.
    Counts low_, high_;
    std::vector<Part> parts_;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Writes, in order, the rows before which a column is cut, and how many they are. Rows
// come in the order of their values, which are not NaN, with classes below n_classes and
// weights above zero whose sums are exact. At most `most_counts` class counts are kept.
BAYLEAF_API int32_t bl_mdlp_cuts(const double* values, const int64_t* classes,
                                 const double* weights, int64_t n_rows, int64_t n_classes,
                                 int64_t most_counts, int64_t* cuts, int64_t* n_cuts) {
    return guarded([&] {
        const Rows rows{view(values, n_rows), view(classes, n_rows), view(weights, n_rows)};
        for (const int64_t code : rows.classes)
            if (code < 0 || code >= n_classes)
                throw std::invalid_argument("a class code is out of range");
        *n_cuts = 0;
        if (n_rows == 0) return;
        const auto accepted = Column(rows, n_classes, most_counts).accepted_cuts();
        std::copy(accepted.begin(), accepted.end(), cuts);
        *n_cuts = static_cast<int64_t>(accepted.size());
    });
}
