// benchmark: measures a model, or compares its outputs with expected outputs.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "accuracy.h"
#include "files.h"
#include "flags.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/digest.h"
#include "include/mslite/run_control.h"
#include "inputs.h"
#include "machine.h"
#include "new_shapes.h"
#include "parallel.h"
#include "peak.h"
#include "profile.h"
#include "program.h"
#include "result.h"
#include "run_watch.h"

namespace mslite::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using mindspore::MSTensor;

// Buffers standard output until the model has been built, so that an error is one line without the settings before it.
class BufferedOutput {
 public:
  explicit BufferedOutput(bool is_quiet) : is_quiet_(is_quiet), stream_(std::cout.rdbuf(text_.rdbuf())) {}
  ~BufferedOutput() { End(); }
  BufferedOutput(const BufferedOutput &) = delete;
  BufferedOutput &operator=(const BufferedOutput &) = delete;

  void Print() {
    if (stream_ == nullptr) return;
    End();
    if (!is_quiet_) std::cout << text_.str();
  }

 private:
  void End() {
    if (stream_ != nullptr) std::cout.rdbuf(stream_);
    stream_ = nullptr;
  }

  const bool is_quiet_;
  std::ostringstream text_;
  std::streambuf *stream_;
};

void PrintFlags(const Flags &flags) {
  static const char *const bind_modes[] = {"NO_BIND", "HIGHER_CPU", "MID_CPU"};
  if (const char *api = std::getenv("MSLITE_API_TYPE"); api != nullptr) {
    std::cout << "MSLITE_API_TYPE = " << api << "\n";
  }
  std::cout << "ModelPath = " << flags.modelFile << "\n"
            << "ModelType = " << flags.modelType << "\n"
            << "InDataPath = " << flags.inDataFile << "\n"
            << "GroupInfoFile = \n"
            << "ConfigFilePath = " << flags.configFile << "\n"
            << "InDataType = bin\n"
            << "LoopCount = " << flags.loopCount << "\n"
            << "DeviceType = " << flags.device << "\n"
            << "AccuracyThreshold = " << flags.accuracyThreshold << "\n"
            << "CosineDistanceThreshold = " << flags.cosineDistanceThreshold << "\n"
            << "WarmUpLoopCount = " << flags.warmUpLoopCount << "\n"
            << "NumThreads = " << flags.numThreads << "\n"
            << "InterOpParallelNum = " << flags.interOpParallelNum << "\n"
            << "Fp16Priority = " << flags.enableFp16 << "\n"
            << "EnableParallel = " << flags.enableParallel << "\n"
            << "calibDataPath = " << flags.benchmarkDataFile << "\n"
            << "EnableGLTexture = 0\n"
            << "cpuBindMode = " << bind_modes[flags.cpuBindMode] << "\n"
            << "CalibDataType = " << flags.benchmarkDataType << "\n";
  if (!flags.cpuCoreList.empty()) std::cout << "core list: " << flags.cpuCoreList << " \n";
}

std::shared_ptr<mindspore::Context> MakeContext(const Flags &flags) {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(flags.numThreads);
  context->SetInterOpParallelNum(flags.interOpParallelNum);
  context->SetEnableParallel(flags.enableParallel);
  if (flags.cpuCoreList.empty()) {
    context->SetThreadAffinity(flags.cpuBindMode);
  } else {
    std::vector<int> cores;
    for (const std::string &word : Split(flags.cpuCoreList, ",")) cores.push_back(std::atoi(word.c_str()));
    context->SetThreadAffinity(cores);
  }
  if (flags.device == "GPU") {
    auto gpu = std::make_shared<mindspore::GPUDeviceInfo>();
    gpu->SetDeviceID(static_cast<uint32_t>(flags.deviceId));
    gpu->SetEnableFP16(flags.enableFp16);
    context->MutableDeviceInfo().push_back(gpu);
    context->SetFallback(false);  // otherwise times of the CPU could be taken for those of a GPU
  }
  auto cpu = std::make_shared<mindspore::CPUDeviceInfo>();
  cpu->SetEnableFP16(flags.enableFp16);
  cpu->SetProvider(flags.provider);
  context->MutableDeviceInfo().push_back(cpu);
  // Cannot fail: the flags have been checked.
  (void)mslite::SetRunLimits(context, {flags.stepLimit, flags.timeLimit, int64_t{flags.memoryLimit} << 20});
  return context;
}

