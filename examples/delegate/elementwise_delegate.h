// A delegate for a simple backend with element-wise float operators: abs, neg, add, mul and relu.
#ifndef MSLITE_EXAMPLES_DELEGATE_ELEMENTWISE_DELEGATE_H
#define MSLITE_EXAMPLES_DELEGATE_ELEMENTWISE_DELEGATE_H

#include "include/api/delegate.h"

class ElementwiseDelegate : public mindspore::Delegate {
 public:
  // A real backend checks here if its device is available. With kLiteNotSupport, the CPU runs the model.
  mindspore::Status Init() override { return mindspore::kSuccess; }
  // Replaces the largest partitions that the backend supports.
  mindspore::Status Build(mindspore::LiteDelegateGraph *model) override;

  // Number of replaced kernels of the last model.
  int kernels_taken() const { return kernels_taken_; }
  int subgraphs() const { return subgraphs_; }

 private:
  int kernels_taken_ = 0;
  int subgraphs_ = 0;
};

#endif
