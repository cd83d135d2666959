// The peak arithmetic speed, with which operators are compared.
#ifndef MSLITE_BENCHMARK_PEAK_H_
#define MSLITE_BENCHMARK_PEAK_H_

namespace mslite::benchmark {

// Measures the float32 GFLOP/s of one core with independent fused multiply-adds in registers. Takes about 50 ms.
double MeasurePeakGflops();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PEAK_H_
