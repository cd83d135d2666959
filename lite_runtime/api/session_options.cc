#include "api/session_options.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "api/context_limits.h"
#include "api/log.h"
#include "registry/extensions.h"

namespace mslite {
namespace {
constexpr int32_t kThreadsPerCore = 5;

// Returns the maximum frequency of a core in kHz; 0 if it is unknown.
long MaximumFrequency(int32_t core) {
  const std::string path = Format("/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", static_cast<int>(core));
  std::FILE *file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return 0;
  long frequency = 0;
  if (std::fscanf(file, "%ld", &frequency) != 1) frequency = 0;
  std::fclose(file);
  return frequency;
}

// Returns one core for each thread. Mode 1: the fastest cores first; mode 2: without the group of the fastest cores.
CoreMask CoresOfMode(int mode, int32_t threads, int32_t cores) {
  CoreMask order;
  for (int32_t core = 0; core < cores; ++core) order.push_back(core);
  std::sort(order.begin(), order.end(), [](int32_t a, int32_t b) {
    const long frequency = MaximumFrequency(a);
    const long other = MaximumFrequency(b);
    return frequency != other ? frequency > other : a < b;
  });
  size_t first = 0;
  if (mode == 2) {
    const long fastest = MaximumFrequency(order[0]);
    while (first < order.size() && MaximumFrequency(order[first]) == fastest) ++first;
    if (first == order.size()) first = 0;  // all cores are equal
  }
  order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(first));
  order.resize(std::min(order.size(), static_cast<size_t>(threads)));
  return order;
}

}  // namespace

Status CheckDevices(mindspore::Context *context) {
  const auto &devices = context->MutableDeviceInfo();
  if (devices.empty()) return Fail(mindspore::kLiteParamInvalid, "the context has no devices; add a CPUDeviceInfo");
  bool has_cpu = false;
  for (const auto &device : devices) {
    if (device == nullptr) return Fail(mindspore::kLiteNullptr, "a device of the context is null");
    has_cpu = has_cpu || device->GetDeviceType() == mindspore::kCPU;
  }
  if (!has_cpu) {
    return Fail(mindspore::kLiteNotSupport,
                "the context has no CPU for unsupported nodes; add a CPUDeviceInfo to the end of its devices");
  }
  return mindspore::kSuccess;
}

namespace {
bool WantsHalf(mindspore::Context *context) {
  const auto &devices = context->MutableDeviceInfo();
  return std::any_of(devices.begin(), devices.end(), [](const auto &device) {
    return device->GetDeviceType() == mindspore::kCPU &&
           device->template Cast<mindspore::CPUDeviceInfo>()->GetEnableFP16();
  });
}
}  // namespace

Status ReadContext(const std::shared_ptr<mindspore::Context> &context,
                   const std::shared_ptr<const Delegation> &delegation, SessionOptions *options) {
  if (context == nullptr) return Fail(mindspore::kLiteNullptr, "the context is null");
  MSLITE_TRY(CheckDevices(context.get()));
  MSLITE_TRY(CheckBuiltInDelegate(*context));
  if (DelegateOf(*context) != nullptr && delegation == nullptr) {
    return Fail(mindspore::kLiteNotSupport,
                "ModelParallelRunner and ModelGroup do not support delegates; use Model::Build");
  }
  if (delegation == nullptr && HasDelegates(context.get())) {
    MSLITE_TRY(FallBack(*context, "ModelParallelRunner and ModelGroup run on the CPU only"));
  }
  const auto cores = std::max(static_cast<int32_t>(std::thread::hardware_concurrency()), int32_t{1});
  int32_t threads = context->GetThreadNum();
  if (threads < 0)
    return Fail(mindspore::kLiteParamInvalid, Format("thread number %d is negative", static_cast<int>(threads)));
  if (threads == 0) threads = std::min(cores > 32 ? int32_t{4} : int32_t{2}, UsableCores());
  threads = std::min(threads, kThreadsPerCore * cores);
  const int32_t inter_op = context->GetInterOpParallelNum() == 0 ? 1 : context->GetInterOpParallelNum();
  if (inter_op < 1 || inter_op > threads) {
    return Fail(mindspore::kLiteParamInvalid,
                Format("the inter-op parallel number is %d; it must be in 1..%d (the number of threads)",
                       static_cast<int>(inter_op), static_cast<int>(threads)));
  }
  options->threads = threads;
  options->inter_op = inter_op;
  if (delegation != nullptr && !delegation->parts().empty()) {
    // Partitions of an application's delegate share their tensors, so they cannot run at the same time.
    const bool has_branches = inter_op > 1 || context->GetEnableParallel();
    options->inter_op =
        has_branches && delegation->may_run_in_parallel() ? std::min(std::max(inter_op, 2), threads) : 1;
  }
  options->limits = mindspore::ContextLimits::Of(*context);
  options->cores = context->GetThreadAffinityCoreList();
  for (const int32_t core : options->cores) {
    if (core < 0 || core >= cores) {
      return Fail(mindspore::kLiteParamInvalid, Format("core %d does not exist", static_cast<int>(core)));
    }
  }
  if (options->cores.empty() && context->GetThreadAffinityMode() != 0) {
    options->cores = CoresOfMode(context->GetThreadAffinityMode(), threads, cores);
  }
  if (mslite_registered[0] != nullptr) {
    options->registered = [context, delegation](std::shared_ptr<const Graph> graph) {
      return mslite_registered[0](std::move(graph), context, delegation);
    };
  }
  std::string problem;
  options->isas = AllowedIsas(&problem);
  if (!problem.empty()) Log(LogLevel::kWarning, problem);
  options->half = WantsHalf(context.get());
  if (!options->half) {
    options->isas.Remove(MSLITE_ISA_NEON_FP16);
  } else if (!options->isas.Has(MSLITE_ISA_NEON_FP16)) {
    Log(LogLevel::kInfo, "this processor has no float16 arithmetic; the model runs in float32");
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
