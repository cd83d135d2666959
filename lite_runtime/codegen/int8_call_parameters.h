// The parameters of an int8 kernel call in a form for other kernel libraries
// (CMSIS-NN), with unpacked weights.
#ifndef MSLITE_CODEGEN_INT8_CALL_PARAMETERS_H
#define MSLITE_CODEGEN_INT8_CALL_PARAMETERS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel.h"

namespace mslite::codegen {

struct Int8CallParameters {
  /// `convolution`, `depthwise`, `product` (matmul), `average`, `maximum`
  /// (pooling), `sum` (addition), `times` (multiplication), `softmax`; empty: the
  /// call is unsupported.
  std::string kind;
  /// Why the call is unsupported.
  std::string reason;
  std::map<std::string, std::vector<int64_t>> lists;
  /// Unpacked weights, int8 [channels, terms].
  std::string weights;
};

/// Returns the parameters of a call with known shapes. Requantization by a pair
/// (multiplier, shift): multiply by 2^shift in 32 bits if shift > 0, take the
/// doubling high half of the product with the multiplier, and multiply by
/// 2^shift if shift < 0, rounded half away from zero.
Int8CallParameters Int8CallParametersOf(const mslite_node &call);

}  // namespace mslite::codegen

#endif
