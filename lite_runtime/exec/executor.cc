#include "exec/executor.h"

#include <algorithm>
#include <chrono>

namespace mslite {
namespace {
constexpr int32_t kEmpty = -1;

// A device takes longer than a CPU step, so a thread that waits for it sleeps after this many yields.
constexpr int32_t kYields = 100;
constexpr auto kNap = std::chrono::microseconds(30);

// A phase of a kernel, for the thread pool.
struct Phase {
  const mslite_kernel *kernel;
  const mslite_run *run;
  int64_t scratch_stride;
  int32_t phase;
  FailureRecord *failures;
};

void RunPart(void *context, int32_t part, int32_t thread) {
  const auto *phase = static_cast<const Phase *>(context);
  mslite_run run = *phase->run;
  run.scratch = static_cast<uint8_t *>(run.scratch) + thread * phase->scratch_stride;
  mslite_failure failure = {};
  run.failure = &failure;
  phase->kernel->run(&run, phase->phase, part);
  phase->failures->Add(failure);
}
}  // namespace

Binding::Binding(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {
  size_t input_count = 0;
  size_t output_count = 0;
  for (const Step &step : plan_->steps) {
    input_count += step.inputs.size();
    output_count += step.outputs.size();
  }
  inputs_.resize(input_count);
  outputs_.resize(output_count);
  bound_.resize(plan_->steps.size());
  const void **inputs = inputs_.data();
  void **outputs = outputs_.data();
  for (size_t i = 0; i < bound_.size(); ++i) {
    bound_[i].inputs = inputs;
    bound_[i].outputs = outputs;
    inputs += plan_->steps[i].inputs.size();
    outputs += plan_->steps[i].outputs.size();
  }
  if (plan_->has_branches) {
    missing_ = std::make_unique<std::atomic<int32_t>[]>(plan_->steps.size());
    spoiled_ = std::make_unique<std::atomic<bool>[]>(plan_->steps.size());
    has_lanes_ =
        std::any_of(plan_->steps.begin(), plan_->steps.end(), [](const Step &step) { return step.lane() >= 0; });
    ready_ = std::make_unique<std::atomic<int32_t>[]>(plan_->steps.size());
  }
}

void Binding::Resolve(const Frame &frame, uint8_t *arena) {
  for (size_t i = 0; i < bound_.size(); ++i) {
    const Step &step = plan_->steps[i];
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const Operand &operand = step.inputs[k];
      bound_[i].inputs[k] = operand.place == Operand::kFixed   ? operand.fixed
                            : operand.place == Operand::kArena ? arena + operand.at
                                                               : frame.values[static_cast<size_t>(operand.at)].data;
    }
    for (size_t k = 0; k < step.outputs.size(); ++k) {
      const Operand &operand = step.outputs[k];
      // The frame owns the memory of a value that is being computed, so it is writable.
      bound_[i].outputs[k] = operand.place == Operand::kArena
                                 ? arena + operand.at
                                 : const_cast<uint8_t *>(frame.values[static_cast<size_t>(operand.at)].data);
    }
    bound_[i].shared = arena + step.shared_offset;
    bound_[i].scratch = arena + step.scratch_offset;
  }
}

mslite_failure Executor::RunStep(const mslite_kernel &kernel, const mslite_schedule &schedule, int64_t scratch_stride,
                                 const mslite_run &run) const {
  FailureRecord failures;
  Phase context = {&kernel, &run, scratch_stride, 0, &failures};
  for (; context.phase < schedule.phase_count && failures.first().status == MSLITE_OK; ++context.phase) {
    const int32_t parts = schedule.part_count[context.phase];
    if (threads_ > 1 && parts > 1) {
      ThreadPool::Instance().Run(RunPart, &context, parts, threads_, cores_);
    } else {
      for (int32_t part = 0; part < parts; ++part) RunPart(&context, part, 0);
    }
  }
  return failures.first();
}

mslite_failure Executor::RunBound(const Step &step, const Binding::Bound &bound, StepObserver *observer) const {
  const mslite_run run = {step.derived, bound.inputs, bound.outputs, bound.shared, bound.scratch, nullptr};
  if (observer == nullptr) return RunStep(*step.kernel, step.schedule, step.scratch_stride, run);
  observer->Before(step, bound.inputs, bound.outputs);
  const auto start = std::chrono::steady_clock::now();
  const mslite_failure failure = RunStep(*step.kernel, step.schedule, step.scratch_stride, run);
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  observer->After(step, bound.inputs, bound.outputs, time.count());
  return failure;
}

void Executor::Run(Binding *binding, StepObserver *observer, RunControl *control, FailureRecord *failures) const {
  // An observer needs the steps in the order of the file, one at a time.
  if (binding->plan().has_branches && inter_op_ > 1 && observer == nullptr) {
    RunActors(binding, control, failures);
    return;
  }
  for (size_t i = 0; i < binding->bound_.size() && failures->first().status == MSLITE_OK && !control->Stops(); ++i) {
    failures->Add(RunBound(binding->plan().steps[i], binding->bound_[i], observer), static_cast<int32_t>(i));
  }
}

// Each step is an actor: it runs when its last input is ready, and notifies its successors. A worker continues with one
// successor that is ready, so that a chain of steps stays on its core. Other ready steps are appended to a list, from
// which idle workers take them. Steps of devices come first, so that the CPU runs others meanwhile. After a step that
// fails, its successors do not run. Of several failures the first in the order of steps is reported, independent of
// timing.
void Executor::RunActors(Binding *binding, RunControl *control, FailureRecord *failures) const {
  struct Actors {
    const Executor *executor;
    Binding *binding;
    int32_t count;
    RunControl *control;
    FailureRecord *failures;

    void MakeReady(int32_t step) {
      const int32_t place = binding->ready_count_.fetch_add(1);
      binding->ready_[static_cast<size_t>(place)].store(step, std::memory_order_release);
    }

    // Runs a step. Returns the successor to continue with, or kEmpty.
    int32_t Fire(int32_t index) {
      const Step &step = binding->plan().steps[static_cast<size_t>(index)];
      bool fails = binding->spoiled_[static_cast<size_t>(index)].load(std::memory_order_relaxed);
      if (!fails && !control->Stops()) {
        const mslite_failure failure = executor->RunBound(step, binding->bound_[static_cast<size_t>(index)], nullptr);
        failures->Add(failure, index);
        fails = failure.status != MSLITE_OK;
      }
      int32_t next = kEmpty;
      for (const bool on_device : {true, false}) {
        for (const int32_t successor : step.successors) {
          const auto place = static_cast<size_t>(successor);
          if ((binding->plan().steps[place].lane() >= 0) != on_device) continue;
          if (fails) binding->spoiled_[place].store(true, std::memory_order_relaxed);
          if (binding->missing_[place].fetch_sub(1) != 1) continue;
          if (next == kEmpty) {
            next = successor;
          } else {
            MakeReady(successor);
          }
        }
      }
      binding->fired_count_.fetch_add(1, std::memory_order_release);
      return next;
    }

    // Returns the step at that place of the list, or kEmpty if all steps have run without filling it.
    int32_t WaitFor(int32_t place) {
      int32_t yields = 0;
      while (true) {
        const int32_t step = binding->ready_[static_cast<size_t>(place)].load(std::memory_order_acquire);
        if (step != kEmpty || binding->fired_count_.load(std::memory_order_acquire) == count) return step;
        // A running actor may fill this place; it finishes sooner if this thread helps.
        if (ThreadPool::Instance().Help(RunPart)) {
          yields = 0;
        } else if (binding->has_lanes_ && ++yields > kYields) {
          std::this_thread::sleep_for(kNap);
        } else {
          std::this_thread::yield();
        }
      }
    }

    // Runs actors on one thread until all have run.
    static void Work(void *context, int32_t /*part*/, int32_t /*thread*/) {
      auto *self = static_cast<Actors *>(context);
      int32_t step = kEmpty;
      do {
        const int32_t place = self->binding->taken_count_.fetch_add(1);
        if (place >= self->count) return;
        step = self->WaitFor(place);
        for (int32_t next = step; next != kEmpty;) next = self->Fire(next);
      } while (step != kEmpty);
    }
  };
  const auto count = static_cast<int32_t>(binding->bound_.size());
  binding->ready_count_.store(0);
  binding->taken_count_.store(0);
  binding->fired_count_.store(0);
  for (int32_t i = 0; i < count; ++i) {
    binding->missing_[static_cast<size_t>(i)].store(binding->plan().steps[static_cast<size_t>(i)].predecessor_count);
    binding->ready_[static_cast<size_t>(i)].store(kEmpty);
    binding->spoiled_[static_cast<size_t>(i)].store(false);
  }
  Actors actors = {this, binding, count, control, failures};
  for (const bool on_device : {true, false}) {
    for (int32_t i = 0; i < count; ++i) {
      const Step &step = binding->plan().steps[static_cast<size_t>(i)];
      if (step.predecessor_count == 0 && (step.lane() >= 0) == on_device) actors.MakeReady(i);
    }
  }
  ThreadPool::Instance().Run(Actors::Work, &actors, inter_op_, inter_op_, cores_);
}
}  // namespace mslite
