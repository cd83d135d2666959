// The numbers of a call on stored int8, for kernel libraries that compute it
// from weights as the model has them.
#ifndef MSLITE_CODEGEN_CALL_NUMBERS_H
#define MSLITE_CODEGEN_CALL_NUMBERS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernel.h"

namespace mslite::codegen {

struct CallNumbers {
  /// `convolution`, `depthwise`, `product`, `average`, `maximum`, `sum`,
  /// `times` or `softmax`; empty: none of these.
  std::string kind;
  /// Why the call is none of these, or is not what two roundings in fixed point
  /// compute.
  std::string reason;
  std::map<std::string, std::vector<int64_t>> lists;
  /// int8 [channels, terms], the channels' own side by side.
  std::string weights;
};

/// Reads a call whose shapes are known. Rescaling is by (multiplier, shift)
/// pairs: the value times 2^shift in 32 bits where shift > 0, the doubling high
/// product with the multiplier, then half away from zero by 2^-shift.
CallNumbers NumbersOf(const mslite_node &call);

}  // namespace mslite::codegen

#endif
