#include "plan/kernel_types.h"

#include <algorithm>
#include <deque>
#include <initializer_list>

#include "cropped.h"
#include "plan/choose_kernel.h"
#include "plan/single_node.h"

namespace mslite {
namespace {
// Returns the data types in which a call may compute instead, in order of preference. Sums that wrap in the wider type
// give the same result as in the narrow type.
std::initializer_list<int32_t> WiderTypes(int32_t type) {
  static constexpr std::initializer_list<int32_t> reals = {MSLITE_FLOAT32};
  static constexpr std::initializer_list<int32_t> small = {MSLITE_INT32, MSLITE_FLOAT32};
  static constexpr std::initializer_list<int32_t> large = {MSLITE_INT64, MSLITE_FLOAT32};
  switch (type) {
    case MSLITE_FLOAT16:
    case MSLITE_FLOAT64:
    case MSLITE_INT32:
    case MSLITE_INT64:
      return reals;
    case MSLITE_BOOL:
    case MSLITE_INT8:
    case MSLITE_UINT8:
    case MSLITE_INT16:
    case MSLITE_UINT16:
      return small;
    case MSLITE_UINT32:
    case MSLITE_UINT64:
      return large;
    default:
      return {};
  }
}

// Replaces one data type by another, and the other float types by float32.
struct Replacement {
  int32_t narrow = 0;
  int32_t wider = 0;

  int32_t Of(int32_t type) const {
    if (narrow == 0) return type;
    if (type == MSLITE_FLOAT16 || type == MSLITE_FLOAT64) return MSLITE_FLOAT32;
    return type == narrow ? wider : type;
  }
};

// Returns whether a portable kernel supports the call, independent of unknown sizes.
bool HasPortableKernel(int32_t op, const void *params, std::vector<mslite_tensor> inputs,
                       std::vector<mslite_tensor> outputs) {
  std::vector<const mslite_tensor *> operands;
  for (const std::vector<mslite_tensor> *list : {&inputs, &outputs}) {
    for (const mslite_tensor &tensor : *list) operands.push_back(&tensor);
  }
  const auto input_count = static_cast<int32_t>(inputs.size());
  const auto output_count = static_cast<int32_t>(outputs.size());
  const mslite_node node = {op, params, input_count, output_count, operands.data(), operands.data() + input_count, 0};
  for (const bool are_scalars : {false, true}) {
    for (mslite_tensor &input : inputs) AssumeSizes(&input, are_scalars);
    for (mslite_tensor &output : outputs) AssumeSizes(&output, are_scalars);
    // A library may lack the scalar form of a kernel that it has for an instruction set. Both support the same calls.
    const IsaSet bases = BaseIsas();
    const bool found = AnyKernelOf(op, [&node, bases](const mslite_kernel *kernel) {
      return (bases.Has(kernel->isa) || mslite_cropped.is_cropped != 0) && kernel->quantized == 0 &&
             kernel->support(&node) > 0;
    });
    if (found) return true;
  }
  return false;
}

class Call {
 public:
  Call(int32_t op, const void *params, const std::vector<const mslite_tensor *> &inputs,
       const std::vector<int32_t> &expected)
      : op_(op), params_(params), inputs_(inputs), expected_(expected) {}

  bool Find(CallTypes *types) {
    if (Takes({}, kAll, types)) return true;
    if (KeepsItsTypes(op_)) return false;
    for (const mslite_tensor *input : inputs_) {
      if (input->type == MSLITE_FLOAT16 || input->type == MSLITE_FLOAT64) {
        if (TakesSome({input->type, MSLITE_FLOAT32}, types)) return true;
        break;
      }
    }
    // The result of an operator that quantizes depends on the exact data types.
    if (op_ == MSLITE_OP_QuantDTypeCast || op_ == MSLITE_OP_DynamicQuant) return false;
    for (const mslite_tensor *input : inputs_) {
      for (const int32_t wider : WiderTypes(input->type)) {
        const bool may_turn = input->type != MSLITE_UINT64 || wider == MSLITE_INT64 || !ComparesOperands(op_, params_);
        if (may_turn && TakesSome({input->type, wider}, types)) return true;
      }
    }
    return false;
  }

 private:
  // The operands to cast. Others are parameters of the call, such as axes.
  enum Operands : uint8_t { kAll, kAllButConstants, kFirst };

  bool TakesSome(const Replacement &replacement, CallTypes *types) {
    return Takes(replacement, kAll, types) || Takes(replacement, kAllButConstants, types) ||
           Takes(replacement, kFirst, types);
  }

