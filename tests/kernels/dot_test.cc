// The GEMM and depthwise convolutions of stored int8 give the bits of the portable kernels: random calls, on every
// instruction set of this machine and, emulated, on those that it lacks. Prints the kernels that were compared.
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

// One channel to an output, in windows that are mostly square.
void MakeDepthwise(Call *call, Chance *chance) {
  call->op = MSLITE_OP_Conv2DFusion;
  const int64_t channels = chance->OneIn(2) ? 16 * chance->In(1, 25) : chance->In(2, 70);
  const int64_t height = 2 * chance->In(1, 2) + 1, width = chance->OneIn(4) ? chance->In(1, 5) : height;
  call->stride = {chance->In(1, 2), chance->In(1, 2)};
  call->dilation = {1, chance->OneIn(6) ? 2 : 1};
  for (int32_t i = 0; i < 4; ++i) call->pads.push_back(chance->In(0, 2));
  call->conv.stride = {2, call->stride.data()};
  call->conv.dilation = {2, call->dilation.data()};
  call->conv.pad_list = {4, call->pads.data()};
  call->conv.group = channels;
  call->conv.activation_type = Activation(chance);
  call->x = Tensor(MSLITE_INT8, {chance->In(1, 2), chance->In(7, 13), chance->In(7, 13), channels});
  call->weight = Tensor(MSLITE_INT8, {channels, height, width, 1});
  FillIn(call, chance, channels, height * width);
}

// Every other call rounds once, to even, as ONNX has it.
void ChooseRounding(Call *call, uint32_t seed) { call->records[2][0].rounds_even = static_cast<int32_t>(seed % 2); }

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
    ChooseRounding(&call, seed);
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
    ChooseRounding(&call, seed);
    compared += Compare(&call, "product " + std::to_string(seed));
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 100);
}

TEST_F(DotKernels, DepthwiseConvolutionsHaveThePortableBits) {
  int32_t compared = 0;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Chance chance(seed);
    Call call;
    MakeDepthwise(&call, &chance);
    ChooseRounding(&call, seed);
    compared += Compare(&call, "depthwise convolution " + std::to_string(seed));
    if (HasFailure()) return;
  }
  EXPECT_GE(compared, 100);
}
}  // namespace
