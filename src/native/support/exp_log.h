// exp and log as plain arithmetic, which compilers turn into vectors: the same bits with
// every instruction set and every C library, within an ulp of the exact value.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace bayleaf {

// ln 2 in two pieces, of which the first times a small whole number is exact.
constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;

// exp(x) for x <= 0. What lies below the smallest normal number, at about -708, is given
// as exp(-708), which is as good as zero beside one.
inline double exp_of_negative(double x) {
    constexpr double kLowest = -708.0;
    // Adding it rounds to a whole number, which then stands in the lowest bits.
    constexpr double kRounder = 0x1.8p52;
    x = x < kLowest ? kLowest : x;
    const double shifted = x * 0x1.71547652b82fep0 + kRounder;
    const double n = shifted - kRounder;
    const double r = (x - n * kLn2High) - n * kLn2Low;
    // The series of exp; |r| <= ln(2) / 2, so that 13 terms reach the last bit.
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = 1.0 + (r + r * r * p);
    const uint64_t power = std::bit_cast<uint64_t>(shifted) << 52;
    return std::bit_cast<double>(std::bit_cast<uint64_t>(p) + power);
}

// log(x) for normal x > 0, by the series of log((1 + s) / (1 - s)) with the coefficients
// of fdlibm (Sun Microsystems 1993).
inline double log_of_normal(double x) {
    // x = 2^k (1 + f) with 1 + f between the square roots of one half and of two.
    constexpr uint64_t kRootOfHalf = 0x3fe6a09e00000000, kOne = 0x3ff0000000000000;
    constexpr uint64_t kMantissa = 0x000fffffffffffff, kTwoTo52 = 0x4330000000000000;
    const uint64_t shifted = std::bit_cast<uint64_t>(x) + (kOne - kRootOfHalf);
    // A small whole number becomes a double as the lowest bits of 2^52.
    const double k = std::bit_cast<double>((shifted >> 52) | kTwoTo52) - (0x1p52 + 1023.0);
    const double f = std::bit_cast<double>((shifted & kMantissa) + kRootOfHalf) - 1.0;
    const double s = f / (2.0 + f);
    const double z = s * s, w = z * z;
    const double odd = w * (3.999999999940941908e-01 +
                            w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
    const double even =
        z * (6.666666666666735130e-01 +
             w * (2.857142874366239149e-01 +
                  w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
    const double half_square = 0.5 * f * f;
    return k * kLn2High -
           ((half_square - (s * (half_square + even + odd) + k * kLn2Low)) - f);
}

// log(x) for every x.
inline double log_of(double x) {
    constexpr double kLeast = 0x1p-1022, kMost = 0x1.fffffffffffffp+1023;
    if (x >= kLeast && x <= kMost) return log_of_normal(x);
    if (x > 0.0 && x < kLeast)
        return log_of_normal(x * 0x1p54) - 54.0 * kLn2Low - 54.0 * kLn2High;
    return std::log(x);  // infinite or no number, exact in every library
}

}  // namespace bayleaf
