#include "crypto/libcrypto.h"

#include <dlfcn.h>

#include <cstring>

#include "model/shared_object.h"

namespace mslite {
namespace {
constexpr const char *kNames[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};

Status Open(const std::string &path, void **handle) {
  if (path.empty()) {
    for (const char *name : kNames) {
      *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (*handle != nullptr) return mindspore::kSuccess;
    }
    return Fail(mindspore::kLiteFileError,
                "encrypted models need OpenSSL's libcrypto, and there is no libcrypto.so.3, libcrypto.so.1.1 or "
                "libcrypto.so in the library search path; install OpenSSL, or set the library's path");
  }
  const char *reason = "it is cut off; copy it again";
  if (!IsTruncatedElf(path)) {
    *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (*handle != nullptr) return mindspore::kSuccess;
    reason = dlerror();
  }
  return Fail(mindspore::kLiteFileError, Format("libcrypto: '%.500s' cannot be loaded: %s", path.c_str(), reason));
}

constexpr const char *kFunctions[] = {
    "EVP_CIPHER_CTX_new",  "EVP_CIPHER_CTX_free", "EVP_CIPHER_CTX_ctrl", "EVP_DecryptInit_ex",  "EVP_DecryptUpdate",
    "EVP_DecryptFinal_ex", "EVP_EncryptInit_ex",  "EVP_EncryptUpdate",   "EVP_EncryptFinal_ex", "EVP_aes_128_gcm",
    "EVP_aes_192_gcm",     "EVP_aes_256_gcm",     "EVP_aes_128_cbc",     "EVP_aes_192_cbc",     "EVP_aes_256_cbc",
    "ERR_set_mark",        "ERR_pop_to_mark"};
constexpr size_t kCount = sizeof kFunctions / sizeof *kFunctions;
static_assert(sizeof(Libcrypto) == kCount * sizeof(void *), "one name per member");
}  // namespace

Status LoadLibcrypto(const std::string &path, Libcrypto *library) {
  void *handle = nullptr;
  MSLITE_TRY(Open(path, &handle));
  void *found[kCount];
  for (size_t i = 0; i < kCount; ++i) {
    found[i] = dlsym(handle, kFunctions[i]);
    if (found[i] == nullptr) {
      return Fail(mindspore::kLiteFileError,
                  Format("libcrypto: '%.500s' has no function %s", path.c_str(), kFunctions[i]));
    }
  }
  std::memcpy(library, found, sizeof found);
  return mindspore::kSuccess;
}
}  // namespace mslite
