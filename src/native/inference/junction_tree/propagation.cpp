// Sends messages in a junction tree, to the roots and back (Jensen, Lauritzen & Olesen
// 1990). Clique tables are multiplied afresh each time instead of being stored, messages
// of subtrees without evidence are taken from the propagation without any, and each
// message is divided by its largest cell, so that networks of thousands of nodes do not
// underflow. Costs the cells of each clique, at the states that the evidence leaves, once
// upwards and once more where something below it is read.
#include "inference/junction_tree/propagation.h"

#include <algorithm>
#include <utility>

namespace bayleaf::junction_tree {
namespace {

// Divides cells by the largest one, and gives that; they stay as they are if all are zero.
double rescale(double* cells, int64_t n_cells) {
    double largest = 0.0;
    for (int64_t i = 0; i < n_cells; ++i) largest = largest < cells[i] ? cells[i] : largest;
    if (largest > 0.0)
        for (int64_t i = 0; i < n_cells; ++i) cells[i] /= largest;
    return largest;
}

double sum_of(const double* cells, int64_t n_cells) {
    double total = 0.0;
    for (int64_t i = 0; i < n_cells; ++i) total += cells[i];
    return total;
}

}  // namespace

Propagation::Propagation(const Tree& of)
    : tree(of),
      evidence(of),
      cliques_(of.cliques.size()),
      variables_(of.variables.size()),
      contraction_(of) {
    n_cells_ = tree.n_cells + tree.n_states;
    for (const Clique& clique : tree.cliques) n_cells_ += 2 * clique.above.n_cells;
    cells_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(n_cells_));
    double* next = cells_.get();
    const auto taken = [&next](int64_t n) { return std::exchange(next, next + n); };
    for (int32_t v = 0; v < tree.n_variables(); ++v) {
        const std::size_t n = tree.distributions[v].cells.size();
        variables_[v].own_distribution = taken(static_cast<int64_t>(n));
        variables_[v].marginal = taken(tree.variables[v].card);
    }
    for (int32_t c = 0; c < tree.n_cliques(); ++c) {
        cliques_[c].own_up = taken(tree.cliques[c].above.n_cells);
        cliques_[c].down = taken(tree.cliques[c].above.n_cells);
    }
}

void Propagation::want_all() {
    for (VariableState& state : variables_) state.is_wanted = true;
}

void Propagation::want(std::span<const int64_t> variables) {
    for (VariableState& state : variables_) state.is_wanted = false;
    for (const int64_t v : variables) variables_[v].is_wanted = true;
}

double Propagation::propagate(Reads reads, Watch& watch) {
    if (reads == Reads::kFamilies && family_cells_ == nullptr)
        family_cells_ = std::make_unique_for_overwrite<double[]>(
            static_cast<std::size_t>(tree.n_cells));
    const double log_evidence = collect(Rule::kSum, watch);
    if (log_evidence > kImpossible && reads != Reads::kNothing) distribute(reads, watch);
    return log_evidence;
}

double Propagation::find_most_probable(std::span<int64_t> states, Watch& watch) {
    const double log_most = collect(Rule::kMax, watch);
    if (log_most > kImpossible) decode(states, watch);
    return log_most;
}

// Messages without evidence below are known beforehand where sums are concerned.
void Propagation::choose_sources(Rule rule) {
    for (CliqueState& state : cliques_) state.has_evidence = false;
    for (const int32_t v : evidence.variables())
        cliques_[tree.variables[v].home].has_evidence = true;
    for (int32_t c = 0; c < tree.n_cliques(); ++c) {
        CliqueState& state = cliques_[c];
        const Clique& clique = tree.cliques[c];
        if (state.has_evidence && clique.parent >= 0)
            cliques_[clique.parent].has_evidence = true;
        state.source = Source::kComputed;
        if (state.has_evidence || rule == Rule::kMax) continue;
        if (clique.is_barren)
            state.source = Source::kOnes;
        else if (tree.has_prior())
            state.source = Source::kPrior;
    }
    for (int32_t c = tree.n_cliques(); c-- > 0;) {
        const int32_t parent = tree.cliques[c].parent;
        cliques_[c].counts = cliques_[c].source == Source::kComputed &&
                             (parent < 0 || cliques_[parent].counts);
    }
}

