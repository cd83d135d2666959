#include "opencl/opencl_fusion.h"

#include <algorithm>

#include "opencl/opencl_uses.h"

namespace mslite {
namespace {
// Maximum number of operands of an epilogue: devices only guarantee 1 KB of kernel arguments, and registers are
// limited.
constexpr size_t kMaxOperands = 4;

std::string Replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string NameOf(int32_t operand) { return "e" + std::to_string(operand); }

// Moves the formula of the last launch of `plan` into the epilogue of the launch before it. `result`: index of the
// formula's argument that is the result of that launch.
void Join(OpenClPlan *plan, int32_t result) {
  const OpenClLaunch last = plan->launches().back();
  plan->launches().pop_back();
  OpenClLaunch &first = plan->launches().back();
  OutputOf(&first)->operand = std::find_if(last.arguments.begin(), last.arguments.end(), [](const auto &argument) {
                                return argument.is_output;
                              })->operand;
  OpenClEpilogue::Step step;
  step.formula = last.formula;
  step.result = result;
  for (size_t i = 0; i < last.formula.periods.size(); ++i) {
    if (static_cast<int32_t>(i) == result) continue;
    step.operands.push_back(static_cast<int32_t>(first.epilogue.periods.size()));
    first.epilogue.periods.push_back(last.formula.periods[i]);
    first.Input(NameOf(step.operands.back()).c_str(), last.arguments[i].operand, OpenClAccessPattern::Fours());
    first.arguments.back().touched = last.arguments[i].touched;
    // The period is a kernel argument, so that launches of other sizes use the same program.
    if (last.formula.periods[i] > 1) first.Integer(last.formula.periods[i]);
  }
  first.epilogue.steps.push_back(std::move(step));
  first.operations += last.operations;
  first.formula.expression.clear();  // the launch is no longer only a formula
}

bool IsReal(const Part &part, const OpenClOperand &operand) {
  return operand.place != OpenClOperand::kTensor ||
         part.tensors[static_cast<size_t>(operand.index)].value.type == MSLITE_FLOAT32;
}

// Returns true if the launch is a formula of float values that can be computed in any order of elements.
bool IsPlain(const Part &part, OpenClLaunch *launch) {
  const OpenClFormula &formula = launch->formula;
  if (formula.expression.empty() || !IsReal(part, OutputOf(launch)->operand)) return false;
  for (size_t i = 0; i < formula.periods.size(); ++i) {
    if (formula.periods[i] < 0 || !IsReal(part, launch->arguments[i].operand)) return false;
  }
  return true;
}
}  // namespace

void FuseEpilogues(const Part &part, const std::vector<int32_t> &roots, std::vector<OpenClPlan> *plans) {
  OpenClUses uses(part, roots, *plans);
  for (OpenClPlan &plan : *plans) {
    if (plan.launches().size() != 1 || !IsPlain(part, &plan.launches().front())) continue;
    OpenClLaunch &formula = plan.launches().front();
    const size_t count = formula.formula.periods.size();
    for (size_t i = 0; i < count; ++i) {
      if (formula.formula.periods[i] != 0) continue;
      const OpenClOperand operand = formula.arguments[i].operand;
      OpenClPlan *writer = uses.OnlyWriter(operand, plans);
      if (writer == nullptr || writer == &plan) continue;
      OpenClLaunch &result = writer->launches().back();
      const OpenClLaunch::Argument *written = OutputOf(&result);
      if (!result.takes_epilogue || !uses.IsSame(written->operand, operand) || !IsReal(part, written->operand) ||
          !uses.HasOneOutput(*writer, operand) || writer->has_fault() ||
          result.epilogue.periods.size() + count - 1 > kMaxOperands) {
        continue;
      }
      plan.Absorb(writer);
      Join(&plan, static_cast<int32_t>(i));
      uses.Move(plan, *plans);
      break;
    }
  }
}

std::string DefineEpilogue(const OpenClLaunch &launch) {
  const OpenClEpilogue &epilogue = launch.epilogue;
  if (epilogue.steps.empty()) return "";
  std::string functions;
  std::string parameters;
  std::string one = "(value)";
  std::string four = "(value)";
  bool has_fours = launch.stores_fours;
  for (size_t i = 0; i < epilogue.periods.size(); ++i) {
    parameters += ", INPUT(" + NameOf(static_cast<int32_t>(i)) + ")";
    if (epilogue.periods[i] > 1) parameters += ", int period" + std::to_string(i);
    has_fours = has_fours && (epilogue.periods[i] <= 1 || epilogue.periods[i] % 4 == 0);
  }
  const auto at = [&](int32_t operand) {
    const int64_t period = epilogue.periods[static_cast<size_t>(operand)];
    return period == 0 ? std::string("at") : period == 1 ? "0" : "(at) % period" + std::to_string(operand);
  };
  for (size_t i = 0; i < epilogue.steps.size(); ++i) {
    const OpenClEpilogue::Step &step = epilogue.steps[i];
    const std::string name = "step" + std::to_string(i);
    const std::string expression =
        Replaced(step.formula.expression, "activate(", "activate_as(" + step.formula.activation + ", ");
    functions += "float " + name + "(float a, float b, float c) { return " + expression + "; } ";
    functions += "float4 " + name + "_4(float4 a, float4 b, float4 c) { return (float4)(" + name + "(a.x, b.x, c.x), " +
                 name + "(a.y, b.y, c.y), " + name + "(a.z, b.z, c.z), " + name + "(a.w, b.w, c.w)); } ";
    std::string ones;
    std::string fours;
    size_t operand = 0;
    for (int32_t k = 0; k < 3; ++k) {
      const char *separator = k == 0 ? "" : ", ";
      if (k == step.result) {
        ones += separator + one;
        fours += separator + four;
      } else if (operand < step.operands.size()) {
        const int32_t number = step.operands[operand++];
        const std::string element = NameOf(number) + ", " + at(number) + ")";
        const bool is_single = epilogue.periods[static_cast<size_t>(number)] == 1;
        ones += separator + ("load(" + element);
        fours += separator + (is_single ? "(float4)(load(" + element + ")" : "load4(" + element);
      } else {
        ones += separator + std::string("0.0f");
        fours += separator + std::string("(float4)(0.0f)");
      }
    }
    one = name + "(" + ones + ")";
    four = name + "_4(" + fours + ")";
  }
  std::string lines = "#define EPILOGUE_FUNCTIONS " + functions + "\n#define EPILOGUE " + parameters +
                      "\n#define FUSED(value, at) " + one + "\n";
  if (has_fours) lines += "#define FUSED4(value, at, count) " + four + "\n";
  return lines;
}
}  // namespace mslite
