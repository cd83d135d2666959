// Reads the files of low-rank adapters: constants that change the matmuls of a model.
#ifndef MSLITE_MODEL_ADAPTER_H
#define MSLITE_MODEL_ADAPTER_H

#include <map>
#include <memory>
#include <string>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// The suffixes of an adapter's constants, after the name of the weight, and the name of the constant that scales the
// adapter's matmuls in training graphs. converter/training/adapters.py writes these names.
constexpr char kAdapterA[] = ".lora_A";
constexpr char kAdapterB[] = ".lora_B";
constexpr char kAdapterScale[] = "lora_scale";
constexpr char kAdapterGraph[] = "adapter";  // the name of the graph in an adapter's file

// Returns the name of the weight if `name` is an adapter's constant with the suffix `end`; otherwise an empty string.
MSLITE_INTERNAL_API std::string AdaptedWeight(const std::string &name, const std::string &end);

struct Adapter {
  // x W becomes x W + (x A^T) B^T.
  struct Pair {
    const Tensor *a = nullptr;  // float32 [rank, in]
    const Tensor *b = nullptr;  // float32 [out, rank]
  };
  std::shared_ptr<const Graph> graph;              // owns the tensors
  std::map<std::string, Pair> pairs;               // by the name of the weight
  std::map<std::string, const Tensor *> contents;  // float32, by the name of the constant that they replace
};

// Reads a `.ms` file that contains only an adapter's constants. Errors: kLiteGraphFileError for a damaged file, a file
// that is not an adapter, and matrices whose shapes do not match; kLiteNotSupport and kLiteMemoryFailed as for Load.
Status ReadAdapter(const std::shared_ptr<const Bytes> &file, Adapter *adapter);
}  // namespace mslite

#endif