// Whether evidence tells nothing of a variable, whose marginal is then known.
bool Propagation::is_settled(int32_t variable) const {
    return tree.has_prior() && !cliques_[tree.variables[variable].root].has_evidence;
}

// Marks the cliques at or below which something is to be read.
void Propagation::choose_reads(Reads reads) {
    for (CliqueState& state : cliques_) state.is_read = false;
    for (int32_t v = 0; v < tree.n_variables(); ++v) {
        if (!variables_[v].is_wanted) continue;
        const Variable& variable = tree.variables[v];
        if (reads == Reads::kFamilies) {
            if (evidence.count(Scope(tree.distributions[v].members)) > 1)
                cliques_[variable.home].is_read = true;
        } else if (evidence.count(v) > 1 && !is_settled(v)) {
            cliques_[variable.reader].is_read = true;
        }
    }
    for (int32_t c = 0; c < tree.n_cliques(); ++c)
        if (cliques_[c].is_read && tree.cliques[c].parent >= 0)
            cliques_[tree.cliques[c].parent].is_read = true;
}

double Propagation::collect(Rule rule, Watch& watch) {
    choose_sources(rule);
    Scale scale;
    for (int32_t c = 0; c < tree.n_cliques(); ++c) {
        if (cliques_[c].source != Source::kComputed) continue;
        if (!send_up(c, rule, scale, watch)) return kImpossible;
    }
    return scale.log();
}

// Computes a clique's message to its parent; false if that is zero.
bool Propagation::send_up(int32_t clique, Rule rule, Scale& scale, Watch& watch) {
    const Clique& here = tree.cliques[clique];
    CliqueState& state = cliques_[clique];
    enter_tables(clique, watch);
    for (const int32_t child : here.children)
        if (cliques_[child].source == Source::kPrior)
            scale.multiply(tree.cliques[child].prior_scale);
    contraction_.over(here.members, evidence);
    multiply_tables(clique);
    contraction_.add_into(here.above.members, state.own_up);
    contraction_.run(rule, watch);
    state.up = state.own_up;
    state.divisor = rescale(state.own_up, evidence.count(Scope(here.above.members)));
    if (state.counts) scale.multiply(state.divisor);
    return state.divisor > 0.0;
}

void Propagation::distribute(Reads reads, Watch& watch) {
    choose_reads(reads);
    for (int32_t c = tree.n_cliques(); c-- > 0;)
        if (cliques_[c].is_read) receive_down(c, reads, watch);
}

// Takes what the parent believes of the separator, and hands beliefs on.
void Propagation::receive_down(int32_t clique, Reads reads, Watch& watch) {
    const Clique& here = tree.cliques[clique];
    CliqueState& state = cliques_[clique];
    const bool is_root = here.parent < 0;
    if (state.source != Source::kComputed) enter_tables(clique, watch);
    const Scope shared = here.above.members;
    if (!is_root) {
        if (reads == Reads::kMarginals) {
            contraction_.over(shared, evidence);
            contraction_.multiply(shared, state.down);
            add_into_marginals(here.above.reads);
            if (contraction_.has_results()) contraction_.run(Rule::kSum, watch);
        }
        const int64_t n_cells = evidence.count(shared);
        if (state.source != Source::kOnes)
            for (int64_t i = 0; i < n_cells; ++i)
                // The belief is zero wherever the message that it contains is; not being
                // rescaled before, it cannot exceed that message by much either.
                if (state.up[i] > 0.0) state.down[i] /= state.up[i];
        rescale(state.down, n_cells);
    }
    contraction_.over(here.members, evidence);
    multiply_tables(clique);
    if (!is_root) contraction_.multiply(shared, state.down);
    add_into_beliefs(clique, reads);
    if (contraction_.has_results()) contraction_.run(Rule::kSum, watch);
}

// Cuts a clique's distributions and the messages of subtrees without evidence down to
// the active states.
void Propagation::enter_tables(int32_t clique, Watch& watch) {
    const Clique& here = tree.cliques[clique];
    for (const int32_t v : here.distributions) {
        variables_[v].distribution =
            evidence.distribution(v, variables_[v].own_distribution);
        watch.add(evidence.count(Scope(tree.distributions[v].members)));
    }
    for (const int32_t child : here.children) {
        CliqueState& state = cliques_[child];
        const Clique& below = tree.cliques[child];
        if (state.source == Source::kPrior)
            state.up =
                evidence.active(below.above.members, below.prior.data(), state.own_up);
    }
}

