#include "single_call.h"

#include <cstring>

#include "model/names.h"
#include "model/verify.h"
#include "schema/ops_generated.h"

namespace mslite::python {

void Check(const Outcome &outcome) {
  if (outcome.status == MSLITE_ERROR_UNSUPPORTED) throw UnsupportedError(outcome.message);
  if (!outcome.ok()) throw OperatorError(outcome.message);
}

PrimitiveBuffer::PrimitiveBuffer(nb::handle buffer) : bytes_(buffer) {
  if (!VerifyPrimitive(static_cast<const uint8_t *>(bytes_.data()), bytes_.size())) {
    throw OperatorError("the serialized operator is damaged");
  }
  params = unpack::UnpackPrimitive(*flatbuffers::GetRoot<schema::Primitive>(bytes_.data()), arena_, &op);
  if (const char *attribute = arena_.TakeRefused(); attribute != nullptr) {
    throw OperatorError(OperatorName(op) + std::string(": attribute '") + attribute + "' has a value outside 32 bits");
  }
  if (params == nullptr) throw UnsupportedError(OperatorName(op) + " has unknown parameters");
}

std::vector<SingleInput> SingleInputs(const TensorViews &views, const std::vector<bool> *constant) {
  if (constant != nullptr && constant->size() != views.tensors.size()) {
    throw nb::value_error("the number of constant flags is not the number of inputs");
  }
  std::vector<SingleInput> inputs;
  for (size_t i = 0; i < views.tensors.size(); ++i) {
    if (views.tensors[i].data == nullptr) throw OperatorError("input " + std::to_string(i) + " has no data");
    inputs.push_back({views.tensors[i], constant == nullptr || (*constant)[i]});
  }
  return inputs;
}

SingleCall::SingleCall(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<bool> &constant,
                       const std::vector<TensorInfo> &outputs, int32_t quant_type)
    : primitive_(primitive),
      inputs_(inputs),
      outputs_(outputs),
      node_(primitive_.op, primitive_.params, SingleInputs(inputs_, &constant), static_cast<int32_t>(outputs.size())) {
  node_.DeclareOutputs(outputs_.tensors, quant_type);
}

KernelEntry EntryOf(const mslite_kernel &kernel) {
  return {kernel.name, OperatorName(kernel.op), IsaName(kernel.isa), kernel.in_place != nullptr};
}

const mslite_kernel *FindKernel(std::initializer_list<KernelList> lists, const std::string &name) {
  for (const KernelList &list : lists) {
    for (int32_t i = 0; i < list.count; ++i) {
      if (name == list.kernels[i]->name) return list.kernels[i];
    }
  }
  throw nb::key_error(name.c_str());
}

bool Supports(const mslite_kernel *kernel, SingleCall *call) {
  const Outcome outcome = call->node().Prepare(DetectedIsas(), kernel);
  if (outcome.status == MSLITE_ERROR_UNSUPPORTED) return false;
  Check(outcome);
  return true;
}

std::vector<nb::object> RunKernel(const mslite_kernel *kernel, SingleCall *call, const RunOptions &options) {
  if (options.threads < 1 || options.threads > 256) throw nb::value_error("threads must be in 1 ... 256");
  SingleNode &node = call->node();
  Check(node.Prepare(DetectedIsas(), kernel));
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = node.RunGuarded(options);
  }
  Check(outcome);
  std::vector<nb::object> arrays;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    arrays.push_back(EmptyArray(node.outputs()[i]));
    if (node.output_bytes(i) != 0)
      std::memcpy(Buffer(arrays.back(), true).data(), node.output_data(i), node.output_bytes(i));
  }
  return arrays;
}

}  // namespace mslite::python
