#include "plan/cpu_features.h"

#include <cstdlib>

#if defined(MSLITE_TARGET_X86)
#include <cpuid.h>
#elif (defined(MSLITE_TARGET_ARM64) || defined(MSLITE_TARGET_ARM32)) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(MSLITE_TARGET_ARM64) && defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace mslite {
IsaSet BaseIsas() {
  IsaSet isas;
#if defined(MSLITE_TARGET_ARM64)
  isas.Add(MSLITE_ISA_NEON);
#endif
  return isas;
}

namespace {

constexpr struct {
  int32_t isa;
  const char *name;
} kNames[] = {
    {MSLITE_ISA_SCALAR, "scalar"},
    {MSLITE_ISA_AVX2, "avx2"},
    {MSLITE_ISA_AVX512, "avx512"},
    {MSLITE_ISA_VNNI, "vnni"},
    {MSLITE_ISA_NEON, "neon"},
    {MSLITE_ISA_NEON_DOT, "neon_dot"},
    {MSLITE_ISA_NEON_FP16, "neon_fp16"},
    {MSLITE_ISA_NEON_I8MM, "neon_i8mm"},
    {MSLITE_ISA_MICRO, "micro"},
    {MSLITE_ISA_DSP, "dsp"},
    {MSLITE_ISA_MVE, "mve"},
};

IsaSet ArmIsas(bool has_dot_products, bool has_half, bool has_matrix_products) {
  IsaSet isas;
  isas.Add(MSLITE_ISA_NEON);  // part of the base instruction set
  if (has_dot_products) isas.Add(MSLITE_ISA_NEON_DOT);
  if (has_half) isas.Add(MSLITE_ISA_NEON_FP16);
  // Kernels for I8MM may use dot products, too.
  if (has_matrix_products && has_dot_products) isas.Add(MSLITE_ISA_NEON_I8MM);
  return isas;
}

}  // namespace

IsaSet LinuxArmIsas(uint64_t hwcap, uint64_t hwcap2) {
  // Bits as in <asm/hwcap.h> of this architecture. They are part of the Linux interface, but other machines' headers
  // lack them.
  constexpr uint64_t kHalf = uint64_t{1} << 10;            // ASIMDHP
  constexpr uint64_t kDotProducts = uint64_t{1} << 20;     // ASIMDDP
  constexpr uint64_t kMatrixProducts = uint64_t{1} << 13;  // I8MM, in AT_HWCAP2
  return ArmIsas((hwcap & kDotProducts) != 0, (hwcap & kHalf) != 0, (hwcap2 & kMatrixProducts) != 0);
}

IsaSet AppleArmIsas(bool (*has)(const char *name)) {
  return ArmIsas(has("hw.optional.arm.FEAT_DotProd"), has("hw.optional.arm.FEAT_FP16"),
                 has("hw.optional.arm.FEAT_I8MM"));
}