// Builds the model and resizes its inputs to the requested shapes. Returns an error message, or "".
std::string Prepare(Flags *given, mindspore::Model *model) {
  const Flags &flags = *given;
  if (!flags.configFile.empty()) {
    if (const mindspore::Status status = model->LoadConfig(flags.configFile); status.IsError()) {
      std::cerr << "warning: configuration file " << flags.configFile << " was not loaded\n";
    }
  }
  if (!flags.pluginPath.empty()) {
    const mindspore::Status status = model->UpdateConfig("registry", {"plugin_path", flags.pluginPath});
    if (status.IsError()) return Said(status);
  }
  const auto type = flags.modelType == "MindIR" ? mindspore::kMindIR : mindspore::kMindIR_Lite;
  std::string bytes = TakeKey(&given->decryptKey);
  const mindspore::Key key(bytes.data(), bytes.size());  // empty: the file is not encrypted
  Wipe(&bytes);
  if (const mindspore::Status status =
          model->Build(flags.modelFile, type, MakeContext(flags), key, mindspore::kDecModeAesGcm, flags.cryptoLibPath);
      status.IsError()) {
    return Said(status);
  }
  std::vector<std::vector<int64_t>> shapes;
  const std::string problem = RequestedShapes(flags.inputShapes, flags.inputShape, model->GetInputs(), &shapes);
  return problem.empty() ? ResizeTo(shapes, model) : problem;
}

// Returns null if --timeLimit already limits the time of a run.
std::unique_ptr<RunWatch> WatchFor(const Flags &flags) {
  return flags.timeLimit == 0 ? std::make_unique<RunWatch>() : nullptr;
}

std::string RunOnce(RunWatch *watch, mindspore::Model *model, const std::vector<MSTensor> &inputs, double *ms,
                    Profile *profile) {
  std::vector<MSTensor> outputs;
  const auto before = profile == nullptr ? nullptr : profile->Before();
  const auto after = profile == nullptr ? nullptr : profile->After();
  if (watch != nullptr) watch->Tick();
  const Clock::time_point start = Clock::now();
  const mindspore::Status status = model->Predict(inputs, &outputs, before, after);
  *ms = MillisecondsSince(start);
  return status.IsError() ? "Inference error: " + Reason(status) : "";
}

// Prints the speed of each operator as a share of the peak of the cores. MindSpore Lite does not print this table.
void PrintOperators(const Result &result) {
  std::map<std::string, const StepInfo *> steps;
  for (const StepInfo &step : result.plan.steps) steps.emplace(step.name, &step);
  std::vector<OperatorTime> operators = result.operators;
  std::sort(operators.begin(), operators.end(),
            [](const OperatorTime &a, const OperatorTime &b) { return a.total_ms > b.total_ms; });
  const double peak = result.peak_gflops * result.threads;
  std::printf("%-40s %-24s %10s %9s %8s  %s\n", "operator", "type", "ms", "GFLOP/s", "of peak", "kernel");
  for (const OperatorTime &op : operators) {
    const auto found = steps.find(op.name);
    const double ms = op.total_ms / result.profiled_loops;
    const double gflops = found == steps.end() || ms <= 0 ? 0 : static_cast<double>(found->second->flops) / ms / 1e6;
    std::printf("%-40.40s %-24s %10.4f %9.1f %7.0f%%  %s\n", op.name.c_str(), op.type.c_str(), ms, gflops,
                peak > 0 ? gflops / peak * 100 : 0, found == steps.end() ? "" : found->second->kernel.c_str());
  }
}

TensorInfo Describe(const MSTensor &tensor) {
  return {tensor.Name(), tensor.Shape(), static_cast<int>(tensor.DataType()), 0};
}

