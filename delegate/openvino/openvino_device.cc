#include "openvino/openvino_device.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>

#include "model/message.h"
#include "openvino/openvino_plan.h"

namespace mslite {
namespace {
constexpr int32_t kTypes[] = {MSLITE_FLOAT32, MSLITE_INT32, MSLITE_INT64, MSLITE_BOOL};

// For debugging: writes each compiled partition to part_0.xml and part_0.bin, part_1.xml and so on, in the folder
// MSLITE_OPENVINO_DUMP.
Status Dump(const std::string &text, const std::vector<uint8_t> &weights) {
  static std::atomic<int> parts = 0;
  const char *folder = std::getenv("MSLITE_OPENVINO_DUMP");
  if (folder == nullptr) return mindspore::kSuccess;
  const std::string path = std::string(folder) + "/part_" + std::to_string(parts++);
  std::ofstream(path + ".xml") << text;
  std::ofstream bytes(path + ".bin", std::ios::binary);
  bytes.write(reinterpret_cast<const char *>(weights.data()), static_cast<std::streamsize>(weights.size()));
  if (bytes.good()) return mindspore::kSuccess;
  return Fail(mindspore::kLiteError, "'" + path + ".bin' (MSLITE_OPENVINO_DUMP) cannot be written");
}
}  // namespace

Status OpenVinoDevice::Find(const std::string &device, int32_t threads, std::shared_ptr<OpenVinoDevice> *found) {
  const OpenVinoLibrary *library = nullptr;
  MSLITE_TRY(OpenVinoLibrary::Open(&library));
  std::shared_ptr<OpenVinoDevice> made(new OpenVinoDevice(*library, device, threads));
  OvCore *core = nullptr;
  MSLITE_TRY(library->Check(library->ov_core_create(&core), "ov_core_create"));
  made->core_.reset(core);
  MSLITE_TRY(made->ReadName());
  MSLITE_TRY(made->ReadTypes());
  *found = std::move(made);
  return mindspore::kSuccess;
}

// Reads the full name of the device. Fails if the device does not exist. For "AUTO:GPU,CPU", the name of "AUTO" is
// read, because OpenVINO has no name for the list.
Status OpenVinoDevice::ReadName() {
  char *name = nullptr;
  const std::string asked = device_.substr(0, device_.find(':'));
  const int status = library_.ov_core_get_property(core_.get(), asked.c_str(), "FULL_DEVICE_NAME", &name);
  const Status result = library_.Check(status, "ov_core_get_property");
  if (result != mindspore::kSuccess) {
    return Fail(mindspore::kLiteNotSupport,
                "OpenVINO has no device '" + device_ + "' on this system: " + result.GetErrDescription());
  }
  name_ = name;
  library_.ov_free(name);
  return mindspore::kSuccess;
}

// Reads the codes of element types, which differ between releases, from a model with one input of each type.
Status OpenVinoDevice::ReadTypes() {
  OpenVinoIr ir;
  for (const int32_t type : kTypes) ir.Result(ir.Parameter(OpenVinoType(type), {1}));
  OpenVinoHandle<OvModel> model(nullptr, library_.ov_model_free);
  MSLITE_TRY(ReadModel(ir.Text(), nullptr, &model));
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    OvPort *port = nullptr;
    MSLITE_TRY(
        library_.Check(library_.ov_model_const_input_by_index(model.get(), i, &port), "ov_model_const_input_by_index"));
    const OpenVinoHandle<OvPort> owned(port, library_.ov_output_const_port_free);
    MSLITE_TRY(library_.Check(library_.ov_port_get_element_type(port, &types_[kTypes[i]]), "ov_port_get_element_type"));
  }
  return mindspore::kSuccess;
}

Status OpenVinoDevice::ReadModel(const std::string &text, const OvTensor *weights,
                                 OpenVinoHandle<OvModel> *model) const {
  OvModel *read = nullptr;
  MSLITE_TRY(library_.Check(
      library_.ov_core_read_model_from_memory_buffer(core_.get(), text.c_str(), text.size(), weights, &read),
      "ov_core_read_model_from_memory_buffer"));
  model->reset(read);
  return mindspore::kSuccess;
}

Status OpenVinoDevice::TensorOf(int32_t type, const OpenVinoIr::Dims &dims, void *contents,
                                OpenVinoHandle<OvTensor> *tensor) const {
  OpenVinoIr::Dims own = dims;
  OvTensor *made = nullptr;
  MSLITE_TRY(library_.Check(library_.ov_tensor_create_from_host_ptr(
                                types_.at(type), {static_cast<int64_t>(own.size()), own.data()}, contents, &made),
                            "ov_tensor_create_from_host_ptr"));
  tensor->reset(made);
  return mindspore::kSuccess;
}

Status OpenVinoDevice::Compile(const std::string &text, const std::vector<uint8_t> &weights,
                               OpenVinoHandle<OvInferRequest> *request) {
  MSLITE_TRY(Dump(text, weights));
  OpenVinoHandle<OvTensor> constants(nullptr, library_.ov_tensor_free);
  if (!weights.empty()) {
    // The only one-byte type here is bool.
    MSLITE_TRY(TensorOf(MSLITE_BOOL, {static_cast<int64_t>(weights.size())}, const_cast<uint8_t *>(weights.data()),
                        &constants));
  }
  OpenVinoHandle<OvModel> model(nullptr, library_.ov_model_free);
  MSLITE_TRY(ReadModel(text, constants.get(), &model));
  // OpenVINO takes properties only as variadic arguments, so unused pairs repeat the first property. NPUs always
  // compute in float16; other devices use float32.
  const bool is_npu = device_.rfind("NPU", 0) == 0;
  std::array<std::array<std::string, 2>, 3> properties;
  properties.fill({"PERFORMANCE_HINT", "LATENCY"});
  if (!is_npu) properties[0] = {"INFERENCE_PRECISION_HINT", "f32"};
  const std::string threads = std::to_string(threads_);
  if (device_ == "CPU" && threads_ > 0) properties[1] = {"INFERENCE_NUM_THREADS", threads};
  if (const char *cache = std::getenv("MSLITE_OPENVINO_CACHE"); cache != nullptr) properties[2] = {"CACHE_DIR", cache};
  OvCompiledModel *compiled = nullptr;
  MSLITE_TRY(library_.Check(
      library_.ov_core_compile_model(core_.get(), model.get(), device_.c_str(), 2 * properties.size(), &compiled,
                                     properties[0][0].c_str(), properties[0][1].c_str(), properties[1][0].c_str(),
                                     properties[1][1].c_str(), properties[2][0].c_str(), properties[2][1].c_str()),
      "ov_core_compile_model"));
  const OpenVinoHandle<OvCompiledModel> owned(compiled, library_.ov_compiled_model_free);
  OvInferRequest *made = nullptr;
  MSLITE_TRY(library_.Check(library_.ov_compiled_model_create_infer_request(compiled, &made),
                            "ov_compiled_model_create_infer_request"));
  request->reset(made);
  return mindspore::kSuccess;
}
}  // namespace mslite
