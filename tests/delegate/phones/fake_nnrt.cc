// Stands in for OpenHarmony's libneural_network_runtime.so. It checks tensors and attributes against what the public
// headers say of each operation, refuses what does not fit, and computes with the library's own kernels. All numbers
// are written here again, from the headers: what the engine gets wrong is refused, or gives wrong results.
//
// FAKE_NNRT_REFUSES is the number of an operation that the accelerator does not take.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "phones/reference_call.h"

namespace {
using mslite::test::CallTensor;
using mslite::test::MustFail;
using mslite::test::ReferenceCall;

enum Result { kSuccess = 0, kFailed = 1, kInvalidParameter = 2, kForbidden = 4, kNullPointer = 5 };
enum Type { kBool = 1, kInt8 = 2, kInt32 = 4, kInt64 = 5, kFloat32 = 11 };
}  // namespace

struct NN_TensorDesc {
  int32_t type = 0;
  std::vector<int32_t> dims;
  int32_t format = 0;
};

namespace {
struct Tensor {
  NN_TensorDesc description;
  int32_t role = 0;
  const void *contents = nullptr;
  std::vector<uint8_t> copy;

  size_t Bytes() const {
    size_t bytes = description.type == kBool || description.type == kInt8 ? 1 : description.type == kInt64 ? 8 : 4;
    for (const int32_t dim : description.dims) bytes *= static_cast<size_t>(dim);
    return bytes;
  }
};

struct Operation {
  int32_t code = 0;
  std::vector<uint32_t> attributes;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

// An attribute: its role, the type of its elements, and how many there are (0: a single number, -1: a list).
struct Attribute {
  int32_t role;
  int32_t type;
  int32_t count;
};

// What each operation takes. Inputs by letters: x float32, a any type, i int32, b bool; +: one or more of the last.
struct Signature {
  int32_t code;
  const char *inputs;
  std::vector<Attribute> attributes;
};

const std::vector<Signature> &Signatures() {
  static const std::vector<Signature> signatures = {
      {1, "xx", {{1, kInt8, 0}}},
      {2, "x", {{2, kInt64, 2}, {3, kInt64, 2}, {5, kInt64, 4}, {6, kInt8, 0}}},
      {7, "a+", {{10, kInt64, 0}}},
      {8, "xxx", {{11, kInt64, 2}, {12, kInt64, 4}, {13, kInt64, 2}, {15, kInt8, 0}, {16, kInt64, 0}}},
      {10, "xxx", {{24, kInt64, 2}, {25, kInt64, 4}, {26, kInt64, 2}, {28, kInt8, 0}}},
      {11, "xx", {{29, kInt8, 0}}},
      {16, "aii", {}},
      {17, "x", {}},
      {18, "xx", {}},
      {19, "xx", {{33, kBool, 0}, {34, kBool, 0}, {35, kInt8, 0}}},
      {20, "xx", {}},
      {21, "x", {{36, kInt64, 2}, {37, kInt64, 2}, {39, kInt64, 4}, {40, kInt8, 0}}},
      {22, "xx", {{41, kInt8, 0}}},
      {24, "xi", {{43, kFloat32, 0}}},
      {25, "xx", {{107, kFloat32, 0}, {108, kFloat32, 0}}},
      {28, "x", {}},
      {30, "x", {{46, kInt64, 0}}},
      {32, "a", {{49, kInt64, 0}, {50, kInt64, 0}, {51, kInt64, -1}}},
      {33, "x", {}},
      {34, "xx", {}},
      {36, "aa+", {{53, kInt64, 0}}},
      {37, "aiii", {{54, kInt64, 0}, {55, kInt64, 0}, {56, kInt64, 0}, {57, kInt64, 0}, {58, kInt64, 0}}},
      {38, "xx", {{59, kInt8, 0}}},
      {39, "x", {}},
      {40, "ai", {{128, kInt64, -1}}},
      {41, "ai", {}},
      {42, "xi", {{60, kBool, 0}}},
      {43, "x", {{61, kInt64, 0}, {62, kInt64, 0}, {64, kInt8, 0}}},
      {44, "x", {}},
      {45, "ai", {}},
      {46, "xx", {}},
      {47, "x", {}},
      {48, "x", {}},
      {49, "xxx", {{66, kInt64, 0}, {67, kFloat32, 0}, {68, kInt64, 0}}},
      {50, "xi", {{70, kBool, 0}}},
      {54, "x", {{75, kInt64, 0}, {76, kBool, 0}}},
      {56, "x", {{113, kBool, 0}}},
      {57, "a", {{78, kInt64, 0}}},
      {58, "x", {}},
      {59, "x", {}},
      {60, "x", {{89, kFloat32, 0}, {90, kFloat32, 0}, {91, kFloat32, 0}}},
      {61, "xx", {}},
      {63, "x", {}},
      {70, "xx", {}},
      {71, "xx", {}},
      {72, "xx", {}},
      {73, "xx", {}},
      {74, "x", {{92, kFloat32, 0}}},
      {76, "x", {{103, kFloat32, 0}, {104, kFloat32, 0}}},
      {79, "x", {}},
      {80, "x", {}},
      {81, "bb", {}},
      {82, "b", {}},
      {84, "x", {}},
      {85, "x", {}},
      {86, "x", {}},
      {89, "bb", {}},
      {90, "x", {}},
      {93, "x", {}},
      {95, "x", {{144, kInt64, 0}}},
      {97, "xx", {}},
      {99, "xi", {{151, kBool, 0}}},
      {100, "xi", {{154, kBool, 0}}},
      {101, "xi", {{157, kBool, 0}}},
      {104, "x", {{150, kInt64, 0}}},
      {105, "x", {}},
  };
  return signatures;
}

constexpr struct {
  int32_t code;
  int32_t op;
} kPlain[] = {
    {18, MSLITE_OP_LessEqual},    {20, MSLITE_OP_Maximum},
    {33, MSLITE_OP_Sqrt},         {34, MSLITE_OP_SquaredDifference},
    {41, MSLITE_OP_Transpose},    {44, MSLITE_OP_Rsqrt},
    {45, MSLITE_OP_Reshape},      {58, MSLITE_OP_Abs},
    {59, MSLITE_OP_Erf},          {61, MSLITE_OP_Less},
    {63, MSLITE_OP_Square},       {70, MSLITE_OP_Equal},
    {71, MSLITE_OP_Greater},      {72, MSLITE_OP_NotEqual},
    {73, MSLITE_OP_GreaterEqual}, {79, MSLITE_OP_Cos},
    {80, MSLITE_OP_Log},          {81, MSLITE_OP_LogicalAnd},
    {82, MSLITE_OP_LogicalNot},   {84, MSLITE_OP_Neg},
    {85, MSLITE_OP_Reciprocal},   {86, MSLITE_OP_Sin},
    {89, MSLITE_OP_LogicalOr},    {90, MSLITE_OP_Ceil},
    {93, MSLITE_OP_Floor},        {97, MSLITE_OP_Minimum},
};

constexpr struct {
  int32_t code;
  int32_t activation;
} kActivations[] = {
    {17, MSLITE_ACTIVATION_TYPE_HSWISH}, {28, MSLITE_ACTIVATION_TYPE_SIGMOID}, {39, MSLITE_ACTIVATION_TYPE_TANH},
    {47, MSLITE_ACTIVATION_TYPE_RELU},   {48, MSLITE_ACTIVATION_TYPE_RELU6},   {105, MSLITE_ACTIVATION_TYPE_SWISH},
};

constexpr struct {
  int32_t code;
  int32_t mode;
  int32_t role;
} kReductions[] = {
    {42, MSLITE_REDUCE_MODE_REDUCE_MEAN, 60},  {50, MSLITE_REDUCE_MODE_REDUCE_PROD, 70},
    {99, MSLITE_REDUCE_MODE_REDUCE_MAX, 151},  {100, MSLITE_REDUCE_MODE_REDUCE_MIN, 154},
    {101, MSLITE_REDUCE_MODE_REDUCE_SUM, 157},
};
}  // namespace

struct OH_NNModel {
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  bool is_finished = false;
  std::unique_ptr<bool[]> supported;
};
struct OH_NNCompilation {
  const OH_NNModel *model = nullptr;
  size_t device = 0;
  bool is_half = false;
  bool is_built = false;
};
struct OH_NNExecutor {
  OH_NNCompilation *compilation;
};
struct NN_Tensor {
  NN_TensorDesc description;
  std::vector<uint8_t> memory;
};
struct OH_NN_UInt32Array {
  uint32_t *data;
  uint32_t size;
};

namespace {
constexpr size_t kDevices[] = {7, 3};  // a CPU, then an accelerator

int Refused(const std::string &reason) {
  std::cerr << "fake NNRT: " << reason << "\n";
  return kInvalidParameter;
}

CallTensor View(const Tensor &tensor, const void *contents) {
  CallTensor view;
  switch (tensor.description.type) {
    case kBool:
      view.type = MSLITE_BOOL;
      break;
    case kInt32:
      view.type = MSLITE_INT32;
      break;
    case kInt64:
      view.type = MSLITE_INT64;
      break;
    default:
      view.type = MSLITE_FLOAT32;
      break;
  }
  view.dims.assign(tensor.description.dims.begin(), tensor.description.dims.end());
  view.contents = contents;
  view.is_constant = tensor.contents != nullptr;
  return view;
}

bool Fits(char letter, int32_t type) {
  return letter == 'a' || type == (letter == 'x' ? kFloat32 : letter == 'i' ? kInt32 : kBool);
}

// "" where the operation's tensors are what the header asks for.
std::string Problem(const OH_NNModel &model, const Operation &operation) {
  const std::string name = "operation " + std::to_string(operation.code);
  const auto &all = Signatures();
  const auto signature =
      std::find_if(all.begin(), all.end(), [&](const Signature &entry) { return entry.code == operation.code; });
  if (signature == all.end()) return name + " is not known";
  const std::string letters = signature->inputs;
  const bool is_list = letters.back() == '+';
  const size_t least = letters.size() - (is_list ? 1 : 0);
  if (operation.inputs.size() < least || (!is_list && operation.inputs.size() > least)) return name + ": inputs";
  for (size_t i = 0; i < operation.inputs.size(); ++i) {
    const Tensor &input = model.tensors[operation.inputs[i]];
    if (input.role != 0 || input.description.dims.empty()) return name + ": an input that is an attribute";
    if (!Fits(letters[std::min(i, least - 1)], input.description.type)) return name + ": the type of an input";
  }
  std::set<int32_t> given;
  for (const uint32_t index : operation.attributes) {
    const Tensor &attribute = model.tensors[index];
    const auto wanted = std::find_if(signature->attributes.begin(), signature->attributes.end(),
                                     [&](const Attribute &entry) { return entry.role == attribute.role; });
    if (wanted == signature->attributes.end() || !given.insert(attribute.role).second) {
      return name + ": attribute " + std::to_string(attribute.role);
    }
    const std::vector<int32_t> &dims = attribute.description.dims;
    const bool has_count = wanted->count == 0    ? dims.empty()
                           : wanted->count == -1 ? dims.size() == 1
                                                 : dims == std::vector<int32_t>{wanted->count};
    if (attribute.description.type != wanted->type || !has_count || attribute.contents == nullptr) {
      return name + ": the form of attribute " + std::to_string(attribute.role);
    }
  }
  if (given.size() != signature->attributes.size()) return name + ": an attribute is missing";
  return "";
}

class Reader {
 public:
  Reader(const OH_NNModel &model, const Operation &operation, const std::vector<const void *> &contents)
      : model_(model), operation_(operation), contents_(contents) {}

