// Questions asked for each row of a table of codes.
#pragma once

#include <cstdint>
#include <span>

#include "models/junction_tree/propagation.h"
#include "support/views.h"

namespace bayleaf::junction_tree {

// Some rows of a table, as bayleaf.data.codes.Codes holds it.
struct Rows {
    Matrix<const uint8_t> narrow;  // variables along the first axis
    Matrix<const uint16_t> wide;
    std::span<const int64_t> slots;  // s >= 0: row s of narrow; s < 0: row -s - 1 of wide
    int64_t first, size;

    int64_t code(std::size_t variable, int64_t row) const {
        const int64_t slot = slots[variable];
        return slot >= 0 ? narrow(slot, row) : wide(-slot - 1, row);
    }
};

// Writes the log probability of each row's observed cells.
void fill_log_evidence(Propagation& propagation, const Rows& rows,
                       std::span<double> log_evidence);

// Writes each row's posterior of a variable, its own cell left out; NaN if the others are
// impossible together.
void fill_posteriors(Propagation& propagation, const Rows& rows, int32_t target,
                     const Matrix<double>& posteriors, std::span<double> log_evidence);

// Adds the posteriors of some families, each times its row's weight, one table after
// another; impossible rows add nothing.
void add_families(Propagation& propagation, const Rows& rows,
                  std::span<const double> weights, std::span<const int64_t> nodes,
                  std::span<double> totals);

}  // namespace bayleaf::junction_tree
