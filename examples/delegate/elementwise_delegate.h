// A delegate for an engine that computes floats one by one: abs, negate, add, multiply and relu.
#ifndef MSLITE_EXAMPLES_DELEGATE_ELEMENTWISE_DELEGATE_H
#define MSLITE_EXAMPLES_DELEGATE_ELEMENTWISE_DELEGATE_H

#include "include/api/delegate.h"

class ElementwiseDelegate : public mindspore::Delegate {
 public:
  // Looks whether the engine is there: kLiteNotSupport would leave the whole model to the CPU.
  mindspore::Status Init() override { return mindspore::kSuccess; }
  // Takes the largest subgraphs of what the engine computes.
  mindspore::Status Build(mindspore::LiteDelegateGraph *model) override;

  // Of the last model.
  int kernels_taken() const { return kernels_taken_; }
  int subgraphs() const { return subgraphs_; }

 private:
  int kernels_taken_ = 0;
  int subgraphs_ = 0;
};

#endif
