// A loaded model in its current form: every index, size and type has been checked. Upgrade has rewritten what older
// versions store differently, except for the channel axis of quantization parameters: code that reads it checks
// `Graph::version`.
#ifndef MSLITE_MODEL_GRAPH_H
#define MSLITE_MODEL_GRAPH_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/bytes.h"
#include "model/internal_api.h"
#include "model/names.h"
#include "model/unpack.h"

namespace mslite {
// The quantizer's correction of a channel: real = variance * scale * (q - zero point) + mean.
struct Correction {
  float variance = 1;
  float mean = 0;
};

// The range that calibration has seen in a tensor or channel. Tensor::ranges is empty if the file has none.
struct CalibrationRange {
  double min = 0;
  double max = 0;
};

// The values of Tensor::size_marks for a dimension. Values in between number groups of dimensions that are always
// equal.
constexpr uint32_t kFreeSizeMark = 0;
constexpr uint32_t kFixedSizeMark = 15;  // fixed, as in the file: constants and nodes depend on it

struct Tensor {
  std::string name;
  int32_t type = 0;               // mslite_data_type
  int32_t format = 0;             // Format of the file
  bool has_rank = false;          // false: the rank is unknown
  std::vector<int64_t> dims;      // -1: unknown
  const uint8_t *data = nullptr;  // contents of a constant
  size_t size = 0;                // bytes at `data`
  bool is_constant = false;
  uint32_t size_marks = 0;  // of a graph input, if the converter wrote it: four bits for each dimension
  bool is_list = false;     // a list of tensors in the file; its dims here are [elements, shape of an element...]
  std::vector<mslite_quant> quant;
  std::vector<Correction> corrections;   // one per pair of quantization parameters, or none
  std::vector<CalibrationRange> ranges;  // likewise
};

inline uint32_t SizeMark(const Tensor &tensor, size_t axis) { return tensor.size_marks >> (4 * axis) & 15U; }

struct Node {
  std::string name;
  int32_t op = 0;  // mslite_op
  const void *params = nullptr;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  int32_t quant_type = 0;
  std::string custom_type;  // the type of a Custom operator that is not mslite's
  int32_t part = -1;        // the partition of a delegate that this node represents, or -1
  // The node in the file; nullptr if the node was added or changed.
  const schema::Primitive *primitive = nullptr;
  std::string problem;  // the reason why the node cannot run, if known before shapes are
};

// A call that may replace two nodes; the second is the only reader of the first one's output.
struct Fusion {
  int32_t first = 0;  // in Graph::nodes
  int32_t last = 0;
  Node call;
};

struct SubGraph {
  std::string name;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  std::vector<int32_t> nodes;   // in execution order
  std::vector<Fusion> fusions;  // used by plans whose shapes allow them
};

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  bool operator<(const Version &other) const;
};

struct Graph {
  std::shared_ptr<const Bytes> file;
  std::vector<std::shared_ptr<const Bytes>> side_files;
  std::vector<AlignedBuffer> decoded;  // rewritten constants
  unpack::Arena arena;                 // operator parameters
  std::string version_text;
  Version version;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<SubGraph> subgraphs;  // 0 is the main graph
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  uint32_t parts = 0;  // the parts of the library that loading and rewriting needed (model/parts.h): a bit per Part
};

// Returns "node 'conv1' (Conv2DFusion)".
MSLITE_INTERNAL_API std::string Describe(const Node &node);
// Returns the reason why a cropped library cannot run a model. `nodes` are lines that each begin with a line break.
std::string CroppedText(const Graph &graph, const std::string &nodes);
// Returns "[1, 2, ?]".
MSLITE_INTERNAL_API std::string DimsText(const int64_t *dims, size_t rank);
}  // namespace mslite

#endif
