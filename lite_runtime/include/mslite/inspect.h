// What the runtime decided for a built model: kernels, memory, work. Beyond MindSpore Lite's API.
#ifndef MSLITE_INCLUDE_MSLITE_INSPECT_H_
#define MSLITE_INCLUDE_MSLITE_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "include/api/model.h"

namespace mslite {

struct StepInfo {
  std::string name;    // node
  std::string op;      // operator
  std::string kernel;  // kernel entry that runs it, e.g. "conv2d_gemm_f32_avx2"
  int64_t flops = 0;   // floating-point operations of one run; a multiply-add counts as two
  int64_t bytes = 0;   // bytes of activations and weights that it has to touch at least once
};

struct BufferInfo {
  std::string tensor;
  int64_t offset = 0;  // in the arena, in bytes
  int64_t bytes = 0;
  int32_t first_step = 0;
  int32_t last_step = 0;  // inclusive
};

struct PlanInfo {
  std::string isa;           // best instruction set that the model may use here
  int64_t arena_bytes = 0;   // activations and workspace
  int64_t packed_bytes = 0;  // packed weights
  std::vector<StepInfo> steps;
  std::vector<BufferInfo> buffers;
};

// Where a node of the file runs.
struct NodePlacement {
  std::string node;
  std::string op;
  std::string engine;  // "OpenCL (name of the device)"; "CPU"; of a registered kernel, provider and arch: "Acme/GPU"
  int32_t part = -1;   // of those that the engine runs: which of its parts it belongs to
  std::string reason;  // why no engine runs it; "" where one does
  int64_t flops = 0;   // of one run, as in StepInfo; 0 where shapes are open
};

struct PlacementInfo {
  std::vector<NodePlacement> nodes;  // of the main graph, in their order; none where no engine was asked
  std::vector<std::string> missing;  // why engines or devices that the context names are not there
};

// What an engine of this library would take of a model.
struct EngineInfo {
  std::string name;                  // as NodePlacement names it; with the device where that is there
  std::string missing;               // why it is not on this machine, or does not take the model; "" it is and does
  std::vector<NodePlacement> nodes;  // of the main graph, in their order; "CPU" with the reason where it leaves one
};

// Says which engine, for a device of the context, runs which node. Fails when the model is not built.
MS_API mindspore::Status InspectPlacement(const mindspore::Model &model, PlacementInfo *info);

// Says for each engine of this library, by itself, which nodes of a file it would run, with the shapes that the file
// has. Devices are looked for, and nothing is compiled. Fails when the file cannot be read.
MS_API mindspore::Status InspectEngines(const std::string &path, std::vector<EngineInfo> *engines);

// Describes the plan for the model's present input shapes. Fails when the model is not built.
MS_API mindspore::Status InspectPlan(const mindspore::Model &model, PlanInfo *info);

}  // namespace mslite

#endif  // MSLITE_INCLUDE_MSLITE_INSPECT_H_
