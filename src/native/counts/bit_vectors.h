// Vectors of words and of bytes in the processor's own width: what counting by planes
// needs of it. All widths give the same counts.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#if defined(__AVX2__) || defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace bayleaf {

// A state that no plane stands for: fills the gap at the end of a class.
constexpr uint8_t kNoState = 255;

// kLanes words side by side, or counts of their bits. Counts of single words may lie in
// small counters, of which kMostAdded can be added up before totals() must widen them.
// add_to() adds 2^shift times each lane to as many cells.
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512BW__)

struct Words {
    __m512i lanes = _mm512_setzero_si512();
    static constexpr int kLanes = 8;
    static constexpr int64_t kMostAdded = std::numeric_limits<int64_t>::max();

    static Words load(const uint64_t* words) { return {_mm512_loadu_si512(words)}; }
    static Words repeat(uint64_t word) {
        return {_mm512_set1_epi64(static_cast<long long>(word))};
    }
    Words common(Words other) const { return {_mm512_and_si512(lanes, other.lanes)}; }
    Words counts() const { return {_mm512_popcnt_epi64(lanes)}; }
    Words add_counts(Words other) const { return {_mm512_add_epi64(lanes, other.lanes)}; }
    Words totals() const { return *this; }
    Words add_totals(Words other) const { return add_counts(other); }
    void add_to(int32_t* cells, int shift) const {
        const auto some = reinterpret_cast<__m256i*>(cells);
        const __m256i more =
            _mm256_slli_epi32(_mm512_maskz_cvtepi64_epi32(0xff, lanes), shift);
        _mm256_storeu_si256(some, _mm256_add_epi32(_mm256_loadu_si256(some), more));
    }
};

#elif defined(__AVX2__)

struct Words {
    __m256i lanes = _mm256_setzero_si256();
    static constexpr int kLanes = 4;
    static constexpr int64_t kMostAdded = 31;

    static Words load(const uint64_t* words) {
        return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words))};
    }
    static Words repeat(uint64_t word) {
        return {_mm256_set1_epi64x(static_cast<long long>(word))};
    }
    Words common(Words other) const { return {_mm256_and_si256(lanes, other.lanes)}; }
    // Both halves of each byte are looked up in a table of 16 counts.
    Words counts() const {
        const __m256i bits =
            _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1,
                             2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        const __m256i half = _mm256_set1_epi8(15);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(lanes, 4), half);
        return {_mm256_add_epi8(_mm256_shuffle_epi8(bits, _mm256_and_si256(lanes, half)),
                                _mm256_shuffle_epi8(bits, high))};
    }
    Words add_counts(Words other) const { return {_mm256_add_epi8(lanes, other.lanes)}; }
    Words totals() const { return {_mm256_sad_epu8(lanes, _mm256_setzero_si256())}; }
    Words add_totals(Words other) const { return {_mm256_add_epi64(lanes, other.lanes)}; }
    void add_to(int32_t* cells, int shift) const {
        const auto some = reinterpret_cast<__m128i*>(cells);
        const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
        const __m128i narrow =
            _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(lanes, even));
        const __m128i more = _mm_slli_epi32(narrow, shift);
        _mm_storeu_si128(some, _mm_add_epi32(_mm_loadu_si128(some), more));
    }
};

#elif defined(__SSE2__) || defined(_M_X64)

struct Words {
    __m128i lanes = _mm_setzero_si128();
    static constexpr int kLanes = 2;
    static constexpr int64_t kMostAdded = 31;

    static Words load(const uint64_t* words) {
        return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(words))};
    }
    static Words repeat(uint64_t word) {
        return {_mm_set1_epi64x(static_cast<long long>(word))};
    }
    Words common(Words other) const { return {_mm_and_si128(lanes, other.lanes)}; }
    // Bits are added in pairs, then in fours, then in eights.
    Words counts() const {
        const __m128i odd = _mm_set1_epi8(0x55), pairs = _mm_set1_epi8(0x33);
        __m128i sums = _mm_sub_epi8(lanes, _mm_and_si128(_mm_srli_epi64(lanes, 1), odd));
        sums = _mm_add_epi8(_mm_and_si128(sums, pairs),
                            _mm_and_si128(_mm_srli_epi64(sums, 2), pairs));
        sums = _mm_add_epi8(sums, _mm_srli_epi64(sums, 4));
        return {_mm_and_si128(sums, _mm_set1_epi8(15))};
    }
    Words add_counts(Words other) const { return {_mm_add_epi8(lanes, other.lanes)}; }
    Words totals() const { return {_mm_sad_epu8(lanes, _mm_setzero_si128())}; }
    Words add_totals(Words other) const { return {_mm_add_epi64(lanes, other.lanes)}; }
    void add_to(int32_t* cells, int shift) const {
        const auto some = reinterpret_cast<__m128i*>(cells);
        const __m128i narrow = _mm_shuffle_epi32(lanes, _MM_SHUFFLE(2, 0, 2, 0));
        const __m128i more = _mm_slli_epi32(narrow, shift);
        _mm_storel_epi64(some, _mm_add_epi32(_mm_loadl_epi64(some), more));
    }
};

#elif defined(__ARM_NEON)

struct Words {
    uint64x2_t lanes = vdupq_n_u64(0);
    static constexpr int kLanes = 2;
    static constexpr int64_t kMostAdded = 31;

