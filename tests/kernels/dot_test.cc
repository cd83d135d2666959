// The GEMM of stored int8 gives the bits of the portable kernels: random calls, on every instruction set of this
// machine and, emulated, on those that it lacks. Prints the kernels that were compared.
#include <gtest/gtest.h>

#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "kernel.h"
#include "plan/cpu_features.h"
#include "stored_calls.h"

#if defined(MSLITE_TARGET_X86)
extern "C" {
extern const mslite_kernel mslite_kernel_conv2d_gemm_int8_avx512_emulated;
extern const mslite_kernel mslite_kernel_conv2d_gemm_int8_vnni_emulated;
extern const mslite_kernel mslite_kernel_matmul_gemm_int8_avx512_emulated;
extern const mslite_kernel mslite_kernel_matmul_gemm_int8_vnni_emulated;
extern const mslite_kernel mslite_kernel_full_connection_gemm_int8_avx512_emulated;
extern const mslite_kernel mslite_kernel_full_connection_gemm_int8_vnni_emulated;
}
#endif

namespace {
using namespace stored_calls;

std::vector<const mslite_kernel *> Emulated() {
#if defined(MSLITE_TARGET_X86)
  if (mslite::DetectedIsas().Has(MSLITE_ISA_VNNI)) return {};
  return {
      &mslite_kernel_conv2d_gemm_int8_avx512_emulated,          &mslite_kernel_conv2d_gemm_int8_vnni_emulated,
      &mslite_kernel_matmul_gemm_int8_avx512_emulated,          &mslite_kernel_matmul_gemm_int8_vnni_emulated,
      &mslite_kernel_full_connection_gemm_int8_avx512_emulated, &mslite_kernel_full_connection_gemm_int8_vnni_emulated};
#else
  return {};
#endif
}

std::set<std::string> compared_kernels;

// The number of kernels that were compared with the portable one.
int32_t Compare(Call *call, const std::string &label) {
  if (!Infer(call)) return 0;
  std::vector<const mslite_kernel *> kernels = Emulated();
  std::vector<int8_t> wanted;
  for (int32_t i = 0; i < mslite_kernel_count; ++i) {
    const mslite_kernel *kernel = mslite_kernels[i];
    if (kernel->isa != MSLITE_ISA_SCALAR) {
      if (mslite::DetectedIsas().Has(kernel->isa)) kernels.push_back(kernel);
    } else if (wanted.empty()) {
      wanted = Run(*kernel, call);
    }
  }
  EXPECT_FALSE(wanted.empty()) << label;
  int32_t compared = 0;
  for (const mslite_kernel *kernel : kernels) {
    const std::vector<int8_t> actual = Run(*kernel, call);
    if (actual.empty()) continue;
    EXPECT_EQ(actual, wanted) << label << ", " << kernel->name;
    compared_kernels.insert(kernel->name);
    ++compared;
  }
  return compared;
}

class DotKernels : public testing::Test {
 protected:
  static void TearDownTestSuite() {
    for (const std::string &name : compared_kernels) std::printf("compared: %s\n", name.c_str());
  }
};

TEST_F(DotKernels, ConvolutionsHaveThePortableBits) {
  int32_t compared = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Chance chance(seed);
    Call call;
    MakeConvolution(&call, &chance);
    compared += Compare(&call, "convolution " + std::to_string(seed));
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 100);
}

TEST_F(DotKernels, ProductsHaveThePortableBits) {
  int32_t compared = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Chance chance(seed);
    Call call;
    MakeProduct(&call, &chance);
    compared += Compare(&call, "product " + std::to_string(seed));
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 100);
}
}  // namespace
