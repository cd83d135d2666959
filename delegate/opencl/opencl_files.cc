#include "opencl/opencl_files.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace mslite {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMark = 8;
constexpr size_t kHead = kMark + sizeof(Digest);
}  // namespace

fs::path OpenClCacheFolder() {
  const char *folder = std::getenv("MSLITE_OPENCL_CACHE");
  return folder == nullptr ? "" : folder;
}

std::vector<uint8_t> ReadChecked(const fs::path &path, FileKind kind, uintmax_t most) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (error || size <= kHead || size > most + kHead) return {};
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes(static_cast<size_t>(size));
  if (!file.read(reinterpret_cast<char *>(bytes.data()), static_cast<std::streamsize>(size))) return {};
  std::vector<uint8_t> contents(bytes.begin() + kHead, bytes.end());
  const Digest digest = Sha256(contents.data(), contents.size());
  const bool is_whole =
      std::equal(kind, kind + kMark, bytes.begin()) && std::equal(digest.begin(), digest.end(), bytes.begin() + kMark);
  if (!is_whole) contents.clear();
  return contents;
}

bool WriteChecked(const fs::path &path, FileKind kind, const std::vector<uint8_t> &contents) {
  static std::atomic<unsigned> number{0};
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const fs::path part = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(number++) + ".part";
  std::ofstream file(part, std::ios::binary);
  const Digest digest = Sha256(contents.data(), contents.size());
  file.write(kind, kMark);
  file.write(reinterpret_cast<const char *>(digest.data()), digest.size());
  file.write(reinterpret_cast<const char *>(contents.data()), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (file.good()) {
    fs::rename(part, path, error);
    if (!error) return true;
  }
  fs::remove(part, error);
  return false;
}

Digest DigestOf(const std::vector<std::string> &texts) {
  std::string all;
  for (const std::string &text : texts) all += text + '\0';
  return Sha256(reinterpret_cast<const uint8_t *>(all.data()), all.size());
}
}  // namespace mslite
