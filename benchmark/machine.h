// Information about the machine and the process: memory, cores, name of the processor.
#ifndef MSLITE_BENCHMARK_MACHINE_H_
#define MSLITE_BENCHMARK_MACHINE_H_

#include <cstdint>
#include <string>

namespace mslite::benchmark {

// Returns the peak resident memory of this process in bytes; 0 if it is unknown.
int64_t PeakMemory();

// Returns the current resident memory of this process in bytes; 0 if it is unknown.
int64_t ResidentMemory();

// Returns the number of cores that this process may use.
int UsableCores();

// Returns the name of the processor.
std::string ProcessorName();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_MACHINE_H_
