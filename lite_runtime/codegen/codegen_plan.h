// The plan of a model for a target of generated C: its steps with kernels, their parameters and packed weights.
#ifndef MSLITE_CODEGEN_CODEGEN_PLAN_H
#define MSLITE_CODEGEN_CODEGEN_PLAN_H

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "codegen/int8_call_parameters.h"
#include "plan/planner.h"

namespace mslite::codegen {

using ByteString = std::string;

struct CodegenTensor {
  std::string name;
  int32_t dtype = 0;
  std::vector<int64_t> dims;  // -1: unknown
  bool has_data = false;
  ByteString data;                                          // contents of a constant that a step reads unpacked
  std::vector<std::tuple<double, int32_t, int32_t>> quant;  // scale, zero point, source type
  bool rounds_even = false;
};

/// Row r of output 0 needs the rows r * stride - pad to r * stride - pad + extent - 1 of input 0.
struct RowWise {
  int64_t extent = 0;  // 0: the step cannot compute single rows
  int64_t stride = 0;
  int64_t pad = 0;
};

/// A part of the rows of a step: `rows_out` output rows are computed from `rows_in` input rows with padding.
struct Band {
  int64_t pad_before = 0;
  int64_t rows_in = 0;
  int64_t pad_after = 0;
  int64_t rows_out = 0;
};

struct CodegenStep {
  std::string name;
  std::string op;
  std::string kernel;
  ByteString derived;
  std::vector<int32_t> parts;  // number of parts of each phase
  int64_t shared_bytes = 0;
  int64_t scratch_bytes = 0;
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  std::vector<std::pair<int32_t, ByteString>> packed;  // (input index, packed data)
  std::vector<int32_t> unread;                         // indices of inputs that the kernel does not read
  int32_t in_place = -1;
  std::vector<int64_t> leads;  // for each input: bytes by which the output must begin before it to overlap it, or -1
  int64_t macs = 0;
  RowWise rows;
  std::string custom_type;  // of a Custom operator
  std::vector<std::pair<std::string, ByteString>> attributes;
};

struct CodegenVariable {
  std::string name;
  ByteString initial;
};

/// A read or write of a variable by a graph.
struct VariableAccess {
  int32_t variable = 0;
  int32_t tensor = 0;
};

/// A graph; the main graph is the first. There is one for each call that runs it.
struct CodegenGraph {
  std::string name;
  std::vector<int32_t> inputs;  // tensors
  std::vector<int32_t> outputs;
  std::vector<int32_t> items;  // steps and calls in order; a call is ~ its index
  std::vector<VariableAccess> reads;
  std::vector<VariableAccess> writes;
};

/// A call of graphs. A closure >= 0 is the index of a branch; a closure < 0 is a choice with index ~closure.
struct CodegenCall {
  struct Choice {
    int32_t selector = 0;  // tensor: a condition (true selects target 0), or the index of a target
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
  bool is_tail = false;  // the results of the call are those of its graph
};

/// An unsupported node and the reason.
struct UnsupportedNode {
  std::string name;
  std::string op;
  std::string reason;
};

struct Planning;  // the planner's data for CutRows and CutChannels
struct PlannedStep;

struct CodegenPlan {
  std::vector<CodegenTensor> tensors;
  std::vector<CodegenStep> steps;
  std::vector<CodegenGraph> graphs;
  std::vector<CodegenCall> calls;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<CodegenVariable> variables;
  std::vector<UnsupportedNode> refusals;  // if not empty, all other fields are empty
  std::shared_ptr<const Planning> planning;
};

/// Returns the inputs of a model as in its file. Dynamic dimensions are -1.
std::vector<CodegenTensor> ModelInputs(const SharedModel &model);

/// Returns the planner's data for a step.
const PlannedStep &StepOf(const CodegenPlan &plan, size_t step);

/// Plans the main graph and the graphs that it calls, for inputs of these shapes (in the order of the model) and these
/// instruction sets. Kernels: those of this library and `more`; for training graphs also `more_for_training` and those
/// of the training library. Errors: those of planning. Unsupported nodes are added to `refusals`.
Status WritePlan(std::shared_ptr<SharedModel> model, const IsaSet &isas, const KernelList &more,
                 const KernelList &more_for_training, const std::vector<std::vector<int64_t>> &shapes,
                 CodegenPlan *plan);

/// Prepares the kernel of a row-wise step for some of its rows. The packed weights are those of the whole step. Returns
/// false if the kernel does not support the shape.
bool CutRows(const CodegenPlan &plan, size_t step, const Band &band, CodegenStep *cut);

/// Prepares the kernel of a convolution or matmul with constant weights for `count` of its output channels, and packs
/// their weights. Returns false for other operators, or if the kernel does not support it.
bool CutChannels(const CodegenPlan &plan, size_t step, int64_t first, int64_t count, CodegenStep *cut);

/// Returns the parameters of a step in a form for other kernel libraries.
Int8CallParameters Int8CallParametersOfStep(const CodegenPlan &plan, size_t step);

}  // namespace mslite::codegen

#endif
