#include "nnrt/nnrt_device.h"

#include "model/message.h"

namespace mslite {
namespace {
const char *NameOf(NnrtCode code) {
  switch (code) {
#define MSLITE_NAME(name, number) \
  case NNRT_##name:               \
    return "OH_NN_OPS_" #name;
    MSLITE_NNRT_OPERATIONS(MSLITE_NAME)
#undef MSLITE_NAME
  }
  return "an operation";
}

template <typename Object>
NnrtHandle<Object> Owned(Object *object, void (*destroy)(Object **)) {
  return NnrtHandle<Object>(object, {destroy, nullptr});
}
template <typename Object>
NnrtHandle<Object> Owned(Object *object, int (*destroy)(Object **)) {
  return NnrtHandle<Object>(object, {nullptr, destroy});
}
}  // namespace

Status NnrtDevice::Find(const NnrtSettings &settings, std::shared_ptr<NnrtDevice> *found) {
  const NnrtLibrary *library = nullptr;
  if (const Status status = NnrtLibrary::Open(&library); status.IsError()) {
    return Fail(status.StatusCode(), status.GetErrDescription() + settings.advice);
  }
  std::shared_ptr<NnrtDevice> made(new NnrtDevice(*library, settings));
  const size_t *ids = nullptr;
  uint32_t count = 0;
  MSLITE_TRY(NnrtStatus(library->Device_GetAllDevicesID(&ids, &count), "Device_GetAllDevicesID"));
  std::string all;
  for (uint32_t i = 0; i < count && made->name_.empty(); ++i) {
    const char *name = nullptr;
    int32_t type = 0;
    MSLITE_TRY(NnrtStatus(library->Device_GetName(ids[i], &name), "Device_GetName"));
    MSLITE_TRY(NnrtStatus(library->Device_GetType(ids[i], &type), "Device_GetType"));
    all += (all.empty() ? "" : ", ") + std::string(name);
    if (settings.device.empty() ? type == NNRT_DEVICE_CPU : settings.device != name) continue;
    made->name_ = name;
    made->id_ = ids[i];
  }
  if (made->name_.empty()) {
    return Fail(mindspore::kLiteNotSupport,
                "NNRT has no " +
                    (settings.device.empty() ? "device other than a CPU" : "device '" + settings.device + "'") +
                    " on this system; available devices: " + (all.empty() ? "none" : all) +
                    "; select one with SetProviderDevice");
  }
  *found = std::move(made);
  return mindspore::kSuccess;
}

Status NnrtDevice::Describe(const NnrtOperand &operand, NnrtHandle<NnrtDescriptionHandle> *description) const {
  NnrtDescriptionHandle *made = library_.TensorDesc_Create();
  MSLITE_TRY(NnrtMade(made, "TensorDesc_Create"));
  *description = Owned(made, library_.TensorDesc_Destroy);
  MSLITE_TRY(NnrtStatus(library_.TensorDesc_SetDataType(made, operand.type), "TensorDesc_SetDataType"));
  if (!operand.dims.empty()) {
    MSLITE_TRY(NnrtStatus(library_.TensorDesc_SetShape(made, operand.dims.data(), operand.dims.size()),
                          "TensorDesc_SetShape"));
  }
  const NnrtFormat format = operand.dims.size() == 4 ? NNRT_FORMAT_NHWC : NNRT_FORMAT_ND;
  return NnrtStatus(library_.TensorDesc_SetFormat(made, format), "TensorDesc_SetFormat");
}

Status NnrtDevice::MakeModel(const NnrtGraph &graph, NnrtHandle<NnrtModelHandle> *model) const {
  NnrtModelHandle *made = library_.Model_Construct();
  MSLITE_TRY(NnrtMade(made, "Model_Construct"));
  *model = Owned(made, library_.Model_Destroy);
  for (uint32_t i = 0; i < graph.operands.size(); ++i) {
    const NnrtOperand &operand = graph.operands[i];
    NnrtHandle<NnrtDescriptionHandle> description;
    MSLITE_TRY(Describe(operand, &description));
    MSLITE_TRY(NnrtStatus(library_.Model_AddTensorToModel(made, description.get()), "Model_AddTensorToModel"));
    MSLITE_TRY(NnrtStatus(library_.Model_SetTensorType(made, i, operand.role), "Model_SetTensorType"));
    if (operand.contents == nullptr) continue;
    MSLITE_TRY(
        NnrtStatus(library_.Model_SetTensorData(made, i, operand.contents, operand.bytes), "Model_SetTensorData"));
  }
  const auto list = [](const std::vector<uint32_t> &numbers) -> NnrtIndices {
    // The library does not write to the indices, although its type is not const.
    return {const_cast<uint32_t *>(numbers.data()), static_cast<uint32_t>(numbers.size())};
  };
  for (const NnrtOperation &operation : graph.operations) {
    const NnrtIndices attributes = list(operation.attributes);
    const NnrtIndices inputs = list(operation.inputs);
    const NnrtIndices outputs = list(operation.outputs);
    MSLITE_TRY(NnrtStatus(library_.Model_AddOperation(made, operation.code, &attributes, &inputs, &outputs),
                          "Model_AddOperation"));
  }
  const NnrtIndices inputs = list(graph.inputs);
  const NnrtIndices outputs = list(graph.outputs);
  MSLITE_TRY(
      NnrtStatus(library_.Model_SpecifyInputsAndOutputs(made, &inputs, &outputs), "Model_SpecifyInputsAndOutputs"));
  return NnrtStatus(library_.Model_Finish(made), "Model_Finish");
}

std::string NnrtDevice::UnsupportedReason(const NnrtGraph &graph) const {
  NnrtHandle<NnrtModelHandle> model;
  const bool *supported = nullptr;
  uint32_t count = 0;
  Status status = MakeModel(graph, &model);
  if (status.IsOk()) {
    status = NnrtStatus(library_.Model_GetAvailableOperations(model.get(), id_, &supported, &count),
                        "Model_GetAvailableOperations");
  }
  if (status.IsError()) return status.GetErrDescription();
  if (supported == nullptr || count != graph.operations.size()) return "the device does not report what it supports";
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    if (!supported[i]) return std::string("the device does not support ") + NameOf(graph.operations[i].code);
  }
  return "";
}

