// Counts the rows that planes have in common: AND, then the number of bits.
//
// A product of two panels takes 64 pairs of planes at a time. Each word of the left
// panel, repeated, meets a row of the right one, so that sums stay in registers and no
// sum over lanes is needed at the end. With AVX-512 a pair of planes costs about 0.0004
// ns a row; about six times as much with AVX2.
#include <algorithm>
#include <utility>
#include <vector>

#include "counts/bit_vectors.h"
#include "counts/planes.h"
#include "support/interface.h"
#include "support/watch.h"

namespace bayleaf {
namespace {

// Panels whose tiles stay in the second-level cache while they meet another panel.
constexpr int64_t kPanelBlock = 24;

// Planes of the left and vectors of the right panel that are worked on together: as many
// as registers hold sums for.
constexpr int kLeft = Words::kLanes == kPanelPlanes ? 8 : 2;
constexpr int kRight = Words::kLanes == kPanelPlanes ? 1 : 2;

// Counts of (left, right) planes; a row of it belongs to a left plane.
struct Cells {
    int32_t* first;
    int64_t row_length;
};

// Adds the products of some planes and some vectors, which lie side by side: number k is
// plane k / n_right with vector k % n_right. Sums have constant numbers throughout, so
// that they stay in registers.
template <int n_right, int... k>
void add_block(std::integer_sequence<int, k...>, const uint64_t* left,
               const uint64_t* right, int64_t n_words, int shift, Cells cells) {
    constexpr int lanes = Words::kLanes;
    Words totals[] = {(void(k), Words())...};
    for (int64_t first = 0; first < n_words;) {
        const int64_t last = first + std::min(n_words - first, Words::kMostAdded);
        Words counts[] = {(void(k), Words())...};
        for (; first < last; ++first) {
            const uint64_t* words = left + first * kPanelPlanes;
            const uint64_t* row = right + first * kPanelPlanes;
            ((counts[k] =
                  counts[k].add_counts(Words::load(row + k % n_right * lanes)
                                           .common(Words::repeat(words[k / n_right]))
                                           .counts())),
             ...);
        }
        ((totals[k] = totals[k].add_totals(counts[k].totals())), ...);
    }
    (totals[k].add_to(cells.first + k / n_right * cells.row_length + k % n_right * lanes,
                      shift),
     ...);
}

// Adds the products of n_planes neighbouring planes, in steps of n_left, and a panel.
template <int n_left>
void add_products(const uint64_t* left, int64_t n_planes, const uint64_t* right,
                  const Segment& segment, Cells cells) {
    const int64_t n_words = segment.end_word - segment.first_word;
    for (int64_t i = 0; i < n_planes; i += n_left)
        for (int64_t j = 0; j < kPanelPlanes; j += kRight * Words::kLanes)
            add_block<kRight>(std::make_integer_sequence<int, n_left * kRight>(), left + i,
                              right + j, n_words, static_cast<int>(segment.shift),
                              {cells.first + i * cells.row_length + j, cells.row_length});
}

using Segments = std::span<const Segment>;

void check_segments(Segments segments, int64_t n_classes, int64_t n_words) {
    for (const Segment& segment : segments)
        if (segment.state < 0 || segment.state >= n_classes || segment.first_word < 0 ||
            segment.end_word < segment.first_word || segment.end_word > n_words ||
            segment.shift < 0 || segment.shift > 30)
            throw std::invalid_argument("the segments are not those of these planes");
}

// Where the planes of two columns begin and end.
struct Column {
    int64_t first, end;

    int64_t n_planes() const { return end - first; }
    int64_t first_panel() const { return first / kPanelPlanes; }
    int64_t end_panel() const { return (end + kPanelPlanes - 1) / kPanelPlanes; }
};

// A table of counts (n_rows, n_columns) of one class.
struct Table {
    double* cells;
    int64_t n_rows, n_columns;