namespace {

#if defined(MSLITE_TARGET_X86)

constexpr bool Bits(uint64_t value, uint64_t mask) { return (value & mask) == mask; }

// Returns XCR0: the registers that the operating system saves. The processor may support others, which must not be
// used.
uint64_t EnabledState() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

IsaSet Detect() {
  IsaSet isas;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return isas;
  constexpr uint64_t kFma = uint64_t{1} << 12;
  constexpr uint64_t kOsxsave = uint64_t{1} << 27;
  constexpr uint64_t kAvx = uint64_t{1} << 28;
  constexpr uint64_t kF16c = uint64_t{1} << 29;
  if (!Bits(c, kFma | kOsxsave | kAvx | kF16c)) return isas;
  const uint64_t state = EnabledState();
  constexpr uint64_t kXmmYmm = 0x6;
  constexpr uint64_t kZmm = 0xe6;  // with the mask registers and both halves of the zmm registers
  if (!Bits(state, kXmmYmm) || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return isas;
  constexpr uint64_t kAvx2 = uint64_t{1} << 5;
  if (!Bits(b, kAvx2)) return isas;
  isas.Add(MSLITE_ISA_AVX2);
  constexpr uint64_t kAvx512 =  // F, DQ, BW, VL
      (uint64_t{1} << 16) | (uint64_t{1} << 17) | (uint64_t{1} << 30) | (uint64_t{1} << 31);
  if (!Bits(state, kZmm) || !Bits(b, kAvx512)) return isas;
  isas.Add(MSLITE_ISA_AVX512);
  constexpr uint64_t kVnni = uint64_t{1} << 11;
  if (Bits(c, kVnni)) isas.Add(MSLITE_ISA_VNNI);
  return isas;
}

#elif defined(MSLITE_TARGET_ARM64)

#if defined(__linux__)

IsaSet Detect() { return LinuxArmIsas(getauxval(AT_HWCAP), getauxval(AT_HWCAP2)); }

#elif defined(__APPLE__)

bool HasFeature(const char *name) {
  int value = 0;
  size_t size = sizeof value;
  return sysctlbyname(name, &value, &size, nullptr, 0) == 0 && value != 0;
}

IsaSet Detect() { return AppleArmIsas(HasFeature); }

#else

IsaSet Detect() { return ArmIsas(false, false, false); }

#endif

#elif defined(MSLITE_TARGET_ARM32)

IsaSet Detect() {
  IsaSet isas;
#if defined(__linux__)
  // Some processors of 2011 (Tegra 2) lack NEON. The kernels do not need fused multiply-add (VFPv4).
  if ((getauxval(AT_HWCAP) & HWCAP_NEON) != 0) isas.Add(MSLITE_ISA_NEON);
#elif defined(__ARM_NEON)
  isas.Add(MSLITE_ISA_NEON);
#endif
  return isas;
}

#else

IsaSet Detect() { return {}; }

#endif

}  // namespace

IsaSet IsaSet::UpTo(int32_t isa) const {
  IsaSet set;
  for (int32_t i = 0; i <= isa; ++i) {
    if (Has(i)) set.Add(i);
  }
  return set;
}

std::string IsaSet::Text() const {
  std::string text;
  for (const auto &entry : kNames) {
    if (Has(entry.isa)) text += (text.empty() ? "" : " ") + std::string(entry.name);
  }
  return text;
}

const char *IsaName(int32_t isa) {
  for (const auto &entry : kNames) {
    if (entry.isa == isa) return entry.name;
  }
  return nullptr;
}

int32_t FindIsa(const std::string &name) {
  for (const auto &entry : kNames) {
    if (name == entry.name) return entry.isa;
  }
  return -1;
}

IsaSet DetectedIsas() {
  static const IsaSet isas = Detect();
  return isas;
}

namespace {
// Computed when the library is loaded. If a fork() happened during a first call, the child would wait forever.
[[maybe_unused]] const IsaSet kDetectedAtLoad = DetectedIsas();
}  // namespace

IsaSet AllowedIsas(std::string *problem) {
  const IsaSet detected = DetectedIsas();
  const char *limit = std::getenv("MSLITE_ISA");
  if (limit == nullptr || *limit == '\0') return detected;
  const int32_t isa = FindIsa(limit);
#if defined(MSLITE_NO_SCALAR_COPIES)
  if (isa == MSLITE_ISA_SCALAR) {
    if (problem != nullptr) {
      *problem =
          "MSLITE_ISA=scalar: this library was built without scalar copies of its vector kernels "
          "(build it with -DMSLITE_SCALAR_COPIES=ON); it uses: " +
          detected.Text();
    }
    return detected;
  }
#endif
  if (detected.Has(isa)) return detected.UpTo(isa);
  if (problem != nullptr) {
    *problem = "MSLITE_ISA=" + std::string(limit) +
               (isa < 0 ? " is not an instruction set" : " is not supported here") + "; supported: " + detected.Text();
  }
  return detected;
}

}  // namespace mslite
