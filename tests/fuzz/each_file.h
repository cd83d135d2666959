// Does something with each file in a process of its own, and prints for every file one line: exit status or signal,
// milliseconds of processor time, peak memory in KiB, and what was reported.
#ifndef MSLITE_TESTS_EACH_FILE_H
#define MSLITE_TESTS_EACH_FILE_H

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace mslite::test {
constexpr int kRefused = 1;

// Writes the text on one line, and gives the code, or 2 where that is not possible.
inline int Finish(int report, int code, std::string text) {
  for (char &c : text) c = c == '\n' ? ' ' : c;
  const ssize_t written = write(report, text.data(), text.size());
  return written < 0 ? 2 : code;
}

// `use` gets the path, and where to report to; it gives the exit code.
inline void InProcess(const char *path, int (*use)(const char *path, int report)) {
  constexpr rlim_t kCpuSeconds = 20;
  constexpr unsigned kWallSeconds = 120;  // for what waits without end
  int ends[2];
  if (pipe(ends) != 0) std::_Exit(2);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kWallSeconds);
    const rlimit limit{kCpuSeconds, kCpuSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    close(ends[0]);
    std::_Exit(use(path, ends[1]));
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t count = read(ends[0], buffer, sizeof buffer); count > 0; count = read(ends[0], buffer, sizeof buffer)) {
    text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  const auto ms = [](const timeval &time) { return static_cast<long long>(time.tv_sec) * 1000 + time.tv_usec / 1000; };
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::printf("%d %lld %ld %s\n", code, ms(usage.ru_utime) + ms(usage.ru_stime), usage.ru_maxrss, text.c_str());
  std::fflush(stdout);
}
}  // namespace mslite::test

#endif