Status NnrtDevice::MakeTensors(const NnrtGraph &graph, const std::vector<uint32_t> &operands,
                               std::vector<NnrtHandle<NnrtTensorHandle>> *tensors) const {
  for (const uint32_t operand : operands) {
    NnrtHandle<NnrtDescriptionHandle> description;
    MSLITE_TRY(Describe(graph.operands[operand], &description));
    NnrtTensorHandle *made = library_.Tensor_Create(id_, description.get());
    MSLITE_TRY(NnrtMade(made, "Tensor_Create"));
    tensors->push_back(Owned(made, library_.Tensor_Destroy));
    MSLITE_TRY(NnrtMade(library_.Tensor_GetDataBuffer(made), "Tensor_GetDataBuffer"));
  }
  return mindspore::kSuccess;
}

Status NnrtDevice::Compile(const NnrtGraph &graph, NnrtCompiled *compiled) const {
  MSLITE_TRY(MakeModel(graph, &compiled->model));
  NnrtCompilationHandle *compilation = library_.Compilation_Construct(compiled->model.get());
  MSLITE_TRY(NnrtMade(compilation, "Compilation_Construct"));
  compiled->compilation = Owned(compilation, library_.Compilation_Destroy);
  MSLITE_TRY(NnrtStatus(library_.Compilation_SetDevice(compilation, id_), "Compilation_SetDevice"));
  if (settings_.performance > 0) {
    MSLITE_TRY(NnrtStatus(library_.Compilation_SetPerformanceMode(compilation, settings_.performance),
                          "Compilation_SetPerformanceMode"));
  }
  if (settings_.is_half) {
    MSLITE_TRY(NnrtStatus(library_.Compilation_EnableFloat16(compilation, true), "Compilation_EnableFloat16"));
  }
  MSLITE_TRY(NnrtStatus(library_.Compilation_Build(compilation), "Compilation_Build"));
  NnrtExecutorHandle *executor = library_.Executor_Construct(compilation);
  MSLITE_TRY(NnrtMade(executor, "Executor_Construct"));
  compiled->executor = Owned(executor, library_.Executor_Destroy);
  MSLITE_TRY(MakeTensors(graph, graph.inputs, &compiled->inputs));
  return MakeTensors(graph, graph.outputs, &compiled->outputs);
}
}  // namespace mslite
