// Values for every joint state of a child and its parents, whether it occurs or not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpds/families.h"

namespace bayleaf {

// Shape (n_children, n_parents, n_classes); the parents' joint states are numbered with the
// last parent as the last digit.
struct DenseValues {
    int64_t n_children, n_parents, n_classes;
    std::vector<double> values;

    DenseValues(int64_t children, int64_t parents, int64_t classes)
        : n_children(children),
          n_parents(parents),
          n_classes(classes),
          values(static_cast<std::size_t>(children * parents * classes)) {}

    double* at(int64_t child, int64_t parents) {
        return values.data() + (child * n_parents + parents) * n_classes;
    }
    const double* at(int64_t child, int64_t parents) const {
        return values.data() + (child * n_parents + parents) * n_classes;
    }
    const double* end() const { return values.data() + values.size(); }

    // Sums over the states of the last parent.
    DenseValues without_last(int64_t radix) const {
        DenseValues sums(n_children, n_parents / radix, n_classes);
        const double* value = values.data();
        for (double* sum = sums.values.data(); sum < sums.end(); sum += n_classes)
            for (int64_t state = 0; state < radix; ++state)
                for (int64_t c = 0; c < n_classes; ++c) sum[c] += *value++;
        return sums;
    }

    // The same values for every state of one more parent.
    DenseValues with_one_more(int64_t radix) const {
        DenseValues repeated(n_children, n_parents * radix, n_classes);
        double* value = repeated.values.data();
        for (const double* from = values.data(); from < end(); from += n_classes)
            for (int64_t state = 0; state < radix; ++state)
                value = std::copy_n(from, n_classes, value);
        return repeated;
    }

    // Adds scale * ln(P(x | class, parents) / P(x)) where class and parents were met.
    void add_log_probabilities(const DenseValues& counts, const Prior& prior,
                               double scale) {
        std::vector<double> totals(static_cast<std::size_t>(n_parents * n_classes));
        for (int64_t child = 0; child < n_children; ++child)
            for (std::size_t k = 0; k < totals.size(); ++k)
                totals[k] += counts.at(child, 0)[k];
        std::vector<double> absent(totals.size());
        for (std::size_t k = 0; k < totals.size(); ++k)
            if (totals[k] > 0.0) absent[k] = prior.scaled_absence(totals[k], scale);
        for (int64_t child = 0; child < n_children; ++child) {
            if (prior.weights[child] <= 0.0) continue;
            const double* count = counts.at(child, 0);
            double* value = at(child, 0);
            for (std::size_t k = 0; k < totals.size(); ++k)
                value[k] += count[k] > 0.0
                                ? prior.scaled_log_probability(child, count[k], totals[k],
                                                               scale)
                                : absent[k];
        }
    }
};

}  // namespace bayleaf
