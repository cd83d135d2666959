// An immutable plan: a run of steps of one program at given shapes, with kernels, packed weights and memory decided.
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
  const RegisteredNode *registered = nullptr;  // where the kernel is not the library's own
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

  // Of a device, whose steps run one after the other; -1: none.
  int32_t lane() const { return registered != nullptr ? registered->lane() : -1; }
  // What the kernel sees as the operator's parameters.
  const void *params() const { return registered != nullptr ? registered : node->params; }
};

struct Plan {
  // What must hold for the plan to fit: the shapes of the values that it reads...
  struct ShapeCheck {
    int32_t local = 0;
    TensorShape shape;
  };
  // ...and the contents of those that decide a shape.
  struct ContentCheck {
    int32_t local = 0;
    std::vector<uint8_t> bytes;
  };
  // A value that later parts of the program, or the caller, read.
  struct Result {
    int32_t local = 0;
    TensorShape shape;
    size_t bytes = 0;
    const uint8_t *constant = nullptr;  // contents known when planning: copied
    int32_t takes = -1;                 // the value that dies where this one is made, and whose memory it may take over
  };

  int32_t begin = 0;  // steps of the program
  int32_t end = 0;
  std::vector<ShapeCheck> shape_checks;
  std::vector<ContentCheck> content_checks;
  std::vector<Step> steps;
  std::deque<Node> casts;  // that steps of this plan alone run: to float16 and back
  std::vector<Result> results;
  int64_t arena_bytes = 0;
  std::vector<AlignedBuffer> memory;  // derived numbers and contents that hold for this plan only
  bool is_counted = false;    // one step whose output shapes only its kernel can tell, when its inputs are there
  bool has_branches = false;  // some steps may run at the same time

  bool Fits(const Frame &frame) const;
};
}  // namespace mslite

#endif
