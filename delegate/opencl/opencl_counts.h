// Counters of a partition on its device, for tests in which times are not reliable.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_COUNTS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_COUNTS_H

#include <cstdint>
#include <map>
#include <string>

namespace mslite {
// Counters of built programs.
struct OpenClBuildCounts {
  int64_t compiled = 0;  // from source
  int64_t loaded = 0;    // from the cache folder
  double seconds = 0;
};

// Counters of one run, unless stated otherwise. Bytes and operations are computed from the shapes of the launches;
// caches of the device are not taken into account.
struct OpenClCounts {
  struct Launches {
    int64_t count = 0;
    int64_t items_bytes = 0;
    int64_t flops = 0;
  };
  int64_t nodes = 0;
  int64_t launches = 0;
  int64_t loaded_bytes = 0;   // read by work items
  int64_t stored_bytes = 0;   // written by work items
  int64_t operand_bytes = 0;  // operands of all launches, each counted once for a launch: the minimum with caches
  int64_t border_bytes = 0;   // inputs, constants and outputs of the partition: the minimum of any implementation
  int64_t flops = 0;          // computed by work items
  int64_t least_flops = 0;    // needed by the nodes
  int64_t arena_bytes = 0;
  int64_t constant_bytes = 0;  // copied to the device when the partition is compiled
  std::map<std::string, Launches> kernels;
  OpenClBuildCounts builds;
  // Of the last run.
  int64_t copied_in_bytes = 0;
  int64_t copied_out_bytes = 0;
  int64_t shared_bytes = 0;  // inputs and outputs in shared host memory
  int64_t runs = 0;

  // Returns the counters as a line of JSON.
  std::string Text(const std::string &device) const;
};

// Returns true if MSLITE_OPENCL_COUNTS is set.
bool WantsOpenClCounts();
// Appends a line to the file MSLITE_OPENCL_COUNTS.
void WriteOpenClCounts(const OpenClCounts &counts, const std::string &device);
}  // namespace mslite

#endif
