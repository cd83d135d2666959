// What an encrypted file is made of, as MindSpore Lite writes it: blocks one after the other, each of
//
//   mark    4 bytes    which mode
//   tag    16 bytes    AES-GCM only
//   L       4 bytes    what follows: 4 + 16 + 4 + C
//   16      4 bytes    the length of the IV
//   IV     16 bytes
//   C       4 bytes
//   cipher  C bytes
//
// in little-endian numbers. Nothing ties a block to its place: the order of blocks, and whether one is missing behind
// the last, is what the model's own offsets must tell.
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
// Of a block in the mode AES-GCM, without the cipher.
constexpr size_t kHeadSize = 4 + kTagSize + 4 + 4 + kIvSize + 4;

// "file 'name': reason".
Status FileError(mindspore::StatusCode code, const std::string &name, const char *reason);

struct EncryptedBlock {
  const uint8_t *tag = nullptr;  // AES-GCM only
  const uint8_t *iv = nullptr;
  const uint8_t *cipher = nullptr;
  size_t size = 0;  // of the cipher
};

// Takes a file apart; every length is checked against what is left of it. `name` is what messages call it.
// Errors: kLiteGraphFileError for a file that is not encrypted, or is damaged; kLiteNotSupport for one in another mode.
Status SplitBlocks(const uint8_t *data, size_t size, const std::string &name, CipherMode mode,
                   std::vector<EncryptedBlock> *blocks);

// Writes what stands before the cipher of a block in the mode AES-GCM: kHeadSize bytes.
void WriteHead(const uint8_t *tag, const uint8_t *iv, size_t size, uint8_t *head);
}  // namespace mslite

#endif
