// Networks as Python hands them over: views of its arrays, checked once.
#include "cpds/families.h"

#include <memory>

#include "support/interface.h"

using namespace bayleaf;

BAYLEAF_API int32_t bl_networks_new(int64_t n_classes, void** networks) {
    return guarded(
        [&] { *networks = std::make_unique<Networks>(Networks{n_classes, {}}).release(); });
}

// Adds a network whose arrays stay where they are: families (n_families, n_places), the
// coding's values and where each variable's begin, and states (n_places, n_cells),
// classes, weights and starts of the cells.
BAYLEAF_API int32_t bl_networks_add(void* networks, const int64_t* families,
                                    int64_t n_families, int64_t n_places,
                                    const uint16_t* values, int64_t n_values,
                                    const int64_t* value_starts, int64_t n_variables,
                                    const uint16_t* states, const uint16_t* classes,
                                    const double* weights, int64_t n_cells,
                                    const int64_t* starts) {
    return guarded([&] {
        auto& all = *static_cast<Networks*>(networks);
        const CountedNetwork added{{values, n_values, value_starts, n_variables},
                                   {families, n_families, n_places},
                                   {states, n_places, n_cells},
                                   view(classes, n_cells),
                                   view(weights, n_cells),
                                   view(starts, n_families + 1)};
        if (all.size() > 0 && n_families != all.n_features())
            throw std::invalid_argument("networks have different numbers of features");
        added.check(all.n_classes);
        all.members.push_back(added);
    });
}

BAYLEAF_API void bl_networks_free(void* capsule) {
    delete static_cast<Networks*>(content_of(capsule));
}
