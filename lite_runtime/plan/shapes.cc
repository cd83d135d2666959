#include "plan/shapes.h"

#include <algorithm>
#include <cstring>

#include "model/names.h"
#include "model/operands.h"
#include "plan/choose_kernel.h"

namespace mslite {
namespace {

template <typename T>
void CopyKnown(mslite_tensor *tensor, int64_t count) {
  const auto *bytes = static_cast<const unsigned char *>(tensor->data);
  for (int64_t i = 0; i < count; ++i) {
    T value;  // the data in a file may be unaligned
    std::memcpy(&value, bytes + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    tensor->known[i] = static_cast<int64_t>(value);
  }
  tensor->known_count = static_cast<int32_t>(count);
}

Outcome Fail(mslite_status status, const mslite_node &node, const std::string &reason) {
  return {status, NodeText(node) + ": " + reason};
}

// Checks that a tensor can exist in memory. Then no product of sizes in shape rules and kernels exceeds 64 bits.
Outcome CheckSize(const mslite_node &node, const mslite_tensor &tensor, const std::string &label) {
  int64_t room = kMaximumTensorBytes / std::max(mslite_type_size(tensor.type), int32_t{1});
  for (int32_t i = 0; i < tensor.rank; ++i) {
    const int64_t dim = std::max(tensor.dims[i], int64_t{1});
    if (dim > kMaximumDimension || dim > room) {
      return Fail(MSLITE_ERROR_SHAPE, node,
                  label + ", " + TensorText(tensor) + ", is too large (at most 2^31 - 1 per dimension, " +
                      (sizeof(void *) < 8 ? "2 GiB on 32-bit processors)" : "1 TiB)"));
    }
    room /= dim;
  }
  return {};
}

// Checks the output of a shape rule.
Outcome CheckOutput(const mslite_node &node, const mslite_tensor &output, const std::string &label) {
  if (output.rank < -1 || output.rank > MSLITE_MAX_RANK) {
    return Fail(MSLITE_ERROR_SHAPE, node, "an output would have rank " + std::to_string(output.rank));
  }
  for (int32_t i = 0; i < output.rank; ++i) {
    if (output.dims[i] < 0 && !mslite_is_symbol(output.dims[i])) {
      return Fail(MSLITE_ERROR_SHAPE, node, "an output would have dimension " + std::to_string(output.dims[i]));
    }
  }
  if (output.known_count < -1 || output.known_count > MSLITE_MAX_KNOWN) {
    return Fail(MSLITE_ERROR_SHAPE, node, "the shape rule gives too many known values");
  }
  return CheckSize(node, output, label);
}

}  // namespace

const char *StatusText(mslite_status status) {
  switch (status) {
    case MSLITE_OK:
      return "no error";
    case MSLITE_ERROR_SHAPE:
      return "the operator does not support these input shapes";
    case MSLITE_ERROR_ATTRIBUTE:
      return "an attribute has an invalid value";
    case MSLITE_ERROR_TYPE:
      return "the operator does not support the data type of an input";
    case MSLITE_ERROR_UNSUPPORTED:
      return "valid, but not supported";
    case MSLITE_ERROR_VALUE:
      return "an input contains an invalid value";
  }
  return "unknown error";
}

mslite_tensor UnknownTensor() {
  mslite_tensor tensor{};
  tensor.rank = -1;
  tensor.known_count = -1;
  return tensor;
}

void FillKnown(mslite_tensor *tensor) {
  const int64_t count = mslite_element_count(tensor);
  if (tensor->data == nullptr || count < 0 || count > MSLITE_MAX_KNOWN) return;
  switch (tensor->type) {
    case MSLITE_BOOL:
    case MSLITE_UINT8:
      return CopyKnown<uint8_t>(tensor, count);
    case MSLITE_INT8:
      return CopyKnown<int8_t>(tensor, count);
    case MSLITE_INT16:
      return CopyKnown<int16_t>(tensor, count);
    case MSLITE_UINT16:
      return CopyKnown<uint16_t>(tensor, count);
    case MSLITE_INT:
    case MSLITE_INT32:
      return CopyKnown<int32_t>(tensor, count);
    case MSLITE_UINT:
    case MSLITE_UINT32:
      return CopyKnown<uint32_t>(tensor, count);
    case MSLITE_INT64:
      return CopyKnown<int64_t>(tensor, count);
    default:
      return;
  }
}

bool HasShapeRule(int32_t op) { return mslite_find_shape_rule(op) != nullptr; }

Outcome InferShapes(int32_t op, const void *params, const std::vector<const mslite_tensor *> &inputs,
                    std::vector<mslite_tensor> *outputs, int64_t *next_symbol) {
  mslite_node node{};
  node.op = op;
  node.input_count = static_cast<int32_t>(inputs.size());
  node.inputs = inputs.data();
  const mslite_shape_rule rule = mslite_find_shape_rule(op);
  if (rule == nullptr || params == nullptr) {
    return Fail(MSLITE_ERROR_UNSUPPORTED, node, "this operator has no shape rule in this library");
  }
  if (node.input_count < MinInputs(op)) {
    return Fail(MSLITE_ERROR_SHAPE, node, "needs at least " + std::to_string(MinInputs(op)) + " inputs");
  }
  if (static_cast<int32_t>(outputs->size()) < MinOutputs(op)) {
    return Fail(MSLITE_ERROR_SHAPE, node, "has at least " + std::to_string(MinOutputs(op)) + " outputs");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Outcome outcome = CheckSize(node, *inputs[i], "input " + std::to_string(i)); !outcome.ok()) return outcome;
  }
  std::vector<mslite_tensor *> targets;
  targets.reserve(outputs->size());
  for (mslite_tensor &output : *outputs) {
    output = mslite_tensor{};
    output.known_count = -1;
    targets.push_back(&output);
  }
  mslite_shape_context context{};
  context.next_symbol = *next_symbol;
  const mslite_status status =
      rule(&context, params, inputs.data(), node.input_count, targets.data(), static_cast<int32_t>(targets.size()));
  *next_symbol = context.next_symbol;
  if (status != MSLITE_OK) {
    return Fail(status, node, context.message[0] != '\0' ? context.message : StatusText(status));
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    if (Outcome outcome = CheckOutput(node, (*outputs)[i], "output " + std::to_string(i)); !outcome.ok())
      return outcome;
  }
  return {};
}

}  // namespace mslite