  size_t count() const { return operation_.inputs.size(); }
  CallTensor Input(size_t i) const {
    return View(model_.tensors[operation_.inputs[i]], contents_[operation_.inputs[i]]);
  }
  std::vector<CallTensor> Inputs() const {
    std::vector<CallTensor> inputs;
    for (size_t i = 0; i < count(); ++i) inputs.push_back(Input(i));
    return inputs;
  }
  std::vector<int64_t> Wholes(int32_t role) const {
    const Tensor &tensor = Find(role);
    const auto *numbers = static_cast<const int64_t *>(tensor.contents);
    return {numbers, numbers + tensor.Bytes() / sizeof(int64_t)};
  }
  int64_t Whole(int32_t role) const { return Wholes(role)[0]; }
  float Real(int32_t role) const { return *static_cast<const float *>(Find(role).contents); }
  bool Flag(int32_t role) const { return *static_cast<const uint8_t *>(Find(role).contents) != 0; }
  int8_t Small(int32_t role) const { return *static_cast<const int8_t *>(Find(role).contents); }
  int32_t Fused(int32_t role) const {
    const int8_t fuse = Small(role);
    return fuse == 1   ? MSLITE_ACTIVATION_TYPE_RELU
           : fuse == 2 ? MSLITE_ACTIVATION_TYPE_RELU6
                       : MSLITE_ACTIVATION_TYPE_NO_ACTIVATION;
  }