    double& operator()(int64_t row, int64_t column) const {
        return cells[row * n_columns + column];
    }
};

// Writes the table of one class from the counts of all but the last states, which are in
// the upper left corner of `stored`, and from the margins.
void complete(const Cells& stored, std::span<const double> left,
              std::span<const double> right, double total, const Table& table) {
    const int64_t last_row = table.n_rows - 1, last_column = table.n_columns - 1;
    double rest = total;
    for (int64_t y = 0; y < last_column; ++y) {
        table(last_row, y) = right[y];
        rest -= right[y];
    }
    table(last_row, last_column) = rest;
    for (int64_t x = 0; x < last_row; ++x) {
        rest = left[x];
        for (int64_t y = 0; y < last_column; ++y) {
            const double count = stored.first[x * stored.row_length + y];
            table(x, y) = count;
            rest -= count;
            table(last_row, y) -= count;
        }
        table(x, last_column) = rest;
        table(last_row, last_column) -= rest;
    }
}

// Packed columns and all that is known of single ones.
struct PackedColumns {
    Panels<const uint64_t> panels;
    Segments segments;
    std::span<const int64_t> starts;
    Matrix<const double> margins;
    std::span<const double> class_counts;

    Column column(int64_t k) const { return {starts[k], starts[k + 1]}; }

    std::span<const double> margin(int64_t state, Column column) const {
        return margins[state].subspan(static_cast<std::size_t>(column.first),
                                      static_cast<std::size_t>(column.n_planes()));
    }

    // Writes the counts of class, column a and column b.
    void write_pair(Column a, Column b, std::vector<int32_t>& room, double* table) const {
        const int64_t width = (b.end_panel() - b.first_panel()) * kPanelPlanes;
        const int64_t of_class = a.n_planes() * width;
        room.assign(class_counts.size() * static_cast<std::size_t>(of_class), 0);
        for (const Segment& segment : segments)
            for (int64_t plane = a.first; plane < a.end; ++plane)
                for (int64_t panel = b.first_panel(); panel < b.end_panel(); ++panel) {
                    int32_t* cells = room.data() + segment.state * of_class +
                                     (plane - a.first) * width +
                                     (panel - b.first_panel()) * kPanelPlanes;
                    add_products<1>(panels.plane(plane, segment.first_word), 1,
                                    panels.at(panel, segment.first_word), segment,
                                    {cells, width});
                }
        const int64_t skipped = b.first - b.first_panel() * kPanelPlanes;
        const int64_t n_cells = (a.n_planes() + 1) * (b.n_planes() + 1);
        for (std::size_t state = 0; state < class_counts.size(); ++state) {
            const auto c = static_cast<int64_t>(state);
            complete({room.data() + c * of_class + skipped, width}, margin(c, a),
                     margin(c, b), class_counts[state],
                     {table + c * n_cells, a.n_planes() + 1, b.n_planes() + 1});
        }
    }

    // Writes the counts of class and column a.
    void write_single(Column a, double* table) const {
        for (std::size_t state = 0; state < class_counts.size(); ++state) {
            double rest = class_counts[state];
            for (const double count : margin(static_cast<int64_t>(state), a)) {
                *table++ = count;
                rest -= count;
            }
            *table++ = rest;
        }
    }

    int64_t n_cells(int64_t a, int64_t b) const {
        const int64_t n_classes = static_cast<int64_t>(class_counts.size());
        const int64_t of_class = n_classes * (column(a).n_planes() + 1);
        return b < 0 ? of_class : of_class * (column(b).n_planes() + 1);
    }
};

void check_starts(std::span<const int64_t> starts, int64_t n_planes) {
    for (std::size_t k = 0; k < starts.size(); ++k)
        if (starts[k] < (k == 0 ? 0 : starts[k - 1]) || starts[k] > n_planes)
            throw std::invalid_argument("the planes of a column are out of range");
}

}  // namespace
}  // namespace bayleaf

using namespace bayleaf;

