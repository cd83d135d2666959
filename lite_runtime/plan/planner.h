// Makes plans: infers shapes, folds what is known, chooses kernels, packs weights, lays out memory.
#ifndef MSLITE_PLAN_PLANNER_H
#define MSLITE_PLAN_PLANNER_H

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/internal_api.h"
#include "plan/choose_kernel.h"
#include "plan/cpu_features.h"
#include "plan/memory.h"
#include "plan/plan.h"

namespace mslite {
// Why nodes cannot run, by their place in the graph.
using Problems = std::map<int32_t, std::string>;

// By the names of nodes: the real type that each computes in, MSLITE_FLOAT16 or MSLITE_FLOAT32.
using NodeTypes = std::map<std::string, int32_t>;

struct PlanOptions {
  IsaSet isas;
  int32_t threads = 1;    // threads that may run parts of one step, each with scratch memory of its own
  bool branches = false;  // steps that do not depend on each other may run at the same time
  KernelLists more_kernels;
  RegisteredKernels *registered = nullptr;
  bool half = false;  // nodes compute in float16 where kernels have it, but those that `node_types` names otherwise
  std::shared_ptr<const NodeTypes> node_types;
  // As training in mixed precision: nodes that float16 does for read and write it on every processor, and compute in it
  // where kernels have it. What leaves the plan is float32.
  bool mixed = false;
  // The contents that the frame has are those of every run, and no others come: shapes that need more are problems.
  bool contents_are_fixed = false;
  bool packs = true;  // weights; a plan without them is looked at, and never run
};

class Planner {
 public:
  // Plans for the shapes (and, where they decide a shape, the contents) of the values in `frame`. Nodes that no kernel
  // runs are described in `problems`; planning goes on after them so that all are found.
  MSLITE_INTERNAL_API Planner(SharedModel *model, const Program &program, const Frame &frame,
                              const PlanOptions &options, Problems *problems);
  MSLITE_INTERNAL_API ~Planner();

  // Plans from step `begin` to the first step that must wait: a call, or one whose output shapes depend on contents
  // that this run of steps computes. `needs_data`: the very first step depends on contents that are not there yet;
  // then there is no plan. Errors: kLiteInferError, kLiteInvalidOpAttr, kLiteMemoryFailed, with node and reason.
  MSLITE_INTERNAL_API Status Make(int32_t begin, bool *needs_data, std::shared_ptr<const Plan> *plan);

  // After Make, for code that writes the plan down instead of running it: what is known of each local tensor of the
  // program, and what each step of the plan calls.
  const std::vector<mslite_tensor> &tensors() const { return tensors_; }
  const ProgramStep &source(size_t step) const { return *calls_[step].step; }

  // Chooses which calls compute in float16: mslite_part_half, for Make.
  static Status PlanHalf(Planner *planner);

 private:
  enum class State : uint8_t { kAbsent, kConstant, kPlanConstant, kValue, kTemporary, kBroken };
  enum class Verdict : uint8_t { kContinue, kStop, kNeedsData };

  // A step of the plan before its kernel is chosen.
  struct Call {
    const ProgramStep *step = nullptr;
    const Node *node = nullptr;
    int32_t position = 0;  // in the program
    RegisteredNode *registered = nullptr;
  };

  void Start(int32_t begin);
  Status Visit(int32_t position, Verdict *verdict);
  Status FindRegistered(const ProgramStep &step, bool *broken);
  Status Infer(const ProgramStep &step, const Node &node, Verdict *verdict, bool *broken);
  bool IsBlocked(const ProgramStep &step) const;
  Verdict UseContents(const ProgramStep &step);
  bool HasConstantInputs(const ProgramStep &step) const;
  bool TakeFolded(const ProgramStep &step);
  void SetFolded(int32_t local, const mslite_tensor &value, State state);
  void KeepFolded(int32_t local, mslite_tensor value, AlignedBuffer memory, bool is_constant);
  Status MaterializeKnown(const ProgramStep &step, bool *done);
  Status Fold(const ProgramStep &step, const Node &node, bool *done);
  class HalfPlanner;

  void FuseCalls();
  bool MayBeHalf() const;
  bool Fits(const FusedStep &fused) const;
  Status AddStep(const Call &call);
  Status ChooseAndPrepare(const Call &call, Step *step);
  void PointTo(const ProgramStep &step);
  Status PackWeights();
  Status CollectResults();
  Status PlaceOperands();
  void LinkSteps(std::vector<std::vector<int32_t>> *predecessors);
  static Status Allocate(uint64_t bytes, AlignedBuffer *memory);
  Status Keep(uint64_t bytes, uint8_t **memory);
  Status WithNode(const Status &status, int32_t node) const;
  Status NodeError(mindspore::StatusCode code, const Node &node, const std::string &reason) const;
  const Tensor &GraphTensor(int32_t local) const;

  SharedModel *model_;
  const Program &program_;
  const Frame &frame_;
  const PlanOptions &options_;
  Problems *problems_;
  std::vector<mslite_tensor> tensors_;  // per local tensor
  std::vector<State> states_;
  std::vector<const mslite_tensor *> input_pointers_;  // of the step being visited, or the call being prepared
  std::vector<const mslite_tensor *> output_pointers_;
  RegisteredNode *registered_ = nullptr;  // of the step being visited
  std::vector<Call> calls_;               // the steps of the plan
  std::deque<ProgramStep> own_steps_;     // that are not the program's
  std::vector<int32_t> last_use_;         // that of the program, or where a fused call reads a tensor later
  // A constant that the kernel of a step wants packed.
  struct ToPack {
    size_t step;
    int32_t input;
    int64_t bytes;
  };
  std::vector<ToPack> to_pack_;
  std::vector<uint8_t> read_;  // per local tensor: a value that the plan reads
  int64_t next_symbol_ = MSLITE_SYMBOL_LIMIT - 1;
  std::shared_ptr<Plan> plan_;
};

// Null in a runtime that was cropped without kernels for float16: float32 takes its place (cropper/crop.py).
extern "C" const decltype(&Planner::PlanHalf) mslite_part_half[1];
}  // namespace mslite

#endif
