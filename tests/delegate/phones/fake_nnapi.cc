// Stands in for Android's libneuralnetworks.so. It checks operands against what the public header says of each
// operation, refuses what does not fit, and computes with the library's own kernels. All numbers and orders are written
// here again, from the header: what the engine gets wrong is refused, or gives wrong results.
//
// FAKE_NNAPI_LEVEL is the feature level of its accelerator (1000008 without it); FAKE_NNAPI_REFUSES the number of an
// operation that the accelerator does not take.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <set>

#include "phones/reference_call.h"

namespace {
using mslite::test::CallTensor;
using mslite::test::MustFail;
using mslite::test::ReferenceCall;

enum Result { kNoError = 0, kIncomplete = 2, kUnexpectedNull = 3, kBadData = 4, kOpFailed = 5, kBadState = 6 };

enum Type {
  kFloat32 = 0,
  kInt32 = 1,
  kTensorFloat32 = 3,
  kTensorInt32 = 4,
  kTensorQuant8Asymm = 5,
  kBool = 6,
  kTensorBool8 = 9,
  kTensorQuant8SymmPerChannel = 11,
  kTensorQuant8AsymmSigned = 14
};

constexpr int64_t kSignedLevel = 30;
constexpr size_t kCopiedBytes = 128;

struct Operand {
  int32_t type = 0;
  std::vector<uint32_t> dims;
  float scale = 0;
  int32_t zero_point = 0;
  std::vector<float> scales;
  uint32_t channel_dimension = 0;
  bool has_value = false;
  const void *value = nullptr;
  std::vector<uint8_t> copy;
  bool is_input = false;
  bool is_written = false;

  bool IsTensor() const { return type != kFloat32 && type != kInt32 && type != kBool; }
  bool IsStored() const {
    return type == kTensorQuant8Asymm || type == kTensorQuant8AsymmSigned || type == kTensorQuant8SymmPerChannel;
  }
  size_t Bytes() const {
    size_t bytes = type == kBool || type == kTensorBool8 || IsStored() ? 1 : 4;
    for (const uint32_t dim : dims) bytes *= dim;
    return bytes;
  }
  const void *Contents() const { return copy.empty() ? value : copy.data(); }
};

struct Operation {
  int32_t code = 0;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
};

// Operands by letters: x float values, or 8-bit integers that stand for them; n those or int32; v any of float32,
// int32; f float32; I int32; B bool8; w, b weights and bias of x; i, r, z a single int32, float32, bool. +x: one or
// more of them. What follows | may be left out, group by group. Behind >: the results; s the type of operand 0.
struct Signature {
  int32_t code;
  const char *operands;
  int64_t level;
  size_t most_dimensions;  // of operand 0
};

constexpr size_t kAny = 8;
constexpr Signature kSignatures[] = {
    {0, "nni>s", 27, 4},
    {1, "xiiiiiiiii|z>s", 27, 4},
    {2, "+ni>s", 27, 4},
    {3, "xwbiiiiiii|z|ii>s", 27, 4},
    {4, "xwbiiiiiiii|z|ii>s", 27, 4},
    {5, "xi|z>s", 27, 4},
    {6, "x>f", 27, 4},
    {8, "f>s", 27, 4},
    {9, "xwbi>s", 27, 4},
    {13, "firrr|i>s", 27, 4},
    {14, "x>s", 27, 4},
    {17, "xiiiiiiiii|z>s", 27, 4},
    {18, "nni>s", 27, 4},
    {19, "x>s", 27, 4},
    {20, "x>s", 27, 4},
    {21, "x>s", 27, 4},
    {22, "nI>s", 27, 4},
    {23, "xii|z|z|z>s", 27, 4},
    {25, "xr|i>s", 27, 4},
    {26, "xi|z>s", 27, 4},
    {28, "x>s", 27, 4},
    {30, "vvi>s", 28, 4},
    {31, "nIi>s", 28, 4},
    {32, "xI>s", 28, 4},
    {35, "xIIIiii>s", 28, 4},
    {36, "nni>s", 28, 4},
    {37, "x|I>s", 28, 4},
    {38, "v>s", 29, kAny},
    {39, "ni>I", 29, kAny},
    {40, "ni>I", 29, kAny},
    {45, "n>n", 29, kAny},
    {48, "nn>B", 29, kAny},
    {49, "f>s", 29, kAny},
    {51, "niI>s", 29, kAny},
    {53, "nn>B", 29, kAny},
    {54, "nn>B", 29, kAny},
    {55, "xwbiiiiiiiiz>s", 29, 4},
    {58, "nn>B", 29, kAny},
    {59, "nn>B", 29, kAny},
    {60, "f>s", 29, kAny},
    {61, "BB>B", 29, kAny},
    {62, "B>B", 29, kAny},
    {63, "BB>B", 29, kAny},
    {64, "fri>s", 29, kAny},
    {65, "nn>s", 29, kAny},
    {66, "nn>s", 29, kAny},
    {67, "v>s", 29, kAny},
    {68, "nn>B", 29, kAny},
    {69, "fIr>s", 29, 4},
    {70, "ff>s", 29, kAny},
    {71, "xx>s", 29, kAny},
    {72, "f>x", 29, kAny},
    {77, "xIz>s", 29, 4},
    {78, "xIz>s", 29, 4},
    {79, "fIz>s", 29, 4},
    {80, "fIz>s", 29, 4},
    {83, "f>s", 29, kAny},
    {84, "Bnn>1", 29, kAny},
    {85, "f>s", 29, kAny},
    {86, "nII>s", 29, kAny},
    {87, "nii>+s", 29, kAny},
    {88, "f>s", 29, kAny},
    {89, "nI>s", 29, kAny},
    {91, "xwbiiiiiiiz>s", 29, 4},
    {94, "xiiz|z|z>s", 29, 4},
    {98, "fr>s", 30, kAny},
    {99, "x>s", 30, kAny},
    {102, "nn|z|z>s", 1000006, 4},
};

const Signature *FindSignature(int32_t code) {
  for (const Signature &signature : kSignatures) {
    if (signature.code == code) return &signature;
  }
  return nullptr;
}
}  // namespace

