// Loads the functions of OpenSSL's libcrypto that are needed, from the machine's library, at run time. They are
// declared here, so that its headers are not needed.
#ifndef MSLITE_CRYPTO_LIBCRYPTO_H
#define MSLITE_CRYPTO_LIBCRYPTO_H

#include <string>

#include "model/message.h"

namespace mslite {
// Commands of EVP_CIPHER_CTX_ctrl, the same in all versions of OpenSSL.
constexpr int kSetIvSize = 0x9;
constexpr int kGetTag = 0x10;
constexpr int kSetTag = 0x11;

// All members are function pointers, in the order of the names in libcrypto.cc.
struct Libcrypto {
  using Init = int (*)(void *context, const void *cipher, void *engine, const unsigned char *key,
                       const unsigned char *iv);
  using Update = int (*)(void *context, unsigned char *out, int *out_size, const unsigned char *in, int in_size);
  using Final = int (*)(void *context, unsigned char *out, int *out_size);
  using Cipher = const void *(*)();

  void *(*new_context)();
  void (*free_context)(void *context);
  int (*control)(void *context, int type, int number, void *pointer);
  Init decrypt_init;
  Update decrypt_update;
  Final decrypt_final;
  Init encrypt_init;
  Update encrypt_update;
  Final encrypt_final;
  Cipher aes_gcm[3];  // for keys of 16, 24 and 32 bytes
  Cipher aes_cbc[3];
  int (*set_mark)();  // later OpenSSL errors are not added to the program's error queue
  int (*pop_to_mark)();
};

// Loads the library at `path`; if it is empty, libcrypto.so.3, libcrypto.so.1.1 or libcrypto.so from the library search
// path. It stays loaded. Errors: kLiteFileError with the linker's reason, or the missing function.
Status LoadLibcrypto(const std::string &path, Libcrypto *library);
}  // namespace mslite

#endif
