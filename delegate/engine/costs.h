// What is reckoned for the choice of what runs where: rough figures of a phone.
#ifndef MSLITE_DELEGATE_ENGINE_COSTS_H
#define MSLITE_DELEGATE_ENGINE_COSTS_H

#include <cstdlib>
#include <string>

#include "engine/part.h"
#include "plan/work.h"

namespace mslite {
// A core, and its memory.
constexpr double kFlopsPerSecond = 2e10;
constexpr double kBytesPerSecond = 1e10;
// Between a device and the CPU.
constexpr double kCopiedBytesPerSecond = 4e9;

// Until a device begins, and until it is heard of.
constexpr double kSecondsPerWait = 5e-5;

// Whether copies cost anything: MSLITE_DELEGATE_COSTS=off lets engines take all that they can.
inline bool CopiesCost() {
  const char *costs = std::getenv("MSLITE_DELEGATE_COSTS");
  return costs == nullptr || std::string(costs) != "off";
}

inline double SecondsToCopy(double bytes) { return CopiesCost() ? bytes / kCopiedBytesPerSecond : 0; }

// On the CPU.
inline double SecondsToCompute(const Part &part, const Part::Node &node) {
  const Part::Call call(part, node);
  return static_cast<double>(CountFlops(call.node())) / kFlopsPerSecond +
         static_cast<double>(CountBytes(call.node())) / kBytesPerSecond;
}
}  // namespace mslite

#endif
