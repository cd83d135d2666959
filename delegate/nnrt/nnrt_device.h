// NnrtDevice: a device of NNRT, and compilation for it.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_DEVICE_H
#define MSLITE_DELEGATE_NNRT_NNRT_DEVICE_H

#include <memory>
#include <string>
#include <vector>

#include "nnrt/nnrt_graph.h"
#include "nnrt/nnrt_library.h"

namespace mslite {
using mindspore::Status;

// Destroys an object of the library, whose functions take the address of a pointer.
template <typename Object>
struct NnrtDestroyer {
  using Function = void (*)(Object **);
  using Reporting = int (*)(Object **);
  Function function = nullptr;
  Reporting reporting = nullptr;
  void operator()(Object *object) const {
    if (function != nullptr) {
      function(&object);
    } else {
      reporting(&object);
    }
  }
};
template <typename Object>
using NnrtHandle = std::unique_ptr<Object, NnrtDestroyer<Object>>;

struct NnrtSettings {
  std::string device;       // name of the device; empty: the first one that is not a CPU
  bool is_half = false;     // float16 is allowed
  int32_t performance = 0;  // 1 (low) to 4 (extreme); 0: the default of the device
  std::string advice;       // appended to the message if NNRT is missing
};

// A compiled partition. Members are destroyed in reverse order.
struct NnrtCompiled {
  NnrtHandle<NnrtModelHandle> model;
  NnrtHandle<NnrtCompilationHandle> compilation;
  NnrtHandle<NnrtExecutorHandle> executor;
  std::vector<NnrtHandle<NnrtTensorHandle>> inputs;
  std::vector<NnrtHandle<NnrtTensorHandle>> outputs;
};

class NnrtDevice {
 public:
  // Loads the library and finds the device. Errors: kLiteNotSupport, with the reason.
  static Status Find(const NnrtSettings &settings, std::shared_ptr<NnrtDevice> *found);

  const std::string &name() const { return name_; }
  const NnrtLibrary &library() const { return library_; }
  // Returns the reason if the graph is unsupported, else "".
  std::string UnsupportedReason(const NnrtGraph &graph) const;
  // Compiles a graph, whose constants must outlive `compiled`.
  Status Compile(const NnrtGraph &graph, NnrtCompiled *compiled) const;

 private:
  NnrtDevice(const NnrtLibrary &library, NnrtSettings settings) : library_(library), settings_(std::move(settings)) {}

  Status Describe(const NnrtOperand &operand, NnrtHandle<NnrtDescriptionHandle> *description) const;
  Status MakeModel(const NnrtGraph &graph, NnrtHandle<NnrtModelHandle> *model) const;
  Status MakeTensors(const NnrtGraph &graph, const std::vector<uint32_t> &operands,
                     std::vector<NnrtHandle<NnrtTensorHandle>> *tensors) const;

  const NnrtLibrary &library_;
  NnrtSettings settings_;
  std::string name_;
  size_t id_ = 0;
};
}  // namespace mslite

#endif
