#include "openvino/openvino_part.h"

#include "model/message.h"
#include "openvino/openvino_plan.h"

namespace mslite {
Status OpenVinoPart::Prepare() {
  OpenVinoDraft draft;
  MSLITE_TRY(WriteOpenVinoPart(part_, &draft));
  fault_nodes_.clear();
  for (const auto &fault : draft.faults) fault_nodes_.push_back(fault.first);
  request_.reset();  // it refers to the old weights
  weights_ = draft.ir.TakeWeights();
  return device_->Compile(draft.ir.Text(), weights_, &request_);
}

Status OpenVinoPart::ShowInput(size_t index, const void *contents) {
  const Part::Tensor &input = part_.tensors[static_cast<size_t>(part_.inputs[index])];
  const mslite_tensor &tensor = input.value;
  if (!FitsIn32Bits(tensor, contents)) {
    return Fail(mindspore::kLiteInputParamInvalid,
                "'" + input.name + "' has a value outside 32 bits, which OpenVINO does not support");
  }
  OpenVinoHandle<OvTensor> shown(nullptr, device_->library().ov_tensor_free);
  // OpenVINO does not write to inputs, but its C API has no tensor type for constant data.
  MSLITE_TRY(device_->TensorOf(tensor.type, DimsOf(tensor), const_cast<void *>(contents), &shown));
  return device_->library().Check(
      device_->library().ov_infer_request_set_input_tensor_by_index(request_.get(), index, shown.get()),
      "ov_infer_request_set_input_tensor_by_index");
}

Status OpenVinoPart::ShowOutput(size_t index, int32_t type, const OpenVinoIr::Dims &dims, void *contents) {
  OpenVinoHandle<OvTensor> shown(nullptr, device_->library().ov_tensor_free);
  MSLITE_TRY(device_->TensorOf(type, dims, contents, &shown));
  return device_->library().Check(
      device_->library().ov_infer_request_set_output_tensor_by_index(request_.get(), index, shown.get()),
      "ov_infer_request_set_output_tensor_by_index");
}

Status OpenVinoPart::Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) {
  for (size_t i = 0; i < inputs.size(); ++i) MSLITE_TRY(ShowInput(i, inputs[i]));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const mslite_tensor &tensor = part_.tensors[static_cast<size_t>(part_.outputs[i])].value;
    MSLITE_TRY(ShowOutput(i, tensor.type, DimsOf(tensor), outputs[i]));
  }
  std::vector<uint8_t> is_met(fault_nodes_.size());
  for (size_t i = 0; i < is_met.size(); ++i) {
    MSLITE_TRY(ShowOutput(outputs.size() + i, MSLITE_BOOL, {}, &is_met[i]));
  }
  MSLITE_TRY(
      device_->library().Check(device_->library().ov_infer_request_infer(request_.get()), "ov_infer_request_infer"));
  for (size_t i = 0; i < is_met.size(); ++i) {
    if (is_met[i] == 0) continue;
    return Fail(mindspore::kLiteInputParamInvalid, "node '" + fault_nodes_[i] + "': an index is out of range");
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