struct ANeuralNetworksDevice {
  const char *name;
  int32_t type;
};
struct ANeuralNetworksModel {
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  bool is_finished = false;
  bool is_relaxed = false;
};
struct ANeuralNetworksCompilation {
  ANeuralNetworksModel *model;
  bool is_finished = false;
};
struct ANeuralNetworksExecution {
  ANeuralNetworksCompilation *compilation;
  std::map<int32_t, const void *> inputs;
  std::map<int32_t, void *> outputs;
};
struct ANeuralNetworksOperandType {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t *dimensions;
  float scale;
  int32_t zeroPoint;
};
struct ANeuralNetworksSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float *scales;
};

namespace {
constexpr ANeuralNetworksDevice kDevices[] = {{"fake-npu", 4}, {"nnapi-reference", 2}};

int Refused(const std::string &reason) {
  std::cerr << "fake NNAPI: " << reason << "\n";
  return kBadData;
}

int64_t Level() {
  const char *level = std::getenv("FAKE_NNAPI_LEVEL");
  return level == nullptr ? 1000008 : std::atoll(level);
}

bool Fits(char letter, const Operand &operand, const Operand &first) {
  const bool is_real = operand.type == kTensorFloat32;
  const bool is_eight = operand.type == kTensorQuant8Asymm || operand.type == kTensorQuant8AsymmSigned;
  switch (letter) {
    case 'x':
      return is_real || is_eight;
    case 'n':
      return is_real || is_eight || operand.type == kTensorInt32;
    case 'v':
      return is_real || operand.type == kTensorInt32;
    case 'f':
      return is_real;
    case 'I':
      return operand.type == kTensorInt32;
    case 'B':
      return operand.type == kTensorBool8;
    case 'w':
      return operand.type == first.type || (first.IsStored() && operand.type == kTensorQuant8SymmPerChannel);
    case 'b':
      return operand.dims.size() == 1 && (first.IsStored() ? operand.type == kTensorInt32 : is_real);
    case 'i':
      return operand.type == kInt32;
    case 'r':
      return operand.type == kFloat32;
    case 'z':
      return operand.type == kBool;
    case 's':
      return operand.type == first.type;
    default:
      return false;
  }
}

// Whether the operands are those of the letters; `+x` takes all that fit.
bool Match(const std::string &letters, const std::vector<const Operand *> &operands, const Operand &first) {
  size_t at = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    if (letters[i] == '|') {
      if (at == operands.size()) return true;
      continue;
    }
    if (letters[i] == '+') {
      ++i;
      const size_t begin = at;
      while (at < operands.size() && Fits(letters[i], *operands[at], first)) ++at;
      if (at == begin) return false;
      continue;
    }
    if (at == operands.size() || !Fits(letters[i], *operands[at], first)) return false;
    ++at;
  }
  return at == operands.size();
}

std::vector<const Operand *> Listed(const ANeuralNetworksModel &model, const std::vector<uint32_t> &indices) {
  std::vector<const Operand *> listed;
  for (const uint32_t index : indices) listed.push_back(&model.operands[index]);
  return listed;
}

// "" where the operation's operands are what the header asks for.
std::string Problem(const ANeuralNetworksModel &model, const Operation &operation) {
  const std::string name = "operation " + std::to_string(operation.code);
  const Signature *signature = FindSignature(operation.code);
  if (signature == nullptr) return name + " is not known";
  const std::vector<const Operand *> inputs = Listed(model, operation.inputs);
  const std::vector<const Operand *> outputs = Listed(model, operation.outputs);
  if (inputs.empty() || outputs.empty()) return name + " has no operands";
  const std::string letters = signature->operands;
  const size_t split = letters.find('>');
  if (!Match(letters.substr(0, split), inputs, *inputs[0])) return name + ": operands that it does not take";
  const std::string results = letters.substr(split + 1);
  const bool is_second = results == "1";
  if (!Match(is_second ? "s" : results, outputs, is_second ? *inputs[1] : *inputs[0])) {
    return name + ": results that it does not give";
  }
  if (inputs[0]->dims.size() > signature->most_dimensions) return name + ": too many dimensions";
  const auto same_scale = [&](const Operand &a, const Operand &b) {
    return a.scale == b.scale && a.zero_point == b.zero_point;
  };
  const Operand &x = *inputs[0];
  const Operand &y = *outputs[0];
  constexpr int32_t kKeepScales[] = {1, 5, 17, 19, 20, 21, 22, 23, 26, 32, 35, 37, 51, 86, 87, 89, 94};
  for (const int32_t code : kKeepScales) {
    if (operation.code == code && x.IsStored() && !same_scale(x, y)) return name + ": other scales than its operand's";
  }
  if (y.IsStored() && (operation.code == 14 || operation.code == 25)) {
    const int32_t zero = y.type == kTensorQuant8AsymmSigned ? -128 : 0;
    if (y.scale != 1.0f / 256 || y.zero_point != zero) return name + ": another scale than 1/256";
  }
  if (y.IsStored() && operation.code == 28 &&
      (y.scale != 1.0f / 128 || y.zero_point != (y.type == kTensorQuant8AsymmSigned ? 0 : 128))) {
    return name + ": another scale than 1/128";
  }
  if (letters[1] == 'w') {
    const Operand &weight = *inputs[1];
    const Operand &bias = *inputs[2];
    const uint32_t channel = operation.code == 4 ? 3 : 0;
    if (operation.code == 9 && weight.type == kTensorQuant8SymmPerChannel) return name + ": a scale for each channel";
    if (weight.type == kTensorQuant8SymmPerChannel) {
      if (weight.channel_dimension != channel || bias.scale != 0) return name + ": scales of the wrong dimension";
    } else if (x.IsStored() && bias.scale != x.scale * weight.scale) {
      return name + ": a bias of another scale than the products'";
    }
    if (weight.dims.size() != (operation.code == 9 ? 2 : 4)) return name + ": weights of other dimensions";
    if (bias.dims[0] != weight.dims[channel]) return name + ": a bias of another size than the channels";
  }
  return "";
}

