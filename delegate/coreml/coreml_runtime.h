// Core ML itself, which is there on Apple's systems alone: coreml_runtime.mm there, coreml_elsewhere.cc on others.
#ifndef MSLITE_DELEGATE_COREML_COREML_RUNTIME_H
#define MSLITE_DELEGATE_COREML_COREML_RUNTIME_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/api/status.h"

namespace mslite {
using mindspore::Status;

// A tensor of float32 at the border of a model, by its name there.
struct CoreMlArray {
  std::string name;
  std::vector<int64_t> dims;
};

class CoreMlModel {
 public:
  virtual ~CoreMlModel() = default;
  // Runs with the contents of the inputs, and writes the outputs.
  virtual Status Run(const std::vector<const float *> &inputs, const std::vector<float *> &outputs) = 0;
};

// Errors: kLiteNotSupport where Core ML is not there.
Status FindCoreMl();
// `text`: a model specification.
Status CompileCoreMl(const std::string &text, const std::vector<CoreMlArray> &inputs,
                     const std::vector<CoreMlArray> &outputs, std::unique_ptr<CoreMlModel> *model);
}  // namespace mslite

#endif
