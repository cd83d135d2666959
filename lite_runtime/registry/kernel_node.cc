#include "registry/kernel_node.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "api/tensor.h"
#include "plan/quantized.h"
#include "plan/shapes.h"
#include "registry/application_call.h"
#include "schema/ops_generated.h"

namespace mslite {
namespace {
using mindspore::MSTensor;

// Converts the return value of a kernel to a status. Kernels return negative numbers or values of StatusCode.
Status StatusOfNumber(int number) {
  if (number == 0) return mindspore::kSuccess;
  constexpr auto kNumber = 0x0FFFFFFFu;
  return Status(static_cast<mindspore::StatusCode>(mindspore::kLite | (static_cast<uint32_t>(number) & kNumber)));
}

std::string ShapeText(const TensorShape &shape) {
  const mslite_tensor tensor = TensorOf(shape);
  return TensorText(tensor);
}

bool IsOpen(const TensorShape &shape) { return shape.rank < 0; }
}  // namespace

KernelNode::KernelNode(const Graph &graph, const Node &node, const mindspore::Context *,
                       const RegisteredKernel &registered)
    : node_(node),
      registered_(registered),
      name_(registered.provider + "/" + registered.arch),
      origin_("the kernel of provider '" + registered.provider + "'") {
  for (const int32_t input : node.inputs) {
    const Tensor &source = graph.tensors[static_cast<size_t>(input)];
    inputs_.push_back(mindspore::TensorFor(source));
    if (!source.is_constant) continue;
    inputs_.back().impl()->Show(source.data, source.size);
    inputs_.back().impl()->is_const = true;
  }
  for (const int32_t output : node.outputs) {
    outputs_.push_back(mindspore::TensorFor(graph.tensors[static_cast<size_t>(output)]));
  }
  ReadFile(graph);
}

KernelNode::KernelNode(const Graph &graph, const Node &node, const std::shared_ptr<const Delegation> &delegation)
    : node_(node), graph_(&graph), name_("delegate"), origin_("the delegate's kernel") {
  const Delegation::Part &part = delegation->parts()[static_cast<size_t>(node.part)];
  kernel_ = std::shared_ptr<mindspore::kernel::Kernel>(delegation, part.kernel.get());
  covered_ = &part.nodes;
  lane_ = part.lane;
  inputs_ = kernel_->inputs();
  outputs_ = kernel_->outputs();
  ReadFile(graph);
}

// Reads the tensors of the node from the file, and sets the kernel entry that runs the node.
void KernelNode::ReadFile(const Graph &graph) {
  for (const int32_t input : node_.inputs) {
    declared_inputs_.push_back(graph.tensors[static_cast<size_t>(input)].dims);
  }
  for (const int32_t output : node_.outputs) {
    const Tensor &source = graph.tensors[static_cast<size_t>(output)];
    TensorShape shape;
    shape.type = source.type;
    const bool is_known = std::all_of(source.dims.begin(), source.dims.end(), [](int64_t dim) { return dim >= 0; });
    shape.rank = is_known && (source.has_rank || !source.dims.empty()) ? static_cast<int32_t>(source.dims.size()) : -1;
    if (is_known) std::copy(source.dims.begin(), source.dims.end(), shape.dims);
    declared_.push_back(shape);
  }
  entry_.name = name_.c_str();
  entry_.op = node_.op;
  entry_.derived_size = static_cast<int32_t>(sizeof(Derived) + OperandCount() * sizeof(TensorShape));
  entry_.prepare = PrepareStep;
  entry_.run = RunStep;
  entry_.count = CountStep;
}

Status KernelNode::Create(const Graph &graph, const Node &node, const mindspore::Context *context,
                          const RegisteredKernel &registered, const std::shared_ptr<KernelDevice> &device,
                          std::unique_ptr<KernelNode> *result) {
  std::unique_ptr<KernelNode> made(new KernelNode(graph, node, context, registered));
  if (device != nullptr) {
    made->device_ = device;
    made->on_device_.resize(made->OperandCount());
    // Memory that a kernel sets for an output is device memory too.
    for (const MSTensor &output : made->outputs_) output.impl()->allocator = device->allocator();
  }
  const bool is_made = made->Call("its creator", [&]() -> Status {
    made->kernel_ = registered.creator(made->inputs_, made->outputs_, node.primitive, context);
    if (made->kernel_ == nullptr) return Status(mindspore::kLiteNullptr, "returned no kernel");
    return mindspore::kSuccess;
  });
  if (!is_made) return Fail(mindspore::kLiteError, made->error_);
  made->kernel_->set_name(node.name);
  made->kernel_->quant_type_ = static_cast<mindspore::schema::QuantType>(node.quant_type);
  const bool has_rule = made->Call("the creator of its KernelInterface", [&]() -> Status {
    made->rule_ = mindspore::registry::RegisterKernelInterface::GetKernelInterface(registered.provider, node.primitive,
                                                                                   made->kernel_.get());
    return mindspore::kSuccess;
  });
  if (!has_rule) return Fail(mindspore::kLiteError, made->error_);
  *result = std::move(made);
  return mindspore::kSuccess;
}

KernelNode::~KernelNode() {
  for (const MSTensor &output : outputs_) {
    if (device_ != nullptr) output.impl()->Release();
  }
  for (const OnDevice &tensor : on_device_) device_->allocator()->Free(tensor.memory);
}

bool KernelNode::Fails(const std::string &reason) {
  error_ = origin_ + ": " + reason;
  return false;
}

template <typename Function>
bool KernelNode::Call(const char *what, Function function) {
  KernelDevice *before = device_ == nullptr ? nullptr : device_->Enter();
  const Status status = CallApplicationCode(what, function);
  if (device_ != nullptr) device_->Leave(before);
  return status.IsOk() || Fails(status.GetErrDescription());
}

// Sets the types and shapes of the kernel's tensors.
bool KernelNode::ShowShapes(const TensorShape *shapes) {
  seen_.clear();
  for (size_t i = 0; i < OperandCount(); ++i) {
    MSTensor::Impl &tensor = *(i < inputs_.size() ? inputs_[i] : outputs_[i - inputs_.size()]).impl();
    const TensorShape &shape = shapes[i];
    tensor.type = static_cast<mindspore::DataType>(shape.type);
    if (IsOpen(shape)) {
      tensor.shape = {-1};
    } else {
      tensor.shape.assign(shape.dims, shape.dims + shape.rank);
    }
  }
  return true;
}

// Calls the shape inference of the rule or of the kernel. `status` is kLiteInferInvalid if shapes depend on data.
bool KernelNode::AskRule(Status *status) {
  *status = mindspore::kSuccess;
  std::vector<MSTensor> outputs = outputs_;
  const bool is_asked = Call(rule_ != nullptr ? "Infer" : "InferShape", [&]() -> Status {
    std::vector<MSTensor> inputs = inputs_;
    *status = rule_ != nullptr ? rule_->Infer(&inputs, &outputs, node_.primitive, kernel_.get())
                               : StatusOfNumber(kernel_->InferShape());
    const bool is_answer =
        *status == mindspore::kLiteInferInvalid || (rule_ == nullptr && *status == mindspore::kLiteNotSupport);
    return is_answer ? Status(mindspore::kSuccess) : *status;
  });
  if (!is_asked) return false;
  if (outputs.size() != outputs_.size()) {
    return Fails("Infer returned " + std::to_string(outputs.size()) + " outputs, but the node has " +
                 std::to_string(outputs_.size()));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == outputs_[i]) continue;
    if (outputs[i] == nullptr) return Fails("Infer set output " + std::to_string(i) + " to null");
    outputs_[i].SetShape(outputs[i].Shape());
    outputs_[i].SetDataType(outputs[i].DataType());
  }
  return true;
}

