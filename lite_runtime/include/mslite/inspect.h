// Inspection of built models: kernels, memory, floating-point operations and backends. mslite extension.
#ifndef MSLITE_INCLUDE_MSLITE_INSPECT_H_
#define MSLITE_INCLUDE_MSLITE_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "include/api/model.h"

namespace mslite {

// An execution step of the plan: one call of a kernel.
struct StepInfo {
  std::string name;    // of the node
  std::string op;      // operator
  std::string kernel;  // e.g. "conv2d_gemm_f32_avx2"
  int64_t flops = 0;   // floating-point operations of one run; a multiply-add counts as two
  int64_t bytes = 0;   // size of the activations and weights that the step reads and writes
};

// A tensor in the arena.
struct BufferInfo {
  std::string tensor;
  int64_t offset = 0;  // in the arena, in bytes
  int64_t bytes = 0;
  int32_t first_step = 0;  // the buffer is used from this step
  int32_t last_step = 0;   // to this one, inclusive
};

struct PlanInfo {
  std::string isa;           // the best instruction set that the kernels of the model may use on this processor
  int64_t arena_bytes = 0;   // activations and scratch buffers
  int64_t packed_bytes = 0;  // packed weights
  std::vector<StepInfo> steps;
  std::vector<BufferInfo> buffers;
};

// The backend of a node.
struct NodePlacement {
  std::string node;
  std::string op;
  std::string engine;  // backend: "OpenCL (name of the device)", "CPU", or provider and arch of a registered kernel
  int32_t part = -1;   // index of its partition on the backend; -1 for the CPU
  std::string reason;  // why no backend runs the node; "" if one does
  int64_t flops = 0;   // of one run, as in StepInfo; 0 if shapes are unknown
};

struct PlacementInfo {
  std::vector<NodePlacement> nodes;  // of the main graph, in order of execution; empty if no backend was selected
  std::vector<std::string> missing;  // why backends or devices of the context are not available
};

// The nodes of a model that a backend of this library supports.
struct EngineInfo {
  std::string name;                  // the backend as in NodePlacement; with its device, if there is one
  std::string missing;               // why it is not available, or does not support the model; "" if it does
  std::vector<NodePlacement> nodes;  // of the main graph, in order; "CPU" with the reason if it does not support a node
};

// Returns the backend of each node, for the devices of the context. Fails if the model is not built.
MS_API mindspore::Status InspectPlacement(const mindspore::Model &model, PlacementInfo *info);

// Returns the nodes of a file that each backend of this library supports, with the shapes of the file. It looks for
// devices, but compiles nothing. Fails if the file cannot be read.
MS_API mindspore::Status InspectEngines(const std::string &path, std::vector<EngineInfo> *engines);

// Returns the plan for the current input shapes. Fails if the model is not built.
MS_API mindspore::Status InspectPlan(const mindspore::Model &model, PlanInfo *info);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_INSPECT_H_
