// The blocks of an encrypted file in MindSpore Lite's format. A file is a sequence of blocks:
//
//   mark    4 bytes   encryption mode
//   tag    16 bytes   AES-GCM only
//   L       4 bytes   size of the rest: 4 + 16 + 4 + C
//   16      4 bytes   size of the IV
//   IV     16 bytes
//   C       4 bytes   size of the ciphertext
//   cipher  C bytes
//
// Numbers are little-endian. The format does not authenticate the order of blocks or the end of the file. Reordered or
// missing blocks are only found when the decrypted model is verified.
#ifndef MSLITE_CRYPTO_ENCRYPTED_BLOCKS_H
#define MSLITE_CRYPTO_ENCRYPTED_BLOCKS_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/message.h"

namespace mslite {
enum class CipherMode { kAesGcm, kAesCbc };

constexpr size_t kIvSize = 16;
constexpr size_t kTagSize = 16;
// The size of a block in AES-GCM mode without the ciphertext.
constexpr size_t kHeadSize = 4 + kTagSize + 4 + 4 + kIvSize + 4;

// Returns an error with the text "file 'name': reason".
Status FileError(mindspore::StatusCode code, const std::string &name, const char *reason);

struct EncryptedBlock {
  const uint8_t *tag = nullptr;  // AES-GCM only
  const uint8_t *iv = nullptr;
  const uint8_t *cipher = nullptr;
  size_t size = 0;  // of the ciphertext
};

// Splits a file into blocks. Every length is checked against the remaining bytes. `name` is the file's name in
// messages. Errors: kLiteGraphFileError for a file that is not encrypted, or is damaged; kLiteNotSupport for another
// mode.
Status SplitBlocks(const uint8_t *data, size_t size, const std::string &name, CipherMode mode,
                   std::vector<EncryptedBlock> *blocks);

// Writes the head of a block in AES-GCM mode: kHeadSize bytes.
void WriteHead(const uint8_t *tag, const uint8_t *iv, size_t size, uint8_t *head);
}  // namespace mslite

#endif
