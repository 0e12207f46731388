// The states that rows have in a coding of their own, in place of their codes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "data/codes.h"

namespace bayleaf {

// For each variable, the state that each of its codes stands for; the last is the highest.
struct Coding {
    std::span<const uint16_t> states;
    std::span<const int64_t> starts;

    Coding(const uint16_t* values, int64_t n_values, const int64_t* first,
           int64_t n_variables)
        : states(view(values, n_values)), starts(view(first, n_variables + 1)) {
        bool fits =
            n_variables >= 0 && starts.front() == 0 && starts.back() == n_values;
        for (int64_t v = 0; v < n_variables; ++v)
            fits = fits && starts[v] < starts[v + 1] && starts[v + 1] <= n_values;
        for (int64_t v = 0; fits && v < n_variables; ++v)
            fits = std::ranges::max(of(v)) == of(v).back();
        if (!fits)
            throw std::invalid_argument("a coding does not end with its highest state");
    }

    int64_t n_variables() const { return std::ssize(starts) - 1; }
    std::span<const uint16_t> of(int64_t variable) const {
        return states.subspan(starts[variable], starts[variable + 1] - starts[variable]);
    }
    // Number of states of a variable, the reserved code counted.
    int64_t radix(int64_t variable) const { return of(variable).back() + int64_t{1}; }
};

// One variable's states in some rows: its codes themselves where the coding leaves them as
// they are, a copy otherwise.
class StateColumn {
public:
    void read(const CodeTable& codes, int64_t variable, const Coding& coding, int64_t first,
              int64_t n_rows) {
        const auto map = coding.of(variable);
        bool is_same = true;
        for (std::size_t code = 0; code < map.size(); ++code)
            is_same = is_same && map[code] == code;
        is_narrow_ = map.back() <= 255;
        codes.column(variable, [&](auto column) {
            const auto rows = column.subspan(first, n_rows);
            if (is_same)
                look_at(rows);
            else if (is_narrow_)
                narrow_ = translate(rows, map, narrow_states_);
            else
                wide_ = translate(rows, map, wide_states_);
        });
    }

    // Takes codes as states.
    void look_at(std::span<const uint8_t> rows) {
        narrow_ = rows.data();
        is_narrow_ = true;
    }
    void look_at(std::span<const uint16_t> rows) {
        wide_ = rows.data();
        is_narrow_ = false;
    }

    // Calls visit(states) with a pointer to bytes or to pairs of bytes.
    template <class Visit>
    void visit(Visit&& visit) const {
        if (is_narrow_)
            visit(narrow_);
        else
            visit(wide_);
    }
    uint16_t operator[](int64_t row) const {
        return is_narrow_ ? narrow_[row] : wide_[row];
    }

private:
    template <class Code, class State>
    static const State* translate(std::span<const Code> rows, std::span<const uint16_t> map,
                                  std::vector<State>& states) {
        states.resize(rows.size());
        for (std::size_t i = 0; i < rows.size(); ++i)
            states[i] = static_cast<State>(map[rows[i]]);
        return states.data();
    }

    bool is_narrow_ = true;
    const uint8_t* narrow_ = nullptr;
    const uint16_t* wide_ = nullptr;
    std::vector<uint8_t> narrow_states_;
    std::vector<uint16_t> wide_states_;
};

}  // namespace bayleaf
