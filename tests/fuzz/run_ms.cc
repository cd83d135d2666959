// Builds and runs each `.ms` file given on the command line, each in a process of its own, and prints for every file
// one line: exit status or signal, milliseconds of processor time, peak memory in KiB, and what the runtime said.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/run_control.h"

namespace {

constexpr int kRefused = 1;
constexpr rlim_t kCpuSeconds = 20;
constexpr unsigned kWallSeconds = 120;  // for what waits without end

int Finish(int report, int code, std::string text) {
  for (char &c : text) c = c == '\n' ? ' ' : c;
  const ssize_t written = write(report, text.data(), text.size());
  return written < 0 ? 2 : code;
}

// As a program would that opens files of strangers.
constexpr mslite::RunLimits kLimits = {100000, 0, int64_t{64} << 20};

// Zeros first, then anything: 0xFF is NaN and -1, too.
void Fill(mindspore::MSTensor *input, int round) {
  auto *bytes = static_cast<unsigned char *>(input->MutableData());
  for (size_t i = 0; i < input->DataSize(); ++i) {
    bytes[i] = round == 0 ? 0 : round == 1 ? 0xFF : static_cast<unsigned char>((i * 2654435761U) >> 13);
  }
}

// Unknown dimensions become 2. The message is that of the first run.
int BuildAndRun(const char *path, int report) {
  auto context = std::make_shared<mindspore::Context>();
  if (mslite::SetRunLimits(context, kLimits).IsError()) return 2;
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  mindspore::Model model;
  mindspore::Status status = model.Build(path, mindspore::kMindIR_Lite, context);
  if (status.IsError()) return Finish(report, kRefused, status.ToString());
  std::vector<mindspore::MSTensor> inputs = model.GetInputs();
  std::vector<std::vector<int64_t>> shapes;
  bool dynamic = false;
  for (const auto &input : inputs) {
    shapes.push_back(input.Shape());
    for (int64_t &dim : shapes.back()) {
      dynamic = dynamic || dim < 0;
      dim = dim < 0 ? 2 : dim;
    }
  }
  if (dynamic) {
    status = model.Resize(inputs, shapes);
    if (status.IsError()) return Finish(report, kRefused, status.ToString());
  }
  mindspore::Status first;
  for (int round = 0; round < 3; ++round) {
    for (auto &input : inputs) {
      if (input.MutableData() == nullptr) return Finish(report, kRefused, "no memory for input " + input.Name());
      if (input.DataType() != mindspore::DataType::kObjectTypeString) Fill(&input, round);
    }
    std::vector<mindspore::MSTensor> outputs;
    status = model.Predict(inputs, &outputs);
    if (round == 0) first = status;
  }
  return first.IsError() ? Finish(report, kRefused, first.ToString()) : Finish(report, 0, "ran");
}

void RunFile(const char *path) {
  int ends[2];
  if (pipe(ends) != 0) std::_Exit(2);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kWallSeconds);
    const rlimit limit{kCpuSeconds, kCpuSeconds};
    setrlimit(RLIMIT_CPU, &limit);
    close(ends[0]);
    std::_Exit(BuildAndRun(path, ends[1]));
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

}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) RunFile(argv[i]);
  return 0;
}
