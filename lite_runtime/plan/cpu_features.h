// The instruction sets that kernels may use: those of the processor and the operating system, limited by MSLITE_ISA.
#ifndef MSLITE_PLAN_CPU_FEATURES_H
#define MSLITE_PLAN_CPU_FEATURES_H

#include <cstdint>
#include <string>

#include "kernel.h"
#include "model/internal_api.h"

namespace mslite {

/// A set of mslite_isa values; always holds MSLITE_ISA_SCALAR.
class IsaSet {
 public:
  void Add(int32_t isa) { bits_ |= uint32_t{1} << isa; }
  void Remove(int32_t isa) { bits_ &= ~(uint32_t{1} << isa); }
  bool Has(int32_t isa) const { return isa >= 0 && isa < 32 && ((bits_ >> isa) & 1) != 0; }
  /// Returns this set without the instruction sets that are preferred over `isa`.
  IsaSet UpTo(int32_t isa) const;
  /// Returns the names, such as "scalar avx2".
  std::string Text() const;

 private:
  uint32_t bits_ = 1;
};

/// Returns the name, such as "avx2"; nullptr if there is no instruction set with this number.
MSLITE_INTERNAL_API const char *IsaName(int32_t isa);

/// Returns the number of an instruction set, or -1.
MSLITE_INTERNAL_API int32_t FindIsa(const std::string &name);

/// Returns the instruction sets of a 64-bit ARM processor according to Linux: AT_HWCAP and AT_HWCAP2.
IsaSet LinuxArmIsas(uint64_t hwcap, uint64_t hwcap2);

/// Returns the instruction sets of an Apple processor. `has` returns whether the feature with this sysctl name is
/// there.
IsaSet AppleArmIsas(bool (*has)(const char *name));

/// Returns the instruction sets of this machine (CPUID and XCR0 on x86; HWCAP or sysctl on ARM). Detected once per
/// process.
MSLITE_INTERNAL_API IsaSet DetectedIsas();

/// Returns the instruction sets that all machines have that this library is built for. Constants are folded with
/// kernels of these only, so that the results are the same bits on all machines.
MSLITE_INTERNAL_API IsaSet BaseIsas();

/// Returns DetectedIsas(), up to the instruction set named by the environment variable MSLITE_ISA, which is read at
/// each call. A name that is unknown, or that this machine or library does not support, is ignored and reported in
/// `problem` (may be nullptr).
IsaSet AllowedIsas(std::string *problem = nullptr);

}  // namespace mslite

#endif
