// Runs plans: a loop on the caller's thread, or actors if branches may run at the same time.
#ifndef MSLITE_EXEC_EXECUTOR_H
#define MSLITE_EXEC_EXECUTOR_H

#include <atomic>
#include <memory>
#include <vector>

#include "exec/run_control.h"
#include "plan/failure.h"
#include "plan/plan.h"
#include "threads/thread_pool.h"

namespace mslite {
// Is called before and after each step, with the contents of `inputs` and `outputs`.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void Before(const Step &step, const void *const *inputs, void *const *outputs) = 0;
  virtual void After(const Step &step, const void *const *inputs, void *const *outputs, double milliseconds) = 0;
};

// The pointers of one plan in one session, and the state of the actors. Made with the plan, so that a run allocates
// nothing.
class Binding {
 public:
  explicit Binding(std::shared_ptr<const Plan> plan);

  const Plan &plan() const { return *plan_; }
  // Sets the addresses of the operands.
  void Resolve(const Frame &frame, uint8_t *arena);

 private:
  friend class Executor;
  struct Bound {
    const void **inputs = nullptr;
    void **outputs = nullptr;
    void *shared = nullptr;
    uint8_t *scratch = nullptr;
  };
  std::shared_ptr<const Plan> plan_;
  std::vector<const void *> inputs_;
  std::vector<void *> outputs_;
  std::vector<Bound> bound_;
  // State of the actors: the missing inputs per step, whether an input has failed, and the steps that are ready for a
  // worker, in the order in which they became ready.
  std::unique_ptr<std::atomic<int32_t>[]> missing_;
  std::unique_ptr<std::atomic<bool>[]> spoiled_;
  std::unique_ptr<std::atomic<int32_t>[]> ready_;
  bool has_lanes_ = false;  // some steps run on devices
  std::atomic<int32_t> ready_count_{0};
  std::atomic<int32_t> taken_count_{0};
  std::atomic<int32_t> fired_count_{0};
};

class Executor {
 public:
  // Uses `threads` for the parts of one step, and runs up to `inter_op` steps at the same time.
  Executor(int32_t threads, int32_t inter_op, const CoreMask *cores)
      : threads_(threads), inter_op_(inter_op), cores_(cores) {}

  // Runs a plan. `failures` receives the kernels' failures with their steps. The results are invalid if there is one,
  // or if `control` has stopped the run.
  void Run(Binding *binding, StepObserver *observer, RunControl *control, FailureRecord *failures) const;
  // Runs the kernel of one step, phase by phase. Returns status MSLITE_OK or the failure.
  mslite_failure RunStep(const mslite_kernel &kernel, const mslite_schedule &schedule, int64_t scratch_stride,
                         const mslite_run &run) const;

 private:
  mslite_failure RunBound(const Step &step, const Binding::Bound &bound, StepObserver *observer) const;
  void RunActors(Binding *binding, RunControl *control, FailureRecord *failures) const;

  int32_t threads_;
  int32_t inter_op_;
  const CoreMask *cores_;
};
}  // namespace mslite

#endif
