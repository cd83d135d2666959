// Loads each adapter given on the command line, in a process of its own, into a sound model: `NAME-...ms` into the file
// NAME.model of the same folder, which has the adapter NAME.sound. Runs it in every order that programs have; a model
// that has no hostile adapter any more, or never took it, must compute what it did. Prints what run_ms prints.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "each_file.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/mslite/run_control.h"

namespace {
using namespace mindspore;  // NOLINT

constexpr int kWrong = 3;
constexpr mslite::RunLimits kLimits = {2000, 0, int64_t{64} << 20};

// The results of inputs that are small numbers; "failed" where the run fails.
std::string Predicted(Model *model) {
  std::vector<MSTensor> inputs = model->GetInputs();
  for (MSTensor &input : inputs) {
    auto *values = static_cast<float *>(input.MutableData());
    for (int64_t i = 0; values != nullptr && i < input.ElementNum(); ++i) values[i] = static_cast<float>(i % 5) - 1.5f;
  }
  std::vector<MSTensor> outputs;
  if (model->Predict(inputs, &outputs).IsError()) return "failed";
  std::string all;
  for (const MSTensor &output : outputs) {
    all.append(static_cast<const char *>(output.Data().get()), output.DataSize());
  }
  return all;
}

Status ResizeRows(Model *model, int64_t rows) {
  const std::vector<MSTensor> inputs = model->GetInputs();
  std::vector<std::vector<int64_t>> shapes;
  for (const MSTensor &input : inputs) {
    shapes.push_back(input.Shape());
    shapes.back()[0] = rows;
  }
  return model->Resize(inputs, shapes);
}

int LoadAndRun(const char *path, int report) {
  const auto wrong = [report](const char *what) { return mslite::test::Finish(report, kWrong, what); };
  const std::string adapter = path;
  const std::string name = adapter.substr(0, adapter.rfind('-'));
  const auto context = std::make_shared<Context>();
  if (mslite::SetRunLimits(context, kLimits).IsError()) return 2;
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<CPUDeviceInfo>());
  Model model, other;
  for (Model *made : {&model, &other}) {
    if (made->Build(name + ".model", kMindIR, context).IsError()) return wrong("the model cannot be built");
  }
  const int64_t rows = model.GetInputs()[0].Shape()[0];
  const std::string plain = Predicted(&model);
  if (model.LoadAdapter(name + ".sound").IsError()) return wrong("the sound adapter cannot be loaded");
  const std::string adapted = Predicted(&model);
  if (model.UnloadAdapter().IsError() || plain != Predicted(&model) || plain == adapted) {
    return wrong("the sound adapter cannot be used");
  }

  const Status status = other.LoadAdapter(adapter);  // into a model without slots, then into one with those of another
  const std::string hostile = Predicted(&other);
  if (status.IsError() && hostile != plain) return wrong("a refused adapter has changed the model");
  if (ResizeRows(&other, rows + 1).IsOk()) (void)Predicted(&other);
  if (ResizeRows(&other, rows).IsError() || Predicted(&other) != hostile) return wrong("other results after Resize");
  if (model.LoadAdapter(name + ".sound").IsError()) return wrong("the sound adapter cannot be loaded again");
  if (model.LoadAdapter(adapter).StatusCode() != status.StatusCode()) return wrong("taken once, refused once");
  if (Predicted(&model) != (status.IsOk() ? hostile : adapted)) return wrong("other results of another model");
  for (Model *used : {&model, &other}) {
    if (used->UnloadAdapter().IsError() || Predicted(used) != plain) return wrong("other results without the adapter");
    if (used->LoadAdapter(name + ".sound").IsError() || Predicted(used) != adapted) {
      return wrong("other results of the sound adapter");
    }
  }
  return status.IsError() ? mslite::test::Finish(report, mslite::test::kRefused, status.ToString())
                          : mslite::test::Finish(report, 0, "ran");
}
}  // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) mslite::test::InProcess(argv[i], LoadAndRun);
  return 0;
}
