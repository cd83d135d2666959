#include "opencl/opencl_files.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace mslite {
namespace {
namespace fs = std::filesystem;

constexpr size_t kMark = 8;
constexpr size_t kHead = kMark + sizeof(Digest);
constexpr char kUnfinished[] = ".part";

// Removes the last dot and the number after it from a name. Returns the number; -1 if there is none.
int64_t CutNumber(std::string *name) {
  const size_t dot = name->rfind('.');
  if (dot == std::string::npos) return -1;
  int32_t number = -1;
  const char *end = name->data() + name->size();
  const auto [rest, error] = std::from_chars(name->data() + dot + 1, end, number);
  if (error != std::errc() || rest != end) return -1;
  name->resize(dot);
  return number;
}

// Returns the process ID in the name of an unfinished file, <file>.<process>.<number>.part; 0 for other names.
pid_t MakerOf(const fs::path &path) {
  if (path.extension() != kUnfinished) return 0;
  std::string name = path.stem().string();
  if (CutNumber(&name) < 0) return 0;
  const auto process = static_cast<pid_t>(CutNumber(&name));
  const fs::path ending = fs::path(name).extension();
  return process > 0 && (ending == ".clbin" || ending == ".cltune") ? process : 0;
}

// Removes unfinished files of processes that have ended. A running process in another container that shares the folder
// may look as if it had ended. It then stores nothing, as if its file could not be written.
void RemoveUnfinished(const fs::path &folder) {
  static std::atomic<pid_t> known{0};
  const pid_t self = getpid();
  const bool is_first = known.exchange(self) != self;  // then the file is from an earlier process with the same ID
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const pid_t maker = MakerOf(at->path());
    const bool is_gone = maker == self ? is_first : maker > 0 && kill(maker, 0) != 0 && errno == ESRCH;
    std::error_code gone;  // ignored: another process may have removed the file
    if (is_gone) fs::remove(at->path(), gone);
  }
}
}  // namespace

fs::path OpenClCacheFolder() {
  const char *folder = std::getenv("MSLITE_OPENCL_CACHE");
  if (folder == nullptr || *folder == '\0') return "";
  RemoveUnfinished(folder);
  return folder;
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
  const fs::path part = path.string() + "." + std::to_string(getpid()) + "." + std::to_string(number++) + kUnfinished;
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
