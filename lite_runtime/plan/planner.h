// Makes execution plans: infers shapes, folds constants, chooses kernels, packs weights, plans memory.
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
// The reasons why nodes cannot run, by node index in the graph.
using Problems = std::map<int32_t, std::string>;

// The float type in which a node computes, MSLITE_FLOAT16 or MSLITE_FLOAT32, by node name.
using NodeTypes = std::map<std::string, int32_t>;

struct PlanOptions {
  IsaSet isas;
  int32_t threads = 1;    // threads that may run parts of one step, each with its own scratch memory
  bool branches = false;  // steps that do not depend on each other may run at the same time
  KernelLists more_kernels;
  RegisteredKernels *registered = nullptr;
  bool half = false;  // compute in float16 if kernels support it, except for nodes that `node_types` sets to float32
  std::shared_ptr<const NodeTypes> node_types;
  // For training in mixed precision: nodes that tolerate float16 read and write it on every processor, and compute in
  // it if kernels support it. Outputs of the plan are float32.
  bool mixed = false;
  // The contents in the frame are the same in every run. A shape that depends on other contents is reported as a
  // problem.
  bool contents_are_fixed = false;
  bool packs = true;  // pack weights; a plan without packed weights is only examined, not run
};

class Planner {
 public:
  // Plans for the shapes of the values in `frame`, and for their contents if these determine a shape. Nodes that no
  // kernel supports are reported in `problems`; planning continues after them to find all.
  MSLITE_INTERNAL_API Planner(SharedModel *model, const Program &program, const Frame &frame,
                              const PlanOptions &options, Problems *problems);
  MSLITE_INTERNAL_API ~Planner();

  // Plans from step `begin` to the first step that must wait: a call, or a step whose output shapes depend on contents
  // that this plan computes. Sets `needs_data` and makes no plan if the first step depends on contents that are not
  // available yet. Errors: kLiteInferError, kLiteInvalidOpAttr, kLiteMemoryFailed, with node and reason.
  MSLITE_INTERNAL_API Status Make(int32_t begin, bool *needs_data, std::shared_ptr<const Plan> *plan);

  // The known tensors of the program and the source of each step, after Make. For code that writes a plan to a file.
  const std::vector<mslite_tensor> &tensors() const { return tensors_; }
  const ProgramStep &source(size_t step) const { return *calls_[step].step; }

  // Decides which calls compute in float16. Called by Make through mslite_part_half.
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
  bool UseFolded(const ProgramStep &step);
  void SetFolded(int32_t local, const mslite_tensor &value, State state);
  void StoreFolded(int32_t local, mslite_tensor value, AlignedBuffer memory, bool is_constant);
  Status MaterializeKnown(const ProgramStep &step, bool *done);
  Status Fold(const ProgramStep &step, const Node &node, bool *done);
  class Float16Planner;

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
  std::deque<ProgramStep> own_steps_;     // added steps that are not in the program
  std::vector<int32_t> last_use_;         // as in the program, or later if a fused call reads the tensor
  // A constant that a step's kernel needs packed.
  struct ToPack {
    size_t step;
    int32_t input;
    int64_t bytes;
  };
  std::vector<ToPack> to_pack_;
  std::vector<uint8_t> read_;  // per local tensor: whether the plan reads it
  int64_t next_symbol_ = MSLITE_SYMBOL_LIMIT - 1;
  std::shared_ptr<Plan> plan_;
};

// Null in a runtime that was cropped without float16 kernels; then everything computes in float32 (cropper/crop.py).
extern "C" const decltype(&Planner::PlanHalf) mslite_part_half[1];
}  // namespace mslite

#endif