// Returns true if the inputs have the shapes of the file.
bool KernelNode::IsAsDeclared(const std::vector<const mslite_tensor *> &inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<int64_t> &dims = declared_inputs_[i];
    const bool is_same = dims.size() == static_cast<size_t>(inputs[i]->rank) &&
                         std::equal(dims.begin(), dims.end(), inputs[i]->dims,
                                    [](int64_t declared, int64_t dim) { return declared < 0 || declared == dim; });
    if (!is_same) return false;
  }
  return true;
}

// Reads the types and shapes that Infer has set for the outputs.
bool KernelNode::ReadOutputs(bool is_open, std::vector<TensorShape> *shapes) {
  shapes->assign(outputs_.size(), {});
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const std::vector<int64_t> &dims = outputs_[i].Shape();
    TensorShape &shape = (*shapes)[i];
    shape.type = static_cast<int32_t>(outputs_[i].DataType());
    if (mslite_type_size(shape.type) == 0) {
      return Fails("Infer set output " + std::to_string(i) + " to a type without a fixed size (" +
                   TypeName(shape.type) + ")");
    }
    const bool has_unknown = std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim == -1; });
    if (is_open || has_unknown) {
      shape.rank = -1;
      continue;
    }
    const bool is_possible = dims.size() <= MSLITE_MAX_RANK && std::all_of(dims.begin(), dims.end(), [](int64_t dim) {
                               return dim >= 0 && dim <= kMaximumDimension;
                             });
    if (!is_possible) {
      std::string text;
      for (const int64_t dim : dims) text += (text.empty() ? "" : ", ") + std::to_string(dim);
      return Fails("Infer set output " + std::to_string(i) + " to the invalid shape [" + text + "]");
    }
    shape.rank = static_cast<int32_t>(dims.size());
    std::copy(dims.begin(), dims.end(), shape.dims);
  }
  return true;
}

