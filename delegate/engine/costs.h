// Cost estimates for the selection of partitions: approximate values of a phone.
#ifndef MSLITE_DELEGATE_ENGINE_COSTS_H
#define MSLITE_DELEGATE_ENGINE_COSTS_H

#include <cstdlib>
#include <string>

#include "engine/part.h"
#include "plan/work.h"

namespace mslite {
// Speed of one CPU core.
constexpr double kFlopsPerSecond = 2e10;
constexpr double kBytesPerSecond = 1e10;
// Speed of copies between a device and the CPU.
constexpr double kCopiedBytesPerSecond = 4e9;

// Latency of starting a device and waiting for it.
constexpr double kSecondsPerWait = 5e-5;

// Returns true if the cost of copies is used. With MSLITE_DELEGATE_COSTS=off, backends run all supported nodes.
inline bool CopiesCost() {
  const char *costs = std::getenv("MSLITE_DELEGATE_COSTS");
  return costs == nullptr || std::string(costs) != "off";
}

inline double SecondsToCopy(double bytes) { return CopiesCost() ? bytes / kCopiedBytesPerSecond : 0; }

// Returns the estimated time of a node on the CPU.
inline double SecondsToCompute(const Part &part, const Part::Node &node) {
  const Part::Call call(part, node);
  return static_cast<double>(CountFlops(call.node())) / kFlopsPerSecond +
         static_cast<double>(CountBytes(call.node())) / kBytesPerSecond;
}
}  // namespace mslite

#endif
