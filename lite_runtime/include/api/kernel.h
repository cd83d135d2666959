/// The base class of kernels that an application provides. See include/registry/register_kernel.h.
#ifndef MINDSPORE_INCLUDE_API_KERNEL_H
#define MINDSPORE_INCLUDE_API_KERNEL_H

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "include/api/context.h"
#include "include/api/types.h"

namespace mslite {
class KernelNode;  // gives kernels what the file says of their nodes
}

namespace mindspore {
// schema/model_generated.h defines these. It needs FlatBuffers; who only computes needs neither.
namespace schema {
struct Primitive;
enum PrimitiveType : uint8_t;
enum QuantType : int32_t;
}  // namespace schema

namespace kernel {
/// A kernel over tensors that the runtime gives it. The functions return 0 where all went well, else an error code; the
/// first that fails ends Build, Resize or Predict with the node's name. Exceptions do the same.
class MS_API MSKernel {
 public:
  MSKernel() = default;
  MSKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const Context *context)
      : context_(context), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  virtual ~MSKernel() = default;

  /// Sets types and shapes of the outputs.
  virtual int InferShape() { return static_cast<int>(kLiteError); }
  /// Called once. Constant inputs have their data; types and shapes are set (a shape of {-1}: known at run time only).
  virtual int Prepare() = 0;
  /// Reads the inputs and writes the memory of the outputs, which is there already.
  virtual int Execute() = 0;
  /// Called between two runs when a shape has changed.
  virtual int ReSize() = 0;

  virtual void set_inputs(const std::vector<MSTensor> &inputs) { inputs_ = inputs; }
  virtual void set_input(MSTensor input, int index) { inputs_.at(static_cast<size_t>(index)) = input; }
  virtual void set_outputs(const std::vector<MSTensor> &outputs) { outputs_ = outputs; }
  virtual void set_output(MSTensor output, int index) { outputs_.at(static_cast<size_t>(index)) = output; }
  virtual const std::vector<MSTensor> &inputs() { return inputs_; }
  virtual const std::vector<MSTensor> &outputs() { return outputs_; }

  std::string name() const { return name_; }
  void set_name(const std::string &name) { name_ = name; }
  /// The context that the model was built with.
  const Context *context() const { return context_; }

  /// An attribute, or "". Of a Custom node "type" is there from the beginning, and (beyond MindSpore Lite) the bytes of
  /// each attribute of the model file under its name.
  std::string GetAttr(const std::string &key) const {
    const auto place = attrs_.find(key);
    return place == attrs_.end() ? "" : place->second;
  }
  /// A section of the settings; empty where there is none.
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

/// A kernel of an operator that is described by a P.
template <class P>
class IKernel : public MSKernel {
 public:
  IKernel() = default;
  IKernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const P *primitive, const Context *context)
      : MSKernel(std::move(inputs), std::move(outputs), context), primitive_(primitive) {}

  /// The operator in the model file; lives as long as the model.
  const P *primitive() const { return primitive_; }

 protected:
  const P *primitive_ = nullptr;
};

/// What applications derive from.
class MS_API Kernel : public IKernel<schema::Primitive> {
 public:
  Kernel();
  Kernel(std::vector<MSTensor> inputs, std::vector<MSTensor> outputs, const schema::Primitive *primitive,
         const Context *context);

  /// Calls the registered KernelInterface (of a provider that the context names; of any for a Custom node);
  /// kLiteNotSupport where there is none.
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
