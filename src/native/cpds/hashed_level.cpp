// Builds the lists of a family's log-probabilities at one depth: the cells are brought
// into the order of their parents' joint states, each of which then gives its lists.
// About 20 ns a cell.
#include "cpds/hashed_level.h"

#include <cmath>
#include <utility>

namespace bayleaf {

class LevelBuilder {
public:
    LevelBuilder(HashedLevel& level, const Family& family, const Prior& prior, double scale,
                 ParentKeys parents, int64_t n_classes)
        : level_(level),
          family_(family),
          prior_(prior),
          scale_(scale),
          parents_(parents),
          place_of_class_(static_cast<std::size_t>(n_classes), -1) {
        level.parents_.keys.start(parents.n_keys, family.n_cells());
        level.joint_.keys.start(parents.n_keys * level.n_children_, family.n_cells());
    }

    void build() {
        const auto ends = order_cells();
        auto cells = std::span<const int32_t>(ordered_);
        for (int64_t begin = 0; const int64_t end : ends) {
            add_lists(cells.subspan(begin, end - begin));
            begin = end;
        }
    }

private:
    // What the cells of one parents' state add up to in a class, and the value of the
    // states of the child that never came with the class there.
    struct Total {
        int32_t label;
        double count, absent;
    };

    // Sorts the cells by the number of their parents' state; where each state's end.
    std::vector<int64_t> order_cells() {
        std::vector<int32_t> numbers;
        std::vector<int64_t> places;
        for (const int64_t key : parents_.of_cells) {
            numbers.push_back(level_.parents_.keys.number(key));
            if (numbers.back() == std::ssize(places)) places.push_back(0);
            ++places[numbers.back()];
        }
        int64_t n_before = 0;
        for (auto& place : places) n_before += std::exchange(place, n_before);
        ordered_.resize(numbers.size());
        for (std::size_t cell = 0; cell < numbers.size(); ++cell)
            ordered_[places[numbers[cell]]++] = static_cast<int32_t>(cell);
        return places;
    }

    // Adds the lists of one parents' state, from the cells that have it.
    void add_lists(std::span<const int32_t> cells) {
        add_up(cells);
        for (const auto& total : totals_)
            level_.parents_.add_to_last(total.absent, total.label);
        level_.parents_.end_list();
        auto& joint = level_.joint_;
        const auto first = joint.n_lists();
        const auto children = family_.states(0);
        for (const int32_t cell : cells) {
            const int64_t key =
                parents_.of_cells[cell] * level_.n_children_ + children[cell];
            const int32_t number = joint.keys.number(key);
            if (number == joint.n_lists()) {
                for (const auto& total : totals_) joint.add_to_last(0.0, total.label);
                joint.end_list();
            }
            joint.value(number, place_of_class_[family_.classes[cell]]) +=
                family_.weights[cell];
        }
        for (auto number = first; number < joint.n_lists(); ++number)
            weigh(static_cast<int32_t>(number));
        for (const auto& total : totals_) place_of_class_[total.label] = -1;
    }

    // Sums the cells of one parents' state by class.
    void add_up(std::span<const int32_t> cells) {
        totals_.clear();
        for (const int32_t cell : cells) {
            const int32_t label = family_.classes[cell];
            if (place_of_class_[label] < 0) {
                place_of_class_[label] = static_cast<int32_t>(totals_.size());
                totals_.push_back({label, 0.0, 0.0});
            }
            totals_[place_of_class_[label]].count += family_.weights[cell];
        }
        for (auto& total : totals_)
            total.absent = prior_.scaled_absence(total.count, scale_);
    }

    // Turns the counts of a joint state into values.
    void weigh(int32_t number) {
        auto& joint = level_.joint_;
        const int64_t child = joint.keys.keys()[number] % level_.n_children_;
        for (std::size_t k = 0; k < totals_.size(); ++k) {
            double& value = joint.value(number, static_cast<int64_t>(k));
            value = value > 0.0
                        ? prior_.scaled_log_probability(child, value, totals_[k].count,
                                                        scale_)
                        : totals_[k].absent;
        }
    }

    HashedLevel& level_;
    const Family& family_;
    const Prior& prior_;
    double scale_;
    ParentKeys parents_;
    std::vector<int32_t> place_of_class_, ordered_;
    std::vector<Total> totals_;
};

HashedLevel::HashedLevel(const Family& family, const Prior& prior, double scale,
                         int64_t depth, ParentKeys parents, int64_t n_classes)
    : depth_(depth), n_children_(family.radix(0)) {
    LevelBuilder(*this, family, prior, scale, parents, n_classes).build();
}

}  // namespace bayleaf
