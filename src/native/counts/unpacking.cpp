// Restores cells of families from a file, which holds them as differences of keys.
//
// A key is a number whose digits are the states of a family's parents, the child's and
// the class; the keys of a family never decrease. A difference takes seven bits a byte,
// the lowest first, and the highest bit means that more bytes follow.
#include <limits>
#include <span>
#include <stdexcept>

#include "support/interface.h"
#include "support/views.h"

namespace bayleaf {
namespace {

class PackedNumbers {
   public:
    explicit PackedNumbers(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    int64_t next() {
        int64_t number = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            if (place_ == bytes_.size())
                throw std::invalid_argument("packed numbers end too early");
            const uint8_t byte = bytes_[place_++];
            number |= static_cast<int64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return number;
        }
        throw std::invalid_argument("a packed number is too large");
    }

    int64_t n_read() const { return static_cast<int64_t>(place_); }

   private:
    std::span<const uint8_t> bytes_;
    std::size_t place_ = 0;
};

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Restores the cells of families (n_families, n_places), of which each has `n_cells`.
// Writes states (n_places, n_all), zero beyond a family's last variable, and classes, and
// gives the number of bytes that they took.
BAYLEAF_API int32_t bl_unpack_cells(const uint8_t* steps, int64_t n_bytes,
                                    const int64_t* families, int64_t n_families,
                                    int64_t n_places, const int64_t* radices,
                                    int64_t n_variables, const int64_t* n_cells,
                                    int64_t n_classes, uint16_t* states, int64_t n_all,
                                    uint16_t* classes, int64_t* n_read) {
    return guarded([&] {
        constexpr int64_t kMostStates = std::numeric_limits<uint16_t>::max() + int64_t{1};
        for (const int64_t radix : view(radices, n_variables))
            if (radix < 1 || radix > kMostStates)
                throw std::invalid_argument("a variable has too few or too many states");
        if (n_classes < 1 || n_classes > kMostStates)
            throw std::invalid_argument("there are too few or too many classes");
        const Matrix<const int64_t> members{families, n_families, n_places};
        const Matrix<uint16_t> places{states, n_places, n_all};
        PackedNumbers numbers(view(steps, n_bytes));
        int64_t cell = 0;
        for (int64_t f = 0; f < n_families; ++f) {
            int64_t n_members = 0;
            for (; n_members < n_places && members(f, n_members) >= 0; ++n_members)
                if (members(f, n_members) >= n_variables)
                    throw std::invalid_argument(
                        "a family has a variable that does not exist");
            if (n_members == 0) throw std::invalid_argument("a family has no variable");
            if (n_cells[f] < 0 || n_cells[f] > n_all - cell)
                throw std::invalid_argument("the cells do not fit their families");
            int64_t key = 0;
            for (const int64_t last = cell + n_cells[f]; cell < last; ++cell) {
                const int64_t step = numbers.next();
                if (step > std::numeric_limits<int64_t>::max() - key)
                    throw std::invalid_argument("a packed number is too large");
                key += step;
                int64_t rest = key / n_classes;
                classes[cell] = static_cast<uint16_t>(key - rest * n_classes);
                const auto take_digit = [&](int64_t place) {
                    const int64_t radix = radices[members(f, place)];
                    const int64_t quotient = rest / radix;
                    places(place, cell) = static_cast<uint16_t>(rest - quotient * radix);
                    rest = quotient;
                };
                take_digit(0);
                for (int64_t place = n_members - 1; place > 0; --place) take_digit(place);
                for (int64_t place = n_members; place < n_places; ++place)
                    places(place, cell) = 0;
                if (rest > 0)
                    throw std::invalid_argument("a family has a cell of an unknown state");
            }
        }
        if (cell != n_all) throw std::invalid_argument("the cells do not fit their families");
        *n_read = numbers.n_read();
    });
}