// Infers the output shapes of a delegate's kernel with the rules of the nodes that it replaces.
Status KernelNode::InferCovered(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs) {
  std::map<int32_t, mslite_tensor> known;
  for (size_t i = 0; i < inputs.size(); ++i) known[node_.inputs[i]] = *inputs[i];
  int64_t next_symbol = -1;
  for (const Node &node : *covered_) {
    std::vector<const mslite_tensor *> operands;
    for (const int32_t input : node.inputs) {
      const auto [place, is_new] = known.try_emplace(input, UnknownTensor());
      const Tensor &source = graph_->tensors[static_cast<size_t>(input)];
      if (is_new && source.is_constant) place->second = ConstantTensor(source);
      operands.push_back(&place->second);
    }
    std::vector<mslite_tensor> results(node.outputs.size());
    const Outcome outcome = InferShapes(node.op, node.params, operands, &results, &next_symbol);
    if (!outcome.ok()) return Fail(mindspore::kLiteInferError, Describe(node) + ": " + outcome.message);
    std::vector<int32_t> declared;
    for (size_t i = 0; i < results.size(); ++i) {
      const Tensor &source = graph_->tensors[static_cast<size_t>(node.outputs[i])];
      results[i].quant_count = static_cast<int32_t>(source.quant.size());
      results[i].quant = source.quant.data();
      declared.push_back(source.type);
    }
    SetDeclaredTypes(node.op, node.quant_type, operands, declared, &results);
    for (size_t i = 0; i < results.size(); ++i) known[node.outputs[i]] = results[i];
  }
  for (size_t i = 0; i < outputs->size(); ++i) {
    mslite_tensor &output = (*outputs)[i];
    output = known[node_.outputs[i]];
    const bool is_open =
        output.rank < 0 || std::any_of(output.dims, output.dims + output.rank, [](int64_t dim) { return dim < 0; });
    if (!is_open) continue;
    Fails("the shape of its output '" + outputs_[i].Name() +
          "' depends on data, which a delegate's kernel does not support");
    return Fail(mindspore::kLiteNotSupport, error_);
  }
  return mindspore::kSuccess;
}

Status KernelNode::Infer(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs) {
  if (covered_ != nullptr) return InferCovered(inputs, outputs);
  const auto failed = [&] { return Fail(mindspore::kLiteInferError, error_); };
  std::vector<TensorShape> shapes;
  shapes.reserve(OperandCount());
  for (const mslite_tensor *input : inputs) shapes.push_back(ShapeOf(*input));
  shapes.insert(shapes.end(), declared_.begin(), declared_.end());
  ShowShapes(shapes.data());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const int64_t bytes = inputs[i]->data == nullptr ? 0 : ByteSize(shapes[i]);
    inputs_[i].impl()->Show(inputs[i]->data, static_cast<size_t>(std::max<int64_t>(bytes, 0)));
  }
  for (const MSTensor &output : outputs_) output.impl()->Show(nullptr, 0);
  Status status;
  is_open_ = false;
  if (!AskRule(&status)) return failed();
  if (status == mindspore::kLiteNotSupport) {
    const bool is_declared = std::none_of(declared_.begin(), declared_.end(), IsOpen);
    if (node_.op != MSLITE_OP_Custom || node_.custom_type.empty()) return status;
    if (!is_declared || !IsAsDeclared(inputs)) {
      return Fail(
          mindspore::kLiteInferError,
          std::string("no KernelInterface is registered for it, and the model file ") +
              (is_declared ? "only has its output shapes for other input shapes" : "does not have its output shapes"));
    }
  }
  std::vector<TensorShape> found;
  if (!ReadOutputs(status == mindspore::kLiteInferInvalid, &found)) return failed();
  for (size_t i = 0; i < found.size(); ++i) {
    mslite_tensor &output = (*outputs)[i];
    output = TensorOf(found[i]);
    output.rank = found[i].rank;
    is_open_ = is_open_ || IsOpen(found[i]);
  }
  return mindspore::kSuccess;
}

