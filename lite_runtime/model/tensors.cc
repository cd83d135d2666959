// Loads and checks the tensors.
#include "model/loader.h"

namespace mslite {
namespace {
constexpr int32_t kLastFormat = 19;
constexpr int64_t kMaximumDim = INT32_MAX;
constexpr int32_t kConstantNode = 0;
constexpr int32_t kHasSizeMarks = 0x6D737A31;  // in Tensor.refCount, as in converter/mindir/input_sizes.py
// QuantParam.roundType of models whose source framework rounds half to even. An extension of mslite.
constexpr int32_t kRoundHalfToEven = 3;

std::string Label(const Tensor &tensor, size_t index) {
  return Format("tensor %zu '%.200s'", index, tensor.name.c_str());
}

Status LoadDims(const Loader &loader, const schema::Tensor &source, size_t index, Tensor *tensor) {
  const auto *dims = source.dims();
  // An activation without dims has an unknown rank; a constant without dims is a scalar.
  tensor->has_rank = dims != nullptr && dims->size() > 0;
  if (dims == nullptr) return mindspore::kSuccess;
  if (dims->size() > MSLITE_MAX_RANK) {
    return loader.Error(Label(*tensor, index) + Format(": rank %u is above %d", dims->size(), MSLITE_MAX_RANK));
  }
  for (const int32_t dim : *dims) {
    if (dim < -1) return loader.Error(Label(*tensor, index) + Format(": dimension %d", dim));
    tensor->dims.push_back(dim);
  }
  if (tensor->dims.size() == 1 && tensor->dims[0] == -1 && source.nodeType() != kConstantNode &&
      source.data() == nullptr) {
    // A single -1 may mean an unknown rank; for a model input it is a vector of unknown length (see LoadSubGraphs).
    tensor->has_rank = false;
  }
  return mindspore::kSuccess;
}

Status LoadData(Loader *loader, const schema::Tensor &source, size_t index, Tensor *tensor) {
  if (source.data() != nullptr && source.data()->size() > 0) {
    tensor->data = source.data()->data();
    tensor->size = source.data()->size();
  } else if (source.externalData() != nullptr && source.externalData()->size() > 0) {
    MSLITE_TRY(ReadSideFile(loader, source, tensor->name, &tensor->data, &tensor->size));
  }
  int64_t count = 0;
  const bool counted = CountElements(tensor->dims, &count);
  const bool is_empty = counted && count == 0 && source.nodeType() == kConstantNode;
  if (tensor->data == nullptr && !is_empty) return mindspore::kSuccess;
  tensor->is_constant = true;
  tensor->has_rank = true;
  if (tensor->type == MSLITE_STRING) {
    tensor->dims = {static_cast<int64_t>(tensor->size)};
    return mindspore::kSuccess;
  }
  if (tensor->type == MSLITE_TENSOR_LIST) return LoadList(*loader, Label(*tensor, index), tensor);
  if (!counted) return loader->Error(Label(*tensor, index) + ": a constant of unknown or invalid size");
  const int64_t element = mslite_type_size(tensor->type);
  if (element == 0) {
    return loader->Error(Label(*tensor, index) + Format(": a constant of type %d", static_cast<int>(tensor->type)));
  }
  if (HasPackedBytes(source)) return mindspore::kSuccess;
  if (count > INT64_MAX / element || static_cast<uint64_t>(count * element) > tensor->size) {
    return loader->Error(Label(*tensor, index) + ": " + DimsText(tensor->dims.data(), tensor->dims.size()) + " of " +
                         TypeName(tensor->type) + Format(" needs more than its %zu bytes", tensor->size));
  }
  tensor->size = static_cast<size_t>(count * element);
  if (tensor->size > 0 && reinterpret_cast<uintptr_t>(tensor->data) % static_cast<uintptr_t>(element) != 0) {
    AlignedBuffer copy = MakeAligned(tensor->size);
    if (copy == nullptr) return Fail(mindspore::kLiteMemoryFailed, "no memory for " + Label(*tensor, index));
    std::copy_n(tensor->data, tensor->size, copy.get());
    tensor->data = copy.get();
    loader->graph->decoded.push_back(std::move(copy));
  }
  return mindspore::kSuccess;
}
}  // namespace

void AddQuantParams(const schema::QuantParam &record, double scale, Tensor *tensor) {
  const int32_t type = record.dstDtype() == MSLITE_UINT8 ? MSLITE_UINT8 : MSLITE_INT8;
  tensor->quant.push_back({scale, record.zeroPoint(), type, record.roundType() == kRoundHalfToEven ? 1 : 0});
  tensor->ranges.push_back({record.min(), record.max()});
  const float variance = record.varCorr();
  tensor->corrections.push_back({variance >= 0 && variance <= 10 ? variance : 1, record.meanCorr()});
}

Status LoadTensors(Loader *loader) {
  const auto *sources = loader->meta->allTensors();
  if (sources == nullptr) return loader->Error("no tensors");
  loader->graph->tensors.reserve(sources->size());
  for (size_t i = 0; i < sources->size(); ++i) {
    const schema::Tensor *source = sources->Get(static_cast<flatbuffers::uoffset_t>(i));
    Tensor tensor;
    if (source->name() != nullptr) tensor.name = CleanText(source->name()->str());
    tensor.type = source->dataType();
    // The three generic data types are the 32-bit types.
    if (tensor.type == MSLITE_INT) tensor.type = MSLITE_INT32;
    if (tensor.type == MSLITE_UINT) tensor.type = MSLITE_UINT32;
    if (tensor.type == MSLITE_FLOAT) tensor.type = MSLITE_FLOAT32;
    tensor.format = static_cast<int32_t>(source->format());
    if (tensor.format < 0 || tensor.format > kLastFormat) {
      return loader->Error(Label(tensor, i) + Format(": unknown format %d", static_cast<int>(tensor.format)));
    }
    if (tensor.type < 0 || tensor.type > 64) {
      return loader->Error(Label(tensor, i) + Format(": unknown data type %d", static_cast<int>(tensor.type)));
    }
    MSLITE_TRY(LoadDims(*loader, *source, i, &tensor));
    if (source->refCount() == kHasSizeMarks) tensor.size_marks = static_cast<uint32_t>(source->offset());
    if (source->quantParams() != nullptr) {
      for (const auto *record : *source->quantParams()) AddQuantParams(*record, record->scale(), &tensor);
    }
    MSLITE_TRY(LoadData(loader, *source, i, &tensor));
    for (const int64_t dim : tensor.dims) {
      if (dim > kMaximumDim) return loader->Error(Label(tensor, i) + ": a dimension is too large");
    }
    loader->graph->tensors.push_back(std::move(tensor));
  }
  return mindspore::kSuccess;
}
}  // namespace mslite
