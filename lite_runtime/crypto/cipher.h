// Encryption and decryption of whole files.
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
// Bytes and what messages call them.
struct NamedBytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
  const std::string &name;
};

// The mode of that name. Errors: kLiteNotSupport for SM4-CBC, kLiteParamInvalid for what is no mode.
MSLITE_INTERNAL_API Status ParseCipherMode(const std::string &name, CipherMode *mode);

// Decrypts a file of 16 bytes or more with a key of 16, 24 or 32 bytes; `library` is the path of libcrypto, or empty.
// Nothing of the text is left in memory when it fails.
// Errors: those of SplitBlocks and LoadLibcrypto; kLiteParamInvalid for a key of another length; kLiteGraphFileError
// where the key is not the file's, or the file was changed; kLiteMemoryFailed.
MSLITE_INTERNAL_API Status DecryptFile(const NamedBytes &file, const mindspore::Key &key, CipherMode mode,
                                       const std::string &library, AlignedBuffer *text, size_t *size);

// What EncryptFile makes of `size` bytes.
MSLITE_INTERNAL_API size_t EncryptedSize(size_t size);

// Encrypts with AES-GCM into `result`, which has room for EncryptedSize(text.size) bytes; each block has random bytes
// of the operating system as its IV. Errors: kLiteParamInvalid for an empty text, and for a key that has not 16, 24 or
// 32 bytes; kLiteFileError where there is no libcrypto or no random bytes.
MSLITE_INTERNAL_API Status EncryptFile(const NamedBytes &text, const mindspore::Key &key, const std::string &library,
                                       uint8_t *result);
}  // namespace mslite

#endif
