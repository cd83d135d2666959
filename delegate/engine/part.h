// Part: a partition of a model for backends, with unpacked attributes of nodes, and types, shapes and constants of
// tensors.
#ifndef MSLITE_DELEGATE_ENGINE_PART_H
#define MSLITE_DELEGATE_ENGINE_PART_H

#include <string>
#include <unordered_map>
#include <vector>

#include "include/mslite/delegate.h"
#include "kernel.h"
#include "model/message.h"
#include "model/unpack.h"

namespace mslite {
class Part {
 public:
  struct Tensor {
    std::string name;
    mslite_tensor value;  // `data` is only set for constants; a negative dimension is unknown
    std::vector<mslite_quant> quant;
    mindspore::MSTensor source;
  };
  struct Node {
    std::string name;
    int32_t op = 0;                // mslite_op
    const void *params = nullptr;  // null: unknown operator
    int32_t quant_type = 0;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    mindspore::kernel::Kernel *kernel = nullptr;  // the offered kernel; EngineDelegate clears it in Build
  };
  // A node as mslite_node. It is valid as long as the partition and this object exist.
  class Call {
   public:
    Call(const Part &part, const Node &node);
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;
    const mslite_node &node() const { return node_; }

   private:
    std::vector<const mslite_tensor *> inputs_;
    std::vector<const mslite_tensor *> outputs_;
    mslite_node node_ = {};
  };

  // Reads kernels in order of execution. Errors: kLiteParamInvalid for attributes outside 32 bits.
  Status Read(const std::vector<mindspore::kernel::Kernel *> &kernels, const Border &border);
  // Copies known values of this partition's inputs from the whole model, such as computed sizes. They are used as long
  // as the inputs have the same shapes as in the whole model.
  void CopyKnownInputs(const Part &whole);
  // Sets the shapes of the inputs from these tensors.
  void ShowInputs(const std::vector<mindspore::MSTensor> &shown);
  // Infers the shapes of all tensors from the current shapes of the inputs. If the shapes of a node are unknown, its
  // outputs have an unknown rank.
  void Infer();

  std::vector<Node> nodes;
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;

 private:
  int32_t IndexOf(const mindspore::MSTensor &tensor);

  unpack::Arena arena_;
  std::unordered_map<const void *, int32_t> indices_;  // MSTensor::Impl -> index of the tensor
  std::vector<mslite_tensor> learned_;                 // inputs with known values
};

// Returns true if all dimensions are known.
bool HasShape(const mslite_tensor &tensor);
// Returns the number of elements; negative if a dimension is unknown.
int64_t CountIn(const mslite_tensor &tensor);
// Returns the size in bytes of a tensor with a known shape.
int64_t BytesOf(const mslite_tensor &tensor);
}  // namespace mslite

#endif
