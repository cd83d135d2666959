/// The base class of custom kernels, which include/registry/register_kernel.h registers.
#ifndef MINDSPORE_INCLUDE_API_KERNEL_H
#define MINDSPORE_INCLUDE_API_KERNEL_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "include/api/context.h"
#include "include/api/types.h"

namespace mslite {
class KernelNode;  // sets the attributes of kernels from the model file
}

namespace mindspore {
// schema/model_generated.h defines these types. It needs FlatBuffers' headers. Kernels that read no attributes of the
// model file do not need it.
namespace schema {
struct Primitive;
enum PrimitiveType : uint8_t;
enum QuantType : int32_t;
}  // namespace schema

namespace kernel {
/// A kernel with its input and output tensors. The functions return 0 for success, else an error code. If one fails or
/// throws, Build, Resize or Predict fails with an error that names the node.
class MS_API MSKernel {
 public:
  MSKernel() = default;
  MSKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const Context *context)
      : context_(context), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  virtual ~MSKernel() = default;

  /// Sets the data types and shapes of the outputs.
  virtual int InferShape() { return static_cast<int>(kLiteError); }
  /// Called once, when the model is built. Types and shapes of all tensors are set, and constant inputs have their
  /// data. A shape of {-1} is unknown until the model runs.
  virtual int Prepare() = 0;
  /// Computes the outputs from the inputs. The runtime has allocated the outputs.
  virtual int Execute() = 0;
  /// Called before the next run after a shape has changed.
  virtual int ReSize() = 0;

  virtual void set_inputs(const std::vector<MSTensor> &inputs) { inputs_ = inputs; }
  virtual void set_input(MSTensor input, int index) { inputs_.at(static_cast<size_t>(index)) = input; }
  virtual void set_outputs(const std::vector<MSTensor> &outputs) { outputs_ = outputs; }
  virtual void set_output(MSTensor output, int index) { outputs_.at(static_cast<size_t>(index)) = output; }
  virtual const std::vector<MSTensor> &inputs() { return inputs_; }
  virtual const std::vector<MSTensor> &outputs() { return outputs_; }

  std::string name() const { return name_; }
  void set_name(const std::string &name) { name_ = name; }
  /// Returns the context that the model was built with.
  const Context *context() const { return context_; }

  /// Returns an attribute, or "" if the kernel does not have it. Kernels of Custom nodes have the attribute "type" and,
  /// as an mslite extension, the bytes of each attribute of the node in the model file.
  std::string GetAttr(const std::string &key) const {
    const auto place = attrs_.find(key);
    return place == attrs_.end() ? "" : place->second;
  }
  /// Returns a section of the model's configuration, or an empty map if it does not exist.
  std::map<std::string, std::string> GetConfig(const std::string &section) const {
    if (config_ == nullptr) return {};
    const auto place = config_->find(section);
    return place == config_->end() ? std::map<std::string, std::string>() : place->second;
  }
  void SetConfig(const std::map<std::string, std::map<std::string, std::string>> *config) { config_ = config; }

 protected:
  void SetAttr(const std::string &key, const std::string &value) { attrs_[key] = value; }

  std::string name_;
  const Context *context_ = nullptr;
  std::vector<MSTensor> inputs_;
  std::vector<MSTensor> outputs_;
  std::map<std::string, std::string> attrs_;
  const std::map<std::string, std::map<std::string, std::string>> *config_ = nullptr;
};

/// A kernel with an operator of type P.
template <class P>
class IKernel : public MSKernel {
 public:
  IKernel() = default;
  IKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const P *primitive, const Context *context)
      : MSKernel(std::move(inputs), std::move(outputs), context), primitive_(primitive) {}

  /// Returns the operator in the model file. It exists as long as the model.
  const P *primitive() const { return primitive_; }

 protected:
  const P *primitive_ = nullptr;
};

/// The base class of an application's kernels.
class MS_API Kernel : public IKernel<schema::Primitive> {
 public:
  Kernel();
  Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const schema::Primitive *primitive,
         const Context *context);

  /// Calls the registered KernelInterface of a provider that the context names; for a Custom node, of any provider.
  /// Returns kLiteNotSupport if none is registered.
  int InferShape() override;
  virtual schema::PrimitiveType type() const { return type_; }
  virtual schema::QuantType quant_type() const { return quant_type_; }

 protected:
  schema::PrimitiveType type_;
  schema::QuantType quant_type_;

 private:
  friend class mslite::KernelNode;
};
}  // namespace kernel
}  // namespace mindspore

#endif