TensorInfo DescribeOutput(const MSTensor &output) {
  TensorInfo info = Describe(output);
  info.crc = Crc32(output.Data().get(), output.DataSize());
  return info;
}

// Runs the warm-up loops and the timed loops. The time of the very first run is recorded separately.
std::string Measure(const Flags &flags, mindspore::Model *model, Result *result) {
  const std::vector<MSTensor> inputs = model->GetInputs();
  double ms = 0;
  const std::unique_ptr<RunWatch> watch = WatchFor(flags);
  if (!flags.quiet) std::cout << "Running warm up loops...\n";
  for (int i = 0; i < flags.warmUpLoopCount; ++i) {
    const std::string problem = RunOnce(watch.get(), model, inputs, &ms, nullptr);
    if (!problem.empty()) return problem;
    if (i == 0) result->first_run_ms = ms;
  }
  if (!flags.quiet) std::cout << "Running benchmark loops...\n";
  // Operators are timed in separate runs, so that callbacks do not affect the latency.
  for (int i = 0; i < flags.loopCount; ++i) {
    const std::string problem = RunOnce(watch.get(), model, inputs, &ms, nullptr);
    if (!problem.empty()) return problem;
    if (i == 0 && flags.warmUpLoopCount == 0) result->first_run_ms = ms;
    result->runs_ms.push_back(ms);
  }
  result->statistics = Summarize(result->runs_ms);
  if (const mindspore::Status status = InspectPlan(*model, &result->plan); status.IsError()) return Reason(status);
  if (const mindspore::Status status = InspectPlacement(*model, &result->placement); status.IsError()) {
    return Reason(status);
  }
  if (flags.timeProfiling || !flags.jsonFile.empty() || !flags.htmlFile.empty()) {
    Profile profile;
    for (int i = 0; i < flags.loopCount; ++i) {
      const std::string problem = RunOnce(watch.get(), model, inputs, &ms, &profile);
      if (!problem.empty()) return problem;
    }
    result->operators = profile.operators();
    result->profiled_loops = flags.loopCount;
    result->peak_gflops = MeasurePeakGflops();
    if (flags.timeProfiling) {
      profile.Print(flags.loopCount);
      PrintOperators(*result);
    }
  }
  return "";
}

// Prints the backends of the nodes, and the nodes on the CPU by operator and reason.
void PrintPlacement(const std::vector<NodePlacement> &nodes) {
  struct Group {
    size_t nodes = 0;
    int64_t flops = 0;
  };
  std::map<std::string, Group> engines;
  std::map<std::string, Group> reasons;
  int64_t total = 0;
  for (const NodePlacement &node : nodes) {
    total += node.flops;
    for (Group *group :
         {&engines[node.engine], node.engine == "CPU" ? &reasons[node.op + ": " + node.reason] : nullptr}) {
      if (group == nullptr) continue;
      ++group->nodes;
      group->flops += node.flops;
    }
  }
  const auto share = [total](const Group &group) {
    return total == 0 ? 0.0 : 100.0 * static_cast<double>(group.flops) / static_cast<double>(total);
  };
  for (const auto &[engine, group] : engines) {
    std::set<int32_t> parts;
    for (const NodePlacement &node : nodes) {
      if (node.engine == engine && node.part >= 0) parts.insert(node.part);
    }
    std::printf("On %s: %zu of %zu nodes, %.2f %% of the operations", engine.c_str(), group.nodes, nodes.size(),
                share(group));
    if (!parts.empty()) std::printf(", in %zu partition%s", parts.size(), parts.size() > 1 ? "s" : "");
    std::printf("\n");
  }
  for (const auto &[reason, group] : reasons) std::printf("  %zu x %s\n", group.nodes, reason.c_str());
}

