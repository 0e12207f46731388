#include "support/interface.h"

#include <cstring>

namespace bayleaf {
namespace {
constexpr std::size_t kLongest = 512;
thread_local char last_error[kLongest] = "";
}  // namespace

void keep_error(const char* text) noexcept {
    std::strncpy(last_error, text, kLongest - 1);
    last_error[kLongest - 1] = '\0';
}
}  // namespace bayleaf

// The sentence of this thread's last call that was refused, UTF-8.
BAYLEAF_API const char* bl_error() {
    return bayleaf::last_error;
}

// The level that this library was built for.
BAYLEAF_API const char* bl_level() {
    return BAYLEAF_LEVEL;
}
