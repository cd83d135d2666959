// Random calls of convolutions and products of stored int8, and how to run a kernel on them.
#ifndef MSLITE_TESTS_STORED_CALLS_H_
#define MSLITE_TESTS_STORED_CALLS_H_

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "kernel.h"
#include "plan/guarded_buffer.h"
#include "plan/prepare.h"

namespace stored_calls {
class Chance {
 public:
  explicit Chance(uint32_t seed) : generator_(seed) {}
  int64_t In(int64_t low, int64_t high) { return low + static_cast<int64_t>(generator_() % (high - low + 1)); }
  bool OneIn(int64_t n) { return In(1, n) == 1; }

 private:
  std::mt19937_64 generator_;
};

// A call of one operator: x, weights, perhaps a bias.
struct Call {
  int32_t op = 0;
  mslite_Conv2DFusion conv{};
  mslite_MatMulFusion matmul{};
  mslite_FullConnection full{};
  std::vector<int64_t> stride, dilation, pads;
  mslite_tensor x{}, weight{}, bias{}, y{};
  std::vector<mslite_quant> records[3];  // x, weight, y
  std::vector<int8_t> x_data, weight_data;
  std::vector<int32_t> bias_data;
  bool has_bias = false;

  const void *params() const {
    if (op == MSLITE_OP_Conv2DFusion) return &conv;
    return op == MSLITE_OP_FullConnection ? static_cast<const void *>(&full) : &matmul;
  }
};

inline mslite_tensor Tensor(int32_t type, const std::vector<int64_t> &dims) {
  mslite_tensor tensor{};
  tensor.type = type;
  tensor.known_count = -1;
  for (const int64_t dim : dims) tensor.dims[tensor.rank++] = dim;
  return tensor;
}

inline std::vector<int8_t> Integers(Chance *chance, int64_t count) {
  std::vector<int8_t> values(static_cast<size_t>(count));
  // Now and then the ends only, where narrower sums would overflow.
  const bool extreme = chance->OneIn(6);
  for (int8_t &value : values) {
    value = static_cast<int8_t>(extreme ? (chance->OneIn(4) ? 127 : -128) : chance->In(-128, 127));
  }
  return values;
}

// Data and records of a call whose shapes and attributes are there; `channels` outputs of `terms` products each.
inline void FillIn(Call *call, Chance *chance, int64_t channels, int64_t terms) {
  call->x_data = Integers(chance, mslite_element_count(&call->x));
  call->weight_data = Integers(chance, mslite_element_count(&call->weight));
  call->weight.data = call->weight_data.data();
  call->has_bias = !chance->OneIn(4);
  call->bias = Tensor(MSLITE_INT32, {channels});
  for (int64_t i = 0; i < channels; ++i) call->bias_data.push_back(static_cast<int32_t>(chance->In(-100000, 100000)));
  call->bias.data = call->bias_data.data();
  const int32_t source = chance->OneIn(2) ? MSLITE_INT8 : MSLITE_UINT8;
  const auto scale = [&] { return static_cast<double>(chance->In(1, 1000)) / 8192; };
  const auto zero = [&] { return static_cast<int32_t>(chance->In(-128, 127)); };
  const bool has_zeros = chance->OneIn(2);
  call->records[0] = {{scale(), zero(), source, 0}};
  for (int64_t i = chance->OneIn(2) ? 1 : channels; i > 0; --i) {
    call->records[1].push_back({scale(), has_zeros ? zero() : 0, source, 0});
  }
  // Wide enough for most sums, sometimes much too narrow: then the factor is beyond 1.
  const double step = chance->OneIn(4) ? scale() / 64 : scale() * static_cast<double>(terms) / 4;
  call->records[2] = {{step, zero(), source, 0}};
  mslite_tensor *tensors[3] = {&call->x, &call->weight, &call->y};
  for (int32_t i = 0; i < 3; ++i) {
    tensors[i]->quant = call->records[i].data();
    tensors[i]->quant_count = static_cast<int32_t>(call->records[i].size());
  }
}

inline int32_t Activation(Chance *chance) {
  const int32_t kinds[] = {MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, MSLITE_ACTIVATION_TYPE_RELU,
                           MSLITE_ACTIVATION_TYPE_RELU6, MSLITE_ACTIVATION_TYPE_RELU1};
  return kinds[chance->In(0, 3)];
}

inline void MakeConvolution(Call *call, Chance *chance) {
  call->op = MSLITE_OP_Conv2DFusion;
  const int64_t group = chance->OneIn(3) ? chance->In(2, 4) : 1;
  int64_t in = chance->In(1, 40), out = chance->In(1, 40);
  if (chance->OneIn(8)) in = chance->In(500, 900);
  const int64_t height = chance->In(1, 4), width = chance->In(1, 4);
  call->stride = {chance->In(1, 3), chance->In(1, 3)};
  call->dilation = {chance->OneIn(3) ? 2 : 1, chance->OneIn(3) ? 2 : 1};
  for (int32_t i = 0; i < 4; ++i) call->pads.push_back(chance->OneIn(2) ? 0 : chance->In(-1, 3));
  call->conv.stride = {2, call->stride.data()};
  call->conv.dilation = {2, call->dilation.data()};
  call->conv.pad_list = {4, call->pads.data()};
  call->conv.group = group;
  call->conv.activation_type = Activation(chance);
  call->x = Tensor(MSLITE_INT8, {chance->In(1, 3), chance->In(7, 13), chance->In(7, 13), group * in});
  call->weight = Tensor(MSLITE_INT8, {group * out, height, width, in});
  FillIn(call, chance, group * out, height * width * in);
}

inline void MakeProduct(Call *call, Chance *chance) {
  const bool is_full = chance->OneIn(2);
  call->op = is_full ? MSLITE_OP_FullConnection : MSLITE_OP_MatMulFusion;
  const int64_t m = chance->OneIn(3) ? 1 : chance->In(1, 120), n = chance->In(1, 90);
  const int64_t k = chance->OneIn(4) ? chance->In(700, 2000) : chance->In(1, 100);
  call->full.activation_type = call->matmul.activation_type = Activation(chance);
  call->full.has_bias = true;
  call->matmul.transpose_a = !is_full && chance->OneIn(3);
  call->matmul.transpose_b = chance->OneIn(2);
  const bool is_row_major = is_full || call->matmul.transpose_b;
  call->x = Tensor(MSLITE_INT8, {m, k});
  if (!is_full)
    call->x =
        Tensor(MSLITE_INT8, {chance->In(1, 3), call->matmul.transpose_a ? k : m, call->matmul.transpose_a ? m : k});
  call->weight = Tensor(MSLITE_INT8, {is_row_major ? n : k, is_row_major ? k : n});
  FillIn(call, chance, n, k);
}

struct Prepared {
  std::vector<int64_t> derived, packed;
  mslite_schedule schedule{};
};

// What the kernel makes of a call and its weights, the numbers in memory and on a stack that hold `byte` before.
inline Prepared Prepare(const mslite_kernel &kernel, const mslite_node &node, int byte) {
  Prepared made;
  made.derived.resize(static_cast<size_t>(kernel.derived_size) / 8 + 1);
  std::memset(made.derived.data(), byte, static_cast<size_t>(kernel.derived_size));
  mslite::FillStack(byte);
  EXPECT_EQ(mslite::PrepareKernel(kernel, node, made.derived.data(), &made.schedule), MSLITE_OK) << kernel.name;
  const int64_t size = kernel.pack_size(&node, 1);
  made.packed.resize(static_cast<size_t>(size) / 8 + 1);
  mslite::FillStack(byte);
  if (size > 0) kernel.pack(&node, 1, node.inputs[1]->data, made.packed.data());
  return made;
}

// Generated C holds what kernels make of a call, so that it depends on the call alone.
inline void ExpectSameBytes(const mslite_kernel &kernel, const mslite_node &node) {
  const Prepared one = Prepare(kernel, node, 0xA5), other = Prepare(kernel, node, 0);
  EXPECT_TRUE(one.derived == other.derived) << kernel.name << " prepares what the stack held";
  EXPECT_TRUE(one.packed == other.packed) << kernel.name << " packs what the stack held";
}

// What the kernel writes; empty when it does not take the call.
inline std::vector<int8_t> Run(const mslite_kernel &kernel, Call *call) {
  const mslite_tensor *inputs[3] = {&call->x, &call->weight, call->has_bias ? &call->bias : nullptr};
  const mslite_tensor *output = &call->y;
  const mslite_node node = {call->op, call->params(), 3, 1, inputs, &output, 0};
  if (kernel.op != call->op || kernel.quantized == 0 || kernel.support(&node) <= 0) return {};
  const Prepared prepared = Prepare(kernel, node, 0xA5);
  const mslite_schedule &schedule = prepared.schedule;
  const std::vector<int64_t> &derived = prepared.derived, &packed = prepared.packed;
  ExpectSameBytes(kernel, node);
  mslite_tensor computed = call->weight;  // by another node, at run time
  computed.data = nullptr;
  inputs[1] = &computed;
  if (kernel.support(&node) > 0) ExpectSameBytes(kernel, node);
  inputs[1] = &call->weight;
  // Operands of exactly their size, and rubbish in the memory of each part.
  std::vector<int8_t> x = call->x_data, y(static_cast<size_t>(mslite_element_count(&call->y)), 77);
  std::vector<int64_t> shared(static_cast<size_t>(schedule.shared_bytes) / 8 + 1);
  std::vector<int64_t> scratch(static_cast<size_t>(schedule.scratch_bytes) / 8 + 1);
  const void *data[3] = {x.data(), packed.data(), nullptr};
  void *result = y.data();
  const mslite_run run = {derived.data(), data, &result, shared.data(), scratch.data(), nullptr};
  for (int32_t phase = 0; phase < schedule.phase_count; ++phase) {
    for (int32_t part = schedule.part_count[phase]; part-- > 0;) {
      std::memset(scratch.data(), 0x5A, scratch.size() * 8);
      kernel.run(&run, phase, part);
    }
  }
  return y;
}

// Sets the shape of y. False: the call has none.
inline bool Infer(Call *call) {
  const mslite_tensor *inputs[3] = {&call->x, &call->weight, call->has_bias ? &call->bias : nullptr};
  mslite_tensor *output = &call->y;
  const mslite_quant *records = output->quant;
  mslite_shape_context context{MSLITE_SYMBOL_LIMIT - 1, ""};
  *output = mslite_tensor{};
  output->known_count = -1;
  if (mslite_find_shape_rule(call->op)(&context, call->params(), inputs, 3, &output, 1) != MSLITE_OK) return false;
  output->type = MSLITE_INT8;
  output->quant = records;
  output->quant_count = 1;
  return true;
}
}  // namespace stored_calls

#endif  // MSLITE_TESTS_STORED_CALLS_H_
