// Expected counts of the families with missing cells, part by part: missing cells of a row
// that hang together, and the known ones in their families. Parts of the same missing
// variables share a plan, which sums these out one after another (bucket elimination;
// Dechter 1999) and back. Costs a multiplication a family and cell of the plan's tables.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/checks.h"
#include "support/exp_log.h"
#include "support/interface.h"
#include "support/views.h"
#include "support/watch.h"

namespace bayleaf::missing_parts {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();
constexpr int64_t kMostCells = int64_t{1} << 24;  // of a plan's table
// Places of cells that are kept from one step to the next, in all plans together.
constexpr int64_t kMostKept = int64_t{1} << 25;

using Members = std::vector<int32_t>;
// Where each cell of a table reads from another one.
using Places = std::vector<int32_t>;

struct Family {
    std::span<const int32_t> members;
    std::vector<int64_t> steps;  // of each member in its distribution
    int64_t first_cell;          // among the cells of all distributions
};

struct Network {
    std::vector<int64_t> cards;
    std::vector<int32_t> members;  // of all families
    std::vector<Family> families;
    std::vector<Members> holding;  // families that contain each variable
    int64_t n_cells = 0;

    Network(std::span<const int64_t> sizes, std::span<const int64_t> starts,
            std::span<const int32_t> items)
        : cards(sizes.begin(), sizes.end()),
          members(items.begin(), items.end()),
          holding(sizes.size()) {
        for (std::size_t f = 0; f + 1 < starts.size(); ++f) {
            const std::span<const int32_t> own{members.data() + starts[f],
                                               members.data() + starts[f + 1]};
            Family family{own, std::vector<int64_t>(own.size()), n_cells};
            int64_t n_own = 1;
            for (std::size_t j = own.size(); j-- > 0;) {
                family.steps[j] = n_own;
                n_own *= cards[own[j]];
                if (n_own > std::numeric_limits<int32_t>::max())
                    throw std::invalid_argument("a family has too many joint states");
                holding[own[j]].push_back(static_cast<int32_t>(f));
            }
            n_cells += n_own;
            families.push_back(std::move(family));
        }
    }
};

// A known member of a family.
struct Known {
    int32_t place;  // among the part's cells
    int64_t step;
};

// A family in a table of a plan.
struct Factor {
    int64_t first_cell, card;  // the child's number of states
    std::size_t end_known;     // where its known members end among those of the plan
    std::size_t places;        // where its first place is
};

// A table over a missing variable, last, and those that are summed out later.
struct Bucket {
    Members scope;
    int32_t parent = -1;  // none if no variable is left
    int64_t first_cell = 0, n_cells = 1, first_shared = 0, n_shared = 1;
    std::size_t first_factor = 0, end_factor = 0, end_child = 0;
    std::size_t in_parent = 0;  // places of what the parent's cells share with this bucket
};

class Plan {
public:
    // `variables` are those of a part, of which some are `open`.
    Plan(const Network& network, std::span<const int32_t> variables,
         const std::vector<bool>& open)
        : network_(network), variables_(variables), around_(variables.size()) {
        for (std::size_t i = 0; i < open.size(); ++i)
            if (open[i]) open_.push_back(static_cast<int32_t>(i));
        find_families();
        eliminate();
        lay_out();
    }

    std::vector<Bucket> buckets;
    // Of all buckets, one after another.
    std::vector<Factor> factors;
    std::vector<Known> known;
    std::vector<int32_t> children;
    Places places;
    int64_t n_cells = 0, n_shared = 0;

private:
    struct Held {
        const Family* family;
        Members open;  // places of open members
        std::vector<int64_t> open_steps;
        std::vector<Known> known;
    };

    int64_t card(int32_t place) const { return network_.cards[variables_[place]]; }

    int32_t place_of(int32_t variable) const {
        const auto found = std::ranges::lower_bound(variables_, variable);
        if (found == variables_.end() || *found != variable)
            throw std::invalid_argument("a part lacks a member of a family");
        return static_cast<int32_t>(found - variables_.begin());
    }