void Propagation::multiply_tables(int32_t clique) {
    for_each_table(clique, [this](Scope scope, const double* cells) {
        contraction_.multiply(scope, cells);
    });
}

void Propagation::add_into_beliefs(int32_t clique, Reads reads) {
    const Clique& here = tree.cliques[clique];
    for (const int32_t child : here.children)
        if (cliques_[child].is_read)
            contraction_.add_into(tree.cliques[child].above.members, cliques_[child].down);
    if (reads == Reads::kMarginals) return add_into_marginals(here.reads);
    for (const int32_t v : here.distributions) {
        const Distribution& table = tree.distributions[v];
        if (variables_[v].is_wanted && evidence.count(Scope(table.members)) > 1)
            contraction_.add_into(table.members, &family_cells_[table.first_cell]);
    }
}

void Propagation::add_into_marginals(const Members& reads) {
    for (const int32_t& v : reads)
        if (variables_[v].is_wanted && evidence.count(v) > 1)
            contraction_.add_into(Scope(&v, 1), variables_[v].marginal);
}

void Propagation::read_marginal(int32_t variable, double* marginal) {
    const Variable& known = tree.variables[variable];
    const int64_t n_active = evidence.count(variable);
    const int32_t* states = evidence.states(variable);
    if (n_active > 1 && is_settled(variable)) {
        std::copy_n(&tree.prior_marginals[known.first_state], known.card, marginal);
        return;
    }
    std::fill_n(marginal, known.card, 0.0);
    if (n_active == 1) {
        marginal[states[0]] = 1.0;
        return;
    }
    const double* cells = variables_[variable].marginal;
    const double total = sum_of(cells, n_active);
    for (int64_t i = 0; i < n_active; ++i) marginal[states[i]] = cells[i] / total;
}

namespace {

// Adds active cells, each times a factor, to a table of all states; gives the next cell.
const double* add_cells(const Evidence& evidence, const Distribution& table,
                        std::size_t axis, double factor, const double* cells,
                        double* totals) {
    if (axis == table.members.size()) {
        *totals += factor * *cells;
        return cells + 1;
    }
    const int32_t v = table.members[axis];
    for (int64_t i = 0; i < evidence.count(v); ++i) {
        double* inside = totals + table.given_steps[axis] * evidence.states(v)[i];
        cells = add_cells(evidence, table, axis + 1, factor, cells, inside);
    }
    return cells;
}

}  // namespace

void Propagation::add_family(int32_t variable, double weight, double* totals) {
    const Distribution& table = tree.distributions[variable];
    const int64_t n_cells = evidence.count(Scope(table.members));
    // All observed: the family has this state for certain.
    const double certain = 1.0;
    const double* cells = n_cells > 1 ? &family_cells_[table.first_cell] : &certain;
    add_cells(evidence, table, 0, weight / sum_of(cells, n_cells), cells, totals);
}

void Propagation::count_cells(double& upwards, double& all) {
    choose_sources(Rule::kSum);
    upwards = all = 0.0;
    for (int32_t c = 0; c < tree.n_cliques(); ++c) {
        double cells = 1.0;
        for (const int32_t v : tree.cliques[c].members)
            cells *= static_cast<double>(evidence.count(v));
        all += cells;
        if (cliques_[c].source == Source::kComputed) upwards += cells;
    }
}

void add_prior(Tree& tree) {
    Watch watch;
    Propagation without(tree);
    without.want_all();
    without.propagate(Reads::kMarginals, watch);
    for (int32_t c = 0; c < tree.n_cliques(); ++c) {
        Clique& clique = tree.cliques[c];
        if (clique.is_barren) continue;
        const Propagation::CliqueState& state = without.cliques_[c];
        clique.prior.assign(state.up, state.up + clique.above.n_cells);
        clique.prior_scale.multiply(state.divisor);
        if (clique.parent >= 0)
            tree.cliques[clique.parent].prior_scale.multiply(clique.prior_scale);
    }
    std::vector<double> marginals(static_cast<std::size_t>(tree.n_states));
    for (int32_t v = 0; v < tree.n_variables(); ++v)
        without.read_marginal(v, &marginals[tree.variables[v].first_state]);
    tree.prior_marginals = std::move(marginals);
}

}  // namespace bayleaf::junction_tree