CallTensor Tensor(const Operand &operand, const void *contents) {
  CallTensor tensor;
  switch (operand.type) {
    case kTensorFloat32:
      tensor.type = MSLITE_FLOAT32;
      break;
    case kTensorInt32:
      tensor.type = MSLITE_INT32;
      break;
    case kTensorBool8:
      tensor.type = MSLITE_BOOL;
      break;
    default:
      tensor.type = operand.type == kTensorQuant8Asymm ? MSLITE_UINT8 : MSLITE_INT8;
      break;
  }
  tensor.dims.assign(operand.dims.begin(), operand.dims.end());
  for (const float scale : operand.scales) tensor.quant.push_back({scale, 0, tensor.type, 0});
  if (operand.IsStored() && operand.scales.empty()) {
    tensor.quant.push_back({operand.scale, operand.zero_point, tensor.type, 0});
  }
  tensor.contents = contents;
  tensor.is_constant = operand.has_value;
  return tensor;
}

int32_t Fused(int64_t code) {
  constexpr int32_t kActivations[] = {MSLITE_ACTIVATION_TYPE_NO_ACTIVATION, MSLITE_ACTIVATION_TYPE_RELU,
                                      MSLITE_ACTIVATION_TYPE_RELU1, MSLITE_ACTIVATION_TYPE_RELU6};
  return code >= 0 && code < 4 ? kActivations[code] : -1;
}

// Operands of an operation whose contents are there, as far as they are.
class Reader {
 public:
  Reader(const Operation &operation, const ANeuralNetworksModel &model, const std::vector<const void *> &contents)
      : operation_(operation), model_(model), contents_(contents) {}

  size_t count() const { return operation_.inputs.size(); }
  const Operand &operand(size_t i) const { return model_.operands[operation_.inputs[i]]; }
  const Operand &result(size_t i) const { return model_.operands[operation_.outputs[i]]; }
  CallTensor Tensor(size_t i) const { return ::Tensor(operand(i), contents_[operation_.inputs[i]]); }
  int64_t Whole(size_t i) const { return Scalar<int32_t>(i); }
  float Real(size_t i) const { return Scalar<float>(i); }
  bool Truth(size_t i) const { return i < count() && Scalar<uint8_t>(i) != 0; }
  std::vector<int64_t> List(size_t i) const {
    const auto *numbers = static_cast<const int32_t *>(operand(i).Contents());
    return {numbers, numbers + operand(i).Bytes() / sizeof(int32_t)};
  }

 private:
  template <typename T>
  T Scalar(size_t i) const {
    T number;
    std::memcpy(&number, operand(i).Contents(), sizeof number);
    return number;
  }

  const Operation &operation_;
  const ANeuralNetworksModel &model_;
  const std::vector<const void *> &contents_;
};

mslite_Activation Activation(int32_t type) {
  mslite_Activation params = {};
  params.activation_type = type;
  return params;
}

// [height, width] of operands that come as width, height.
std::vector<int64_t> Turned(const Reader &from, size_t width) { return {from.Whole(width + 1), from.Whole(width)}; }

// [top, bottom, left, right] of operands that come as left, right, top, bottom.
std::vector<int64_t> Padding(const Reader &from, size_t left) {
  return {from.Whole(left + 2), from.Whole(left + 3), from.Whole(left), from.Whole(left + 1)};
}

void Convolve(const Reader &from, int32_t code, ReferenceCall *call) {
  const bool is_depthwise = code == 4;
  const bool is_grouped = code == 55;
  const std::vector<uint32_t> &w = from.operand(1).dims;
  const size_t fuse = is_depthwise || is_grouped ? 10 : 9;
  const size_t layout = fuse + 1;
  mslite_Conv2DFusion params = {};
  CallTensor weight = from.Tensor(1);
  params.group = is_grouped ? from.Whole(9) : 1;
  if (is_depthwise) {
    params.group = from.operand(0).dims[3];
    weight.dims = {w[3], w[1], w[2], 1};
    if (weight.contents != nullptr) {
      const int64_t taps = int64_t{w[1]} * w[2];
      weight.contents =
          call->Keep(mslite::test::EndsExchanged(weight.contents, taps, 1, w[3], mslite_type_size(weight.type)));
    }
  }
  params.kernel_size = call->List({w[1], w[2]});
  params.pad_mode = MSLITE_PAD_MODE_PAD;
  params.pad_list = call->List(Padding(from, 3));
  params.stride = call->List(Turned(from, 7));
  const bool has_dilation = from.count() > layout + 2;
  params.dilation = call->List(has_dilation ? Turned(from, layout + 1) : std::vector<int64_t>{1, 1});
  params.in_channel = from.operand(0).dims[3];
  params.out_channel = is_depthwise ? w[3] : w[0];
  params.activation_type = Fused(from.Whole(fuse));
  call->inputs = {from.Tensor(0), weight, from.Tensor(2)};
  call->Be(MSLITE_OP_Conv2DFusion, params);
}