    static Words load(const uint64_t* words) { return {vld1q_u64(words)}; }
    static Words repeat(uint64_t word) { return {vdupq_n_u64(word)}; }
    static Words of(uint8x16_t bytes) { return {vreinterpretq_u64_u8(bytes)}; }
    uint8x16_t bytes() const { return vreinterpretq_u8_u64(lanes); }
    Words common(Words other) const { return {vandq_u64(lanes, other.lanes)}; }
    Words counts() const { return of(vcntq_u8(bytes())); }
    Words add_counts(Words other) const { return of(vaddq_u8(bytes(), other.bytes())); }
    Words totals() const { return {vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(bytes())))}; }
    Words add_totals(Words other) const { return {vaddq_u64(lanes, other.lanes)}; }
    void add_to(int32_t* cells, int shift) const {
        const int32x2_t narrow = vreinterpret_s32_u32(vmovn_u64(lanes));
        const int32x2_t more = vshl_s32(narrow, vdup_n_s32(shift));
        vst1_s32(cells, vadd_s32(vld1_s32(cells), more));
    }
};

#else

struct Words {
    uint64_t lanes = 0;
    static constexpr int kLanes = 1;
    static constexpr int64_t kMostAdded = std::numeric_limits<int64_t>::max();

    static Words load(const uint64_t* words) { return {*words}; }
    static Words repeat(uint64_t word) { return {word}; }
    Words common(Words other) const { return {lanes & other.lanes}; }
    Words counts() const { return {static_cast<uint64_t>(std::popcount(lanes))}; }
    Words add_counts(Words other) const { return {lanes + other.lanes}; }
    Words totals() const { return *this; }
    Words add_totals(Words other) const { return add_counts(other); }
    void add_to(int32_t* cells, int shift) const {
        *cells += static_cast<int32_t>(lanes) << shift;
    }
};

#endif

// Sets bit i where codes[i] == state, for 64 bytes.
inline uint64_t equal_mask(const uint8_t* codes, uint8_t state) {
#if defined(__AVX512BW__)
    return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(codes),
                                  _mm512_set1_epi8(static_cast<char>(state)));
#elif defined(__AVX2__)
    const __m256i wanted = _mm256_set1_epi8(static_cast<char>(state));
    uint64_t mask = 0;
    for (int i = 0; i < 2; ++i) {
        const auto some = reinterpret_cast<const __m256i*>(codes + 32 * i);
        const __m256i equal = _mm256_cmpeq_epi8(_mm256_loadu_si256(some), wanted);
        mask |= uint64_t(uint32_t(_mm256_movemask_epi8(equal))) << 32 * i;
    }
    return mask;
#elif defined(__SSE2__) || defined(_M_X64)
    const __m128i wanted = _mm_set1_epi8(static_cast<char>(state));
    uint64_t mask = 0;
    for (int i = 0; i < 4; ++i) {
        const auto some = reinterpret_cast<const __m128i*>(codes + 16 * i);
        const __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128(some), wanted);
        mask |= uint64_t(uint32_t(_mm_movemask_epi8(equal))) << 16 * i;
    }
    return mask;
#elif defined(__ARM_NEON) && defined(__aarch64__)
    // Each byte keeps one bit; three sums of neighbours bring eight bytes into one.
    const uint8x16_t wanted = vdupq_n_u8(state);
    const uint8x16_t bits = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const auto some = [&](int i) {
        return vandq_u8(vceqq_u8(vld1q_u8(codes + 16 * i), wanted), bits);
    };
    const uint8x16_t sums =
        vpaddq_u8(vpaddq_u8(some(0), some(1)), vpaddq_u8(some(2), some(3)));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
#else
    uint64_t mask = 0;
    for (int i = 0; i < 64; ++i) mask |= uint64_t(codes[i] == state) << i;
    return mask;
#endif
}

#if !defined(__AVX512VBMI2__) && (defined(__AVX2__) || defined(__ARM_NEON))
// For each set of eight bytes, the places of its members, and then 255.
inline constexpr auto kMembers = [] {
    std::array<std::array<uint8_t, 8>, 256> members{};
    for (int set = 0; set < 256; ++set) {
        int n = 0;
        for (int place = 0; place < 8; ++place)
            if (set >> place & 1) members[set][n++] = static_cast<uint8_t>(place);
        while (n < 8) members[set][n++] = 255;
    }
    return members;
}();
#endif

// Writes those of 64 bytes that a mask names one after another, and behind them, as far
// as a vector reaches, kNoState.
inline void keep_masked(const uint8_t* codes, uint64_t mask, uint8_t* kept) {
#if defined(__AVX512VBMI2__)
    const __m512i rest = _mm512_set1_epi8(static_cast<char>(kNoState));
    const __m512i chosen = _mm512_mask_compress_epi8(rest, mask, _mm512_loadu_si512(codes));
    _mm512_storeu_si512(kept, chosen);
#elif defined(__AVX2__)
    const auto load = [](const uint8_t* bytes) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
    };
    for (int i = 0; i < 64; i += 8, mask >>= 8) {
        const __m128i places = load(kMembers[mask & 255].data());
        const __m128i rest = _mm_cmplt_epi8(places, _mm_setzero_si128());
        const __m128i chosen = _mm_shuffle_epi8(load(codes + i), places);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(kept), _mm_or_si128(chosen, rest));
        kept += std::popcount(static_cast<uint8_t>(mask));
    }
#elif defined(__ARM_NEON)
    for (int i = 0; i < 64; i += 8, mask >>= 8) {
        const uint8x8_t places = vld1_u8(kMembers[mask & 255].data());
        vst1_u8(kept, vtbx1_u8(vdup_n_u8(kNoState), vld1_u8(codes + i), places));
        kept += std::popcount(static_cast<uint8_t>(mask));
    }
#else
    for (; mask != 0; mask &= mask - 1) *kept++ = codes[std::countr_zero(mask)];
#endif
}

}  // namespace bayleaf
