// A call of a plan as an argument for kernels, and the kernels' parameters and packed weights as bytes.
#ifndef MSLITE_CODEGEN_KERNEL_CALL_H
#define MSLITE_CODEGEN_KERNEL_CALL_H

#include <algorithm>
#include <new>
#include <vector>

#include "codegen/codegen_plan.h"
#include "codegen/control_flow_planner.h"
#include "model/bytes.h"
#include "plan/prepare.h"

namespace mslite::codegen {

inline ByteString ByteStringOf(const void *data, int64_t size) {
  return size <= 0 ? ByteString() : ByteString(static_cast<const char *>(data), static_cast<size_t>(size));
}

// Returns what `fill` writes into `size` zero bytes. Bytes that it does not write are 0, so the result is reproducible.
template <typename Fill>
ByteString Filled(int64_t size, Fill fill) {
  const AlignedBuffer memory = MakeAligned(static_cast<uint64_t>(std::max(size, int64_t{1})));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory.get(), size, uint8_t{0});
  fill(memory.get());
  return ByteStringOf(memory.get(), size);
}

struct KernelCall {
  explicit KernelCall(const PlannedStep &planned) {
    const ProgramStep &source = *planned.source;
    const Node &from = *planned.step->node;
    for (const std::vector<int32_t> *list : {&source.inputs, &source.outputs}) {
      for (const int32_t local : *list) operands.push_back(&planned.planner->tensors()[static_cast<size_t>(local)]);
    }
    node = {from.op,
            from.params,
            static_cast<int32_t>(source.inputs.size()),
            static_cast<int32_t>(source.outputs.size()),
            operands.data(),
            operands.data() + source.inputs.size(),
            from.quant_type};
  }

  std::vector<const mslite_tensor *> operands;
  mslite_node node = {};
};

// Sets the kernel's parameters and schedule. Returns false if the kernel's function `prepare` fails.
inline bool Prepare(const mslite_kernel &kernel, const mslite_node &call, CodegenStep *step) {
  mslite_schedule schedule = {};
  mslite_status status = MSLITE_OK;
  step->derived =
      Filled(kernel.derived_size, [&](uint8_t *derived) { status = PrepareKernel(kernel, call, derived, &schedule); });
  step->parts.assign(schedule.part_count, schedule.part_count + schedule.phase_count);
  step->shared_bytes = schedule.shared_bytes;
  step->scratch_bytes = schedule.scratch_bytes;
  return status == MSLITE_OK;
}

// Returns which input rows an output row needs; `extent` is 0 if the call cannot compute single rows. All inputs that
// are not constants have the same rows.
RowWise RowsOf(const mslite_node &call);

}  // namespace mslite::codegen

#endif
