// An immutable plan: consecutive steps of one program for given shapes, with their kernels, packed weights and memory.
#ifndef MSLITE_PLAN_PLAN_H
#define MSLITE_PLAN_PLAN_H

#include <cstdint>
#include <deque>
#include <vector>

#include "kernel.h"
#include "plan/frame.h"
#include "plan/program.h"
#include "plan/registered.h"

namespace mslite {
// Where a step finds an operand.
struct Operand {
  enum Place : uint8_t { kArena, kValue, kFixed };
  Place place = kFixed;
  int64_t at = 0;               // arena: offset; value: local tensor
  const void *fixed = nullptr;  // constants and packed weights
};

struct Step {
  const Node *node = nullptr;
  const mslite_kernel *kernel = nullptr;
  const RegisteredNode *registered = nullptr;  // set if the kernel is not from this library
  const void *derived = nullptr;
  mslite_schedule schedule = {};
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  std::vector<TensorShape> input_shapes;
  std::vector<TensorShape> output_shapes;
  int64_t shared_offset = 0;
  int64_t scratch_offset = 0;
  int64_t scratch_stride = 0;  // between the scratch memories of two threads
  std::vector<int32_t> successors;
  int32_t predecessor_count = 0;

  // The device lane; steps of one lane run one after the other. -1: none.
  int32_t lane() const { return registered != nullptr ? registered->lane() : -1; }
  // The parameters that the kernel receives.
  const void *params() const { return registered != nullptr ? registered : node->params; }
};

struct Plan {
  // The plan is valid if the values that it reads have these shapes...
  struct ShapeCheck {
    int32_t local = 0;
    TensorShape shape;
  };
  // ...and the values that determine a shape have these contents.
  struct ContentCheck {
    int32_t local = 0;
    std::vector<uint8_t> bytes;
  };
  // A value of this plan that later steps of the program, or the caller, read.
  struct Result {
    int32_t local = 0;
    TensorShape shape;
    size_t bytes = 0;
    const uint8_t *constant = nullptr;  // if the contents are known when planning: copied from here
    int32_t takes = -1;  // the value that is no longer needed when this one is computed, and whose memory it may reuse
  };

  int32_t begin = 0;  // steps of the program
  int32_t end = 0;
  std::vector<ShapeCheck> shape_checks;
  std::vector<ContentCheck> content_checks;
  std::vector<Step> steps;
  std::deque<Node> casts;  // float16 casts that only this plan has
  std::vector<Result> results;
  int64_t arena_bytes = 0;
  std::vector<AlignedBuffer> memory;  // derived data and contents that are valid for this plan only
  bool is_data_dependent = false;  // one step whose output shapes its kernel computes from the contents of the inputs
  bool has_branches = false;       // some steps may run at the same time

  bool Fits(const Frame &frame) const;
};
}  // namespace mslite

#endif
