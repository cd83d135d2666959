// Eight threads build, resize, run, cancel, replace and destroy models at random, sharing some of them.
//
//   soak [seconds] [seed]
//
// Every answer is checked. Exit code 1 for a wrong one. Meant to be built with -DMSLITE_SANITIZE_THREADS=ON, too.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "elementwise_delegate.h"
#include "include/api/model.h"
#include "include/api/model_parallel_runner.h"
#include "include/mslite/async_run.h"
#include "include/mslite/run_control.h"
#include "model_builder.h"

namespace {
using namespace mindspore;  // NOLINT

constexpr int kThreads = 8;
constexpr int64_t kColumns = 64;
constexpr size_t kShared = 4;

std::atomic<long> answers{0}, refusals{0}, wrong{0};

void Check(bool is_right, const char *what) {
  if (is_right) return;
  ++wrong;
  std::fprintf(stderr, "wrong: %s\n", what);
}

std::shared_ptr<Context> MakeContext(std::mt19937 *random) {
  auto context = std::make_shared<Context>();
  const auto threads = static_cast<int32_t>(1 + (*random)() % 3);
  context->SetThreadNum(threads);
  context->SetInterOpParallelNum(static_cast<int32_t>(1 + (*random)() % static_cast<unsigned>(threads)));
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  return context;
}

// What SmallModel computes: max(|x| * 2 + x, 0).
bool IsAnswer(const MSTensor &output, int64_t rows, float value) {
  if (output == nullptr || output.ElementNum() != rows * kColumns) return false;
  const auto *data = static_cast<const float *>(output.Data().get());
  const float wanted = std::max(std::abs(value) * 2 + value, 0.0F);
  return std::all_of(data, data + rows * kColumns, [wanted](float element) { return element == wanted; });
}

MSTensor Rows(int64_t rows, float value) {
  const std::vector<float> values(static_cast<size_t>(rows * kColumns), value);
  return MSTensor("x", DataType::kNumberTypeFloat32, {rows, kColumns}, values.data(), values.size() * sizeof(float));
}

// A request with its results, which live until it has ended.
struct Pending {
  std::vector<MSTensor> outputs;
  mslite::AsyncRun run;
  int64_t rows = 0;
  float value = 0.0F;

  void End() {
    const Status status = run.Wait();
    if (status == kLiteServiceDeny) {
      ++refusals;
    } else {
      Check(status.IsOk() && IsAnswer(outputs[0], rows, value), "a request of a runner");
      ++answers;
    }
  }
};

class Soak {
 public:
  Soak(std::string file, std::string path, unsigned seed)
      : file_(std::move(file)), path_(std::move(path)), seed_(seed) {
    std::mt19937 random(seed);
    for (auto &model : shared_) model = Built(&random);
    auto config = std::make_shared<RunnerConfig>();
    config->SetWorkersNum(2);
    config->SetContext(MakeContext(&random));
    config->SetConfigInfo("dynamic_batching", {{"max_batch_size", "8"}, {"max_queue_delay_microseconds", "100"}});
    Check(runner_.Init(path_, config).IsOk(), "the runner's start");
  }

  void Work(int number, std::chrono::steady_clock::time_point end) {
    std::mt19937 random(seed_ + static_cast<unsigned>(number) * 7919);
    std::vector<std::unique_ptr<Pending>> pending;
    while (std::chrono::steady_clock::now() < end) Step(&random, &pending);
    for (auto &request : pending) request->End();
  }

 private:
  std::shared_ptr<Model> Built(std::mt19937 *random) {
    auto model = std::make_shared<Model>();
    const bool from_file = (*random)() % 2 == 0;
    const auto context = MakeContext(random);
    if ((*random)() % 3 == 0) context->set_delegate(std::make_shared<ElementwiseDelegate>());
    const Status status = from_file ? model->Build(path_, kMindIR_Lite, context)
                                    : model->Build(file_.data(), file_.size(), kMindIR_Lite, context);
    Check(status.IsOk(), "a build");
    return model;
  }

