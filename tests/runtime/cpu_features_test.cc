// What operating systems say of a 64-bit ARM processor, as instruction sets.
#include "plan/cpu_features.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace {
using mslite::AppleArmIsas;
using mslite::LinuxArmIsas;

// /proc/cpuinfo's names: fp, asimd; asimdhp; asimddp; asimdfhm, and i8mm of the second word.
constexpr uint64_t kBase = 0x3;
constexpr uint64_t kAsimdhp = 0x400;
constexpr uint64_t kAsimddp = 0x100000;
constexpr uint64_t kI8mm = 0x2000;

TEST(CpuFeatures, OfLinux) {
  EXPECT_EQ(LinuxArmIsas(kBase, 0).Text(), "scalar neon");                       // Cortex-A53
  EXPECT_EQ(LinuxArmIsas(kBase | kAsimdhp, 0).Text(), "scalar neon neon_fp16");  // Cortex-A75 before dot products
  EXPECT_EQ(LinuxArmIsas(kBase | kAsimdhp | kAsimddp, 0).Text(), "scalar neon neon_dot neon_fp16");  // Cortex-A76
  EXPECT_EQ(LinuxArmIsas(kBase | kAsimdhp | kAsimddp, kI8mm).Text(),
            "scalar neon neon_dot neon_fp16 neon_i8mm");  // Cortex-A510
  // The same bit of the other word is something else.
  EXPECT_EQ(LinuxArmIsas(kBase | kI8mm, kAsimddp | kAsimdhp).Text(), "scalar neon");
  // Kernels for products of matrices may use dot products.
  EXPECT_EQ(LinuxArmIsas(kBase, kI8mm).Text(), "scalar neon");
}

TEST(CpuFeatures, OfApple) {
  EXPECT_EQ(AppleArmIsas([](const char *) { return false; }).Text(), "scalar neon");
  EXPECT_EQ(AppleArmIsas([](const char *name) { return std::strcmp(name, "hw.optional.arm.FEAT_I8MM") != 0; }).Text(),
            "scalar neon neon_dot neon_fp16");  // M1
  EXPECT_EQ(
      AppleArmIsas([](const char *name) { return std::strcmp(name, "hw.optional.arm.FEAT_DotProd") == 0; }).Text(),
      "scalar neon neon_dot");
  EXPECT_EQ(AppleArmIsas([](const char *) { return true; }).Text(), "scalar neon neon_dot neon_fp16 neon_i8mm");  // M2
}

TEST(CpuFeatures, LimitsKeepWhatIsBelow) {
  const auto all = LinuxArmIsas(kBase | kAsimdhp | kAsimddp, kI8mm);
  EXPECT_EQ(all.UpTo(MSLITE_ISA_NEON_DOT).Text(), "scalar neon neon_dot");
  EXPECT_EQ(mslite::FindIsa("neon_i8mm"), MSLITE_ISA_NEON_I8MM);
}
}  // namespace
