// Opens models. Models from the same file share constants and packed weights.
#ifndef MSLITE_API_SHARED_MODELS_H
#define MSLITE_API_SHARED_MODELS_H

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "include/api/types.h"
#include "model/adapter.h"
#include "plan/frame.h"
#include "plan/program.h"
#include "plan/rewrite/new_weights.h"
#include "registry/delegation.h"

namespace mslite {
// The device, inode, size and modification time of a file.
using FileIdentity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
// Returns false if the file does not exist.
bool Identify(const std::string &path, FileIdentity *identity);

// The settings for decrypting a file.
struct Decryption {
  const mindspore::Key &key;
  const std::string &mode;
  const std::string &library;  // path of libcrypto, or empty
};

struct OpenSettings {
  // The context with the delegates that the nodes are offered to, and their partitions; null: no delegates.
  std::shared_ptr<mindspore::Context> delegating;
  std::shared_ptr<Delegation> *delegation = nullptr;
  bool with_engines = true;                          // whether the backends of the context are used
  const std::vector<TensorShape> *shapes = nullptr;  // input shapes for the delegates
  const Decryption *decryption = nullptr;            // for an encrypted file
  float obfuscation_ratio = 0;                       // 0: the ratio of the file
  const NewWeights *weights = nullptr;               // replace the weights of the file
  const Adapter *adapter = nullptr;                  // slots for this adapter are added
};

// Opens the model in a file. Without settings, an existing model of the same unchanged file is shared; with settings, a
// new model is created.
Status OpenModel(const std::string &path, const OpenSettings &settings, std::shared_ptr<SharedModel> *model);
// Opens the model in a buffer, which is copied or decrypted.
Status OpenModel(const void *data, size_t size, const OpenSettings &settings, std::shared_ptr<SharedModel> *model);
// Returns the opened model, or with settings a new model from the same bytes (without decryption). An existing model of
// the same unchanged file with the same adapter slots is shared.
Status OpenModel(std::shared_ptr<SharedModel> opened, const OpenSettings &settings,
                 std::shared_ptr<SharedModel> *model);
}  // namespace mslite

#endif
