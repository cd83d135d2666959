#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "training/export.h"

namespace mslite {
namespace {
constexpr mode_t kMode = 0644;  // reduced by the user's umask: weights may be private

Status Error(const std::string &path, const char *what, int error) {
  return Fail(mindspore::kLiteFileError, "file '" + path + "': " + what + ": " + std::strerror(error));
}

// Writes all bytes. Returns 0 or errno.
int WriteAll(int descriptor, const std::vector<uint8_t> &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}

// Locks and empties the file `path` of the descriptor. Returns false if it is in use, belongs to another user, has
// another name, or was replaced.
bool Owns(int descriptor, const std::string &path) {
  struct stat opened {};
  struct stat named {};
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 && fstat(descriptor, &opened) == 0 &&
         lstat(path.c_str(), &named) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == geteuid() &&
         opened.st_nlink == 1 && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
         ftruncate(descriptor, 0) == 0;
}

// Opens a temporary file beside `path`. The name is always the same unless that file is in use, so that a process that
// is killed leaves at most one file, which the next writer reuses. Returns a negative number and sets errno on failure.
int OpenBeside(const std::string &path, std::string *beside) {
  *beside = path + ".part";
  const int descriptor = open(beside->c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, kMode);
  if (descriptor >= 0 && Owns(descriptor, *beside)) return descriptor;
  if (descriptor >= 0) close(descriptor);
  constexpr int kNames = 100;
  for (int i = 0; i < kNames; ++i) {
    *beside = path + ".part." + std::to_string(getpid()) + "." + std::to_string(i);
    const int another = open(beside->c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
    if (another >= 0 || errno != EEXIST) return another;
  }
  return -1;
}
}  // namespace

Status WriteFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::string beside;
  const int descriptor = OpenBeside(path, &beside);
  if (descriptor < 0) return Error(path, "cannot be written", errno);
  int error = WriteAll(descriptor, bytes);
  // Renamed before the lock is released, so that no other process takes the file for a leftover.
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) unlink(beside.c_str());
  if (close(descriptor) != 0 && error == 0) error = errno;
  return error == 0 ? Status(mindspore::kSuccess) : Error(path, "cannot be written", error);
}
}  // namespace mslite