void ConvolveTransposed(const Reader &from, ReferenceCall *call) {
  const std::vector<uint32_t> &w = from.operand(1).dims;  // [out, height, width, in]
  mslite_Conv2dTransposeFusion params = {};
  CallTensor weight = from.Tensor(1);
  weight.dims = {w[3], w[1], w[2], w[0]};
  if (weight.contents != nullptr) {
    weight.contents = call->Keep(mslite::test::EndsExchanged(weight.contents, w[0], int64_t{w[1]} * w[2], w[3], 4));
  }
  params.group = 1;
  params.kernel_size = call->List({w[1], w[2]});
  params.pad_mode = MSLITE_PAD_MODE_PAD;
  params.pad_list = call->List(Padding(from, 3));
  params.stride = call->List(Turned(from, 7));
  params.dilation = call->List({1, 1});
  params.in_channel = w[3];
  params.out_channel = w[0];
  params.activation_type = Fused(from.Whole(9));
  call->inputs = {from.Tensor(0), weight, from.Tensor(2)};
  call->Be(MSLITE_OP_Conv2dTransposeFusion, params);
}

template <typename Params>
void Pool(const Reader &from, int32_t op, ReferenceCall *call) {
  Params params = {};
  params.pad_mode = MSLITE_PAD_MODE_PAD;
  params.pad = call->List(Padding(from, 1));
  params.strides = call->List(Turned(from, 5));
  params.kernel_size = call->List(Turned(from, 7));
  params.activation_type = Fused(from.Whole(9));
  call->inputs = {from.Tensor(0)};
  call->Be(op, params);
}

template <typename Params>
void Arithmetic(const Reader &from, int32_t op, ReferenceCall *call) {
  Params params = {};
  params.activation_type = Fused(from.Whole(2));
  call->inputs = {from.Tensor(0), from.Tensor(1)};
  call->Be(op, params);
}

void Plain(const Reader &from, int32_t op, size_t operands, ReferenceCall *call) {
  struct Nothing {
    char unused;
  };
  for (size_t i = 0; i < operands; ++i) call->inputs.push_back(from.Tensor(i));
  call->Be(op, Nothing{});
}

void Reduce(const Reader &from, int32_t mode, bool keeps, ReferenceCall *call) {
  mslite_ReduceFusion params = {};
  params.mode = mode;
  params.keep_dims = keeps;
  call->inputs = {from.Tensor(0), from.Tensor(1)};
  call->Be(MSLITE_OP_ReduceFusion, params);
}

bool Resize(const Reader &from, int32_t method, ReferenceCall *call) {
  mslite_Resize params = {};
  params.method = method;
  params.new_width = from.Whole(1);
  params.new_height = from.Whole(2);
  const bool is_corners = from.Truth(4);
  const bool is_half = from.Truth(5);
  params.coordinate_transform_mode = is_corners ? MSLITE_COORDINATE_TRANSFORM_MODE_ALIGN_CORNERS
                                     : is_half  ? MSLITE_COORDINATE_TRANSFORM_MODE_HALF_PIXEL
                                                : MSLITE_COORDINATE_TRANSFORM_MODE_ASYMMETRIC;
  params.nearest_mode = MSLITE_NEAREST_MODE_FLOOR;
  call->inputs = {from.Tensor(0)};
  call->Be(MSLITE_OP_Resize, params);
  return !from.Truth(3) && !(is_corners && is_half);
}

constexpr struct {
  int32_t code;
  int32_t op;
} kPlain[] = {
    {8, MSLITE_OP_Floor},         {38, MSLITE_OP_Abs},        {48, MSLITE_OP_Equal},     {53, MSLITE_OP_Greater},
    {54, MSLITE_OP_GreaterEqual}, {58, MSLITE_OP_Less},       {59, MSLITE_OP_LessEqual}, {60, MSLITE_OP_Log},
    {61, MSLITE_OP_LogicalAnd},   {62, MSLITE_OP_LogicalNot}, {63, MSLITE_OP_LogicalOr}, {65, MSLITE_OP_Maximum},
    {66, MSLITE_OP_Minimum},      {67, MSLITE_OP_Neg},        {68, MSLITE_OP_NotEqual},  {83, MSLITE_OP_Rsqrt},
    {84, MSLITE_OP_Select},       {85, MSLITE_OP_Sin},        {88, MSLITE_OP_Sqrt},
};

