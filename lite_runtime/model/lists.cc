// Loads tensor lists. A file contains only their description: the data type and the shapes of the elements.
#include <cstring>

#include "model/loader.h"

namespace mslite {
namespace {
constexpr int64_t kMaximumConstantList = int64_t{1} << 30;  // bytes of zeros

// Reads the 32-bit words of a description in order.
class Words {
 public:
  Words(const uint8_t *data, size_t size) : data_(data), left_(size / sizeof(int32_t)) {}

  bool Next(int32_t *word) {
    if (left_ == 0) return false;
    std::memcpy(word, data_, sizeof *word);
    data_ += sizeof *word;
    --left_;
    return true;
  }

  // Reads a rank and that many sizes.
  bool NextShape(std::vector<int64_t> *dims) {
    int32_t rank = 0;
    dims->clear();
    if (!Next(&rank) || rank < 0 || rank > MSLITE_MAX_RANK) return false;
    for (int32_t i = 0; i < rank; ++i) {
      int32_t size = 0;
      if (!Next(&size) || size < -1) return false;
      dims->push_back(size);
    }
    return true;
  }

 private:
  const uint8_t *data_;
  size_t left_;
};
}  // namespace

// Converts the list to a tensor [elements, shape of an element...] with the data type of its elements.
Status LoadList(const Loader &loader, const std::string &label, Tensor *tensor) {
  Words words(tensor->data, tensor->size);
  int32_t type = 0;
  int32_t count = -1;
  std::vector<int64_t> shape;
  if (!words.Next(&type) || !words.NextShape(&shape) || !words.Next(&count)) {
    return loader.Error(label + ": the description of a tensor list is cut off or damaged");
  }
  bool is_known = count >= 0;
  for (int32_t i = 0; i < count; ++i) {
    std::vector<int64_t> own;
    if (!words.NextShape(&own)) return loader.Error(label + ": the description of a tensor list is cut off or damaged");
    if (i == 0) shape = own;
    is_known = is_known && own == shape;
  }
  tensor->type = type;
  tensor->is_list = true;
  tensor->is_constant = false;
  tensor->data = nullptr;
  tensor->size = 0;
  tensor->dims.clear();
  tensor->has_rank = false;
  int64_t elements = 0;
  if (!is_known || !CountElements(shape, &elements)) return mindspore::kSuccess;
  tensor->dims.push_back(count);
  tensor->dims.insert(tensor->dims.end(), shape.begin(), shape.end());
  return mindspore::kSuccess;
}

// Makes a list that no node produces a constant of zeros. The shapes of the others are inferred at run time.
Status MakeConstantLists(Loader *loader) {
  Graph &graph = *loader->graph;
  std::vector<uint8_t> is_made(graph.tensors.size(), 0);
  for (const Node &node : graph.nodes) {
    for (const int32_t output : node.outputs) is_made[static_cast<size_t>(output)] = 1;
  }
  for (const SubGraph &subgraph : graph.subgraphs) {
    for (const int32_t input : subgraph.inputs) is_made[static_cast<size_t>(input)] = 1;
  }
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    Tensor &tensor = graph.tensors[i];
    if (!tensor.is_list) continue;
    const int64_t element = mslite_type_size(tensor.type);
    int64_t count = 0;
    if (is_made[i] != 0 || tensor.dims.empty() || tensor.dims.size() > MSLITE_MAX_RANK || element == 0 ||
        !CountElements(tensor.dims, &count) || count > kMaximumConstantList / element) {
      tensor.dims.clear();
      continue;
    }
    AlignedBuffer zeros = MakeAligned(static_cast<uint64_t>(count * element));
    if (zeros == nullptr) return Fail(mindspore::kLiteMemoryFailed, "no memory for the list '" + tensor.name + "'");
    std::memset(zeros.get(), 0, static_cast<size_t>(count * element));
    tensor.data = zeros.get();
    tensor.size = static_cast<size_t>(count * element);
    tensor.is_constant = true;
    tensor.has_rank = true;
    graph.decoded.push_back(std::move(zeros));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
