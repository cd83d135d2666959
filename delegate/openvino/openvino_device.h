// OpenVinoDevice: a device of OpenVINO, and compilation for it.
#ifndef MSLITE_DELEGATE_OPENVINO_OPENVINO_DEVICE_H
#define MSLITE_DELEGATE_OPENVINO_OPENVINO_DEVICE_H

#include <map>
#include <memory>
#include <string>

#include "kernel.h"
#include "openvino/openvino_ir.h"
#include "openvino/openvino_library.h"

namespace mslite {
using mindspore::Status;

// An object of the C library with the function that frees it.
template <typename Object>
using OpenVinoHandle = std::unique_ptr<Object, void (*)(Object *)>;

class OpenVinoDevice {
 public:
  // Loads the library and finds the device: "CPU", "GPU", "GPU.1", "NPU", "AUTO". `threads`: threads of OpenVINO's CPU
  // device; 0: OpenVINO's default. Errors: kLiteNotSupport, with the reason.
  static Status Find(const std::string &device, int32_t threads, std::shared_ptr<OpenVinoDevice> *found);

  // Returns the full name of the device, such as "Intel(R) Core(TM) ...".
  const std::string &name() const { return name_; }
  const OpenVinoLibrary &library() const { return library_; }
  // Compiles the model `text` (XML) and creates a request. `weights` must outlive the request.
  Status Compile(const std::string &text, const std::vector<uint8_t> &weights, OpenVinoHandle<OvInferRequest> *request);
  // Creates a tensor over memory of the caller, without a copy.
  Status TensorOf(int32_t type, const OpenVinoIr::Dims &dims, void *contents, OpenVinoHandle<OvTensor> *tensor) const;

 private:
  OpenVinoDevice(const OpenVinoLibrary &library, std::string device, int32_t threads)
      : library_(library), device_(std::move(device)), threads_(threads), core_(nullptr, library.ov_core_free) {}

  Status ReadName();
  Status ReadTypes();
  Status ReadModel(const std::string &text, const OvTensor *weights, OpenVinoHandle<OvModel> *model) const;

  const OpenVinoLibrary &library_;
  std::string device_;
  int32_t threads_;
  std::string name_;
  OpenVinoHandle<OvCore> core_;
  std::map<int32_t, uint32_t> types_;  // data type -> OpenVINO's code of the element type
};
}  // namespace mslite

#endif
