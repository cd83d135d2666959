// Encrypts and decrypts whole files.
#ifndef MSLITE_CRYPTO_CIPHER_H
#define MSLITE_CRYPTO_CIPHER_H

#include <cstddef>
#include <cstdint>
#include <string>

#include "crypto/encrypted_blocks.h"
#include "include/api/types.h"
#include "model/bytes.h"
#include "model/internal_api.h"

namespace mslite {
// Bytes and their name in messages.
struct NamedBytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
  const std::string &name;
};

// Parses the name of a mode. Errors: kLiteNotSupport for SM4-CBC, kLiteParamInvalid for unknown names.
MSLITE_INTERNAL_API Status ParseCipherMode(const std::string &name, CipherMode *mode);

// Decrypts a file of 16 bytes or more with a key of 16, 24 or 32 bytes. `library` is the path of libcrypto, or empty.
// If it fails, the plaintext is wiped from memory. Errors: those of SplitBlocks and LoadLibcrypto; kLiteParamInvalid
// for a key of another length; kLiteGraphFileError if the key is wrong or the file was changed; kLiteMemoryFailed.
MSLITE_INTERNAL_API Status DecryptFile(const NamedBytes &file, const mindspore::Key &key, CipherMode mode,
                                       const std::string &library, AlignedBuffer *text, size_t *size);

// Returns the size of EncryptFile's result for `size` bytes.
MSLITE_INTERNAL_API size_t EncryptedSize(size_t size);

// Encrypts with AES-GCM into `result`, which has EncryptedSize(text.size) bytes. The IV of each block is random, from
// the operating system. Errors: kLiteParamInvalid for an empty text, and for a key that does not have 16, 24 or 32
// bytes; kLiteFileError if libcrypto or random bytes are not available.
MSLITE_INTERNAL_API Status EncryptFile(const NamedBytes &text, const mindspore::Key &key, const std::string &library,
                                       uint8_t *result);
}  // namespace mslite

#endif
