#include "include/mslite/digest.h"

#include <cstring>

#include "api/log.h"
#include "model/bytes.h"
#include "model/message.h"
#include "model/sha256.h"

namespace mslite {
namespace {
// converter/mindir/digest.py appends to a file, after all tables and constants: the name of the side file, the length
// of the name (4 bytes, little-endian), the digest of the side file, the digest of all preceding bytes, and a mark.
constexpr char kMark[] = "mslite sha256 1\n";
constexpr size_t kMarkSize = sizeof kMark - 1;
constexpr size_t kDigestSize = sizeof(Digest);
constexpr size_t kFixedSize = 4 + 2 * kDigestSize + kMarkSize;
constexpr size_t kLongestName = 255;

struct View {
  const uint8_t *data;
  size_t size;
  const std::string &name;
  const std::string &directory;  // empty for a buffer
};

std::string Text(const Digest &digest) {
  std::string text;
  for (const uint8_t byte : digest) text += {"0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
  return text;
}

bool Equals(const Digest &digest, const uint8_t *stored) {
  return std::memcmp(digest.data(), stored, kDigestSize) == 0;
}

Status Bad(const std::string &name, const std::string &what) {
  return Fail(mindspore::kLiteGraphFileError, "file '" + name + "': " + what);
}

Status CheckSideFile(const View &file, const uint8_t *digest, const std::string &name) {
  if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos || name == "." || name == "..") {
    return Bad(file.name, "its digest names a side file that is not a plain file name");
  }
  if (file.directory.empty()) return mindspore::kSuccess;
  std::shared_ptr<const Bytes> side;
  MSLITE_TRY(Bytes::Map(file.directory + "/" + name, &side));
  if (Equals(Sha256(side->data(), side->size()), digest)) return mindspore::kSuccess;
  return Bad(side->name(),
             "its digest differs from the one that is stored in the model: the file is damaged or has been replaced");
}

Status CheckOwn(const View &file, bool is_needed) {
  const uint8_t *end = file.data + file.size;
  if (file.size < kFixedSize || std::memcmp(end - kMarkSize, kMark, kMarkSize) != 0) {
    if (!is_needed) return mindspore::kSuccess;
    return Bad(file.name, "it has no digest. Convert with --digest=on, or pass the expected digest");
  }
  const uint8_t *own = end - kMarkSize - kDigestSize;
  if (!Equals(Sha256(file.data, static_cast<size_t>(own - file.data)), own)) {
    return Bad(file.name, "its digest differs from the one at its end: the file is damaged");
  }
  const uint8_t *side = own - kDigestSize;
  uint32_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | side[i - 4];
  if (length == 0) return mindspore::kSuccess;
  if (length > kLongestName || length > file.size - kFixedSize)
    return Bad(file.name, "the digest at its end is invalid");
  return CheckSideFile(file, side, std::string(reinterpret_cast<const char *>(side - 4 - length), length));
}

Status CheckExpected(const View &file, std::string expected) {
  for (char &c : expected) c = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
  if (expected.size() != 2 * kDigestSize || expected.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return Fail(mindspore::kLiteParamInvalid, "the expected digest is not 64 hexadecimal digits");
  }
  const std::string found = Text(Sha256(file.data, file.size));
  if (found == expected) return mindspore::kSuccess;
  return Bad(file.name, "its digest is " + found + ", which is not the expected one");
}

Status Verify(const View &file, const std::string &expected) {
  if (!expected.empty()) MSLITE_TRY(CheckExpected(file, expected));
  return CheckOwn(file, expected.empty());
}
}  // namespace

Status VerifyDigest(const std::string &model_path, const std::string &expected) {
  return Guard([&]() -> Status {
    std::shared_ptr<const Bytes> file;
    MSLITE_TRY(Bytes::Map(model_path, &file));
    return Verify({file->data(), file->size(), file->name(), file->directory()}, expected);
  });
}

Status VerifyDigest(const void *data, size_t size, const std::string &expected) {
  return Guard([&]() -> Status {
    if (data == nullptr || size == 0) return Fail(mindspore::kLiteNullptr, "the model data is null or empty");
    return Verify({static_cast<const uint8_t *>(data), size, "<buffer>", ""}, expected);
  });
}

Status FileDigest(const std::string &path, std::string *digest) {
  return Guard([&]() -> Status {
    if (digest == nullptr) return Fail(mindspore::kLiteNullptr, "digest is null");
    std::shared_ptr<const Bytes> file;
    MSLITE_TRY(Bytes::Map(path, &file));
    *digest = Text(Sha256(file->data(), file->size()));
    return mindspore::kSuccess;
  });
}
}  // namespace mslite
