#include "engine/element_map.h"

#include <algorithm>

namespace mslite {
const mslite_kernel *OwnKernel(const mslite_node &node) {
  for (int32_t i = 0; i < mslite_kernel_count; ++i) {
    const mslite_kernel *kernel = mslite_kernels[i];
    if (kernel == nullptr || kernel->op != node.op || kernel->isa != MSLITE_ISA_SCALAR || kernel->quantized != 0) {
      continue;
    }
    if (kernel->support(&node) != 0) return kernel;
  }
  return nullptr;
}

namespace {
bool Run(const mslite_kernel &kernel, const mslite_node &node, const std::vector<const void *> &inputs,
         std::vector<int32_t> *result) {
  std::vector<uint64_t> derived(static_cast<size_t>(kernel.derived_size) / 8 + 1);
  mslite_schedule schedule = {};
  if (kernel.prepare(&node, derived.data(), &schedule) != MSLITE_OK) return false;
  std::vector<uint64_t> shared(static_cast<size_t>(schedule.shared_bytes) / 8 + 1);
  std::vector<uint64_t> scratch(static_cast<size_t>(schedule.scratch_bytes) / 8 + 1);
  void *outputs[] = {result->data()};
  mslite_failure failure = {};
  const mslite_run run = {derived.data(), inputs.data(), outputs, shared.data(), scratch.data(), &failure};
  for (int32_t phase = 0; phase < schedule.phase_count; ++phase) {
    for (int32_t part = 0; part < schedule.part_count[phase]; ++part) kernel.run(&run, phase, part);
  }
  return failure.status == MSLITE_OK;
}

// Returns the index in x of element `at` of the slice `box`, which has the dimensions `y`.
int64_t ElementOf(const Box &box, const mslite_tensor &x, const mslite_tensor &y, int64_t at) {
  int64_t element = 0;
  int64_t stride = 1;
  for (int32_t i = x.rank - 1; i >= 0; --i) {
    const auto place = static_cast<size_t>(i);
    element += (box.begin[place] + at % y.dims[i] * box.step[place]) * stride;
    at /= y.dims[i];
    stride *= x.dims[i];
  }
  return element;
}
}  // namespace

bool MapElements(const mslite_node &node, std::vector<int32_t> *map, bool zeros) {
  const int64_t count = mslite_element_count(node.inputs[0]);
  const int64_t result = mslite_element_count(node.outputs[0]);
  if (node.output_count != 1 || count < 0 || count >= INT32_MAX || result < 0 || result > INT32_MAX) return false;
  mslite_tensor x = *node.inputs[0];
  mslite_tensor y = *node.outputs[0];
  x.type = y.type = MSLITE_INT32;
  x.data = nullptr;
  x.known_count = y.known_count = -1;
  std::vector<const mslite_tensor *> operands(node.inputs, node.inputs + node.input_count);
  operands[0] = &x;
  const mslite_tensor *outputs[] = {&y};
  mslite_node moved = node;
  moved.inputs = operands.data();
  moved.outputs = outputs;
  const mslite_kernel *kernel = OwnKernel(moved);
  if (kernel == nullptr) return false;
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i) + 1;  // 0: no element
  std::vector<const void *> contents = {numbers.data()};
  for (int32_t i = 1; i < node.input_count; ++i) {
    if (node.inputs[i]->data == nullptr) return false;
    contents.push_back(node.inputs[i]->data);
  }
  map->assign(static_cast<size_t>(result), INT32_MAX);  // marks elements that the kernel does not write
  if (!Run(*kernel, moved, contents, map)) return false;
  for (int32_t &from : *map) --from;
  const int32_t least = zeros ? -1 : 0;
  return std::all_of(map->begin(), map->end(), [&](int32_t from) { return from >= least && from < count; });
}

bool SliceOf(const std::vector<int32_t> &map, const mslite_tensor &x, const mslite_tensor &y, Box *box) {
  if (x.rank != y.rank) return false;
  int64_t first = map[0];
  int64_t stride_x = 1;
  int64_t stride_y = 1;
  box->begin.resize(static_cast<size_t>(x.rank));
  box->step.assign(static_cast<size_t>(x.rank), 1);
  for (int32_t i = x.rank - 1; i >= 0; --i) {
    const auto place = static_cast<size_t>(i);
    box->begin[place] = first % x.dims[i];
    first /= x.dims[i];
    if (y.dims[i] > 1) {
      const int64_t distance = map[static_cast<size_t>(stride_y)] - map[0];
      if (distance % stride_x != 0 || distance == 0) return false;
      box->step[place] = distance / stride_x;
    }
    const int64_t last = box->begin[place] + (y.dims[i] - 1) * box->step[place];
    if (last < 0 || last >= x.dims[i]) return false;
    stride_x *= x.dims[i];
    stride_y *= y.dims[i];
  }
  for (size_t i = 0; i < map.size(); ++i) {
    if (ElementOf(*box, x, y, static_cast<int64_t>(i)) != map[i]) return false;
  }
  return true;
}

bool FindSlice(const std::vector<int32_t> &map, const mslite_tensor &x, mslite_tensor *y, Box *box) {
  if (y->rank > x.rank) return false;
  const mslite_tensor given = *y;
  for (uint32_t kept = 0; kept < (1U << x.rank); ++kept) {
    int32_t count = 0;
    y->rank = x.rank;
    for (int32_t i = 0; i < x.rank; ++i) {
      const bool is_kept = (kept >> i & 1) != 0 && count < given.rank;
      y->dims[i] = is_kept ? given.dims[count] : 1;
      count += is_kept ? 1 : 0;
    }
    if (count == given.rank && SliceOf(map, x, *y, box)) return true;
  }
  return false;
}
}  // namespace mslite