// Prepares or resizes the kernel for these shapes.
bool KernelNode::TakeShapes(const TensorShape *shapes) {
  const size_t count = OperandCount();
  if (seen_.size() == count && std::equal(seen_.begin(), seen_.end(), shapes)) return true;
  ShowShapes(shapes);
  const bool is_open = std::any_of(shapes, shapes + count, IsOpen);
  const bool prepares = !is_prepared_;
  if (!prepares && is_open) return true;
  const bool is_done = Call(prepares ? "Prepare" : "ReSize", [&]() -> Status {
    const Status status = StatusOfNumber(prepares ? kernel_->Prepare() : kernel_->ReSize());
    return is_open && status == mindspore::kLiteInferInvalid ? Status(mindspore::kSuccess) : status;
  });
  if (!is_done) return false;
  is_prepared_ = true;
  if (!is_open) seen_.assign(shapes, shapes + count);
  return true;
}

mslite_status KernelNode::PrepareStep(const mslite_node *node, void *derived, mslite_schedule *schedule) {
  auto *self =
      const_cast<KernelNode *>(static_cast<const KernelNode *>(static_cast<const RegisteredNode *>(node->params)));
  static_cast<Derived *>(derived)->node = self;
  auto *shapes = reinterpret_cast<TensorShape *>(static_cast<Derived *>(derived) + 1);
  for (int32_t i = 0; i < node->input_count; ++i) *shapes++ = ShapeOf(*node->inputs[i]);
  for (int32_t i = 0; i < node->output_count; ++i) *shapes++ = ShapeOf(*node->outputs[i]);
  schedule->phase_count = 1;
  schedule->part_count[0] = 1;
  const bool is_ready = self->TakeShapes(shapes - self->OperandCount());
  return is_ready ? MSLITE_OK : MSLITE_ERROR_UNSUPPORTED;
}

mslite_status KernelNode::CountStep(const mslite_run *run, int64_t dims[][MSLITE_MAX_RANK]) {
  const auto *derived = static_cast<const Derived *>(run->derived);
  KernelNode &self = *derived->node;
  const auto *shapes = reinterpret_cast<const TensorShape *>(derived + 1);
  self.ShowShapes(shapes);
  for (size_t i = 0; i < self.inputs_.size(); ++i) {
    self.inputs_[i].impl()->Show(run->inputs[i], static_cast<size_t>(ByteSize(shapes[i])));
  }
  Status status;
  if (!self.AskRule(&status) || !self.ReadOutputs(false, &self.counted_)) return MSLITE_ERROR_SHAPE;
  for (size_t i = 0; i < self.outputs_.size(); ++i) {
    const TensorShape &planned = shapes[self.inputs_.size() + i];
    if (status.IsError() || self.counted_[i].rank < 0) {
      self.Fails("Infer did not set the shape of output " + std::to_string(i) + ", although all inputs have data");
      return MSLITE_ERROR_SHAPE;
    }
    if (self.counted_[i].type != planned.type) {
      self.Fails("Infer changed the type of output " + std::to_string(i) + " from " + TypeName(planned.type) + " to " +
                 TypeName(self.counted_[i].type));
      return MSLITE_ERROR_SHAPE;
    }
    std::copy_n(self.counted_[i].dims, MSLITE_MAX_RANK, dims[i]);
  }
  return MSLITE_OK;
}

void KernelNode::RunStep(const mslite_run *run, int32_t /*phase*/, int32_t /*part*/) {
  const auto *derived = static_cast<const Derived *>(run->derived);
  if (derived->node->Run(reinterpret_cast<const TensorShape *>(derived + 1), *run)) return;
  *run->failure = {MSLITE_ERROR_VALUE, 0, 0, 0, 0, 0};
}

