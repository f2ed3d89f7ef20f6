// Vector code for the machine on which it runs.
//
// --- Instruction sets
//
// The binaries run on any x86-64. A function marked with PACELINE_MULTIVERSION
// is compiled for AVX-512, for AVX2 with FMA, and for the baseline, and the
// loader chooses one. This pays off for compute-bound loops over many elements.
// Mark these loops with `#pragma omp simd`, which vectorises them at -O2 and
// allows reordering a reduction:
//
//   PACELINE_MULTIVERSION
//   float Sum(const float* values, int64_t count) {
//     float sum = 0;
//   #pragma omp simd reduction(+ : sum)
//     for (int64_t i = 0; i < count; ++i) sum += values[i];
//     return sum;
//   }
//
// The same machine gives the same bits each time; machines with different
// vector units may differ in the last bits.
//
// Functions that a marked function calls must be inlined into it or be marked,
// too; otherwise they are baseline code. Functions that are static or in an
// unnamed namespace cannot be marked portably, nor can templates on such types.
//
// --- Denormal numbers
//
// FlushDenormals makes the calling thread, and the threads that it starts
// later, treat floats below 1e-38 as zeros. Gradients and Adam's slots of
// parameters that no longer matter decay to such numbers and stay there, and
// processors are up to a hundred times slower on them.
#ifndef PACELINE_COMMON_BASE_SIMD_H_
#define PACELINE_COMMON_BASE_SIMD_H_

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

// Not with sanitizers: the loader makes its choice before a sanitizer's runtime
// is initialised, and crashes.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PACELINE_MULTIVERSION \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PACELINE_MULTIVERSION
#endif

namespace paceline {

inline void FlushDenormals() {
#ifdef __x86_64__
  // Flushes results (FTZ) and operands (DAZ).
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

}  // namespace paceline

#endif  // PACELINE_COMMON_BASE_SIMD_H_
