// Which instruction sets kernels may use: what the processor and the operating system offer, cut by MSLITE_ISA.
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
  /// The same set without what is preferred over `isa`.
  IsaSet UpTo(int32_t isa) const;
  /// "scalar avx2"
  std::string Text() const;

 private:
  uint32_t bits_ = 1;
};

/// "avx2"; nullptr for a number that is none.
MSLITE_INTERNAL_API const char *IsaName(int32_t isa);

/// The number of an instruction set, or -1.
MSLITE_INTERNAL_API int32_t FindIsa(const std::string &name);

/// What a 64-bit ARM processor can run by what Linux says of it: AT_HWCAP and AT_HWCAP2.
IsaSet LinuxArmIsas(uint64_t hwcap, uint64_t hwcap2);

/// The same by what Apple's systems say: `has` tells whether there is a feature of this sysctl name.
IsaSet AppleArmIsas(bool (*has)(const char *name));

/// What this machine can run (CPUID and XCR0; HWCAP or sysctl on ARM). Asked once per process.
MSLITE_INTERNAL_API IsaSet DetectedIsas();

/// What every machine has that this library is for. Constants are computed with kernels of these alone, so that they
/// have the same bits on all of them.
MSLITE_INTERNAL_API IsaSet BaseIsas();

/// DetectedIsas, up to the one that the environment variable MSLITE_ISA names (the variable is read at each call).
/// A name that is unknown, or that the machine or this library cannot run, is ignored and said in `problem` (may be
/// nullptr).
IsaSet AllowedIsas(std::string *problem = nullptr);

}  // namespace mslite

#endif
