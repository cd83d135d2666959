#include "peak.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

#if defined(__arm__) && defined(__ARM_NEON) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace mslite::benchmark {
namespace {

constexpr int kChains = 12;  // enough independent chains to hide the latency of two FMA units
constexpr int64_t kRounds = 200000;

// One function for each instruction set, with the same chains and vectors of `width` lanes. Only this file is compiled
// with contraction, so that `a * b + c` is one fused multiply-add.
#define MSLITE_PEAK_LOOP(name, width, attributes)                                                           \
  attributes double name() {                                                                                \
    typedef float Vector __attribute__((vector_size((width)*4)));                                           \
    Vector a[kChains];                                                                                      \
    for (int i = 0; i < kChains; ++i) a[i] = Vector{} + 1.0F + static_cast<float>(i);                       \
    Vector b = Vector{} + 0.999F;                                                                           \
    Vector c = Vector{} + 0.001F;                                                                           \
    asm volatile("" : "+m"(b), "+m"(c));                                                                    \
    const auto start = std::chrono::steady_clock::now();                                                    \
    for (int64_t round = 0; round < kRounds; ++round) {                                                     \
      _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) a[i] = a[i] * b + c;                       \
    }                                                                                                       \
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); \
    Vector sum = a[0];                                                                                      \
    for (int i = 1; i < kChains; ++i) sum += a[i];                                                          \
    asm volatile("" : : "m"(sum));                                                                          \
    return 2.0 * (width)*kChains * static_cast<double>(kRounds) / seconds / 1e9;                            \
  }

#if defined(__x86_64__)
MSLITE_PEAK_LOOP(PeakAvx512, 16, __attribute__((target("avx512f,fma"))))
MSLITE_PEAK_LOOP(PeakAvx2, 8, __attribute__((target("avx2,fma"))))
#elif defined(__aarch64__) || (defined(__ARM_NEON) && defined(__linux__))
MSLITE_PEAK_LOOP(PeakNeon, 4, )
#endif

[[maybe_unused]] double Best(double (*loop)()) {
  double best = 0;
  for (int i = 0; i < 5; ++i) best = std::max(best, loop());
  return best;
}

}  // namespace

double MeasurePeakGflops() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return Best(PeakAvx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Best(PeakAvx2);
  return 0;
#elif defined(__aarch64__)
  return Best(PeakNeon);
#elif defined(__ARM_NEON) && defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_NEON) != 0 ? Best(PeakNeon) : 0;
#else
  return 0;
#endif
}

}  // namespace mslite::benchmark
