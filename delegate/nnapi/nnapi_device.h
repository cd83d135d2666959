// The devices of NNAPI that models run on, and what is made for them.
#ifndef MSLITE_DELEGATE_NNAPI_NNAPI_DEVICE_H
#define MSLITE_DELEGATE_NNAPI_NNAPI_DEVICE_H

#include <memory>
#include <string>
#include <vector>

#include "nnapi/nnapi_graph.h"
#include "nnapi/nnapi_library.h"

namespace mslite {
using mindspore::Status;

// An object of the library, and the function that frees it.
template <typename Object>
using NnapiHandle = std::unique_ptr<Object, void (*)(Object *)>;

struct NnapiCompiled {
  explicit NnapiCompiled(const NnapiLibrary &library)
      : model(nullptr, library.Model_free), compilation(nullptr, library.Compilation_free) {}

  NnapiHandle<NnapiModelHandle> model;
  NnapiHandle<NnapiCompilationHandle> compilation;  // ends before the model
};

class NnapiDevice {
 public:
  // Opens the library and asks it for the device of this name; without one, for all but NNAPI's own CPU, which is
  // slower than mslite's. `is_half`: it may compute in float16. Errors: kLiteNotSupport, with what is missing.
  static Status Find(const std::string &name, bool is_half, std::shared_ptr<NnapiDevice> *found);

  const std::string &name() const { return name_; }
  const NnapiLibrary &library() const { return library_; }
  // Why it does not run the graph; an empty text: it does.
  std::string WhyNot(const NnapiGraph &graph) const;
  // The graph's contents must outlive what is compiled.
  Status Compile(const NnapiGraph &graph, NnapiCompiled *compiled) const;

 private:
  NnapiDevice(const NnapiLibrary &library, bool is_half) : library_(library), is_half_(is_half) {}

  Status MakeModel(const NnapiGraph &graph, NnapiHandle<NnapiModelHandle> *model) const;
  Status AddOperand(const NnapiOperand &operand, int32_t index, NnapiModelHandle *model) const;

  const NnapiLibrary &library_;
  bool is_half_;
  std::string name_;
  int64_t level_ = 0;  // the highest of the devices
  std::vector<const NnapiDeviceHandle *> devices_;
};
}  // namespace mslite

#endif