void PrintSummary(const Result &result) {
  const Statistics &s = result.statistics;
  PrintTimes(result.model, result.threads, s);
  const bool is_short = s.median < 1;  // printed in microseconds
  const double scale = is_short ? 1e3 : 1;
  std::printf("Latency in %s: first %.2f, min %.2f, median %.2f, p90 %.2f, max %.2f\n", is_short ? "us" : "ms",
              result.first_run_ms * scale, s.minimum * scale, s.median * scale, s.p90 * scale, s.maximum * scale);
  std::printf("Memory: peak %.1f MiB, activations %.2f MiB, packed weights %.2f MiB\n",
              static_cast<double>(result.peak_memory) / 1048576.0,
              static_cast<double>(result.plan.arena_bytes) / 1048576.0,
              static_cast<double>(result.plan.packed_bytes) / 1048576.0);
  std::printf("Machine: %s, %d available cores, instruction set %s\n", ProcessorName().c_str(), UsableCores(),
              result.plan.isa.c_str());
  PrintPlacement(result.placement.nodes);
  for (const TensorInfo &output : result.outputs) {
    std::printf("Output %s: CRC-32 %08x\n", output.name.c_str(), output.crc);
  }
}

std::string Compare(const Flags &flags, mindspore::Model *model, BufferedOutput *opening) {
  std::map<std::string, ExpectedTensor> expected;
  std::string problem = ReadExpected(flags.benchmarkDataFile, &expected);
  if (!problem.empty()) return problem;
  opening->Print();
  std::cout << "MarkAccuracy\n";
  PrintInputs(model->GetInputs());
  double ms = 0;
  const std::unique_ptr<RunWatch> watch = WatchFor(flags);
  problem = RunOnce(watch.get(), model, model->GetInputs(), &ms, nullptr);
  return problem.empty() ? CompareOutputs(flags, model->GetOutputs(), expected) : problem;
}

std::string MakeOrigin(const Flags &flags, const std::string &command, Origin *origin) {
  origin->command = command;
  origin->file = flags.modelFile;
  std::error_code error;
  origin->bytes = static_cast<int64_t>(std::filesystem::file_size(flags.modelFile, error));
  if (error) return flags.modelFile + ": " + error.message();
  const mindspore::Status status = FileDigest(flags.modelFile, &origin->sha256);
  return status.IsError() ? Reason(status) : "";
}

std::string WritePage(const Flags &flags, const Result &result, const std::string &command) {
  Origin origin;
  const std::string problem = MakeOrigin(flags, command, &origin);
  return problem.empty() ? WriteHtml(result, origin, flags.htmlFile) : problem;
}

// Runs the model once, for the comparison with all answers. The model is destroyed before the runner is built.
std::string SingleRunOf(Flags *given, BufferedOutput *opening, SingleRun *single) {
  mindspore::Model model;
  std::string problem = Prepare(given, &model);
  if (!problem.empty()) return problem;
  const Flags &flags = *given;
  std::vector<MSTensor> inputs = model.GetInputs();
  problem = FillInputs(flags, &inputs);
  if (problem.empty() && !flags.benchmarkDataFile.empty()) problem = Compare(flags, &model, opening);
  const std::unique_ptr<RunWatch> watch = WatchFor(flags);
  if (!problem.empty()) return problem;
  opening->Print();
  return RunReference(&model, single);
}

std::string RunParallel(Flags *given, const std::string &command, BufferedOutput *opening) {
  const Flags &flags = *given;
  SingleRun single;
  std::string problem = SingleRunOf(given, opening, &single);
  if (!problem.empty()) return problem;
  ParallelResult result;
  result.model = FileName(flags.modelFile);
  result.threads = flags.numThreads;
  result.workers = flags.workersNum;
  result.clients = flags.parallelNum;
  result.request_rate = flags.requestRate;
  result.plan = single.plan;
  for (const MSTensor &input : single.inputs) result.inputs.push_back(Describe(input));
  for (const MSTensor &output : single.outputs) result.outputs.push_back(DescribeOutput(output));
  const std::unique_ptr<RunWatch> watch = WatchFor(flags);
  problem = MeasureParallel(flags, MakeContext(flags), single, watch.get(), &result);
  if (!problem.empty()) return problem;
  result.peak_memory = PeakMemory();
  PrintParallel(result);
  if (!flags.jsonFile.empty()) problem = WriteParallelJson(result, flags.jsonFile);
  Origin origin;
  if (problem.empty() && !flags.htmlFile.empty()) problem = MakeOrigin(flags, command, &origin);
  if (problem.empty() && !flags.htmlFile.empty()) problem = WriteParallelHtml(result, origin, flags.htmlFile);
  if (problem.empty()) std::cout << "Run Benchmark " << result.model << " Success.\n";
  return problem;
}

