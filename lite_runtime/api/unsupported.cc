// Unsupported functions of MindSpore Lite's API: pre-processing, OpenGL textures and models in several files.
#include "api/log.h"
#include "include/api/model.h"
#include "include/api/serialization.h"

namespace mindspore {
namespace {
Status NotBuilt(const char *what, StatusCode code = kLiteNotSupport) {
  return mslite::Guard([&] { return Status(code, std::string(what) + " is not supported by this library"); });
}
}  // namespace

Status Model::PredictWithPreprocess(const std::vector<std::vector<MSTensor>> &, std::vector<MSTensor> *,
                                    const MSKernelCallBack &, const MSKernelCallBack &) {
  return NotBuilt("PredictWithPreprocess");
}
Status Model::Preprocess(const std::vector<std::vector<MSTensor>> &, std::vector<MSTensor> *) {
  return NotBuilt("Preprocess");
}
bool Model::HasPreprocess() { return false; }
Status Model::BindGLTexture2DMemory(const std::map<std::string, unsigned int> &,
                                    std::map<std::string, unsigned int> *) {
  return NotBuilt("BindGLTexture2DMemory");
}

Status Serialization::SetParameters(const std::map<std::string, Buffer> &, Model *) {
  return NotBuilt("SetParameters", kMEFailed);
}
Status Serialization::Load(const std::vector<std::string> &, ModelType, std::vector<Graph> *, const Key &,
                           const std::string &) {
  return NotBuilt("loading several files", kMEFailed);
}
}  // namespace mindspore
