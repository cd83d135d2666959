// Access to Core ML: coreml_runtime.mm on Apple's systems, coreml_elsewhere.cc on others.
#ifndef MSLITE_DELEGATE_COREML_COREML_RUNTIME_H
#define MSLITE_DELEGATE_COREML_COREML_RUNTIME_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/api/status.h"

namespace mslite {
using mindspore::Status;

// A float32 input or output of a model, with its name in the model.
struct CoreMlArray {
  std::string name;
  std::vector<int64_t> dims;
};

class CoreMlModel {
 public:
  virtual ~CoreMlModel() = default;
  // Runs the model with the data of the inputs, and writes the outputs.
  virtual Status Run(const std::vector<const float *> &inputs, const std::vector<float *> &outputs) = 0;
};

// Errors: kLiteNotSupport if Core ML is not available.
Status FindCoreMl();
// Compiles a model specification, `text`.
Status CompileCoreMl(const std::string &text, const std::vector<CoreMlArray> &inputs,
                     const std::vector<CoreMlArray> &outputs, std::unique_ptr<CoreMlModel> *model);
}  // namespace mslite

#endif