  bool Takes(const Replacement &replacement, Operands operands, CallTypes *types) {
    types->inputs.clear();
    types->outputs.clear();
    std::vector<mslite_tensor> inputs;
    std::deque<std::vector<uint8_t>> contents;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(*inputs_[i]);
      mslite_tensor &input = inputs.back();
      const bool steers = i > 0 && (operands == kFirst || (operands == kAllButConstants && input.data != nullptr));
      const int32_t type = steers ? input.type : replacement.Of(input.type);
      if (type != input.type && input.data != nullptr) {
        contents.emplace_back();
        if (!CastConstant(*inputs_[i], type, &contents.back())) return false;
        input.data = contents.back().data();
      }
      input.type = type;
      if (type == MSLITE_FLOAT32) input.known_count = -1;
      types->inputs.push_back(type);
    }
    std::vector<const mslite_tensor *> pointers;
    pointers.reserve(inputs.size());
    for (const mslite_tensor &input : inputs) pointers.push_back(&input);
    std::vector<mslite_tensor> outputs(expected_.size());
    int64_t next_symbol = MSLITE_SYMBOL_LIMIT - (int64_t{1} << 50);
    if (!InferShapes(op_, params_, pointers, &outputs, &next_symbol).ok()) return false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const int32_t type = outputs[i].type;
      const bool is_real = type == MSLITE_FLOAT32 && IsRealType(expected_[i]);
      if (expected_[i] != 0 && type != expected_[i] && type != replacement.Of(expected_[i]) && !is_real) return false;
      types->outputs.push_back(type);
    }
    return HasPortableKernel(op_, params_, std::move(inputs), std::move(outputs));
  }

  int32_t op_;
  const void *params_;
  const std::vector<const mslite_tensor *> &inputs_;
  const std::vector<int32_t> &expected_;
};
}  // namespace

void AssumeSizes(mslite_tensor *tensor, bool are_scalars) {
  if (are_scalars) tensor->rank = std::max(tensor->rank, 0);
  int64_t count = tensor->rank < 0 ? INT64_MAX : 1;
  for (int32_t i = 0; i < tensor->rank; ++i) {
    if (mslite_is_symbol(tensor->dims[i])) tensor->dims[i] = 1;
    count = std::min<int64_t>(count * tensor->dims[i], INT32_MAX);
  }
  const bool is_index = tensor->type == MSLITE_INT32 || tensor->type == MSLITE_INT64;
  if (!is_index || tensor->rank > 1 || tensor->known_count >= 0 || count > MSLITE_MAX_KNOWN) return;
  tensor->known_count = static_cast<int32_t>(count);
  std::fill_n(tensor->known, count, 1);
}

bool FindKernelTypes(int32_t op, const void *params, const std::vector<const mslite_tensor *> &inputs,
                     const std::vector<int32_t> &expected, CallTypes *types) {
  return Call(op, params, inputs, expected).Find(types);
}

bool KeepsItsTypes(int32_t op) {
  switch (op) {
    case MSLITE_OP_Cast:
    case MSLITE_OP_Bitcast:
    case MSLITE_OP_Custom:
    case MSLITE_OP_GenOP:
    case MSLITE_OP_ReadVariable:
    case MSLITE_OP_AssignVariable:
    case MSLITE_OP_PartialFusion:
    case MSLITE_OP_Switch:
    case MSLITE_OP_SwitchLayer:
    case MSLITE_OP_Call:
    case MSLITE_OP_Assert:
    case MSLITE_OP_Depend:
      return true;
    default:
      return false;
  }
}

bool ComparesOperands(int32_t op, const void *params) {
  switch (op) {
    case MSLITE_OP_ArgMaxFusion:
    case MSLITE_OP_ArgMinFusion:
    case MSLITE_OP_TopKFusion:
    case MSLITE_OP_UniqueSlices:
    case MSLITE_OP_Maximum:
    case MSLITE_OP_Minimum:
      return true;
    case MSLITE_OP_ReduceFusion: {
      const int32_t mode = static_cast<const mslite_ReduceFusion *>(params)->mode;
      return mode == MSLITE_REDUCE_MODE_REDUCE_MAX || mode == MSLITE_REDUCE_MODE_REDUCE_MIN;
    }
    default:
      return false;
  }
}

bool CastConstant(const mslite_tensor &constant, int32_t type, std::vector<uint8_t> *elements) {
  static const mslite_Cast kParams = {};
  mslite_tensor target = {};
  target.type = MSLITE_INT32;
  target.data = &type;
  SingleNode cast(MSLITE_OP_Cast, &kParams, {{constant, true}, {target, true}}, 1);
  if (!cast.Prepare(BaseIsas()).ok()) return false;
  elements->resize(cast.output_bytes(0));
  return cast.Run({elements->data()}).ok();
}
}  // namespace mslite