// Sets the data pointers of the kernel's tensors.
bool KernelNode::ShowContents(const TensorShape *shapes, const mslite_run &run) {
  for (size_t i = 0; i < OperandCount(); ++i) {
    const auto bytes = static_cast<size_t>(ByteSize(shapes[i]));
    const bool is_input = i < inputs_.size();
    const size_t k = is_input ? i : i - inputs_.size();
    const MSTensor &tensor = (is_input ? inputs_ : outputs_)[k];
    if (device_ != nullptr && bytes > 0 && !tensor.impl()->is_const) {
      if (!ShowOnDevice(i, shapes[i], is_input ? run.inputs[k] : nullptr)) return false;
      continue;
    }
    tensor.impl()->Show(is_input ? run.inputs[k] : run.outputs[k], bytes);
  }
  return true;
}

// The same for a tensor on the device. The data of an input are copied.
bool KernelNode::ShowOnDevice(size_t operand, const TensorShape &shape, const void *contents) {
  OnDevice &place = on_device_[operand];
  const mslite_tensor tensor = TensorOf(shape);
  Status status;
  if (place.memory == nullptr || !(place.shape == shape)) {
    device_->allocator()->Free(place.memory);
    place = {shape, nullptr};
    status = device_->Make(tensor, &place.memory);
  }
  if (status.IsOk() && contents != nullptr) status = device_->Write(tensor, contents, place.memory);
  if (status.IsError()) return Fails(status.GetErrDescription());
  const bool is_input = operand < inputs_.size();
  (is_input ? inputs_[operand] : outputs_[operand - inputs_.size()])
      .impl()
      ->Show(place.memory, static_cast<size_t>(ByteSize(shape)));
  return true;
}

bool KernelNode::Run(const TensorShape *shapes, const mslite_run &run) {
  if (!TakeShapes(shapes)) return false;
  const TensorShape *of_outputs = shapes + inputs_.size();
  const bool is_empty = !outputs_.empty() && std::all_of(of_outputs, of_outputs + outputs_.size(),
                                                         [](const TensorShape &shape) { return ByteSize(shape) == 0; });
  if (!ShowContents(shapes, run)) return false;
  if (is_empty) return true;  // nothing to compute, as in MindSpore Lite
  if (!Call("Execute", [&] { return StatusOfNumber(kernel_->Execute()); })) return false;
  if (kernel_->outputs().size() != outputs_.size()) {
    return Fails("Execute left " + std::to_string(kernel_->outputs().size()) + " outputs where the node has " +
                 std::to_string(outputs_.size()));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (!ReserveResult(i, shapes[inputs_.size() + i], run.outputs[i])) return false;
  }
  return true;
}

// Reads an output. The kernel may have replaced the tensor or its memory.
bool KernelNode::ReserveResult(size_t output, const TensorShape &shape, void *memory) {
  const MSTensor &result = kernel_->outputs()[output];
  const std::string label = "Execute left output " + std::to_string(output);
  if (result == nullptr) return Fails(label + " as a null tensor");
  const MSTensor::Impl &impl = *result.impl();
  const bool is_same = impl.type == static_cast<mindspore::DataType>(shape.type) &&
                       impl.shape.size() == static_cast<size_t>(shape.rank) &&
                       std::equal(impl.shape.begin(), impl.shape.end(), shape.dims);
  if (!is_same) {
    seen_.clear();
    return Fails(label + " with shape " + DimsText(impl.shape.data(), impl.shape.size()) + " and type " +
                 TypeName(static_cast<int32_t>(impl.type)) + ", but Infer returned " + ShapeText(shape));
  }
  const auto bytes = static_cast<size_t>(ByteSize(shape));
  if (bytes == 0) return true;
  if (device_ != nullptr) {
    const Status status = device_->Read(TensorOf(shape), impl.data, memory);
    return status.IsOk() || Fails(label + " unread: " + status.GetErrDescription());
  }
  if (impl.data == memory) return true;
  if (impl.data == nullptr || impl.size < bytes) return Fails(label + " without data");
  std::memcpy(memory, impl.data, bytes);
  return true;
}
}  // namespace mslite
