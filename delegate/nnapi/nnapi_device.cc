#include "nnapi/nnapi_device.h"

#include <algorithm>

#include "model/message.h"

namespace mslite {
namespace {
struct Operation {
  int32_t code;
  int64_t level;
  const char *name;
};

constexpr Operation kOperations[] = {
#define MSLITE_OPERATION(name, number, level) {number, level, #name},
    MSLITE_NNAPI_OPERATIONS(MSLITE_OPERATION)
#undef MSLITE_OPERATION
};

const Operation &Described(int32_t code) {
  return *std::find_if(std::begin(kOperations), std::end(kOperations),
                       [&](const Operation &operation) { return operation.code == code; });
}

// Returns the lowest feature level that supports the operation with these data types.
int64_t LevelOf(const NnapiGraph &graph, const NnapiOperation &operation) {
  int64_t level = Described(operation.code).level;
  const auto raise = [&](int64_t needed) { level = std::max(level, needed); };
  for (const std::vector<uint32_t> *operands : {&operation.inputs, &operation.outputs}) {
    for (const uint32_t index : *operands) {
      if (graph.operands[index].type == NNAPI_TENSOR_QUANT8_ASYMM_SIGNED) raise(NNAPI_LEVEL_4);
    }
  }
  switch (operation.code) {
    case NNAPI_ADD:
    case NNAPI_SUB:
    case NNAPI_MUL:
      if (graph.operands[operation.inputs[0]].type == NNAPI_TENSOR_INT32) raise(NNAPI_LEVEL_4);
      break;
    case NNAPI_RESIZE_BILINEAR:
    case NNAPI_RESIZE_NEAREST_NEIGHBOR:
      if (operation.inputs.size() > 4) raise(NNAPI_LEVEL_4);  // flags for the coordinates of pixel centers
      break;
    default:
      break;
  }
  return level;
}

std::string Quoted(int32_t code) { return std::string("ANEURALNETWORKS_") + Described(code).name; }
}  // namespace

Status NnapiDevice::Find(const std::string &name, bool is_half, std::shared_ptr<NnapiDevice> *found) {
  const NnapiLibrary *library = nullptr;
  MSLITE_TRY(NnapiLibrary::Open(&library));
  std::shared_ptr<NnapiDevice> made(new NnapiDevice(*library, is_half));
  uint32_t count = 0;
  MSLITE_TRY(NnapiStatus(library->_getDeviceCount(&count), "_getDeviceCount"));
  std::string others;
  for (uint32_t i = 0; i < count; ++i) {
    NnapiDeviceHandle *device = nullptr;
    const char *own_name = nullptr;
    int32_t type = 0;
    int64_t level = 0;
    MSLITE_TRY(NnapiStatus(library->_getDevice(i, &device), "_getDevice"));
    MSLITE_TRY(NnapiStatus(library->Device_getName(device, &own_name), "Device_getName"));
    MSLITE_TRY(NnapiStatus(library->Device_getType(device, &type), "Device_getType"));
    MSLITE_TRY(NnapiStatus(library->Device_getFeatureLevel(device, &level), "Device_getFeatureLevel"));
    const bool is_wanted = name.empty() ? type != NNAPI_DEVICE_CPU : name == own_name;
    std::string &list = is_wanted ? made->name_ : others;
    list += (list.empty() ? "" : ", ") + std::string(own_name);
    if (!is_wanted) continue;
    made->devices_.push_back(device);
    made->level_ = std::max(made->level_, level);
  }
  if (made->devices_.empty()) {
    return Fail(mindspore::kLiteNotSupport,
                "NNAPI has no " + (name.empty() ? "device other than a CPU" : "device '" + name + "'") +
                    " on this system; available devices: " + (others.empty() ? "none" : others) +
                    "; select one with SetProviderDevice");
  }
  *found = std::move(made);
  return mindspore::kSuccess;
}

Status NnapiDevice::AddOperand(const NnapiOperand &operand, int32_t index, NnapiModelHandle *model) const {
  const NnapiOperandType type = {operand.type, static_cast<uint32_t>(operand.dims.size()),
                                 operand.dims.empty() ? nullptr : operand.dims.data(), operand.scale,
                                 operand.zero_point};
  MSLITE_TRY(NnapiStatus(library_.Model_addOperand(model, &type), "Model_addOperand"));
  if (!operand.scales.empty()) {
    const NnapiChannelScales scales = {operand.channel_dimension, static_cast<uint32_t>(operand.scales.size()),
                                       operand.scales.data()};
    MSLITE_TRY(NnapiStatus(library_.Model_setOperandSymmPerChannelQuantParams(model, index, &scales),
                           "Model_setOperandSymmPerChannelQuantParams"));
  }
  if (operand.contents == nullptr) return mindspore::kSuccess;
  return NnapiStatus(library_.Model_setOperandValue(model, index, operand.contents, operand.bytes),
                     "Model_setOperandValue");
}

Status NnapiDevice::MakeModel(const NnapiGraph &graph, NnapiHandle<NnapiModelHandle> *model) const {
  NnapiModelHandle *made = nullptr;
  MSLITE_TRY(NnapiStatus(library_.Model_create(&made), "Model_create"));
  model->reset(made);
  for (size_t i = 0; i < graph.operands.size(); ++i) {
    MSLITE_TRY(AddOperand(graph.operands[i], static_cast<int32_t>(i), made));
  }
  const auto size = [](const std::vector<uint32_t> &list) { return static_cast<uint32_t>(list.size()); };
  for (const NnapiOperation &operation : graph.operations) {
    MSLITE_TRY(
        NnapiStatus(library_.Model_addOperation(made, operation.code, size(operation.inputs), operation.inputs.data(),
                                                size(operation.outputs), operation.outputs.data()),
                    "Model_addOperation"));
  }
  MSLITE_TRY(NnapiStatus(library_.Model_identifyInputsAndOutputs(made, size(graph.inputs), graph.inputs.data(),
                                                                 size(graph.outputs), graph.outputs.data()),
                         "Model_identifyInputsAndOutputs"));
  if (is_half_) {
    MSLITE_TRY(NnapiStatus(library_.Model_relaxComputationFloat32toFloat16(made, true),
                           "Model_relaxComputationFloat32toFloat16"));
  }
  return NnapiStatus(library_.Model_finish(made), "Model_finish");
}

std::string NnapiDevice::UnsupportedReason(const NnapiGraph &graph) const {
  for (const NnapiOperation &operation : graph.operations) {
    const int64_t level = LevelOf(graph, operation);
    if (level > level_) {
      return Quoted(operation.code) + " with these data types needs NNAPI feature level " + std::to_string(level) +
             ", but the device supports level " + std::to_string(level_);
    }
  }
  NnapiHandle<NnapiModelHandle> model(nullptr, library_.Model_free);
  Status status = MakeModel(graph, &model);
  const auto count = static_cast<uint32_t>(devices_.size());
  const std::unique_ptr<bool[]> supported(new bool[graph.operations.size()]());
  if (status.IsOk()) {
    status = NnapiStatus(
        library_.Model_getSupportedOperationsForDevices(model.get(), devices_.data(), count, supported.get()),
        "Model_getSupportedOperationsForDevices");
  }
  if (status.IsError()) return status.GetErrDescription();
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    if (!supported[i]) return "the device does not support " + Quoted(graph.operations[i].code) + " in this form";
  }
  return "";
}

Status NnapiDevice::Compile(const NnapiGraph &graph, NnapiCompiled *compiled) const {
  compiled->compilation.reset();
  MSLITE_TRY(MakeModel(graph, &compiled->model));
  NnapiCompilationHandle *made = nullptr;
  MSLITE_TRY(NnapiStatus(library_.Compilation_createForDevices(compiled->model.get(), devices_.data(),
                                                               static_cast<uint32_t>(devices_.size()), &made),
                         "Compilation_createForDevices"));
  compiled->compilation.reset(made);
  MSLITE_TRY(NnapiStatus(library_.Compilation_setPreference(made, NNAPI_PREFER_FAST_SINGLE_ANSWER),
                         "Compilation_setPreference"));
  return NnapiStatus(library_.Compilation_finish(made), "Compilation_finish");
}
}  // namespace mslite
