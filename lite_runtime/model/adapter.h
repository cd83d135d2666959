// Files of low-rank adapters: constants that change what the products of a model compute.
#ifndef MSLITE_MODEL_ADAPTER_H
#define MSLITE_MODEL_ADAPTER_H

#include <map>
#include <memory>
#include <string>

#include "model/graph.h"
#include "model/internal_api.h"

namespace mslite {
// What the names of an adapter's constants end in, behind that of the weight, and in training graphs the constant that
// the adapters' products are multiplied by. converter/training/adapters.py gives them these names.
constexpr char kAdapterA[] = ".lora_A";
constexpr char kAdapterB[] = ".lora_B";
constexpr char kAdapterScale[] = "lora_scale";
constexpr char kAdapterGraph[] = "adapter";  // the name that an adapter's file has inside

// The name of the weight where `name` is that of an adapter's constant with this end; otherwise nothing.
MSLITE_INTERNAL_API std::string AdaptedWeight(const std::string &name, const std::string &end);

struct Adapter {
  // x W becomes x W + (x A^T) B^T.
  struct Pair {
    const Tensor *a = nullptr;  // float32 [rank, in]
    const Tensor *b = nullptr;  // float32 [out, rank]
  };
  std::shared_ptr<const Graph> graph;              // has the tensors
  std::map<std::string, Pair> pairs;               // by the name of the weight
  std::map<std::string, const Tensor *> contents;  // float32, of constants that get others
};

// Reads a `.ms` file that holds nothing but an adapter's constants. Errors: kLiteGraphFileError for a damaged file, one
// that is no adapter, and matrices that do not go together; kLiteNotSupport and kLiteMemoryFailed as in Load.
Status ReadAdapter(const std::shared_ptr<const Bytes> &file, Adapter *adapter);
}  // namespace mslite

#endif
