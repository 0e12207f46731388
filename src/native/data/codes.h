// The rows of a table as integer codes, laid out as in bayleaf/data/codes.py.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "support/views.h"

namespace bayleaf {

// Variables lie in one byte a cell or in two; a slot s >= 0 is row s of the narrow block,
// s < 0 row -s - 1 of the wide one.
struct CodeTable {
    Matrix<const uint8_t> narrow;
    Matrix<const uint16_t> wide;
    std::span<const int64_t> slots;
    int64_t n_rows;

    CodeTable(const uint8_t* narrow_codes, int64_t n_narrow, const uint16_t* wide_codes,
              int64_t n_wide, const int64_t* slots_of_variables, int64_t n_slots,
              int64_t rows)
        : narrow{narrow_codes, n_narrow, rows},
          wide{wide_codes, n_wide, rows},
          slots(view(slots_of_variables, n_slots)),
          n_rows(rows) {
        for (const int64_t slot : slots)
            if (slot >= n_narrow || slot < -n_wide)
                throw std::invalid_argument("a variable's slot lies outside the codes");
    }

    // Calls visit(codes) with all rows of a variable's codes, of either width.
    template <class Visit>
    decltype(auto) column(int64_t variable, Visit&& visit) const {
        const int64_t slot = slots[variable];
        return slot >= 0 ? visit(narrow[slot]) : visit(wide[-slot - 1]);
    }
};

}  // namespace bayleaf
