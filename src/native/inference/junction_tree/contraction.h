// Multiplies tables over the variables of a clique, and adds the products up into others
// at once. The clique's own table is never stored.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "inference/junction_tree/evidence.h"
#include "support/watch.h"

namespace bayleaf::junction_tree {

// How products are added up: for probabilities, or for the most probable states.
enum class Rule { kSum, kMax };

class Contraction {
public:
    explicit Contraction(const Tree& tree);

    // Begins with a clique, or another set of variables, at their active states.
    void over(Scope scope, const Evidence& evidence);

    void multiply(Scope scope, const double* cells);
    void add_into(Scope scope, double* cells);

    bool has_results() const { return n_results_ > 0; }
    void run(Rule rule, Watch& watch);

private:
    // A clique with more open variables could not be run through in a lifetime.
    static constexpr int kMostAxes = 62;

    struct Table {
        const double* cells;
        int64_t n_cells;
        std::array<int64_t, kMostAxes> steps;  // along each axis, 0 where it lacks that
    };

    Table& lay(std::vector<Table>& tables, std::size_t place, Scope scope);
    void merge_axes();
    bool runs_alike(int one, int next) const;
    void start();
    void start(const Table& table);
    bool advance();
    template <class How>
    void run_rows(Watch& watch);
    template <class How>
    void add_products(double value);
    template <class How, class Row>
    void add_rows(double value, Row row);

    const Evidence* evidence_ = nullptr;
    int n_axes_ = 0;
    std::array<int64_t, kMostAxes> sizes_, counters_;
    std::vector<int> axis_of_;  // of each open variable
    // Memory of earlier runs is used again, so that these hold more than they count.
    std::vector<Table> factors_, results_;
    std::size_t n_factors_ = 0, n_results_ = 0;
    double constant_ = 1.0;  // product of the factors that lack all axes
    // Where the present row begins in each table: first in the factors that are constant
    // along rows, then in the others, then in the results.
    std::vector<const double*> at_;
    std::size_t n_constant_ = 0;
    // What a step along an axis adds to those, once the axes after it start over.
    std::vector<int64_t> jumps_;
    std::vector<double> row_;
};

}  // namespace bayleaf::junction_tree
