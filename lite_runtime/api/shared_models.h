// Models that are loaded once: builds from the same file share constants and packed weights.
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
// Device, inode, size and time of the last change of a file.
using FileIdentity = std::tuple<uint64_t, uint64_t, int64_t, int64_t, int64_t>;
// False where there is no such file.
bool Identify(const std::string &path, FileIdentity *identity);

// What decrypts a file.
struct Decryption {
  const mindspore::Key &key;
  const std::string &mode;
  const std::string &library;  // path of libcrypto, or empty
};

struct OpenSettings {
  // Whose delegates are offered the nodes, and what they take; null: none is asked.
  std::shared_ptr<mindspore::Context> delegating;
  std::shared_ptr<Delegation> *delegation = nullptr;
  bool with_engines = true;                          // that the context asks for
  const std::vector<TensorShape> *shapes = nullptr;  // of the inputs, which delegates are to see
  const Decryption *decryption = nullptr;            // for an encrypted file
  float obfuscation_ratio = 0;                       // that the model gets; 0: the one that it has
  const NewWeights *weights = nullptr;               // that the model gets
  const Adapter *adapter = nullptr;                  // that the model gets slots for
};

// The model in a file. While one from the same unchanged file lives, that one; with settings always one of its own.
Status OpenModel(const std::string &path, const OpenSettings &settings, std::shared_ptr<SharedModel> *model);
// The model in a buffer, which is copied or decrypted.
Status OpenModel(const void *data, size_t size, const OpenSettings &settings, std::shared_ptr<SharedModel> *model);
// The model that was opened before; with settings, which do not decrypt, another one from the same bytes. Models that
// differ from those of an unchanged file by the same slots for an adapter alone are one, while it lives.
Status OpenModel(std::shared_ptr<SharedModel> opened, const OpenSettings &settings,
                 std::shared_ptr<SharedModel> *model);
}  // namespace mslite

#endif
