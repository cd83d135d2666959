#include "elementwise_delegate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "include/errorcode.h"
#include "include/mslite/delegate.h"
#include "schema/model_generated.h"

namespace {
using mindspore::MSTensor;
using mindspore::kernel::Kernel;
namespace schema = mindspore::schema;

// Returns true if the backend has the operator, for some inputs.
bool HasOperator(const schema::Primitive *primitive) {
  if (primitive == nullptr) return false;
  switch (primitive->value_type()) {
    case schema::PrimitiveType_Abs:
    case schema::PrimitiveType_Neg:
      return true;
    case schema::PrimitiveType_AddFusion:
      return primitive->value_as_AddFusion()->activation_type() == schema::ActivationType_NO_ACTIVATION;
    case schema::PrimitiveType_MulFusion:
      return primitive->value_as_MulFusion()->activation_type() == schema::ActivationType_NO_ACTIVATION;
    case schema::PrimitiveType_Activation:
      return primitive->value_as_Activation()->activation_type() == schema::ActivationType_RELU;
    default:
      return false;
  }
}

bool IsNumber(const MSTensor &tensor) { return tensor.IsConst() && tensor.ElementNum() == 1; }

// Returns true if the inputs are float32 with the shape of the output, or scalar constants.
bool Supports(Kernel *kernel) {
  if (!HasOperator(kernel->primitive())) return false;
  const MSTensor &output = kernel->outputs()[0];
  const auto fits = [&output](const MSTensor &input) {
    return input.DataType() == mindspore::DataType::kNumberTypeFloat32 &&
           (IsNumber(input) || (!input.IsConst() && input.ElementNum() >= 0 && input.Shape() == output.Shape()));
  };
  return output.DataType() == mindspore::DataType::kNumberTypeFloat32 &&
         std::all_of(kernel->inputs().begin(), kernel->inputs().end(), fits);
}

// An instruction for one element. Registers are the inputs of the partition, scalar constants and results.
struct Instruction {
  schema::PrimitiveType operation;
  size_t left;
  size_t right;
  size_t result;
};

float Compute(const Instruction &instruction, const std::vector<float> &registers) {
  const float left = registers[instruction.left];
  switch (instruction.operation) {
    case schema::PrimitiveType_Abs:
      return std::fabs(left);
    case schema::PrimitiveType_Neg:
      return -left;
    case schema::PrimitiveType_AddFusion:
      return left + registers[instruction.right];
    case schema::PrimitiveType_MulFusion:
      return left * registers[instruction.right];
    default:
      return std::max(left, 0.0f);
  }
}

// A partition. The replaced kernels exist as long as this kernel, but it does not need them: it reads their operators
// here.
class ElementwiseKernel : public Kernel {
 public:
  ElementwiseKernel(const mslite::Border &border, const std::vector<Kernel *> &kernels)
      : Kernel(border.inputs, border.outputs, nullptr, nullptr) {
    set_name("elementwise of " + kernels.front()->name());
    std::map<std::string, size_t> places;
    const auto place_of = [&](const MSTensor &tensor) {
      const auto [place, is_new] = places.emplace(tensor.Name(), registers_.size());
      if (is_new) registers_.push_back(IsNumber(tensor) ? *static_cast<const float *>(tensor.Data().get()) : 0.0f);
      return place->second;
    };
    for (const MSTensor &input : border.inputs) place_of(input);
    for (Kernel *kernel : kernels) {
      const size_t left = place_of(kernel->inputs().front());
      const size_t right = place_of(kernel->inputs().back());
      instructions_.push_back({kernel->primitive()->value_type(), left, right, place_of(kernel->outputs()[0])});
    }
    for (const MSTensor &output : border.outputs) results_.push_back(place_of(output));
  }

  // A real backend would compile the partition here, and again in ReSize if it needs the shapes.
  int Prepare() override { return mindspore::lite::RET_OK; }
  int ReSize() override { return mindspore::lite::RET_OK; }

  int Execute() override {
    for (int64_t i = 0; i < outputs_[0].ElementNum(); ++i) {
      for (size_t k = 0; k < inputs_.size(); ++k) {
        registers_[k] = static_cast<const float *>(inputs_[k].Data().get())[i];
      }
      for (const Instruction &instruction : instructions_) {
        registers_[instruction.result] = Compute(instruction, registers_);
      }
      for (size_t k = 0; k < outputs_.size(); ++k) {
        static_cast<float *>(outputs_[k].MutableData())[i] = registers_[results_[k]];
      }
    }
    return mindspore::lite::RET_OK;
  }

 private:
  std::vector<float> registers_;
  std::vector<Instruction> instructions_;
  std::vector<size_t> results_;
};
}  // namespace

mindspore::Status ElementwiseDelegate::Build(mindspore::LiteDelegateGraph *model) {
  kernels_taken_ = 0;
  subgraphs_ = 0;
  // A partition of one kernel is not faster because of the copies to and from a backend.
  for (const mslite::KernelRange range : mslite::SupportedRanges(model, Supports, 2)) {
    const auto begin = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.begin);
    const auto end = model->BeginKernelIterator() + static_cast<std::ptrdiff_t>(range.end);
    // The library deletes it with the model.
    auto *kernel = new ElementwiseKernel(mslite::BorderOf(model, range), std::vector<Kernel *>(begin, end));
    kernels_taken_ += static_cast<int>(range.end - range.begin);
    ++subgraphs_;
    model->Replace(begin, end, kernel);
  }
  return mindspore::kSuccess;
}