 private:
  const Tensor &Find(int32_t role) const {
    for (const uint32_t index : operation_.attributes) {
      if (model_.tensors[index].role == role) return model_.tensors[index];
    }
    std::abort();  // Problem() has seen that it is there
  }

  const OH_NNModel &model_;
  const Operation &operation_;
  const std::vector<const void *> &contents_;
};

void Convolve(const Reader &from, bool is_depthwise, ReferenceCall *call) {
  const std::vector<int64_t> weight = from.Input(1).dims;
  mslite_Conv2DFusion params = {};
  params.kernel_size = call->List({weight[1], weight[2]});
  params.stride = call->List(from.Wholes(is_depthwise ? 24 : 11));
  params.pad_mode = MSLITE_PAD_MODE_PAD;
  params.pad_list = call->List(from.Wholes(is_depthwise ? 25 : 12));
  params.dilation = call->List(from.Wholes(is_depthwise ? 26 : 13));
  params.activation_type = from.Fused(is_depthwise ? 28 : 15);
  params.group = is_depthwise ? weight[0] : from.Whole(16);
  params.in_channel = from.Input(0).dims[3];
  params.out_channel = weight[0];
  call->Be(MSLITE_OP_Conv2DFusion, params);
}

template <typename Params>
void Pool(const Reader &from, int32_t op, int32_t first_role, ReferenceCall *call) {
  Params params = {};
  params.kernel_size = call->List(from.Wholes(first_role));
  params.strides = call->List(from.Wholes(first_role + 1));
  params.pad_mode = MSLITE_PAD_MODE_PAD;
  params.pad = call->List(from.Wholes(first_role + 3));
  params.activation_type = from.Fused(first_role + 4);
  call->Be(op, params);
}

template <typename Params>
void Arithmetic(const Reader &from, int32_t op, int32_t role, ReferenceCall *call) {
  Params params = {};
  params.activation_type = from.Fused(role);
  call->Be(op, params);
}

// The operation as a call of one of our operators.
void Translate(const Operation &operation, const Reader &from, ReferenceCall *call) {
  struct Nothing {
    char unused;
  };
  call->inputs = from.Inputs();
  for (const auto &plain : kPlain) {
    if (plain.code == operation.code) return call->Be(plain.op, Nothing{});
  }
  for (const auto &entry : kActivations) {
    if (entry.code != operation.code) continue;
    mslite_Activation params = {};
    params.activation_type = entry.activation;
    return call->Be(MSLITE_OP_Activation, params);
  }
  for (const auto &entry : kReductions) {
    if (entry.code != operation.code) continue;
    mslite_ReduceFusion params = {};
    params.mode = entry.mode;
    params.keep_dims = from.Flag(entry.role);
    return call->Be(MSLITE_OP_ReduceFusion, params);
  }
  switch (operation.code) {
    case 1:
      return Arithmetic<mslite_AddFusion>(from, MSLITE_OP_AddFusion, 1, call);
    case 11:
      return Arithmetic<mslite_DivFusion>(from, MSLITE_OP_DivFusion, 29, call);
    case 22:
      return Arithmetic<mslite_MulFusion>(from, MSLITE_OP_MulFusion, 41, call);
    case 38:
      return Arithmetic<mslite_SubFusion>(from, MSLITE_OP_SubFusion, 59, call);
    case 2:
      return Pool<mslite_AvgPoolFusion>(from, MSLITE_OP_AvgPoolFusion, 2, call);
    case 21:
      return Pool<mslite_MaxPoolFusion>(from, MSLITE_OP_MaxPoolFusion, 36, call);
    case 7:
      return call->Be(MSLITE_OP_Concat, mslite_Concat{from.Whole(10)});
    case 36:
      return call->Be(MSLITE_OP_Stack, mslite_Stack{from.Whole(53)});
    case 57:
      return call->Be(MSLITE_OP_Unstack, mslite_Unstack{from.Whole(78)});
    case 8:
      return Convolve(from, false, call);
    case 10:
      return Convolve(from, true, call);
    case 16:
      return call->Be(MSLITE_OP_Gather, mslite_Gather{});
    case 19: {
      mslite_MatMulFusion params = {};
      params.transpose_a = from.Flag(33);
      params.transpose_b = from.Flag(34);
      params.activation_type = from.Fused(35);
      return call->Be(MSLITE_OP_MatMulFusion, params);
    }
    case 24: {
      mslite_PadFusion params = {};
      params.constant_value = from.Real(43);
      return call->Be(MSLITE_OP_PadFusion, params);
    }
    case 25:
      return call->Be(MSLITE_OP_PowFusion, mslite_PowFusion{from.Real(107), from.Real(108)});
    case 30: {
      mslite_Softmax params = {};
      params.axis = call->List({from.Whole(46)});
      return call->Be(MSLITE_OP_Softmax, params);
    }
    case 95:
      return call->Be(MSLITE_OP_LogSoftmax, mslite_LogSoftmax{from.Whole(144)});
    case 32: {
      mslite_Split params = {};
      params.axis = from.Whole(49);
      params.output_num = from.Whole(50);
      params.size_splits = call->List(from.Wholes(51));
      return call->Be(MSLITE_OP_Split, params);
    }
    case 37: {
      mslite_StridedSlice params = {};
      params.begin_mask = from.Whole(54);
      params.end_mask = from.Whole(55);
      params.ellipsis_mask = from.Whole(56);
      params.new_axis_mask = from.Whole(57);
      params.shrink_axis_mask = from.Whole(58);
      return call->Be(MSLITE_OP_StridedSlice, params);
    }
    case 40:
      return call->Be(MSLITE_OP_TileFusion, mslite_TileFusion{call->List(from.Wholes(128))});
    case 43: {
      mslite_Resize params = {};
      params.method = MSLITE_RESIZE_METHOD_LINEAR;
      params.new_height = from.Whole(61);
      params.new_width = from.Whole(62);
      params.coordinate_transform_mode = from.Small(64);
      return call->Be(MSLITE_OP_Resize, params);
    }
    case 46:
      return call->Be(MSLITE_OP_PReLUFusion, mslite_PReLUFusion{false});
    case 49: {
      mslite_LayerNormFusion params = {};
      params.begin_norm_axis = from.Whole(66);
      params.epsilon = from.Real(67);
      params.begin_params_axis = from.Whole(68);
      params.elementwise_affine = true;
      return call->Be(MSLITE_OP_LayerNormFusion, params);
    }
    case 54: {
      mslite_ArgMaxFusion params = {};
      params.axis = from.Whole(75);
      params.keep_dims = from.Flag(76);
      params.top_k = 1;
      return call->Be(MSLITE_OP_ArgMaxFusion, params);
    }
    case 56: {
      mslite_Activation params = {};
      params.activation_type = MSLITE_ACTIVATION_TYPE_GELU;
      params.approximate = from.Flag(113);
      return call->Be(MSLITE_OP_Activation, params);
    }
    case 60:
      return call->Be(MSLITE_OP_ExpFusion, mslite_ExpFusion{from.Real(89), from.Real(90), from.Real(91)});
    case 74:
      return call->Be(MSLITE_OP_LeakyRelu, mslite_LeakyRelu{from.Real(92)});
    case 76:
      return call->Be(MSLITE_OP_Clip, mslite_Clip{from.Real(103), from.Real(104)});
    default: {  // 104
      mslite_SpaceToDepth params = {};
      params.block_size = from.Whole(150);
      return call->Be(MSLITE_OP_SpaceToDepth, params);
    }
  }
}

void Make(const OH_NNModel &model, const Operation &operation, const std::vector<const void *> &contents,
          ReferenceCall *call) {
  Translate(operation, Reader(model, operation, contents), call);
  for (const uint32_t output : operation.outputs) call->outputs.push_back(View(model.tensors[output], nullptr));
}

std::vector<const void *> Constants(const OH_NNModel &model) {
  std::vector<const void *> contents;
  for (const Tensor &tensor : model.tensors) contents.push_back(tensor.contents);
  return contents;
}

bool Matches(const NN_Tensor *tensor, const Tensor &wanted) {
  return tensor != nullptr && tensor->description.type == wanted.description.type &&
         tensor->description.dims == wanted.description.dims;
}

std::vector<uint32_t> ListOf(const OH_NN_UInt32Array *array) { return {array->data, array->data + array->size}; }
}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int OH_NNDevice_GetAllDevicesID(const size_t **ids, uint32_t *count) {
  if (MustFail()) return kFailed;
  *ids = kDevices;
  *count = static_cast<uint32_t>(std::size(kDevices));
  return kSuccess;
}
EXPORTED int OH_NNDevice_GetName(size_t id, const char **name) {
  if (MustFail()) return kFailed;
  *name = id == kDevices[0] ? "fake-cpu" : "fake-npu";
  return kSuccess;
}
EXPORTED int OH_NNDevice_GetType(size_t id, int32_t *type) {
  if (MustFail()) return kFailed;
  *type = id == kDevices[0] ? 1 : 3;
  return kSuccess;
}
EXPORTED NN_TensorDesc *OH_NNTensorDesc_Create() { return MustFail() ? nullptr : new NN_TensorDesc; }
EXPORTED int OH_NNTensorDesc_Destroy(NN_TensorDesc **description) {
  delete *description;
  *description = nullptr;
  return kSuccess;
}
EXPORTED int OH_NNTensorDesc_SetDataType(NN_TensorDesc *description, int32_t type) {
  if (MustFail()) return kFailed;
  constexpr int32_t kKnown[] = {kBool, kInt8, kInt32, kInt64, kFloat32};
  if (std::find(std::begin(kKnown), std::end(kKnown), type) == std::end(kKnown)) return Refused("a type");
  description->type = type;
  return kSuccess;
}
EXPORTED int OH_NNTensorDesc_SetShape(NN_TensorDesc *description, const int32_t *shape, size_t count) {
  if (MustFail()) return kFailed;
  if (shape == nullptr || count == 0) return Refused("a shape without dimensions");
  description->dims.assign(shape, shape + count);
  for (const int32_t dim : description->dims) {
    if (dim <= 0) return Refused("a dimension that is not known");
  }
  return kSuccess;
}
EXPORTED int OH_NNTensorDesc_SetFormat(NN_TensorDesc *description, int32_t format) {
  if (MustFail()) return kFailed;
  description->format = format;
  return format == 2 || format == 3 ? kSuccess : Refused("a format");
}
EXPORTED OH_NNModel *OH_NNModel_Construct() { return MustFail() ? nullptr : new OH_NNModel; }
EXPORTED void OH_NNModel_Destroy(OH_NNModel **model) {
  delete *model;
  *model = nullptr;
}
EXPORTED int OH_NNModel_AddTensorToModel(OH_NNModel *model, const NN_TensorDesc *description) {
  if (MustFail()) return kFailed;
  if (model->is_finished) return kForbidden;
  if (description->type == 0) return Refused("a tensor without a type");
  model->tensors.emplace_back().description = *description;
  return kSuccess;
}
EXPORTED int OH_NNModel_SetTensorType(OH_NNModel *model, uint32_t index, int32_t role) {
  if (MustFail()) return kFailed;
  if (index >= model->tensors.size() || role < 0 || role > 162) return Refused("the role of a tensor");
  model->tensors[index].role = role;
  return kSuccess;
}
EXPORTED int OH_NNModel_SetTensorData(OH_NNModel *model, uint32_t index, const void *contents, size_t bytes) {
  if (MustFail()) return kFailed;
  if (index >= model->tensors.size() || contents == nullptr || bytes != model->tensors[index].Bytes()) {
    return Refused("contents of another size");
  }
  model->tensors[index].contents = contents;
  return kSuccess;
}
EXPORTED int OH_NNModel_AddOperation(OH_NNModel *model, int32_t code, const OH_NN_UInt32Array *attributes,
                                     const OH_NN_UInt32Array *inputs, const OH_NN_UInt32Array *outputs) {
  if (MustFail()) return kFailed;
  if (model->is_finished) return kForbidden;
  const Operation operation = {code, ListOf(attributes), ListOf(inputs), ListOf(outputs)};
  for (const auto *list : {&operation.attributes, &operation.inputs, &operation.outputs}) {
    for (const uint32_t index : *list) {
      if (index >= model->tensors.size()) return Refused("a tensor that is not there");
    }
  }
  if (operation.outputs.empty()) return Refused("an operation without outputs");
  if (std::string problem = Problem(*model, operation); !problem.empty()) return Refused(problem);
  model->operations.push_back(operation);
  return kSuccess;
}
EXPORTED int OH_NNModel_SpecifyInputsAndOutputs(OH_NNModel *model, const OH_NN_UInt32Array *inputs,
                                                const OH_NN_UInt32Array *outputs) {
  if (MustFail()) return kFailed;
  model->inputs = ListOf(inputs);
  model->outputs = ListOf(outputs);
  for (const auto *list : {&model->inputs, &model->outputs}) {
    for (const uint32_t index : *list) {
      if (index >= model->tensors.size() || model->tensors[index].contents != nullptr) {
        return Refused("an input or an output that is a constant");
      }
    }
  }
  return model->inputs.empty() || model->outputs.empty() ? Refused("no inputs, or no outputs") : kSuccess;
}
EXPORTED int OH_NNModel_Finish(OH_NNModel *model) {
  if (MustFail()) return kFailed;
  if (model->is_finished || model->operations.empty()) return kForbidden;
  std::set<uint32_t> ready(model->inputs.begin(), model->inputs.end());
  const std::vector<const void *> contents = Constants(*model);
  for (const Operation &operation : model->operations) {
    for (const uint32_t input : operation.inputs) {
      if (contents[input] == nullptr && ready.count(input) == 0) return Refused("a tensor without contents");
    }
    for (const uint32_t output : operation.outputs) {
      if (contents[output] != nullptr || !ready.insert(output).second) return Refused("a tensor that is written twice");
    }
    ReferenceCall call;
    Make(*model, operation, contents, &call);
    if (std::string problem = call.Check(); !problem.empty()) {
      return Refused("operation " + std::to_string(operation.code) + ": " + problem);
    }
  }
  for (const uint32_t output : model->outputs) {
    if (ready.count(output) == 0) return Refused("an output that no operation gives");
  }
  model->is_finished = true;
  return kSuccess;
}
EXPORTED int OH_NNModel_GetAvailableOperations(OH_NNModel *model, size_t device, const bool **supported,
                                               uint32_t *count) {
  if (MustFail()) return kFailed;
  if (!model->is_finished) return kForbidden;
  if (device != kDevices[0] && device != kDevices[1]) return Refused("a device that is not there");
  if (*supported != nullptr) return Refused("a pointer that is not null");
  const char *refused = std::getenv("FAKE_NNRT_REFUSES");
  model->supported.reset(new bool[model->operations.size()]);
  for (size_t i = 0; i < model->operations.size(); ++i) {
    model->supported[i] = refused == nullptr || std::atoi(refused) != model->operations[i].code;
  }
  *supported = model->supported.get();
  *count = static_cast<uint32_t>(model->operations.size());
  return kSuccess;
}
EXPORTED OH_NNCompilation *OH_NNCompilation_Construct(const OH_NNModel *model) {
  if (MustFail() || model == nullptr || !model->is_finished) return nullptr;
  auto *made = new OH_NNCompilation;
  made->model = model;
  return made;
}
EXPORTED void OH_NNCompilation_Destroy(OH_NNCompilation **compilation) {
  delete *compilation;
  *compilation = nullptr;
}
EXPORTED int OH_NNCompilation_SetDevice(OH_NNCompilation *compilation, size_t device) {
  if (MustFail()) return kFailed;
  compilation->device = device;
  return kSuccess;
}
EXPORTED int OH_NNCompilation_SetPerformanceMode(OH_NNCompilation *compilation, int32_t mode) {
  if (MustFail()) return kFailed;
  return compilation->is_built || mode < 0 || mode > 4 ? Refused("a performance mode") : kSuccess;
}
EXPORTED int OH_NNCompilation_EnableFloat16(OH_NNCompilation *compilation, bool is_enabled) {
  if (MustFail()) return kFailed;
  compilation->is_half = is_enabled;
  return kSuccess;
}
EXPORTED int OH_NNCompilation_Build(OH_NNCompilation *compilation) {
  if (MustFail()) return kFailed;
  compilation->is_built = true;
  return kSuccess;
}
EXPORTED OH_NNExecutor *OH_NNExecutor_Construct(OH_NNCompilation *compilation) {
  if (MustFail() || compilation == nullptr || !compilation->is_built) return nullptr;
  return new OH_NNExecutor{compilation};
}
EXPORTED void OH_NNExecutor_Destroy(OH_NNExecutor **executor) {
  delete *executor;
  *executor = nullptr;
}
EXPORTED NN_Tensor *OH_NNTensor_Create(size_t, NN_TensorDesc *description) {
  if (MustFail()) return nullptr;
  Tensor like;
  like.description = *description;
  return new NN_Tensor{*description, std::vector<uint8_t>(like.Bytes())};
}
EXPORTED int OH_NNTensor_Destroy(NN_Tensor **tensor) {
  delete *tensor;
  *tensor = nullptr;
  return kSuccess;
}
EXPORTED void *OH_NNTensor_GetDataBuffer(const NN_Tensor *tensor) {
  return const_cast<uint8_t *>(tensor->memory.data());
}
EXPORTED int OH_NNExecutor_RunSync(OH_NNExecutor *executor, NN_Tensor **inputs, size_t input_count, NN_Tensor **outputs,
                                   size_t output_count) {
  if (MustFail()) return kFailed;
  const OH_NNModel &model = *executor->compilation->model;
  if (input_count != model.inputs.size() || output_count != model.outputs.size()) return Refused("how many tensors");
  std::vector<const void *> contents = Constants(model);
  std::vector<void *> targets(model.tensors.size(), nullptr);
  std::vector<std::vector<uint8_t>> memory(model.tensors.size());
  for (size_t i = 0; i < input_count; ++i) {
    if (!Matches(inputs[i], model.tensors[model.inputs[i]])) return Refused("an input of another form");
    contents[model.inputs[i]] = inputs[i]->memory.data();
  }
  for (size_t i = 0; i < output_count; ++i) {
    if (!Matches(outputs[i], model.tensors[model.outputs[i]])) return Refused("an output of another form");
    targets[model.outputs[i]] = outputs[i]->memory.data();
  }
  for (const Operation &operation : model.operations) {
    ReferenceCall call;
    Make(model, operation, contents, &call);
    std::vector<void *> results;
    for (const uint32_t output : operation.outputs) {
      const Tensor &tensor = model.tensors[output];
      if (targets[output] == nullptr) {
        memory[output].resize(tensor.Bytes());
        targets[output] = memory[output].data();
      }
      contents[output] = targets[output];
      results.push_back(targets[output]);
    }
    if (std::string problem = call.Run(results); !problem.empty()) {
      Refused(problem);
      return kFailed;
    }
    for (const uint32_t output : operation.outputs) {
      const Tensor &tensor = model.tensors[output];
      if (!executor->compilation->is_half || tensor.description.type != kFloat32) continue;
      mslite::test::RoundToHalf(static_cast<float *>(targets[output]), static_cast<int64_t>(tensor.Bytes() / 4));
    }
  }
  return kSuccess;
}