  std::shared_ptr<Model> Shared(std::mt19937 *random) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return shared_[(*random)() % kShared];
  }

  void Step(std::mt19937 *random, std::vector<std::unique_ptr<Pending>> *pending) {
    const auto rows = static_cast<int64_t>(1 + (*random)() % 3);
    const auto value = static_cast<float>(static_cast<int>((*random)() % 2000) - 1000);
    const std::shared_ptr<Model> model = Shared(random);
    switch ((*random)() % 12) {
      case 0: {  // the others may still use the one that goes
        std::shared_ptr<Model> fresh = Built(random);
        const std::lock_guard<std::mutex> lock(mutex_);
        shared_[(*random)() % kShared].swap(fresh);
        break;
      }
      case 1: {
        model->Resize(model->GetInputs(), {{rows, kColumns}});
        break;
      }
      case 2: {
        mslite::CancelPredict(*model);
        break;
      }
      case 3:
      case 4: {  // its model goes while it waits, or runs, or afterwards
        auto outputs = std::make_shared<std::vector<MSTensor>>();
        const mslite::AsyncRun run =
            mslite::StartPredict(*model, {Rows(rows, value)}, outputs.get(),
                                 [outputs](const Status &status) { ++(status.IsOk() ? answers : refusals); });
        if ((*random)() % 2 == 0) mslite::AsyncRun(run).Cancel();
        break;
      }
      case 5: {
        if (pending->size() > 20) {
          for (auto &request : *pending) request->End();
          pending->clear();
        }
        pending->push_back(std::make_unique<Pending>());
        Pending &request = *pending->back();
        request.rows = rows;
        request.value = value;
        request.run = mslite::StartPredict(runner_, {Rows(rows, value)}, &request.outputs,
                                           mslite::AsyncOptions{static_cast<int32_t>((*random)() % 3)});
        break;
      }
      case 6: {
        if (!pending->empty()) (*pending)[(*random)() % pending->size()]->run.Cancel();
        break;
      }
      case 7: {
        Check(runner_.GetInputs().size() == 1 && runner_.GetOutputs().size() == 1, "a runner's tensors");
        if ((*random)() % 8 == 0) Check(mslite::ReplaceModel(runner_, path_).IsOk(), "a replacement");
        break;
      }
      case 8: {  // a model of its own, whose answers are known
        const std::shared_ptr<Model> own = Built(random);
        std::vector<MSTensor> outputs;
        const Status status = own->Predict({Rows(rows, value)}, &outputs);
        Check(status.IsOk() && IsAnswer(outputs[0], rows, value), "a model's own run");
        ++answers;
        break;
      }
      case 9: {
        std::vector<MSTensor> outputs;
        const Status status = model->Predict({Rows(rows, value)}, &outputs);  // others may cancel it
        Check(status.IsOk() || status == kLiteServiceDeny, "a shared run");
        ++(status.IsOk() ? answers : refusals);
        break;
      }
      default: {
        std::vector<MSTensor> outputs;
        const Status status = runner_.Predict({Rows(rows, value)}, &outputs);
        Check(status.IsOk() && IsAnswer(outputs[0], rows, value), "a run of a runner");
        ++answers;
        break;
      }
    }
  }

  const std::string file_, path_;
  const unsigned seed_;
  std::mutex mutex_;
  std::shared_ptr<Model> shared_[kShared];
  ModelParallelRunner runner_;
};
}  // namespace

int main(int argc, char **argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 3.0;
  const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
  const std::string file = mslite::test::SmallModel(-1, static_cast<int32_t>(kColumns));
  const std::string path = "soak_" + std::to_string(getpid()) + ".ms";
  std::ofstream(path, std::ios::binary) << file;
  {
    Soak soak(file, path, seed);
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([&soak, i, end] { soak.Work(i, end); });
    for (std::thread &thread : threads) thread.join();
  }
  std::remove(path.c_str());
  std::printf("%ld answers, %ld refused or canceled, %ld wrong\n", answers.load(), refusals.load(), wrong.load());
  return wrong.load() == 0 && answers.load() > 0 ? 0 : 1;
}
