// NnapiDevice: the NNAPI devices that a model runs on, and compilation for them.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_DEVICE_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_DEVICE_H

#include <memory>
#include <string>
#include <vector>

#include "nnapi/nnapi_graph.h"
#include "nnapi/nnapi_library.h"

namespace mslite {
using mindspore::Status;

// An object of the library with the function that frees it.
template <typename Object>
using NnapiHandle = std::unique_ptr<Object, void (*)(Object *)>;

struct NnapiCompiled {
  explicit NnapiCompiled(const NnapiLibrary &library)
      : model(nullptr, library.Model_free), compilation(nullptr, library.Compilation_free) {}

  NnapiHandle<NnapiModelHandle> model;
  NnapiHandle<NnapiCompilationHandle> compilation;  // destroyed before the model
};

class NnapiDevice {
 public:
  // Loads the library and finds the device with this name; without a name, all devices except NNAPI's CPU, which is
  // slower than mslite's CPU backend. `is_half`: float16 is allowed. Errors: kLiteNotSupport, with the reason.
  static Status Find(const std::string &name, bool is_half, std::shared_ptr<NnapiDevice> *found);

  const std::string &name() const { return name_; }
  const NnapiLibrary &library() const { return library_; }
  // Returns the reason if the graph is unsupported, else "".
  std::string UnsupportedReason(const NnapiGraph &graph) const;
  // Compiles a graph, whose constants must outlive `compiled`.
  Status Compile(const NnapiGraph &graph, NnapiCompiled *compiled) const;

 private:
  NnapiDevice(const NnapiLibrary &library, bool is_half) : library_(library), is_half_(is_half) {}

  Status MakeModel(const NnapiGraph &graph, NnapiHandle<NnapiModelHandle> *model) const;
  Status AddOperand(const NnapiOperand &operand, int32_t index, NnapiModelHandle *model) const;

  const NnapiLibrary &library_;
  bool is_half_;
  std::string name_;
  int64_t level_ = 0;  // highest feature level of the devices
  std::vector<const NnapiDeviceHandle *> devices_;
};
}  // namespace mslite

#endif
