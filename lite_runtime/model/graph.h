// A loaded model in its current form: every index, size and type has been checked, and no old version is left.
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
// What the quantizer of the weights corrected in a channel: real = variance * scale * (q - zero point) + mean.
struct Correction {
  float variance = 1;
  float mean = 0;
};

// Of the float values that calibration has seen in a tensor, or in a channel of it; empty: the file does not say.
struct SeenRange {
  double min = 0;
  double max = 0;
};

// What Tensor::size_marks says of a dimension; numbers between name groups of sizes that are equal in every run.
constexpr uint32_t kFreeSizeMark = 0;
constexpr uint32_t kFixedSizeMark = 15;  // as in the file: constants and nodes were made for it

struct Tensor {
  std::string name;
  int32_t type = 0;               // mslite_data_type
  int32_t format = 0;             // Format of the file
  bool has_rank = false;          // false: not even the number of dimensions is known
  std::vector<int64_t> dims;      // -1: unknown
  const uint8_t *data = nullptr;  // contents of a constant
  size_t size = 0;                // bytes at `data`
  bool is_constant = false;
  uint32_t size_marks = 0;  // of a graph input, where its converter said it: four bits for each dimension
  bool is_list = false;     // a list of tensors in the file; here [elements, shape of an element...]
  std::vector<mslite_quant> quant;
  std::vector<Correction> corrections;  // one per record, or none
  std::vector<SeenRange> ranges;        // likewise
};

inline uint32_t SizeMark(const Tensor &tensor, size_t axis) { return tensor.size_marks >> (4 * axis) & 15U; }

struct Node {
  std::string name;
  int32_t op = 0;  // mslite_op
  const void *params = nullptr;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  int32_t quant_type = 0;
  std::string custom_type;  // of a Custom operator that is not ours
  int32_t part = -1;        // of what a delegate has taken over, which this node stands for
  // In the file; nullptr for what no longer is what the file says, or never was in it.
  const schema::Primitive *primitive = nullptr;
  std::string problem;  // why it cannot run, where that shows before any shape is known
};

// A call that may take the place of two, of which only the last one reads what the first one gives.
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
  std::vector<Fusion> fusions;  // for plans whose shapes allow them
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
  std::vector<AlignedBuffer> decoded;  // constants that had to be rewritten
  unpack::Arena arena;                 // parameters of the operators
  std::string version_text;
  Version version;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<SubGraph> subgraphs;  // 0 is the main graph
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  uint32_t parts = 0;  // of the library, that loading and rewriting needed (model/parts.h): a bit of each Part
};

// "node 'conv1' (Conv2DFusion)".
MSLITE_INTERNAL_API std::string Describe(const Node &node);
// Why a cropped library cannot run a model: `nodes` are lines that each begin with a line break.
std::string CroppedText(const Graph &graph, const std::string &nodes);
// "[1, 2, ?]".
MSLITE_INTERNAL_API std::string DimsText(const int64_t *dims, size_t rank);
}  // namespace mslite

#endif