    void find_families() {
        Members families;
        std::vector<bool> is_open(variables_.size());
        for (const int32_t i : open_) {
            is_open[i] = true;
            const Members& own = network_.holding[variables_[i]];
            families.insert(families.end(), own.begin(), own.end());
        }
        std::ranges::sort(families);
        const auto doubled = std::ranges::unique(families);
        families.erase(doubled.begin(), doubled.end());
        for (const int32_t f : families) {
            Held held;
            held.family = &network_.families[f];
            for (std::size_t j = 0; j < held.family->members.size(); ++j) {
                const int32_t i = place_of(held.family->members[j]);
                if (is_open[i]) {
                    held.open.push_back(i);
                    held.open_steps.push_back(held.family->steps[j]);
                } else {
                    held.known.push_back({i, held.family->steps[j]});
                }
            }
            for (const int32_t i : held.open)
                for (const int32_t j : held.open)
                    if (i != j) link(i, j);
            held_.push_back(std::move(held));
        }
    }

    void link(int32_t from, int32_t to) {
        Members& own = around_[from];
        const auto place = std::ranges::lower_bound(own, to);
        if (place == own.end() || *place != to) own.insert(place, to);
    }

    double size_of(int32_t place) const {
        double cells = static_cast<double>(card(place));
        for (const int32_t j : around_[place]) cells *= static_cast<double>(card(j));
        return cells;
    }

    // Sums out the variable with the smallest table first, until one table has them all.
    void eliminate() {
        std::vector<double> sizes(variables_.size());
        for (const int32_t i : open_) sizes[i] = size_of(i);
        Members left = open_;
        while (!left.empty()) {
            const auto next = std::ranges::min_element(
                left, {}, [&](int32_t i) { return sizes[i]; });
            const int32_t last = *next;
            if (sizes[last] > static_cast<double>(kMostCells))
                throw std::invalid_argument(
                    "the missing cells of a row need a table of more than " +
                    std::to_string(kMostCells) +
                    " cells; give variables that are often missing together fewer states "
                    "or parents");
            const Members others = std::move(around_[last]);
            const bool is_whole = others.size() + 1 == left.size();
            Bucket bucket;
            bucket.scope = others;
            bucket.scope.push_back(last);
            buckets.push_back(std::move(bucket));
            if (is_whole) return;
            left.erase(next);
            for (const int32_t i : others) {
                std::erase(around_[i], last);
                for (const int32_t j : others)
                    if (i != j) link(i, j);
            }
            for (const int32_t i : others) sizes[i] = size_of(i);
        }
    }

    // The first bucket that sums out one of some variables, or holds all that are left.
    int32_t first_with(const Members& places) const {
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            const Members& scope = buckets[b].scope;
            if (std::ranges::find(places, scope.back()) != places.end() ||
                b + 1 == buckets.size())
                return static_cast<int32_t>(b);
        }
        return -1;
    }

    void lay_out() {
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            Bucket& bucket = buckets[b];
            for (const int32_t i : bucket.scope) bucket.n_cells *= card(i);
            bucket.n_shared = bucket.n_cells / card(bucket.scope.back());
            bucket.first_cell = std::exchange(n_cells, n_cells + bucket.n_cells);
            bucket.first_shared = std::exchange(n_shared, n_shared + bucket.n_shared);
        }
        for (std::size_t b = 0; b < buckets.size(); ++b) {
            Bucket& bucket = buckets[b];
            bucket.first_factor = factors.size();
            for (const Held& held : held_) {
                if (first_with(held.open) != static_cast<int32_t>(b)) continue;
                known.insert(known.end(), held.known.begin(), held.known.end());
                factors.push_back({held.family->first_cell,
                                   network_.cards[held.family->members.back()], known.size(),
                                   add_places(bucket.scope, held.open, held.open_steps)});
            }
            bucket.end_factor = factors.size();
            for (std::size_t c = 0; c < b; ++c)
                if (buckets[c].parent == static_cast<int32_t>(b))
                    children.push_back(static_cast<int32_t>(c));
            bucket.end_child = children.size();
            const Members shared(bucket.scope.begin(), bucket.scope.end() - 1);
            if (b + 1 == buckets.size() || shared.empty()) continue;
            std::vector<int64_t> steps(shared.size());
            int64_t n_below = 1;
            for (std::size_t j = shared.size(); j-- > 0; n_below *= card(shared[j]))
                steps[j] = n_below;
            bucket.parent = first_with(shared);
            bucket.in_parent = add_places(buckets[bucket.parent].scope, shared, steps);
        }
    }

    // Adds where the cells of a table over a scope lie in another one over some of its
    // members.
    std::size_t add_places(const Members& scope, const Members& members,
                           const std::vector<int64_t>& steps) {
        Places found{0}, longer;
        for (const int32_t i : scope) {
            const auto own = std::ranges::find(members, i);
            const int64_t step = own == members.end() ? 0 : steps[own - members.begin()];
            longer.clear();
            for (const int32_t place : found)
                for (int64_t state = 0; state < card(i); ++state)
                    longer.push_back(static_cast<int32_t>(place + state * step));
            std::swap(found, longer);
        }
        const std::size_t first = places.size();
        places.insert(places.end(), found.begin(), found.end());
        return first;
    }

    const Network& network_;
    std::span<const int32_t> variables_;
    Members open_;
    std::vector<Members> around_;  // open variables in common families, sorted
    std::vector<Held> held_;
};