// The operation as a call of one of our operators. False: an operand has a value that it may not have.
bool Translate(const Operation &operation, const Reader &from, ReferenceCall *call) {
  for (const auto &plain : kPlain) {
    if (plain.code != operation.code) continue;
    Plain(from, plain.op, from.count(), call);
    return true;
  }
  const auto unary = [&](int32_t activation) {
    call->inputs = {from.Tensor(0)};
    call->Be(MSLITE_OP_Activation, Activation(activation));
  };
  const auto scalar = [&](int64_t number) { return call->Integers({static_cast<int32_t>(number)}); };
  switch (operation.code) {
    case 0:
      Arithmetic<mslite_AddFusion>(from, MSLITE_OP_AddFusion, call);
      return Fused(from.Whole(2)) >= 0;
    case 18:
      Arithmetic<mslite_MulFusion>(from, MSLITE_OP_MulFusion, call);
      return Fused(from.Whole(2)) >= 0;
    case 30:
      Arithmetic<mslite_DivFusion>(from, MSLITE_OP_DivFusion, call);
      return Fused(from.Whole(2)) >= 0;
    case 36:
      Arithmetic<mslite_SubFusion>(from, MSLITE_OP_SubFusion, call);
      return Fused(from.Whole(2)) >= 0;
    case 1:
      Pool<mslite_AvgPoolFusion>(from, MSLITE_OP_AvgPoolFusion, call);
      return !from.Truth(10);
    case 17:
      Pool<mslite_MaxPoolFusion>(from, MSLITE_OP_MaxPoolFusion, call);
      return !from.Truth(10);
    case 2:
      for (size_t i = 0; i + 1 < from.count(); ++i) call->inputs.push_back(from.Tensor(i));
      call->Be(MSLITE_OP_Concat, mslite_Concat{from.Whole(from.count() - 1)});
      return true;
    case 3:
      Convolve(from, 3, call);
      return !from.Truth(10);
    case 4:
      Convolve(from, 4, call);
      return !from.Truth(11) && from.Whole(9) * from.operand(0).dims[3] == from.operand(1).dims[3];
    case 55:
      Convolve(from, 55, call);
      return !from.Truth(11);
    case 91:
      ConvolveTransposed(from, call);
      return !from.Truth(10);
    case 5: {
      mslite_DepthToSpace params = {};
      params.block_size = from.Whole(1);
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_DepthToSpace, params);
      return true;
    }
    case 26: {
      mslite_SpaceToDepth params = {};
      params.block_size = from.Whole(1);
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_SpaceToDepth, params);
      return true;
    }
    case 6:
    case 72: {
      mslite_QuantDTypeCast params = {};
      call->inputs = {from.Tensor(0)};
      params.src_t = call->inputs[0].type;
      params.dst_t = ::Tensor(from.result(0), nullptr).type;
      call->Be(MSLITE_OP_QuantDTypeCast, params);
      return true;
    }
    case 9: {
      mslite_FullConnection params = {};
      params.has_bias = true;
      params.activation_type = Fused(from.Whole(3));
      call->inputs = {from.Tensor(0), from.Tensor(1), from.Tensor(2)};
      const int64_t depth = from.operand(1).dims[1];
      int64_t count = 1;
      for (const int64_t dim : call->inputs[0].dims) count *= dim;
      call->inputs[0].dims = {count / depth, depth};
      call->Be(MSLITE_OP_FullConnection, params);
      return count % depth == 0;
    }
    case 13: {
      mslite_LRN params = {};
      params.depth_radius = from.Whole(1);
      params.bias = from.Real(2);
      params.alpha = from.Real(3);
      params.beta = from.Real(4);
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_LRN, params);
      return true;
    }
    case 14:
      unary(MSLITE_ACTIVATION_TYPE_SIGMOID);
      return true;
    case 19:
      unary(MSLITE_ACTIVATION_TYPE_RELU);
      return true;
    case 20:
      unary(MSLITE_ACTIVATION_TYPE_RELU1);
      return true;
    case 21:
      unary(MSLITE_ACTIVATION_TYPE_RELU6);
      return true;
    case 28:
      unary(MSLITE_ACTIVATION_TYPE_TANH);
      return true;
    case 99:
      unary(MSLITE_ACTIVATION_TYPE_HSWISH);
      return true;
    case 22:
      Plain(from, MSLITE_OP_Reshape, 2, call);
      return true;
    case 23:
      return Resize(from, MSLITE_RESIZE_METHOD_LINEAR, call);
    case 94:
      return Resize(from, MSLITE_RESIZE_METHOD_NEAREST, call);
    case 25: {
      mslite_Softmax params = {};
      params.axis = call->List({from.count() > 2 ? from.Whole(2) : -1});
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_Softmax, params);
      return from.Real(1) == 1;  // the only factor that it knows
    }
    case 64:
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_LogSoftmax, mslite_LogSoftmax{from.Whole(2)});
      return from.Real(1) == 1;
    case 31:
      Reduce(from, MSLITE_REDUCE_MODE_REDUCE_MEAN, from.Whole(2) > 0, call);
      return true;
    case 77:
      Reduce(from, MSLITE_REDUCE_MODE_REDUCE_MAX, from.Truth(2), call);
      return true;
    case 78:
      Reduce(from, MSLITE_REDUCE_MODE_REDUCE_MIN, from.Truth(2), call);
      return true;
    case 79:
      Reduce(from, MSLITE_REDUCE_MODE_REDUCE_PROD, from.Truth(2), call);
      return true;
    case 80:
      Reduce(from, MSLITE_REDUCE_MODE_REDUCE_SUM, from.Truth(2), call);
      return true;
    case 32:
    case 69: {
      mslite_PadFusion params = {};
      if (operation.code == 69) params.constant_value = from.Real(2);
      call->inputs = {from.Tensor(0), from.Tensor(1)};
      call->Be(MSLITE_OP_PadFusion, params);
      const std::vector<uint32_t> wanted = {static_cast<uint32_t>(from.operand(0).dims.size()), 2};
      return from.operand(1).dims == wanted;
    }
    case 35: {
      mslite_StridedSlice params = {};
      params.begin_mask = from.Whole(4);
      params.end_mask = from.Whole(5);
      params.shrink_axis_mask = from.Whole(6);
      for (size_t i = 0; i < 4; ++i) call->inputs.push_back(from.Tensor(i));
      call->Be(MSLITE_OP_StridedSlice, params);
      return from.List(1).size() == from.operand(0).dims.size();
    }
    case 37:
      Plain(from, MSLITE_OP_Transpose, from.count(), call);
      return true;
    case 39: {
      mslite_ArgMaxFusion params = {};
      params.axis = from.Whole(1);
      params.top_k = 1;
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_ArgMaxFusion, params);
      return true;
    }
    case 40: {
      mslite_ArgMinFusion params = {};
      params.axis = from.Whole(1);
      params.top_k = 1;
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_ArgMinFusion, params);
      return true;
    }
    case 45:
      Plain(from, MSLITE_OP_Cast, 1, call);
      call->inputs.push_back(scalar(::Tensor(from.result(0), nullptr).type));
      call->inputs.back().dims.clear();
      return true;
    case 49:
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_ExpFusion, mslite_ExpFusion{-1, 1, 0});
      return true;
    case 51:
      call->inputs = {from.Tensor(0), from.Tensor(2), scalar(from.Whole(1))};
      call->Be(MSLITE_OP_Gather, mslite_Gather{});
      return true;
    case 70:
      call->inputs = {from.Tensor(0), from.Tensor(1)};
      call->Be(MSLITE_OP_PowFusion, mslite_PowFusion{1, 0});
      return true;
    case 71:
      call->inputs = {from.Tensor(0), from.Tensor(1)};
      call->Be(MSLITE_OP_PReLUFusion, mslite_PReLUFusion{from.operand(1).Bytes() == 4});
      return true;
    case 86: {
      mslite_SliceFusion params = {};
      std::vector<int64_t> axes;
      for (size_t i = 0; i < from.operand(0).dims.size(); ++i) axes.push_back(static_cast<int64_t>(i));
      params.axes = call->List(axes);
      for (size_t i = 0; i < 3; ++i) call->inputs.push_back(from.Tensor(i));
      call->Be(MSLITE_OP_SliceFusion, params);
      return true;
    }
    case 87: {
      mslite_Split params = {};
      params.axis = from.Whole(1);
      params.output_num = from.Whole(2);
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_Split, params);
      return true;
    }
    case 89:
      call->inputs = {from.Tensor(0), from.Tensor(1)};
      call->Be(MSLITE_OP_TileFusion, mslite_TileFusion{});
      return true;
    case 98:
      call->inputs = {from.Tensor(0)};
      call->Be(MSLITE_OP_Elu, mslite_Elu{from.Real(1)});
      return true;
    case 102: {
      mslite_MatMulFusion params = {};
      params.transpose_a = from.Truth(2);
      params.transpose_b = from.Truth(3);
      call->inputs = {from.Tensor(0), from.Tensor(1)};
      call->Be(MSLITE_OP_MatMulFusion, params);
      const std::vector<uint32_t> &a = from.operand(0).dims;
      const std::vector<uint32_t> &b = from.operand(1).dims;
      return a.size() == b.size() && a.size() >= 2 && std::equal(a.begin(), a.end() - 2, b.begin());
    }
    default:
      return false;
  }
}