std::string Run(Flags *given, const std::string &command) {
  const Flags &flags = *given;
  BufferedOutput opening(flags.quiet);
  for (const std::string &file : {flags.jsonFile, flags.htmlFile}) {  // checked before the runs
    const std::filesystem::path folder = std::filesystem::path(file).parent_path();
    std::error_code error;
    if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
      return "cannot write " + file + ": folder '" + folder.string() + "' does not exist";
    }
  }
  PrintFlags(flags);
  std::cout << "start unified benchmark run\n";
  if (!flags.verifyDigest.empty()) {
    const std::string expected = flags.verifyDigest == "on" ? "" : flags.verifyDigest;
    if (const mindspore::Status status = VerifyDigest(flags.modelFile, expected); status.IsError()) {
      return Reason(status);
    }
    std::cout << "Digest: " << (expected.empty() ? "equal to the digest in the file" : "equal to the expected digest")
              << "\n";
  }
  if (flags.enableParallelPredict) return RunParallel(given, command, &opening);
  Result result;
  result.model = FileName(flags.modelFile);
  result.threads = flags.numThreads;
  mindspore::Model model;
  const Clock::time_point start = Clock::now();
  std::string problem = Prepare(given, &model);
  if (!problem.empty()) return problem;
  result.prepare_ms = MillisecondsSince(start);
  std::cout << "PrepareTime = " << result.prepare_ms << " ms\n";
  std::vector<MSTensor> inputs = model.GetInputs();
  problem = FillInputs(flags, &inputs);
  if (!problem.empty()) return problem;
  if (!flags.benchmarkDataFile.empty()) {
    problem = Compare(flags, &model, &opening);
    if (problem.empty()) std::cout << "Run Benchmark " << result.model << " Success.\n";
    return problem;
  }
  opening.Print();
  if (!flags.shapeStep.empty()) {
    const std::unique_ptr<RunWatch> watch = WatchFor(flags);
    problem = MeasureNewShapes(flags, watch.get(), &model);
    if (problem.empty()) std::cout << "Run Benchmark " << result.model << " Success.\n";
    return problem;
  }
  problem = Measure(flags, &model, &result);
  if (!problem.empty()) return problem;
  result.peak_memory = PeakMemory();
  for (const MSTensor &input : inputs) result.inputs.push_back(Describe(input));
  for (const MSTensor &output : model.GetOutputs()) result.outputs.push_back(DescribeOutput(output));
  PrintSummary(result);
  if (!flags.jsonFile.empty()) problem = WriteJson(result, flags.jsonFile);
  if (problem.empty() && !flags.htmlFile.empty()) problem = WritePage(flags, result, command);
  if (problem.empty()) std::cout << "Run Benchmark " << result.model << " Success.\n";
  return problem;
}

int Main(int argc, char **argv) {
  Flags flags;
  std::vector<std::string> words(argv + 1, argv + argc);
  HideKey(argc, argv);
  const std::string wrong = ParseFlags(words, &flags);
  for (std::string &word : words) Wipe(&word);
  if (!wrong.empty()) {
    std::cerr << wrong << "\nSee benchmark --help\n";
    return kWrongUsage;
  }
  if (flags.help || flags.version) {
    std::cout << (flags.help ? Usage() : "benchmark (mslite) " MSLITE_VERSION "\n");
    return FlushOutput().empty() ? 0 : kFailed;
  }
  return Finish(Run(&flags, CommandLine(argc, argv)), "Run Benchmark " + flags.modelFile);
}

}  // namespace
}  // namespace mslite::benchmark

int main(int argc, char **argv) {
  return mslite::benchmark::RunProgram("benchmark", mslite::benchmark::Main, argc, argv);
}