// Work memory of one thread.
class Worker {
public:
    // Adds a part's posteriors times its weight to `totals` and, unless it is null, what
    // the part leaves open to `variances`; its log probability.
    double add(const Plan& plan, const int32_t* codes, double weight, const double* tables,
               double* totals, double* variances) {
        cells_.resize(static_cast<std::size_t>(plan.n_cells));
        up_.resize(static_cast<std::size_t>(plan.n_shared));
        down_.resize(static_cast<std::size_t>(plan.n_shared));
        bases_.clear();
        std::size_t k = 0;
        for (const Factor& factor : plan.factors) {
            int64_t base = factor.first_cell;
            for (; k < factor.end_known; ++k)
                base += codes[plan.known[k].place] * plan.known[k].step;
            bases_.push_back(base);
        }
        double log_probability = 0.0;
        std::size_t child = 0;
        for (const Bucket& bucket : plan.buckets) {
            sources_.clear();
            for (std::size_t f = bucket.first_factor; f < bucket.end_factor; ++f)
                sources_.push_back({tables + bases_[f], &plan.places[plan.factors[f].places]});
            for (; child < bucket.end_child; ++child) {
                const Bucket& below = plan.buckets[plan.children[child]];
                sources_.push_back({&up_[below.first_shared], &plan.places[below.in_parent]});
            }
            multiply(bucket);
            const double largest = send_up(bucket);
            if (!(largest > 0.0)) return kImpossible;
            log_probability += log_of(largest);
        }
        for (std::size_t b = plan.buckets.size(); b-- > 0;) {
            const Bucket& bucket = plan.buckets[b];
            receive_down(plan, bucket, weight);
            const double* own = &cells_[bucket.first_cell];
            for (std::size_t f = bucket.first_factor; f < bucket.end_factor; ++f) {
                double* to = totals + bases_[f];
                const int32_t* places = &plan.places[plan.factors[f].places];
                for (int64_t i = 0; i < bucket.n_cells; ++i) to[places[i]] += own[i];
                if (variances != nullptr)
                    add_variances(plan, bucket, f, weight, tables, variances);
            }
        }
        return log_probability;
    }

private:
    // What a bucket multiplies: cells, and which of them belongs to each of its own.
    struct Source {
        const double* cells;
        const int32_t* places;
    };

    // Two sources at a time, which halves how often the bucket's cells are read and written.
    void multiply(const Bucket& bucket) {
        double* __restrict own = &cells_[bucket.first_cell];
        const int64_t n_cells = bucket.n_cells;
        std::size_t next = sources_.size() % 2;
        if (next == 0) {
            std::fill_n(own, n_cells, 1.0);
        } else {
            const auto [from, places] = sources_[0];
            for (int64_t i = 0; i < n_cells; ++i) own[i] = from[places[i]];
        }
        for (; next < sources_.size(); next += 2) {
            const auto [from, places] = sources_[next];
            const auto [other, others] = sources_[next + 1];
            for (int64_t i = 0; i < n_cells; ++i)
                own[i] = own[i] * from[places[i]] * other[others[i]];
        }
    }