// Adds to `counts` (n_classes, n_rows, n_columns) the rows that each two planes have in
// common, class by class: from row 8 first_left on, and from column 0. With `triangle`,
// `left` is what `right` holds from panel first_left on, and only pairs of panels in
// order are counted.
BAYLEAF_API int32_t bl_plane_counts(const uint64_t* left, int64_t n_left,
                                    const uint64_t* right, int64_t n_right, int64_t n_words,
                                    const Segment* segments, int64_t n_segments,
                                    int64_t first_left, bool triangle, int32_t* counts,
                                    int64_t n_classes, int64_t n_rows, int64_t n_columns) {
    return guarded([&] {
        const Panels<const uint64_t> rows{left, n_left, n_words};
        const Panels<const uint64_t> columns{right, n_right, n_words};
        const Stack<int32_t> cells{counts, n_classes, n_rows, n_columns};
        check_segments(view(segments, n_segments), n_classes, n_words);
        Watch watch;
        for (int64_t block = 0; block < n_right; block += kPanelBlock) {
            const int64_t block_end = std::min(block + kPanelBlock, n_right);
            for (const Segment& segment : view(segments, n_segments))
                for (int64_t i = 0; i < n_left; ++i) {
                    const int64_t row = first_left + i;
                    const uint64_t* own = rows.at(i, segment.first_word);
                    const int64_t first = triangle ? std::max(block, row) : block;
                    for (int64_t j = first; j < block_end; ++j)
                        add_products<kLeft>(
                            own, kPanelPlanes, columns.at(j, segment.first_word), segment,
                            {&cells(segment.state, row * kPanelPlanes, j * kPanelPlanes),
                             n_columns});
                    const int64_t n_words_met = segment.end_word - segment.first_word;
                    watch.add((block_end - block) * n_words_met * 4);
                }
        }
    });
}

// Adds up the rows of each plane, class by class: to `counts` (n_classes, n_planes).
BAYLEAF_API int32_t bl_plane_margins(const uint64_t* words, int64_t n_panels,
                                     int64_t n_words, const Segment* segments,
                                     int64_t n_segments, double* counts,
                                     int64_t n_classes) {
    return guarded([&] {
        const Panels<const uint64_t> panels{words, n_panels, n_words};
        const Matrix<double> margins{counts, n_classes, n_panels * kPanelPlanes};
        check_segments(view(segments, n_segments), n_classes, n_words);
        Watch watch;
        for (const Segment& segment : view(segments, n_segments))
            for (int64_t panel = 0; panel < n_panels; ++panel) {
                int64_t sums[kPanelPlanes] = {};
                for (int64_t w = segment.first_word; w < segment.end_word; ++w)
                    for (int64_t lane = 0; lane < kPanelPlanes; ++lane)
                        sums[lane] += std::popcount(panels.at(panel, w)[lane]);
                for (int64_t lane = 0; lane < kPanelPlanes; ++lane)
                    margins(segment.state, panel * kPanelPlanes + lane) +=
                        static_cast<double>(sums[lane] << segment.shift);
                watch.add((segment.end_word - segment.first_word) * 4);
            }
    });
}

// Writes the counts of some families of the class and one or two columns, one table after
// another, each from its first cell on: (n_classes, n_states of a, n_states of b), or
// without the last axis where b is -1. The last state of a column has no plane.
BAYLEAF_API int32_t bl_plane_families(
    const uint64_t* words, int64_t n_panels, int64_t n_words, const Segment* segments,
    int64_t n_segments, const int64_t* starts, int64_t n_columns, const double* margins,
    const double* class_counts, int64_t n_classes, const int64_t* pairs, int64_t n_pairs,
    const int64_t* first_cells, double* tables, int64_t n_cells) {
    return guarded([&] {
        const PackedColumns columns{{words, n_panels, n_words},
                                    view(segments, n_segments),
                                    view(starts, n_columns + 1),
                                    {margins, n_classes, n_panels * kPanelPlanes},
                                    view(class_counts, n_classes)};
        check_segments(columns.segments, n_classes, n_words);
        check_starts(columns.starts, n_panels * kPanelPlanes);
        const Matrix<const int64_t> asked{pairs, n_pairs, 2};
        std::vector<int32_t> room;
        Watch watch;
        for (int64_t k = 0; k < n_pairs; ++k) {
            const int64_t a = asked(k, 0), b = asked(k, 1);
            if (a < 0 || a >= n_columns || b < -1 || b >= n_columns || first_cells[k] < 0 ||
                first_cells[k] + columns.n_cells(a, b) > n_cells)
                throw std::invalid_argument("a family's columns or cells are out of range");
            if (b < 0) {
                columns.write_single(columns.column(a), tables + first_cells[k]);
            } else {
                columns.write_pair(columns.column(a), columns.column(b), room,
                                   tables + first_cells[k]);
                watch.add(n_words * columns.column(a).n_planes() * 4);
            }
        }
    });
}
