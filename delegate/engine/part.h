// A part of a model as engines see it: nodes with unpacked attributes, and tensors with what is known of them.
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
    mslite_tensor value;  // `data` of constants alone; a dimension below zero is unknown
    std::vector<mslite_quant> quant;
    mindspore::MSTensor source;
  };
  struct Node {
    std::string name;
    int32_t op = 0;                // mslite_op
    const void *params = nullptr;  // null: the operator is not known
    int32_t quant_type = 0;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    mindspore::kernel::Kernel *kernel = nullptr;  // that was offered; gone after the delegate's Build
  };
  // The operator call as kernels see it, for as long as the part and this object live.
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

  // Of kernels in the order in which they run. Errors: kLiteParamInvalid for attributes beyond any size.
  Status Read(const std::vector<mindspore::kernel::Kernel *> &kernels, const Border &border);
  // Takes what the whole model knows of the contents of this part's inputs, such as sizes that are computed in front of
  // it, for as long as its inputs have the shapes that they have there.
  void LearnInputs(const Part &whole);
  // From now on the shapes of the inputs are those of these tensors.
  void ShowInputs(const std::vector<mindspore::MSTensor> &shown);
  // Infers the shapes of all tensors, by the rules of the operators, from those that the part's inputs have now.
  // Nodes whose shapes do not follow get outputs of unknown rank.
  void Infer();

  std::vector<Node> nodes;
  std::vector<Tensor> tensors;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;

 private:
  int32_t IndexOf(const mindspore::MSTensor &tensor);

  unpack::Arena arena_;
  std::unordered_map<const void *, int32_t> indices_;  // of tensors, by the objects that hold them
  std::vector<mslite_tensor> learned_;                 // of the inputs
};

// Whether all dimensions are known.
bool HasShape(const mslite_tensor &tensor);
// Elements of a tensor; negative where a dimension is open.
int64_t CountIn(const mslite_tensor &tensor);
// Bytes of a tensor whose shape is known.
int64_t BytesOf(const mslite_tensor &tensor);
}  // namespace mslite

#endif
