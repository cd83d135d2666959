// What a part does on its device: counted, where times say little.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_COUNTS_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_COUNTS_H

#include <cstdint>
#include <map>
#include <string>

namespace mslite {
// Programs that were made.
struct OpenClBuildCounts {
  int64_t compiled = 0;  // from their source
  int64_t loaded = 0;    // from the folder of compiled ones
  double seconds = 0;
};

// Of one run, where nothing else is said. Bytes and operations follow from the launches' shapes; what the caches of a
// device spare is not known here.
struct OpenClCounts {
  struct Launches {
    int64_t count = 0;
    int64_t items_bytes = 0;
    int64_t flops = 0;
  };
  int64_t nodes = 0;
  int64_t launches = 0;
  int64_t loaded_bytes = 0;   // that the work items ask for
  int64_t stored_bytes = 0;   // that they write
  int64_t operand_bytes = 0;  // of the operands of each launch, each taken once: what a cache cannot spare
  int64_t border_bytes = 0;   // of inputs, constants and outputs of the part: what no way of computing it can spare
  int64_t flops = 0;          // that the work items do
  int64_t least_flops = 0;    // that the nodes need
  int64_t arena_bytes = 0;
  int64_t constant_bytes = 0;  // copied to the device when the part is made
  std::map<std::string, Launches> kernels;
  OpenClBuildCounts builds;
  // Of the last run.
  int64_t copied_in_bytes = 0;
  int64_t copied_out_bytes = 0;
  int64_t shared_bytes = 0;  // of inputs and outputs that the device took where they were
  int64_t runs = 0;

  // As a line of JSON.
  std::string Text(const std::string &device) const;
};

// Whether MSLITE_OPENCL_COUNTS names a file.
bool WantsOpenClCounts();
// Adds a line to it.
void WriteOpenClCounts(const OpenClCounts &counts, const std::string &device);
}  // namespace mslite

#endif
