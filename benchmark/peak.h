// The arithmetic limit that operators are compared with.
#ifndef MSLITE_BENCHMARK_PEAK_H_
#define MSLITE_BENCHMARK_PEAK_H_

namespace mslite::benchmark {

// float32 GFLOP/s that one core reaches with independent fused multiply-adds in registers (about 50 ms to measure).
double MeasurePeakGflops();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_PEAK_H_
