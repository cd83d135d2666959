// Statistics of run times.
#ifndef MSLITE_BENCHMARK_STATISTICS_H_
#define MSLITE_BENCHMARK_STATISTICS_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

namespace mslite::benchmark {

struct Statistics {
  double minimum = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double maximum = 0;
  double mean = 0;
};

inline double MillisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Returns a quantile of sorted samples, with linear interpolation between neighbors.
inline double Quantile(const std::vector<double> &sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (position - static_cast<double>(below));
}

// `samples` must not be empty.
inline Statistics Summarize(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  double sum = 0;
  for (const double sample : samples) sum += sample;
  return {samples.front(),         Quantile(samples, 0.5), Quantile(samples, 0.9),
          Quantile(samples, 0.99), samples.back(),         sum / static_cast<double>(samples.size())};
}

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_STATISTICS_H_
