// A device of OpenVINO, and what is made for it.
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

// An object of the C library, and the function that frees it.
template <typename Object>
using OpenVinoHandle = std::unique_ptr<Object, void (*)(Object *)>;

class OpenVinoDevice {
 public:
  // Opens the library and asks it for the device: "CPU", "GPU", "GPU.1", "NPU", "AUTO". `threads`: of its CPU; 0: as
  // many as OpenVINO takes. Errors: kLiteNotSupport, with what is missing.
  static Status Find(const std::string &device, int32_t threads, std::shared_ptr<OpenVinoDevice> *found);

  // "Intel(R) Core(TM) ...".
  const std::string &name() const { return name_; }
  const OpenVinoLibrary &library() const { return library_; }
  // `weights` must outlive the request.
  Status Compile(const std::string &text, const std::vector<uint8_t> &weights, OpenVinoHandle<OvInferRequest> *request);
  // Shows memory of the caller; nothing is copied.
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
  std::map<int32_t, uint32_t> types_;  // OpenVINO's numbers of element types
};
}  // namespace mslite

#endif
