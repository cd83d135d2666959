#include "codegen/int8_call_parameters.h"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

// These headers declare C functions without `extern "C"`.
extern "C" {
#include "arithmetic/binary_int8.h"
#include "math/fixed_point.h"
}
#include "convolution/stored.h"
#include "matmul/stored.h"
#include "pooling/pool_int8.h"
#include "quantized.h"

namespace mslite::codegen {
namespace {

constexpr int32_t kMinShift = -30;

Int8CallParameters Refused(std::string reason) {
  Int8CallParameters numbers;
  numbers.reason = std::move(reason);
  return numbers;
}

// Whether the requantization rounds half away from zero and its shift is within
// the range that all kernel libraries support.
bool IsPlain(const mslite_multiplier &factor) { return factor.shift >= kMinShift && factor.shift <= 30; }

void AddAxis(const mslite_axis &axis, const std::string &name, Int8CallParameters *numbers) {
  numbers->lists[name] = {axis.input,    axis.output,     axis.kernel,   axis.stride,
                          axis.dilation, axis.pad_before, axis.pad_after};
}

bool IsUsual(const mslite_axis &axis) {
  return axis.pad_before >= 0 && axis.pad_after >= 0 && axis.output > 0 && axis.input <= INT16_MAX &&
         axis.kernel <= INT16_MAX && axis.output <= INT16_MAX;
}

struct Weights {
  const int8_t *data;
  int64_t channels, terms, channel_step, term_step;

