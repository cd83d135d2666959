// The kernels for microcontrollers, their instructions emulated, give the bits of the portable kernels: random calls of
// convolutions and products; and again with the output as close over the input as `lead` says.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernel.h"
#include "plan/prepare.h"
#include "stored_calls.h"

namespace {
using namespace stored_calls;

// y lies over x, the one `lead` bytes before the other.
std::vector<int8_t> RunOverlapped(const mslite_kernel &kernel, Call *call) {
  const mslite_tensor *inputs[3] = {&call->x, &call->weight, call->has_bias ? &call->bias : nullptr};
  const mslite_tensor *output = &call->y;
  const mslite_node node = {call->op, call->params(), 3, 1, inputs, &output, 0};
  std::vector<int64_t> derived(static_cast<size_t>(kernel.derived_size) / 8 + 1);
  mslite_schedule schedule{};
  EXPECT_EQ(mslite::PrepareKernel(kernel, node, derived.data(), &schedule), MSLITE_OK) << kernel.name;
  const int64_t lead = kernel.lead == nullptr ? -1 : kernel.lead(&node, derived.data(), 0);
  if (lead < 0) return {};
  std::vector<int64_t> packed(static_cast<size_t>(kernel.pack_size(&node, 1)) / 8 + 1);
  kernel.pack(&node, 1, call->weight.data, packed.data());
  const size_t count = static_cast<size_t>(mslite_element_count(&call->y)), from = static_cast<size_t>(lead);
  std::vector<int8_t> arena(std::max(count, from + call->x_data.size()));
  std::memcpy(arena.data() + from, call->x_data.data(), call->x_data.size());
  std::vector<int64_t> shared(static_cast<size_t>(schedule.shared_bytes) / 8 + 1);
  std::vector<int64_t> scratch(static_cast<size_t>(schedule.scratch_bytes) / 8 + 1);
  const void *data[3] = {arena.data() + from, packed.data(), nullptr};
  void *result = arena.data();
  const mslite_run run = {derived.data(), data, &result, shared.data(), scratch.data(), nullptr};
  for (int32_t phase = 0; phase < schedule.phase_count; ++phase) {
    for (int32_t part = 0; part < schedule.part_count[phase]; ++part) kernel.run(&run, phase, part);
  }
  arena.resize(count);
  return arena;
}

// Where two results differ first, for messages.
std::string Difference(const std::vector<int8_t> &actual, const std::vector<int8_t> &wanted) {
  size_t at = 0;
  while (at < wanted.size() && actual[at] == wanted[at]) ++at;
  return " at " + std::to_string(at) + " of " + std::to_string(wanted.size());
}

class MicroKernels : public testing::Test {
 protected:
  // Every kernel that takes the call against the first portable one.
  void Compare(Call *call, const std::string &label) {
    if (!Infer(call)) return;
    std::vector<int8_t> wanted;
    for (int32_t i = 0; i < mslite_kernel_count && wanted.empty(); ++i) {
      if (mslite_kernels[i]->isa == MSLITE_ISA_SCALAR) wanted = stored_calls::Run(*mslite_kernels[i], call);
    }
    ASSERT_FALSE(wanted.empty()) << label;
    for (int32_t i = 0; i < mslite_target_kernels.count; ++i) {
      const mslite_kernel *kernel = mslite_target_kernels.kernels[i];
      const std::vector<int8_t> actual = stored_calls::Run(*kernel, call);
      if (actual.empty()) continue;
      EXPECT_TRUE(actual == wanted) << label << ", " << kernel->name << Difference(actual, wanted);
      const std::vector<int8_t> overlapped = RunOverlapped(*kernel, call);
      if (!overlapped.empty()) {
        EXPECT_TRUE(overlapped == wanted)
            << label << ", over its input, " << kernel->name << Difference(overlapped, wanted);
      }
      ++compared_[kernel->name];
    }
  }

  // Weights without zero points, mostly without -128 (pairs of which the DSP instructions' kernels do not take), and
  // some results to even.
  static void Vary(Call *call, Chance *chance) {
    for (mslite_quant &record : call->records[1]) record.zero_point = 0;
    if (!chance->OneIn(4)) {
      for (int8_t &weight : call->weight_data) weight = std::max<int8_t>(weight, -127);
    }
    call->records[2][0].rounds_even = call->op == MSLITE_OP_Conv2DFusion && chance->OneIn(4);
  }

  std::map<std::string, int32_t> compared_;
};

TEST_F(MicroKernels, ConvolutionsHaveThePortableBits) {
  for (uint32_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Chance chance(seed);
    Call call;
    MakeConvolution(&call, &chance);
    Vary(&call, &chance);
    Compare(&call, "convolution " + std::to_string(seed));
  }
  for (const char *isa : {"micro", "dsp", "mve"}) {
    EXPECT_GE(compared_[std::string("conv2d_int8_") + isa], 50) << isa;
  }
}

TEST_F(MicroKernels, ProductsHaveThePortableBits) {
  for (uint32_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
    Chance chance(seed);
    Call call;
    MakeProduct(&call, &chance);
    Vary(&call, &chance);
    Compare(&call, "product " + std::to_string(seed));
  }
  for (const char *isa : {"micro", "dsp", "mve"}) {
    EXPECT_GE(compared_[std::string("full_connection_int8_") + isa], 20) << isa;
    EXPECT_GE(compared_[std::string("matmul_int8_") + isa], 20) << isa;
  }
}
}  // namespace
