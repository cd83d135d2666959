#include "opencl/opencl_fusion.h"

#include <algorithm>
#include <set>

namespace mslite {
namespace {
// Operands of an epilogue, at most: devices take a kilobyte of arguments, and registers are few.
constexpr size_t kMostOperands = 4;

std::string Replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string NameOf(int32_t operand) { return "e" + std::to_string(operand); }

// How often launches read and write the memory of each tensor, and which plan writes it.
class Uses {
 public:
  Uses(const Part &part, const std::vector<int32_t> &roots, const std::vector<OpenClPlan> &plans)
      : roots_(roots), reads_(roots.size()), writes_(roots.size()), writers_(roots.size()) {
    for (const std::vector<int32_t> *border : {&part.inputs, &part.outputs}) {
      for (const int32_t tensor : *border) at_border_.insert(RootOf(tensor));
    }
    for (size_t i = 0; i < plans.size(); ++i) {
      for (const OpenClLaunch &launch : plans[i].launches()) {
        for (const OpenClLaunch::Argument &argument : launch.arguments) {
          if (!argument.is_buffer || argument.operand.place != OpenClOperand::kTensor) continue;
          const auto root = static_cast<size_t>(RootOf(argument.operand.index));
          ++(argument.is_written ? writes_ : reads_)[root];
          if (argument.is_written) writers_[root] = i;
        }
      }
    }
  }

  // The plan whose launch is the only one that writes the tensor, which is read once and by launches alone; null where
  // there is none.
  OpenClPlan *OnlyWriter(const OpenClOperand &operand, std::vector<OpenClPlan> *plans) const {
    if (operand.place != OpenClOperand::kTensor) return nullptr;
    const auto root = static_cast<size_t>(RootOf(operand.index));
    if (reads_[root] != 1 || writes_[root] != 1 || at_border_.count(RootOf(operand.index)) != 0) return nullptr;
    return &(*plans)[writers_[root]];
  }
  bool IsSame(const OpenClOperand &a, const OpenClOperand &b) const {
    return a.place == OpenClOperand::kTensor && b.place == a.place && RootOf(a.index) == RootOf(b.index);
  }
  // The launches of this plan are another one's now.
  void Move(const OpenClPlan &to, const std::vector<OpenClPlan> &plans) {
    const auto index = static_cast<size_t>(&to - plans.data());
    for (const OpenClLaunch &launch : to.launches()) {
      for (const OpenClLaunch::Argument &argument : launch.arguments) {
        if (argument.is_written && argument.operand.place == OpenClOperand::kTensor) {
          writers_[static_cast<size_t>(RootOf(argument.operand.index))] = index;
        }
      }
    }
  }

 private:
  int32_t RootOf(int32_t tensor) const { return roots_[static_cast<size_t>(tensor)]; }

  const std::vector<int32_t> &roots_;
  std::vector<int32_t> reads_;
  std::vector<int32_t> writes_;
  std::vector<size_t> writers_;
  std::set<int32_t> at_border_;
};

// Whether the plan gives one tensor alone.
bool HasOneOutput(const OpenClPlan &plan, const Uses &uses, const OpenClOperand &output) {
  const auto is_other = [&](const OpenClLaunch::Argument &argument) {
    return argument.is_written && argument.operand.place == OpenClOperand::kTensor &&
           !uses.IsSame(argument.operand, output);
  };
  return std::none_of(plan.launches().begin(), plan.launches().end(), [&](const OpenClLaunch &launch) {
    return std::any_of(launch.arguments.begin(), launch.arguments.end(), is_other);
  });
}

OpenClLaunch::Argument *OutputOf(OpenClLaunch *launch) {
  const auto place = std::find_if(launch->arguments.begin(), launch->arguments.end(),
                                  [](const OpenClLaunch::Argument &argument) { return argument.is_written; });
  return place == launch->arguments.end() ? nullptr : &*place;
}

// Makes the formula of the last launch of `plan` an epilogue of the launch in front of it, whose result is its argument
// number `result`.
void Join(OpenClPlan *plan, int32_t result) {
  const OpenClLaunch last = plan->launches().back();
  plan->launches().pop_back();
  OpenClLaunch &first = plan->launches().back();
  OutputOf(&first)->operand = std::find_if(last.arguments.begin(), last.arguments.end(), [](const auto &argument) {
                                return argument.is_written;
                              })->operand;
  OpenClEpilogue::Step step;
  step.formula = last.formula;
  step.result = result;
  for (size_t i = 0; i < last.formula.periods.size(); ++i) {
    if (static_cast<int32_t>(i) == result) continue;
    step.operands.push_back(static_cast<int32_t>(first.epilogue.periods.size()));
    first.epilogue.periods.push_back(last.formula.periods[i]);
    first.Input(NameOf(step.operands.back()).c_str(), last.arguments[i].operand);
    first.arguments.back().touched = last.arguments[i].touched;
  }
  first.epilogue.steps.push_back(std::move(step));
  first.operations += last.operations;
  first.formula.expression.clear();  // it is more than its formula now
}

bool IsReal(const Part &part, const OpenClOperand &operand) {
  return operand.place != OpenClOperand::kTensor ||
         part.tensors[static_cast<size_t>(operand.index)].value.type == MSLITE_FLOAT32;
}

// Whether the launch's formula can be computed of a real result, with its other arguments, in any order of elements.
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
  Uses uses(part, roots, *plans);
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
          !HasOneOutput(*writer, uses, operand) || writer->has_fault() ||
          result.epilogue.periods.size() + count - 1 > kMostOperands) {
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
    has_fours = has_fours && (epilogue.periods[i] <= 1 || epilogue.periods[i] % 4 == 0);
  }
  const auto at = [&](int32_t operand) {
    const int64_t period = epilogue.periods[static_cast<size_t>(operand)];
    return period == 0 ? std::string("at") : period == 1 ? "0" : "(at) % " + std::to_string(period);
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
