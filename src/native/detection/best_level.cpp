// The highest level whose instructions the processor has. Built without any of them, so
// that it runs everywhere, as a library and, for the build, as a program.
#include <cstdint>

#include "support/interface.h"

#if defined(__x86_64__) && !defined(_MSC_VER)
#include <cpuid.h>
#define BAYLEAF_CPUID 1
#elif defined(_M_X64)
#include <intrin.h>
#define BAYLEAF_CPUID 1
#endif

namespace {
#if defined(BAYLEAF_CPUID)

struct Registers {
    uint32_t a = 0, b = 0, c = 0, d = 0;
};

Registers ask(uint32_t leaf) {
    Registers r;
#if defined(_MSC_VER)
    int values[4];
    __cpuidex(values, static_cast<int>(leaf), 0);
    r = {uint32_t(values[0]), uint32_t(values[1]), uint32_t(values[2]),
         uint32_t(values[3])};
#else
    __get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d);
#endif
    return r;
}

// Which registers the operating system saves; wide ones it does not know are of no use.
uint32_t saved_registers() {
#if defined(_MSC_VER)
    return static_cast<uint32_t>(_xgetbv(0));
#else
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
#endif
}

constexpr bool has(uint32_t word, uint32_t bits) {
    return (word & bits) == bits;
}
constexpr uint32_t bit(int place) {
    return uint32_t(1) << place;
}

// The processor is asked itself: __builtin_cpu_supports stays false with some
// compilers' runtimes.
const char* best_level() {
    const Registers first = ask(1);
    // FMA, MOVBE aside: SSE4.2, POPCNT, OSXSAVE, AVX, F16C.
    if (!has(first.c, bit(12) | bit(20) | bit(23) | bit(27) | bit(28) | bit(29)))
        return "baseline";
    const uint32_t saved = saved_registers();
    const Registers extended = ask(7), more = ask(0x80000001u);
    // BMI, AVX2, BMI2, LZCNT; the system saves XMM and YMM.
    if (!has(saved, 0x6) || !has(extended.b, bit(3) | bit(5) | bit(8)) ||
        !has(more.c, bit(5)))
        return "baseline";
    // F, DQ, CD, BW, VL; VBMI, VBMI2, BITALG, VPOPCNTDQ; the system saves ZMM and masks.
    const uint32_t wide = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);
    const uint32_t bytes = bit(1) | bit(6) | bit(12) | bit(14);
    if (has(saved, 0xe6) && has(extended.b, wide) && has(extended.c, bytes))
        return "avx512";
    return "avx2";
}

#else
const char* best_level() {
    return "baseline";
}
#endif
}  // namespace

#if defined(BAYLEAF_PRINT_LEVEL)
#include <cstdio>
int main() {
    std::puts(best_level());
}
#endif

BAYLEAF_API const char* bl_best_level() {
    return best_level();
}
