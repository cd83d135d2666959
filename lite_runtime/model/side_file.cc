// Loads constants from a `.msw` file beside the model.
#include "model/loader.h"

namespace mslite {
Status ReadSideFile(Loader *loader, const schema::Tensor &tensor, const std::string &name, const uint8_t **data,
                    size_t *size) {
  const auto *records = tensor.externalData();
  if (records->size() != 1) {
    return loader->Error(
        Format("tensor '%.200s': %u external data entries, but only one is supported", name.c_str(), records->size()));
  }
  const auto *record = records->Get(0);
  if (record->location() == nullptr || record->location()->size() == 0) {
    return loader->Error("tensor '" + name + "': external data without a location");
  }
  const std::string location = record->location()->str();
  if (location.find('/') != std::string::npos || location.find('\\') != std::string::npos) {
    return loader->Error("tensor '" + name + "': external data location '" + location + "' is not a plain file name");
  }
  if (loader->graph->file->was_encrypted()) {
    return loader->Unsupported("tensor '" + name + "': its data is in '" + location +
                               "', which the encryption of the model does not cover");
  }
  if (loader->graph->file->directory().empty()) {
    return loader->Error("tensor '" + name + "': its data is in '" + location +
                         "', which a model built from a buffer cannot open; build from the file");
  }
  const std::string path = loader->graph->file->directory() + "/" + location;
  const Bytes *side = nullptr;
  for (const auto &file : loader->graph->side_files) {
    if (file->name() == path) side = file.get();
  }
  if (side == nullptr) {
    std::shared_ptr<const Bytes> file;
    MSLITE_TRY(Bytes::Map(path, &file));
    side = file.get();
    loader->graph->side_files.push_back(std::move(file));
  }
  const int64_t offset = record->offset();
  const int64_t length = record->length();
  const auto total = static_cast<int64_t>(side->size());
  if (offset < 0 || length < 0 || offset > total || length > total - offset) {
    return loader->Error(Format("tensor '%.200s': bytes %lld..+%lld are outside of '%.200s'", name.c_str(),
                                static_cast<long long>(offset), static_cast<long long>(length), location.c_str()));
  }
  *data = length == 0 ? nullptr : side->data() + offset;
  *size = static_cast<size_t>(length);
  return mindspore::kSuccess;
}
}  // namespace mslite