    // Sums the last variable out, or all where a parent is lacking, and divides the message
    // by its largest cell, or the table by its sum; gives that.
    double send_up(const Bucket& bucket) {
        double* own = &cells_[bucket.first_cell];
        if (bucket.parent < 0) {
            const double total = std::accumulate(own, own + bucket.n_cells, 0.0);
            for (int64_t i = 0; i < bucket.n_cells; ++i) own[i] /= total;
            return total;
        }
        double* up = &up_[bucket.first_shared];
        const int64_t card = bucket.n_cells / bucket.n_shared;
        double largest = 0.0;
        for (int64_t s = 0; s < bucket.n_shared; ++s) {
            up[s] = std::accumulate(own + s * card, own + (s + 1) * card, 0.0);
            largest = std::max(largest, up[s]);
        }
        for (int64_t s = 0; s < bucket.n_shared; ++s) {
            up[s] /= largest;
            // From now on the table is that of the last variable given the others.
            if (up[s] > 0.0)
                for (int64_t i = s * card; i < (s + 1) * card; ++i)
                    own[i] /= up[s] * largest;
        }
        return largest;
    }

    void receive_down(const Plan& plan, const Bucket& bucket, double weight) {
        double* own = &cells_[bucket.first_cell];
        if (bucket.parent < 0) {
            for (int64_t i = 0; i < bucket.n_cells; ++i) own[i] *= weight;
            return;
        }
        const Bucket& parent = plan.buckets[bucket.parent];
        const double* above = &cells_[parent.first_cell];
        double* down = &down_[bucket.first_shared];
        std::fill_n(down, bucket.n_shared, 0.0);
        const int32_t* places = &plan.places[bucket.in_parent];
        for (int64_t i = 0; i < parent.n_cells; ++i) down[places[i]] += above[i];
        const int64_t card = bucket.n_cells / bucket.n_shared;
        for (int64_t s = 0; s < bucket.n_shared; ++s)
            for (int64_t i = s * card; i < (s + 1) * card; ++i) own[i] *= down[s];
    }

    // Adds the posterior variance of 1(child, parents) - P(child | parents) 1(parents), of
    // which the score of a distribution consists, for all states of each family.
    void add_variances(const Plan& plan, const Bucket& bucket, std::size_t f, double weight,
                       const double* tables, double* variances) {
        const Factor& factor = plan.factors[f];
        const int32_t* places = &plan.places[factor.places];
        const double* own = &cells_[bucket.first_cell];
        family_.clear();
        for (int64_t i = 0; i < bucket.n_cells; ++i)
            family_.emplace_back(bases_[f] + places[i] - factor.first_cell, own[i] / weight);
        std::ranges::stable_sort(family_, {}, [](const auto& cell) { return cell.first; });
        for (std::size_t i = 0; i < family_.size();) {
            const int64_t given = family_[i].first / factor.card;
            child_.assign(static_cast<std::size_t>(factor.card), 0.0);
            double both = 0.0;
            for (; i < family_.size() && family_[i].first / factor.card == given; ++i) {
                child_[family_[i].first % factor.card] += family_[i].second;
                both += family_[i].second;
            }
            const int64_t first = factor.first_cell + given * factor.card;
            for (int64_t k = 0; k < factor.card; ++k) {
                const double p = tables[first + k], q = child_[k], mean = q - p * both;
                const double square = q * (1.0 - p) * (1.0 - p) + (both - q) * p * p;
                variances[first + k] += weight * (square - mean * mean);
            }
        }
    }

    std::vector<double> cells_, up_, down_, child_;
    std::vector<std::pair<int64_t, double>> family_;
    std::vector<int64_t> bases_;
    std::vector<Source> sources_;
};

// Parts of rows, those of equal missing variables one after another.
class Parts {
public:
    Parts(Network network, std::span<const int64_t> starts,
          std::span<const int32_t> variables, std::span<const int32_t> codes)
        : network_(std::move(network)),
          starts_(starts.begin(), starts.end()),
          variables_(variables.begin(), variables.end()),
          codes_(codes.begin(), codes.end()) {
        int64_t n_kept = 0;
        for (int64_t i = 0; i < n_parts(); ++i) {
            if (i == 0 || !is_alike(i - 1, i)) {
                auto plan = std::make_unique<Plan>(made(i));
                n_kept += std::ssize(plan->places);
                kept_.push_back(n_kept <= kMostKept ? std::move(plan) : nullptr);
            }
            plan_of_.push_back(static_cast<int32_t>(kept_.size() - 1));
        }
    }

    int64_t n_parts() const { return std::ssize(starts_) - 1; }
    int64_t n_cells() const { return network_.n_cells; }

