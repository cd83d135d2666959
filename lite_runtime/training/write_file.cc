#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "training/export.h"

namespace mslite {
namespace {
Status Error(const std::string &path, const char *what, int error) {
  return Fail(mindspore::kLiteFileError, "file '" + path + "': " + what + ": " + std::strerror(error));
}

// 0, or the error of the system.
int WriteAll(int descriptor, const std::vector<uint8_t> &bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(descriptor, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    done += static_cast<size_t>(written);
  }
  return fsync(descriptor) == 0 ? 0 : errno;
}
}  // namespace

Status WriteFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::string beside = path + ".XXXXXX";
  const int descriptor = mkstemp(beside.data());
  if (descriptor < 0) return Error(path, "cannot be written", errno);
  constexpr mode_t kMode = 0644;
  int error = fchmod(descriptor, kMode) == 0 ? WriteAll(descriptor, bytes) : errno;
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(beside.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return mindspore::kSuccess;
  unlink(beside.c_str());
  return Error(path, "cannot be written", error);
}
}  // namespace mslite
