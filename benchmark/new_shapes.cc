#include "new_shapes.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "include/mslite/inspect.h"
#include "inputs.h"
#include "machine.h"
#include "program.h"
#include "statistics.h"

namespace mslite::benchmark {
namespace {

using Clock = std::chrono::steady_clock;
using mindspore::MSTensor;
using Shapes = std::vector<std::vector<int64_t>>;

std::string Run(mindspore::Model *model, const std::vector<MSTensor> &inputs, double *milliseconds) {
  std::vector<MSTensor> outputs;
  const Clock::time_point start = Clock::now();
  const mindspore::Status status = model->Predict(inputs, &outputs);
  *milliseconds = MillisecondsSince(start);
  return status.IsError() ? "Inference error: " + Reason(status) : "";
}

// "past.*" matches all inputs with names that begin with "past.".
bool Matches(const std::string &pattern, const std::string &name) {
  if (pattern.empty() || pattern.back() != '*') return pattern == name;
  return name.compare(0, pattern.size() - 1, pattern, 0, pattern.size() - 1) == 0;
}

// Parses the difference between consecutive shapes, in the order of the inputs.
std::string ParseSteps(const std::string &text, const std::vector<MSTensor> &inputs, Shapes *steps) {
  for (const MSTensor &input : inputs) steps->emplace_back(input.Shape().size(), 0);
  for (const std::string &entry : Split(text, ";")) {
    const size_t colon = entry.rfind(':');
    if (colon == std::string::npos) return "--shapeStep: '" + entry + "' is not of the form NAME:1,0,...";
    const std::string pattern = entry.substr(0, colon);
    std::vector<int64_t> step;
    for (const std::string &word : Split(entry.substr(colon + 1), ",")) {
      char *end = nullptr;
      step.push_back(std::strtoll(word.c_str(), &end, 10));
      if (*end != '\0' || step.back() < 0 || step.back() > (1 << 20)) {
        return "--shapeStep: '" + word + "' is not an integer from 0 to 1048576";
      }
    }
    bool is_found = false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!Matches(pattern, inputs[i].Name())) continue;
      is_found = true;
      if (step.size() != (*steps)[i].size()) {
        return "--shapeStep: input '" + inputs[i].Name() + "' has " + std::to_string((*steps)[i].size()) +
               " dimensions, but '" + entry + "' has " + std::to_string(step.size());
      }
      (*steps)[i] = step;
    }
    if (!is_found) return "--shapeStep: the model has no input '" + pattern + "'";
  }
  return "";
}

double InMebibytes(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

void PrintStatistics(const char *what, const std::vector<double> &milliseconds) {
  const Statistics s = Summarize(milliseconds);
  std::printf("%s: min %.3f ms, median %.3f, p90 %.3f, max %.3f\n", what, s.minimum, s.median, s.p90, s.maximum);
}

// Prints memory sizes, which must not grow with the number of shapes.
std::string PrintMemory(int shape, const mindspore::Model &model) {
  PlanInfo plan;
  if (const mindspore::Status status = InspectPlan(model, &plan); status.IsError()) return Reason(status);
  std::printf("After shape %d: %zu steps, packed and folded weights %.3f MiB, activations %.3f MiB, process %.1f MiB\n",
              shape, plan.steps.size(), InMebibytes(plan.packed_bytes), InMebibytes(plan.arena_bytes),
              InMebibytes(ResidentMemory()));
  return "";
}

}  // namespace

std::string MeasureNewShapes(const Flags &flags, RunWatch *watch, mindspore::Model *model) {
  std::vector<MSTensor> inputs = model->GetInputs();
  Shapes steps;
  std::string problem = ParseSteps(flags.shapeStep, inputs, &steps);
  if (!problem.empty()) return problem;
  Shapes shapes;
  for (const MSTensor &input : inputs) shapes.push_back(input.Shape());
  std::vector<double> planning, runs;
  double first = 0;
  double second = 0;
  for (int loop = 1; loop <= flags.loopCount; ++loop) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      std::transform(shapes[i].begin(), shapes[i].end(), steps[i].begin(), shapes[i].begin(), std::plus<int64_t>());
    }
    if (watch != nullptr) watch->Tick();
    const Clock::time_point start = Clock::now();
    const mindspore::Status status = model->Resize(inputs, shapes);
    const double resizing = MillisecondsSince(start);
    if (status.IsError()) return Reason(status);
    inputs = model->GetInputs();
    problem = FillInputs(flags, &inputs);
    if (problem.empty()) problem = Run(model, inputs, &first);
    if (problem.empty()) problem = Run(model, inputs, &second);
    if (problem.empty() && (loop == 2 || loop == flags.loopCount)) problem = PrintMemory(loop, *model);
    if (!problem.empty()) return problem;
    // Shapes that depend on the data of inputs are planned in the first run.
    planning.push_back(resizing + std::max(first - second, 0.0));
    runs.push_back(second);
  }
  PrintStatistics("Planning a new shape", planning);
  PrintStatistics("Inference with the new shape", runs);
  return "";
}

}  // namespace mslite::benchmark