// "" where the call can be made of what is there.
std::string Make(const ANeuralNetworksModel &model, const Operation &operation,
                 const std::vector<const void *> &contents, ReferenceCall *call) {
  const Reader from(operation, model, contents);
  const std::string name = "operation " + std::to_string(operation.code);
  for (size_t i = 0; i < from.count(); ++i) {
    if (!from.operand(i).IsTensor() && !from.operand(i).has_value) return name + ": a number that is no constant";
  }
  if (!Translate(operation, from, call)) return name + ": a number that it does not take";
  for (size_t i = 0; i < operation.outputs.size(); ++i) {
    call->outputs.push_back(Tensor(from.result(i), nullptr));
    call->is_quantized = call->is_quantized || from.result(i).IsStored();
  }
  call->is_quantized = call->is_quantized || from.operand(0).IsStored();
  return "";
}

std::vector<const void *> Constants(const ANeuralNetworksModel &model) {
  std::vector<const void *> contents;
  for (const Operand &operand : model.operands) contents.push_back(operand.has_value ? operand.Contents() : nullptr);
  return contents;
}

int Compute(ANeuralNetworksExecution *execution) {
  const ANeuralNetworksModel &model = *execution->compilation->model;
  std::vector<const void *> contents = Constants(model);
  std::vector<void *> targets(model.operands.size(), nullptr);
  std::vector<std::vector<uint8_t>> memory(model.operands.size());
  for (size_t i = 0; i < model.inputs.size(); ++i) {
    if (execution->inputs.count(static_cast<int32_t>(i)) == 0) return Refused("an input was not set");
    contents[model.inputs[i]] = execution->inputs[static_cast<int32_t>(i)];
  }
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    if (execution->outputs.count(static_cast<int32_t>(i)) == 0) return Refused("an output was not set");
    targets[model.outputs[i]] = execution->outputs[static_cast<int32_t>(i)];
  }
  for (const Operation &operation : model.operations) {
    ReferenceCall call;
    std::string problem = Make(model, operation, contents, &call);
    std::vector<void *> results;
    for (const uint32_t output : operation.outputs) {
      if (targets[output] == nullptr) {
        memory[output].resize(model.operands[output].Bytes());
        targets[output] = memory[output].data();
      }
      results.push_back(targets[output]);
    }
    if (problem.empty()) problem = call.Run(results);
    if (!problem.empty()) {
      Refused(problem);
      return kOpFailed;
    }
    for (const uint32_t output : operation.outputs) {
      contents[output] = targets[output];
      const Operand &result = model.operands[output];
      if (model.is_relaxed && result.type == kTensorFloat32) {
        mslite::test::RoundToHalf(static_cast<float *>(targets[output]), static_cast<int64_t>(result.Bytes() / 4));
      }
    }
  }
  return kNoError;
}
}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int ANeuralNetworks_getDeviceCount(uint32_t *count) {
  if (MustFail()) return kOpFailed;
  *count = static_cast<uint32_t>(std::size(kDevices));
  return kNoError;
}
EXPORTED int ANeuralNetworks_getDevice(uint32_t index, const ANeuralNetworksDevice **device) {
  if (MustFail()) return kOpFailed;
  if (index >= std::size(kDevices)) return kBadData;
  *device = &kDevices[index];
  return kNoError;
}
EXPORTED int ANeuralNetworksDevice_getName(const ANeuralNetworksDevice *device, const char **name) {
  if (MustFail()) return kOpFailed;
  *name = device->name;
  return kNoError;
}
EXPORTED int ANeuralNetworksDevice_getType(const ANeuralNetworksDevice *device, int32_t *type) {
  if (MustFail()) return kOpFailed;
  *type = device->type;
  return kNoError;
}
EXPORTED int ANeuralNetworksDevice_getFeatureLevel(const ANeuralNetworksDevice *, int64_t *level) {
  if (MustFail()) return kOpFailed;
  *level = Level();
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_create(ANeuralNetworksModel **model) {
  if (MustFail()) return kOpFailed;
  *model = new ANeuralNetworksModel;
  return kNoError;
}
EXPORTED void ANeuralNetworksModel_free(ANeuralNetworksModel *model) { delete model; }
EXPORTED int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  constexpr int32_t kKnown[] = {0, 1, 3, 4, 5, 6, 9, 11, 14};
  if (std::find(std::begin(kKnown), std::end(kKnown), type->type) == std::end(kKnown)) return Refused("a type");
  Operand operand;
  operand.type = type->type;
  operand.dims.assign(type->dimensions, type->dimensions + type->dimensionCount);
  operand.scale = type->scale;
  operand.zero_point = type->zeroPoint;
  if (operand.IsTensor() == operand.dims.empty()) return Refused("a tensor without dimensions, or a number with some");
  for (const uint32_t dim : operand.dims) {
    if (dim == 0) return Refused("a dimension that is not known");
  }
  const bool has_scale = operand.type == kTensorQuant8Asymm || operand.type == kTensorQuant8AsymmSigned;
  if (has_scale != (operand.scale > 0) && operand.type != kTensorInt32) return Refused("a scale");
  const int32_t low = operand.type == kTensorQuant8AsymmSigned ? -128 : 0;
  if (operand.zero_point < low || operand.zero_point > low + (has_scale ? 255 : 0)) return Refused("a zero point");
  model->operands.push_back(operand);
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer,
                                                  size_t length) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  if (index < 0 || static_cast<size_t>(index) >= model->operands.size()) return Refused("an operand that is not there");
  Operand &operand = model->operands[static_cast<size_t>(index)];
  if (buffer == nullptr || length != operand.Bytes()) return Refused("a value of another size");
  operand.has_value = true;
  operand.value = buffer;
  const auto *bytes = static_cast<const uint8_t *>(buffer);
  if (length <= kCopiedBytes) operand.copy.assign(bytes, bytes + length);
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *scales) {
  if (MustFail()) return kOpFailed;
  if (index < 0 || static_cast<size_t>(index) >= model->operands.size()) return Refused("an operand that is not there");
  Operand &operand = model->operands[static_cast<size_t>(index)];
  if (operand.type != kTensorQuant8SymmPerChannel || scales->channelDim >= operand.dims.size() ||
      operand.dims[scales->channelDim] != scales->scaleCount) {
    return Refused("scales for each channel");
  }
  operand.scales.assign(scales->scales, scales->scales + scales->scaleCount);
  operand.channel_dimension = scales->channelDim;
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, int32_t code, uint32_t input_count,
                                               const uint32_t *inputs, uint32_t output_count, const uint32_t *outputs) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  const Operation operation = {code, {inputs, inputs + input_count}, {outputs, outputs + output_count}};
  for (const std::vector<uint32_t> *list : {&operation.inputs, &operation.outputs}) {
    for (const uint32_t index : *list) {
      if (index >= model->operands.size()) return Refused("an operand that is not there");
    }
  }
  for (const uint32_t output : operation.outputs) {
    Operand &operand = model->operands[output];
    if (operand.has_value || operand.is_written) return Refused("a result that is a constant, or another's");
    operand.is_written = true;
  }
  if (std::string problem = Problem(*model, operation); !problem.empty()) return Refused(problem);
  model->operations.push_back(operation);
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t input_count,
                                                           const uint32_t *inputs, uint32_t output_count,
                                                           const uint32_t *outputs) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  model->inputs.assign(inputs, inputs + input_count);
  model->outputs.assign(outputs, outputs + output_count);
  std::set<uint32_t> once;
  for (const uint32_t input : model->inputs) {
    if (input >= model->operands.size() || !once.insert(input).second) return Refused("an input");
    if (model->operands[input].has_value || model->operands[input].is_written) return Refused("an input with a value");
    model->operands[input].is_input = true;
  }
  for (const uint32_t output : model->outputs) {
    if (output >= model->operands.size() || !once.insert(output).second) return Refused("an output");
    if (!model->operands[output].is_written) return Refused("an output that no operation gives");
  }
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  model->is_relaxed = allow;
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_finish(ANeuralNetworksModel *model) {
  if (MustFail()) return kOpFailed;
  if (model->is_finished) return kBadState;
  if (model->inputs.empty() || model->outputs.empty()) return Refused("a model without inputs or outputs");
  std::set<uint32_t> ready(model->inputs.begin(), model->inputs.end());
  for (const Operand &operand : model->operands) {
    if (operand.type == kTensorQuant8SymmPerChannel && operand.scales.empty()) return Refused("no scales for channels");
  }
  const std::vector<const void *> contents = Constants(*model);
  for (const Operation &operation : model->operations) {
    for (const uint32_t input : operation.inputs) {
      if (!model->operands[input].has_value && ready.count(input) == 0) return Refused("an operand without a value");
    }
    ready.insert(operation.outputs.begin(), operation.outputs.end());
    ReferenceCall call;
    std::string problem = Make(*model, operation, contents, &call);
    if (problem.empty()) problem = call.Check();
    if (!problem.empty()) return Refused("operation " + std::to_string(operation.code) + ": " + problem);
  }
  model->is_finished = true;
  return kNoError;
}
EXPORTED int ANeuralNetworksModel_getSupportedOperationsForDevices(const ANeuralNetworksModel *model,
                                                                   const ANeuralNetworksDevice *const *, uint32_t count,
                                                                   bool *supported) {
  if (MustFail()) return kOpFailed;
  if (!model->is_finished) return kBadState;
  if (count == 0) return kBadData;
  const char *refused = std::getenv("FAKE_NNAPI_REFUSES");
  for (size_t i = 0; i < model->operations.size(); ++i) {
    const Operation &operation = model->operations[i];
    bool is_signed = false;
    for (const uint32_t input : operation.inputs) {
      is_signed = is_signed || model->operands[input].type == kTensorQuant8AsymmSigned;
    }
    supported[i] = Level() >= FindSignature(operation.code)->level && (!is_signed || Level() >= kSignedLevel) &&
                   (refused == nullptr || std::atoi(refused) != operation.code);
  }
  return kNoError;
}
EXPORTED int ANeuralNetworksCompilation_createForDevices(ANeuralNetworksModel *model,
                                                         const ANeuralNetworksDevice *const *, uint32_t count,
                                                         ANeuralNetworksCompilation **compilation) {
  if (MustFail()) return kOpFailed;
  if (!model->is_finished || count == 0) return kBadState;
  *compilation = new ANeuralNetworksCompilation{model};
  return kNoError;
}
EXPORTED int ANeuralNetworksCompilation_setPreference(ANeuralNetworksCompilation *compilation, int32_t preference) {
  if (MustFail()) return kOpFailed;
  if (compilation->is_finished) return kBadState;
  return preference >= 0 && preference <= 2 ? kNoError : kBadData;
}
EXPORTED int ANeuralNetworksCompilation_finish(ANeuralNetworksCompilation *compilation) {
  if (MustFail()) return kOpFailed;
  if (compilation->is_finished) return kBadState;
  compilation->is_finished = true;
  return kNoError;
}
EXPORTED void ANeuralNetworksCompilation_free(ANeuralNetworksCompilation *compilation) { delete compilation; }
EXPORTED int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation,
                                             ANeuralNetworksExecution **execution) {
  if (MustFail()) return kOpFailed;
  if (compilation == nullptr || !compilation->is_finished) return kBadState;
  *execution = new ANeuralNetworksExecution{compilation, {}, {}};
  return kNoError;
}
EXPORTED int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                               const ANeuralNetworksOperandType *type, const void *buffer,
                                               size_t length) {
  if (MustFail()) return kOpFailed;
  const ANeuralNetworksModel &model = *execution->compilation->model;
  if (index < 0 || static_cast<size_t>(index) >= model.inputs.size()) return Refused("an input that is not there");
  if (type != nullptr || buffer == nullptr) return kUnexpectedNull;
  if (length != model.operands[model.inputs[static_cast<size_t>(index)]].Bytes()) return Refused("an input's size");
  execution->inputs[index] = buffer;
  return kNoError;
}
EXPORTED int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type, void *buffer, size_t length) {
  if (MustFail()) return kOpFailed;
  const ANeuralNetworksModel &model = *execution->compilation->model;
  if (index < 0 || static_cast<size_t>(index) >= model.outputs.size()) return Refused("an output that is not there");
  if (type != nullptr || buffer == nullptr) return kUnexpectedNull;
  if (length != model.operands[model.outputs[static_cast<size_t>(index)]].Bytes()) return Refused("an output's size");
  execution->outputs[index] = buffer;
  return kNoError;
}
EXPORTED int ANeuralNetworksExecution_compute(ANeuralNetworksExecution *execution) {
  return MustFail() ? static_cast<int>(kOpFailed) : Compute(execution);
}
EXPORTED void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution) { delete execution; }
