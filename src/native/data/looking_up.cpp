// Looks whole numbers of any width up in one table: values by their places, codes by the
// numbers of values.
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Numbers between two looks at the watch.
constexpr int64_t kStretch = 1 << 16;

// Entries of a table from a lowest number on; 0 stands for numbers outside.
struct Table {
    const uint32_t* entries;
    int64_t size;
    int64_t low;
};

// Writes the entry of every number and returns how many are 0. Differences are taken
// unsigned, because those wrap round by definition.
template <class Number, class Code>
int64_t look_up(const Number* numbers, int64_t n, const Table& table, Code* codes) {
    // One entry more, so that numbers outside need no branch.
    std::vector<Code> entries(static_cast<std::size_t>(table.size) + 1);
    for (int64_t i = 0; i < table.size; ++i)
        entries[static_cast<std::size_t>(i)] = static_cast<Code>(table.entries[i]);
    const auto size = static_cast<uint64_t>(table.size);
    const auto low = static_cast<uint64_t>(table.low);
    const Code* first = entries.data();
    int64_t n_zero = 0;
    Watch watch;
    for (int64_t start = 0; start < n; start += kStretch) {
        const int64_t end = start + kStretch < n ? start + kStretch : n;
        int64_t found = 0;
        for (int64_t i = start; i < end; ++i) {
            const uint64_t place =
                static_cast<uint64_t>(static_cast<int64_t>(numbers[i])) - low;
            const Code code = first[place < size ? place : size];
            codes[i] = code;
            found += code == 0;
        }
        n_zero += found;
        watch.add(end - start);
    }
    return n_zero;
}

template <class Number>
int64_t look_up_into(const Number* numbers, int64_t n, const Table& table, void* codes,
                     int64_t code_bytes) {
    if (code_bytes == 1) return look_up(numbers, n, table, static_cast<uint8_t*>(codes));
    if (code_bytes == 2) return look_up(numbers, n, table, static_cast<uint16_t*>(codes));
    if (code_bytes == 4) return look_up(numbers, n, table, static_cast<uint32_t*>(codes));
    throw std::invalid_argument("codes take one, two or four bytes");
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Looks n numbers of 1, 2, 4 or 8 bytes, signed if `is_signed`, up in a table of entries
// from `low` on, writes codes of 1, 2 or 4 bytes, and how many of them are 0.
BAYLEAF_API int32_t bl_look_up(const void* numbers, int64_t n, int64_t number_bytes,
                               bool is_signed, int64_t low, const uint32_t* entries,
                               int64_t n_entries, void* codes, int64_t code_bytes,
                               int64_t* n_zero) {
    return guarded([&] {
        const Table table{entries, n_entries, low};
        const auto into = [&]<class Number>(const Number* own) {
            return look_up_into(own, n, table, codes, code_bytes);
        };
        if (number_bytes == 1)
            *n_zero = is_signed ? into(static_cast<const int8_t*>(numbers))
                                : into(static_cast<const uint8_t*>(numbers));
        else if (number_bytes == 2)
            *n_zero = is_signed ? into(static_cast<const int16_t*>(numbers))
                                : into(static_cast<const uint16_t*>(numbers));
        else if (number_bytes == 4)
            *n_zero = is_signed ? into(static_cast<const int32_t*>(numbers))
                                : into(static_cast<const uint32_t*>(numbers));
        else if (number_bytes == 8 && is_signed)
            *n_zero = into(static_cast<const int64_t*>(numbers));
        else
            throw std::invalid_argument("numbers take one, two, four or eight bytes");
    });
}