  int32_t At(int64_t channel, int64_t term) const { return data[channel * channel_step + term * term_step]; }
};

// Returns the largest |sum + bias| for all possible inputs.
int64_t LargestSum(const Weights &weights, int64_t channel, int32_t x_zero, int64_t bias) {
  int64_t magnitude = 0;
  for (int64_t k = 0; k < weights.terms; ++k) magnitude += std::abs(weights.At(channel, k));
  return std::abs(bias) + magnitude * std::max(INT8_MAX - x_zero, x_zero - INT8_MIN);
}

// Whether rounding twice in fixed point gives the same results as rounding once
// in float64, for all sums from -most to most. Both are monotonic, so it is
// enough that each result begins at the same sum.
bool AgreesWithOneRounding(double factor, mslite_multiplier fixed, int64_t most, int32_t y_zero, int32_t low,
                           int32_t high) {
  const auto once = [&](int64_t sum) {
    return std::clamp<int64_t>(int64_t{mslite_rescale_real(sum, factor)} + y_zero, low, high);
  };
  const auto twice = [&](int64_t sum) {
    return std::clamp<int64_t>(int64_t{mslite_rescale_twice(static_cast<int32_t>(sum), fixed)} + y_zero, low, high);
  };
  if (once(-most) != twice(-most)) return false;
  for (int64_t at = -most; at < most;) {
    const int64_t here = once(at);
    int64_t inside = at, beyond = most + 1;  // the last sum with this result
    while (beyond - inside > 1) {
      const int64_t middle = inside + (beyond - inside) / 2;
      (once(middle) == here ? inside : beyond) = middle;
    }
    if (twice(inside) != here) return false;
    if (beyond <= most && twice(beyond) != once(beyond)) return false;
    at = beyond;
  }
  return true;
}

// Adds bias, multiplier and shift of a channel. Returns false if sums or shifts
// exceed 32 bits.
bool AddChannel(int64_t bias, mslite_multiplier factor, int64_t most, Int8CallParameters *numbers) {
  const int64_t left = factor.shift > 0 ? int64_t{1} << factor.shift : 1;
  if (!IsPlain(factor) || bias < INT32_MIN || bias > INT32_MAX || most > INT32_MAX / left) return false;
  numbers->lists["bias"].push_back(bias);
  numbers->lists["multiplier"].push_back(factor.value);
  numbers->lists["shift"].push_back(factor.shift);
  return true;
}

void AddWeights(const Weights &weights, Int8CallParameters *numbers) {
  numbers->weights.reserve(static_cast<size_t>(weights.channels * weights.terms));
  for (int64_t c = 0; c < weights.channels; ++c) {
    for (int64_t k = 0; k < weights.terms; ++k) numbers->weights.push_back(static_cast<char>(weights.At(c, k)));
  }
}

Int8CallParameters Convolution(const mslite_node &call) {
  mslite_convolution geometry = {};
  if (!mslite_quantized_convolution_fits(&call, MSLITE_INT8) || mslite_has_zero_points(call.inputs[1]) ||
      mslite_convolution_of(&call, &geometry) != MSLITE_OK) {
    return Refused("it is not an int8 convolution with symmetric weights");
  }
  const bool is_depthwise = geometry.group == geometry.in_channels && geometry.group_in == 1 && geometry.group > 1;
  if (geometry.group != 1 && !is_depthwise) return Refused("it is a grouped convolution");
  if (!IsUsual(geometry.height) || !IsUsual(geometry.width) || geometry.out_channels > INT16_MAX) {
    return Refused("it has negative padding or a dimension larger than 32767");
  }
  Int8CallParameters numbers;
  numbers.kind = is_depthwise ? "depthwise" : "convolution";
  const mslite_stored_numbers shared = mslite_stored_numbers_of(&call);
  const int64_t terms = geometry.height.kernel * geometry.width.kernel * geometry.group_in;
  const Weights weights = {static_cast<const int8_t *>(call.inputs[1]->data), geometry.out_channels, terms, terms, 1};
  for (int64_t c = 0; c < geometry.out_channels; ++c) {
    const mslite_stored_channel channel = mslite_stored_channel_of(&call, c);
    if (!AddChannel(channel.bias, channel.factor, LargestSum(weights, c, shared.x_zero, channel.bias), &numbers)) {
      return Refused("it rounds half to even, or its sums need more than 32 bits");
    }
  }
  AddWeights(weights, &numbers);
  AddAxis(geometry.height, "height", &numbers);
  AddAxis(geometry.width, "width", &numbers);
  numbers.lists["sizes"] = {geometry.batch, geometry.in_channels, geometry.out_channels};
  numbers.lists["zeros"] = {shared.x_zero, shared.y_zero};
  numbers.lists["limits"] = {shared.low, shared.high};
  return numbers;
}

Int8CallParameters Product(const mslite_node &call) {
  mslite_matmul product = {};
  const mslite_tensor *b = call.inputs[1];
  if (!mslite_quantized_matmul_fits(&call, MSLITE_INT8, MSLITE_INT8) || b->data == nullptr || b->rank != 2 ||
      mslite_has_zero_points(b) || mslite_matmul_of(&call, &product) != MSLITE_OK || product.transpose_a) {
    return Refused("it is not an int8 matmul with constant symmetric weights");
  }
  Int8CallParameters numbers;
  numbers.kind = "fully_connected";
  const mslite_quant *x = call.inputs[0]->quant, *y = call.outputs[0]->quant;
  int32_t low = 0, high = 0;
  if (!mslite_quantized_limits(MSLITE_INT8, product.activation, y, &low, &high)) {
    return Refused("its activation is unsupported");
  }
  const bool once = mslite_stored_rescale_kind(&call) == MSLITE_RESCALE_REAL;
  const Weights weights = {static_cast<const int8_t *>(b->data), product.n, product.k,
                           product.transpose_b ? product.k : 1, product.transpose_b ? 1 : product.n};
  for (int64_t c = 0; c < product.n; ++c) {
    const mslite_stored_column column = mslite_stored_column_of(&call, c);
    const mslite_multiplier fixed = once ? mslite_make_multiplier(column.factor) : column.fixed;
    const int64_t most = LargestSum(weights, c, x->zero_point, column.bias);
    if (!AddChannel(column.bias, fixed, most, &numbers)) {
      return Refused("it rounds half to even, or its sums need more than 32 bits");
    }
    if (once && !AgreesWithOneRounding(column.factor, fixed, most, y->zero_point, low, high)) {
      return Refused("TensorFlow Lite's reference rounds its results once, in float64");
    }
  }
  AddWeights(weights, &numbers);
  numbers.lists["sizes"] = {product.batch * product.m, product.k, product.n};
  numbers.lists["zeros"] = {x->zero_point, y->zero_point};
  numbers.lists["limits"] = {low, high};
  return numbers;
}

Int8CallParameters Pooling(const mslite_node &call) {
  mslite_stored_pool pool = {};
  mslite_schedule schedule = {};
  if (mslite_stored_pool_support(&call) == 0 || call.inputs[0]->type != MSLITE_INT8 ||
      mslite_stored_pool_prepare(&call, &pool, &schedule) != MSLITE_OK) {
    return Refused("it is not an int8 pooling");
  }
  const mslite_pooling &geometry = pool.geometry;
  if (pool.is_rescaled) return Refused("its output has another scale than its input, or it rounds half to even");
  if (geometry.average && (pool.domain != 0 || geometry.count_include_pad)) {
    return Refused("it is an average of unsigned integers, or it includes padding");
  }
  if (!IsUsual(geometry.height) || !IsUsual(geometry.width) || geometry.height.dilation != 1 ||
      geometry.width.dilation != 1 || geometry.batch != 1) {
    return Refused("its dilation, padding or batch size is unsupported");
  }
  Int8CallParameters numbers;
  numbers.kind = geometry.average ? "average" : "maximum";
  AddAxis(geometry.height, "height", &numbers);
  AddAxis(geometry.width, "width", &numbers);
  numbers.lists["sizes"] = {geometry.batch, geometry.channels};
  numbers.lists["limits"] = {pool.low, pool.high};
  return numbers;
}

Int8CallParameters Binary(const mslite_node &call) {
  if (call.input_count != 2 || mslite_support_binary_int8(&call) == 0 || call.outputs[0]->type != MSLITE_INT8) {
    return Refused("its inputs are not two int8 tensors");
  }
  const mslite_tensor &y = *call.outputs[0];
  for (int32_t i = 0; i < 2; ++i) {
    const mslite_tensor &x = *call.inputs[i];
    if (x.rank != y.rank || !std::equal(y.dims, y.dims + y.rank, x.dims)) return Refused("it broadcasts");
  }
  mslite_binary_int8 own = {};
  mslite_set_binary_int8(&call, &own);
  const bool is_sum = own.operation == MSLITE_STORED_ADD;
  if (!is_sum && own.operation != MSLITE_STORED_MUL) {
    return Refused("it is not an addition or multiplication in fixed point");
  }
  if (!IsPlain(own.y) || own.y.shift > 0 || (is_sum && (!IsPlain(own.a) || !IsPlain(own.b)))) {
    return Refused("its scales are unsupported");
  }
  if (is_sum && (own.a.shift > 0 || own.b.shift > 0)) return Refused("its scales are unsupported");
  Int8CallParameters numbers;
  numbers.kind = is_sum ? "add" : "multiply";
  numbers.lists["sizes"] = {mslite_element_count(&y)};
  numbers.lists["zeros"] = {own.zero_a, own.zero_b, own.zero_y};
  numbers.lists["left"] = {own.left};
  numbers.lists["multiplier"] = {own.a.value, own.b.value, own.y.value};
  numbers.lists["shift"] = {own.a.shift, own.b.shift, own.y.shift};
  numbers.lists["limits"] = {own.low, own.high};
  return numbers;
}

// The arithmetic is that of kernels/activation/softmax_int8.c.
Int8CallParameters Softmax(const mslite_node &call) {
  const mslite_tensor &x = *call.inputs[0], &y = *call.outputs[0];
  const mslite_longs axes = static_cast<const mslite_Softmax *>(call.params)->axis;
  const int32_t axis = axes.count > 1 ? -1 : mslite_normalize_axis(axes.count == 0 ? -1 : axes.at[0], x.rank);
  if (call.input_count != 1 || !mslite_is_quantized(&x, MSLITE_INT8) || !mslite_is_quantized(&y, MSLITE_INT8) ||
      axis != x.rank - 1 || y.quant->zero_point != INT8_MIN || y.quant->scale != 1.0 / 256.0) {
    return Refused("it is not an int8 softmax along the last axis with output scale 1/256 and zero point -128");
  }
  const double factor = x.quant->scale * 67108864.0;
  const mslite_multiplier scaled = mslite_make_multiplier(std::min(factor, 2147483647.0));
  if (scaled.shift < 0 || scaled.shift > 30) return Refused("its scale is unsupported");
  Int8CallParameters numbers;
  numbers.kind = "softmax";
  const int64_t size = x.dims[axis], all = mslite_element_count(&x);
  const auto least = -static_cast<int64_t>(std::floor(31.0 * 67108864.0 / std::ldexp(1.0, scaled.shift)));
  numbers.lists["sizes"] = {size == 0 ? 0 : all / size, size};
  numbers.lists["scale"] = {scaled.value, scaled.shift, least};
  return numbers;
}

}  // namespace

Int8CallParameters Int8CallParametersOf(const mslite_node &call) {
  switch (call.op) {
    case MSLITE_OP_Conv2DFusion:
      return Convolution(call);
    case MSLITE_OP_MatMulFusion:
    case MSLITE_OP_FullConnection:
      return Product(call);
    case MSLITE_OP_AvgPoolFusion:
    case MSLITE_OP_MaxPoolFusion:
      return Pooling(call);
    case MSLITE_OP_AddFusion:
    case MSLITE_OP_MulFusion:
      return Binary(call);
    case MSLITE_OP_Softmax:
      return Softmax(call);
    default:
      return Refused("");
  }
}

}  // namespace mslite::codegen