    void expect(int64_t first, const double* tables, std::span<const double> weights,
                double* totals, double* variances, double* log_evidence) const {
        Worker worker;
        Watch watch;
        std::unique_ptr<Plan> own;
        int32_t own_index = -1;
        for (int64_t j = 0; j < std::ssize(weights); ++j) {
            const int32_t index = plan_of_[first + j];
            const Plan* plan = kept_[index].get();
            if (plan == nullptr) {
                if (own_index != index) own = std::make_unique<Plan>(made(first + j));
                own_index = index;
                plan = own.get();
            }
            log_evidence[j] = worker.add(*plan, &codes_[starts_[first + j]], weights[j],
                                         tables, totals, variances);
            watch.add(std::ssize(plan->places));
        }
    }

private:
    std::span<const int32_t> variables(int64_t part) const {
        return {variables_.data() + starts_[part], variables_.data() + starts_[part + 1]};
    }

    bool is_open(int64_t item) const {
        return codes_[item] == network_.cards[variables_[item]];
    }

    bool is_alike(int64_t one, int64_t other) const {
        if (!std::ranges::equal(variables(one), variables(other))) return false;
        for (int64_t a = starts_[one], b = starts_[other]; a < starts_[one + 1]; ++a, ++b)
            if (is_open(a) != is_open(b)) return false;
        return true;
    }

    Plan made(int64_t part) const {
        std::vector<bool> open;
        for (int64_t i = starts_[part]; i < starts_[part + 1]; ++i) open.push_back(is_open(i));
        return {network_, variables(part), open};
    }

    Network network_;
    std::vector<int64_t> starts_;
    std::vector<int32_t> variables_, codes_, plan_of_;
    std::vector<std::unique_ptr<Plan>> kept_;
};

}  // namespace
}  // namespace bayleaf::missing_parts

using namespace bayleaf;

// Compiles parts of rows over a network. Family f has the members from family_starts[f]
// on, part i the variables, in order, and codes from starts[i] on; a code that is the
// variable's number of states is missing. Parts contain all members of their families.
BAYLEAF_API int32_t bl_missing_parts_new(
    const int64_t* cards, int64_t n_variables, const int64_t* family_starts,
    int64_t n_families, const int32_t* families, int64_t n_members, const int64_t* starts,
    int64_t n_parts, const int32_t* variables, const int32_t* codes, int64_t n_items,
    void** made) {
    return guarded([&] {
        require_starts(view(family_starts, n_families + 1), n_members);
        require_starts(view(starts, n_parts + 1), n_items);
        require_below(view(families, n_members), n_variables, "a family has an unknown member");
        require_below(view(variables, n_items), n_variables, "a part has an unknown variable");
        for (int64_t v = 0; v < n_variables; ++v)
            if (cards[v] < 1) throw std::invalid_argument("a variable has no states");
        for (int64_t i = 0; i < n_items; ++i)
            if (codes[i] < 0 || codes[i] > cards[variables[i]])
                throw std::invalid_argument("a code exceeds the number of states");
        *made = new missing_parts::Parts(
            {view(cards, n_variables), view(family_starts, n_families + 1),
             view(families, n_members)},
            view(starts, n_parts + 1), view(variables, n_items), view(codes, n_items));
    });
}

BAYLEAF_API void bl_missing_parts_free(void* capsule) {
    delete static_cast<missing_parts::Parts*>(content_of(capsule));
}

// Adds the posteriors of the families with missing cells in parts from `first` on, times
// the parts' weights, to the tables of all families, one after another; writes the log
// probability of each part's known cells. Impossible parts add nothing. If there are
// `variances`, adds the posterior ones of 1(child, parents) - P(child | parents) 1(parents).
BAYLEAF_API int32_t bl_missing_parts_expect(void* parts, int64_t first,
                                            const double* weights, int64_t n_asked,
                                            const double* tables, double* totals,
                                            int64_t n_cells, double* variances,
                                            int64_t n_variances, double* log_evidence) {
    return guarded([&] {
        const auto& asked = *static_cast<missing_parts::Parts*>(parts);
        if (n_cells != asked.n_cells() || first < 0 || n_asked > asked.n_parts() - first)
            throw std::invalid_argument("the tables or parts are not those compiled");
        if (n_variances != 0 && n_variances != n_cells)
            throw std::invalid_argument("the variances are those of other tables");
        asked.expect(first, tables, view(weights, n_asked), totals,
                     n_variances == 0 ? nullptr : variances, log_evidence);
    });
}
