// A device of NNRT, and what is made for it.
#ifndef MSLITE_DELEGATE_NNRT_NNRT_DEVICE_H
#define MSLITE_DELEGATE_NNRT_NNRT_DEVICE_H

#include <memory>
#include <string>
#include <vector>

#include "nnrt/nnrt_graph.h"
#include "nnrt/nnrt_library.h"

namespace mslite {
using mindspore::Status;

// Destroys an object of the library, whose functions take the place of a pointer.
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
  std::string device;       // its name; without one, the first that is no CPU
  bool is_half = false;     // it may compute in float16
  int32_t performance = 0;  // 1 to 4: low to extreme; 0: its own
  std::string advice;       // what else to say where NNRT is missing
};

// An executable part: ends in the order from below.
struct NnrtCompiled {
  NnrtHandle<NnrtModelHandle> model;
  NnrtHandle<NnrtCompilationHandle> compilation;
  NnrtHandle<NnrtExecutorHandle> executor;
  std::vector<NnrtHandle<NnrtTensorHandle>> inputs;
  std::vector<NnrtHandle<NnrtTensorHandle>> outputs;
};

class NnrtDevice {
 public:
  // Opens the library and asks it for the device. Errors: kLiteNotSupport, with what is missing.
  static Status Find(const NnrtSettings &settings, std::shared_ptr<NnrtDevice> *found);

  const std::string &name() const { return name_; }
  const NnrtLibrary &library() const { return library_; }
  // Why it does not run the graph; an empty text: it does.
  std::string WhyNot(const NnrtGraph &graph) const;
  // The graph's contents must outlive what is compiled.
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
