// A model planned for another machine, written down: the steps with their kernels, prepared and packed here.
#ifndef MSLITE_CODEGEN_WRITTEN_PLAN_H
#define MSLITE_CODEGEN_WRITTEN_PLAN_H

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/call_numbers.h"
#include "plan/planner.h"

namespace mslite::codegen {

using ByteString = std::string;

struct WrittenTensor {
  std::string name;
  int32_t dtype = 0;
  std::vector<int64_t> dims;  // -1: unknown
  bool has_data = false;
  ByteString data;                                          // contents of a constant that some step reads as it is
  std::vector<std::tuple<double, int32_t, int32_t>> quant;  // scale, zero point, source type
  bool rounds_even = false;
};

/// Row r of output 0 needs the rows r * stride - pad to r * stride - pad + extent - 1 of input 0.
struct RowWise {
  int64_t extent = 0;  // 0: it cannot be run some rows at a time
  int64_t stride = 0;
  int64_t pad = 0;
};

/// `rows_in` rows of an input, with padding around them, become `rows_out` rows.
struct Band {
  int64_t pad_before = 0;
  int64_t rows_in = 0;
  int64_t pad_after = 0;
  int64_t rows_out = 0;
};

struct WrittenStep {
  std::string name;
  std::string op;
  std::string kernel;
  ByteString derived;
  std::vector<int32_t> parts;  // of each phase
  int64_t shared_bytes = 0;
  int64_t scratch_bytes = 0;
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  std::vector<std::pair<int32_t, ByteString>> packed;  // operand, packed form
  std::vector<int32_t> unread;                         // operands that the kernel reads nowhere
  int32_t in_place = -1;
  std::vector<int64_t> leads;  // of each input
  int64_t macs = 0;
  RowWise rows;
  std::string custom_type;  // of a Custom operator of others
  std::vector<std::pair<std::string, ByteString>> attributes;
};

struct WrittenVariable {
  std::string name;
  ByteString initial;
};

/// A variable as a graph uses it.
struct WrittenUse {
  int32_t variable = 0;
  int32_t tensor = 0;
};

/// A graph, once for each call that runs it: main first.
struct WrittenGraph {
  std::string name;
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  std::vector<int32_t> items;  // steps and calls in their order; a call is ~ its number
  std::vector<WrittenUse> reads;
  std::vector<WrittenUse> writes;
};

/// What a Call runs. Closures from 0 on are branches, the negative ones choices, ~closure being their number.
struct WrittenCall {
  struct Choice {
    int32_t selector = 0;  // tensor: a condition (target 0 where it is true), or the number of a target
    bool selects_by_index = false;
    std::vector<int32_t> targets;
  };
  struct Branch {
    int32_t graph = -1;  // -1: never taken
    std::vector<int32_t> arguments;
  };
  std::string name;
  int32_t closure = 0;
  std::vector<Choice> choices;
  std::vector<Branch> branches;
  std::vector<int32_t> outputs;
  bool is_tail = false;  // control does not come back: the results are those of its graph
};

/// Why a node cannot be part of the plan.
struct Refusal {
  std::string name;
  std::string op;
  std::string reason;
};

struct Planning;  // what CutRows needs of the planner
struct PlannedStep;

struct WrittenPlan {
  std::vector<WrittenTensor> tensors;
  std::vector<WrittenStep> steps;
  std::vector<WrittenGraph> graphs;
  std::vector<WrittenCall> calls;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<WrittenVariable> variables;
  std::vector<Refusal> refusals;  // where there are some, nothing else is filled
  std::shared_ptr<const Planning> planning;
};

/// The inputs of a model as its file says, sizes of -1 where it leaves them open.
std::vector<WrittenTensor> ModelInputs(const SharedModel &model);

/// A step of the plan, as it was planned.
const PlannedStep &StepOf(const WrittenPlan &plan, size_t step);

/// Plans the main graph, and what it calls, for inputs of these shapes (in the order of the model) and kernels of these
/// instruction sets: this library's, `more`, and where the model trains `more_for_training` and those of the training
/// library. Errors: those of planning; what concerns single nodes becomes refusals.
Status WritePlan(std::shared_ptr<SharedModel> model, const IsaSet &isas, const KernelList &more,
                 const KernelList &more_for_training, const std::vector<std::vector<int64_t>> &shapes,
                 WrittenPlan *plan);

/// Prepares the kernel of a step with `rows` for some rows of it. The packed constants stay those of the whole step.
/// False: the kernel does not take that shape.
bool CutRows(const WrittenPlan &plan, size_t step, const Band &band, WrittenStep *cut);

/// Prepares the kernel of a convolution or a product with constant weights for `count` of its output channels, and
/// packs their weights. False: it is neither, or the kernel does not take these.
bool CutChannels(const WrittenPlan &plan, size_t step, int64_t first, int64_t count, WrittenStep *cut);

/// The numbers of a step's call, as other kernel libraries want them.
CallNumbers NumbersOfStep(const WrittenPlan &plan, size_t step);

}  // namespace mslite::codegen

#endif
