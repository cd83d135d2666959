#include "coreml/coreml_runtime.h"
#include "model/message.h"

namespace mslite {
Status FindCoreMl() { return Fail(mindspore::kLiteNotSupport, "Core ML is only available on Apple's systems"); }

Status CompileCoreMl(const std::string &, const std::vector<CoreMlArray> &, const std::vector<CoreMlArray> &,
                     std::unique_ptr<CoreMlModel> *) {
  return FindCoreMl();
}
}  // namespace mslite
