#include "files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>

namespace mslite::benchmark {
namespace {

constexpr mode_t kEverybody = 0666;  // the mode of new files, reduced by the umask

std::string Beside(const std::string &path) {
  std::random_device random;
  char name[40];
  std::snprintf(name, sizeof name, ".mslite-%08x%08x.part", random(), random());
  return path.substr(0, path.find_last_of('/') + 1) + name;
}

bool WriteAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<size_t>(count);
  }
  return true;
}

std::string Failure(const std::string &path) { return "cannot write " + path + ": " + std::strerror(errno); }

std::string WriteStream(const std::string &path, const std::string &text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return Failure(path);
  const std::string problem = WriteAll(file, text) ? "" : Failure(path);
  close(file);
  return problem;
}

}  // namespace

std::string WriteFile(const std::string &path, const std::string &text) {
  struct stat known {};
  if (stat(path.c_str(), &known) == 0 && !S_ISREG(known.st_mode) && !S_ISDIR(known.st_mode)) {
    return WriteStream(path, text);
  }
  const std::string part = Beside(path);
  // O_EXCL: an existing file or link is not opened.
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kEverybody);
  if (file < 0) return Failure(path);
  std::string problem = WriteAll(file, text) && fsync(file) == 0 ? "" : Failure(path);
  if (close(file) != 0 && problem.empty()) problem = Failure(path);
  if (problem.empty() && std::rename(part.c_str(), path.c_str()) != 0) problem = Failure(path);
  if (!problem.empty()) unlink(part.c_str());
  return problem;
}

void OpenStandardFiles() {
  for (int number = 0; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDWR));
  }
}

std::string FlushOutput() {
  errno = 0;
  std::cout.flush();
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (is_written) return "";
  return std::string("standard output cannot be written") +
         (errno != 0 ? std::string(": ") + std::strerror(errno) : "");
}

}  // namespace mslite::benchmark
