// Runs plans: a loop on the caller's thread, or actors where branches may run at the same time.
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
// Told before and after each step; `inputs` and `outputs` are the contents.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void Before(const Step &step, const void *const *inputs, void *const *outputs) = 0;
  virtual void After(const Step &step, const void *const *inputs, void *const *outputs, double milliseconds) = 0;
};

// The pointers of one plan in one session, and the actors' mail. Made with the plan, so that running allocates nothing.
class Binding {
 public:
  explicit Binding(std::shared_ptr<const Plan> plan);

  const Plan &plan() const { return *plan_; }
  // Fills in where the operands are now.
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
  // Actors: inputs still missing per step, whether one of them will never come, and the steps that wait for a free
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
  // `threads` for the parts of one step; up to `inter_op` steps at the same time.
  Executor(int32_t threads, int32_t inter_op, const CoreMask *cores)
      : threads_(threads), inter_op_(inter_op), cores_(cores) {}

  // Failures are those of kernels, with the step that failed; the results are of no use then, nor where `control` has
  // ended the run.
  void Run(Binding *binding, StepObserver *observer, RunControl *control, FailureRecord *failures) const;
  // Runs one step's kernel, phase by phase. The status of what is returned is MSLITE_OK, or why it failed.
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
