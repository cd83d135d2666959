#include "crypto/encrypted_blocks.h"

#include <cstring>

#include "model/encryption_magic.h"

namespace mslite {
namespace {
void WriteLittleEndian(uint32_t number, uint8_t *bytes) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(number >> 8 * i);
}

// Reads the bytes of a file in order.
class Reader {
 public:
  Reader(const uint8_t *data, size_t size) : data_(data), left_(size) {}

  size_t left() const { return left_; }

  // Returns the next bytes; nullptr if fewer remain.
  const uint8_t *Take(uint64_t size) {
    if (size > left_) return nullptr;
    const uint8_t *taken = data_;
    data_ += size;
    left_ -= static_cast<size_t>(size);
    return taken;
  }

  bool TakeNumber(uint32_t *number) {
    const uint8_t *bytes = Take(4);
    if (bytes != nullptr) *number = ReadLittleEndian(bytes);
    return bytes != nullptr;
  }

 private:
  const uint8_t *data_;
  size_t left_;
};

// Reads a block. Returns the reason if it is invalid, otherwise nullptr.
const char *ReadBlock(Reader *reader, CipherMode mode, EncryptedBlock *block) {
  const char *cut_off = "it is cut off";
  uint32_t rest = 0;
  uint32_t iv_size = 0;
  uint32_t size = 0;
  if (mode == CipherMode::kAesGcm) {
    block->tag = reader->Take(kTagSize);
    if (block->tag == nullptr) return cut_off;
  }
  if (!reader->TakeNumber(&rest) || !reader->TakeNumber(&iv_size)) return cut_off;
  if (iv_size != kIvSize) return "its IV does not have 16 bytes";
  block->iv = reader->Take(kIvSize);
  if (block->iv == nullptr || !reader->TakeNumber(&size)) return cut_off;
  if (uint64_t{rest} != uint64_t{4} + kIvSize + 4 + size) return "its lengths are inconsistent";
  if (size > INT32_MAX) return "it exceeds 2 GiB";  // MindSpore Lite stores signed lengths
  if (mode == CipherMode::kAesCbc && (size == 0 || size % kIvSize != 0))
    return "its size is not a multiple of 16 bytes";
  block->cipher = reader->Take(size);
  block->size = size;
  return block->cipher == nullptr ? cut_off : nullptr;
}
}  // namespace

Status FileError(mindspore::StatusCode code, const std::string &name, const char *reason) {
  return Fail(code, "file '" + name + "': " + reason);
}

Status SplitBlocks(const uint8_t *data, size_t size, const std::string &name, CipherMode mode,
                   std::vector<EncryptedBlock> *blocks) {
  const char *found = EncryptionOf(data, size);
  if (found == nullptr) {
    return FileError(mindspore::kLiteGraphFileError, name, "a key is given, but the file is not encrypted");
  }
  const uint32_t mark = mode == CipherMode::kAesGcm ? kMarkAesGcm : kMarkAesCbc;
  if (ReadLittleEndian(data) != mark) {
    const char *expected = mode == CipherMode::kAesGcm ? "AES-GCM" : "AES-CBC";
    return FileError(mindspore::kLiteNotSupport, name,
                     Format("it is encrypted with %s, but %s is expected", found, expected).c_str());
  }
  Reader reader(data, size);
  while (reader.left() != 0) {
    uint32_t found_mark = 0;
    const bool is_marked = reader.TakeNumber(&found_mark) && found_mark == mark;
    EncryptedBlock block;
    const char *problem = is_marked ? ReadBlock(&reader, mode, &block) : "it does not begin with a block mark";
    if (problem != nullptr) {
      return FileError(mindspore::kLiteGraphFileError, name,
                       Format("the file is damaged: encrypted block %zu: %s", blocks->size(), problem).c_str());
    }
    blocks->push_back(block);
  }
  return mindspore::kSuccess;
}

void WriteHead(const uint8_t *tag, const uint8_t *iv, size_t size, uint8_t *head) {
  WriteLittleEndian(kMarkAesGcm, head);
  std::memcpy(head + 4, tag, kTagSize);
  uint8_t *next = head + 4 + kTagSize;
  WriteLittleEndian(static_cast<uint32_t>(4 + kIvSize + 4 + size), next);
  WriteLittleEndian(kIvSize, next + 4);
  std::memcpy(next + 8, iv, kIvSize);
  WriteLittleEndian(static_cast<uint32_t>(size), next + 8 + kIvSize);
}
}  // namespace mslite
