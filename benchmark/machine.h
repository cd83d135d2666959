// What the program runs on: memory used, cores, the peak speed that one core reaches.
#ifndef MSLITE_BENCHMARK_MACHINE_H_
#define MSLITE_BENCHMARK_MACHINE_H_

#include <cstdint>
#include <string>

namespace mslite::benchmark {

// Highest resident size of this process so far, in bytes; 0 where the system does not tell.
int64_t PeakMemory();

// Resident size of this process now, in bytes; 0 where the system does not tell.
int64_t ResidentMemory();

// Processors that this process may run on.
int UsableCores();

// The processor's name as the system reports it.
std::string ProcessorName();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_MACHINE_H_
