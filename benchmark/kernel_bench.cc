// kernel_bench: measures single kernels, compared with the peak arithmetic speed of one core.
//
//   kernel_bench                                       layers of well-known networks
//   kernel_bench conv:H,W,IN,OUT,KERNEL[,STRIDE[,GROUP]] matmul:M,K,N ...
//   kernel_bench forward:M,K,N input:M,K,N weight:M,K,N   training: matmul with variable weights, and gradients
//   kernel_bench --kernel=gemm ...                     only kernels with this text in their name
//
// All kernels that support the call are measured on one thread: the best of repeated runs, with warm caches. GFLOP/s
// are computed from the operations of the direct algorithm, so Winograd kernels may exceed the peak. Each layer is
// measured with float32, and with int8 and a scale for each output channel.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernel.h"
#include "peak.h"
#include "plan/cpu_features.h"
#include "plan/every_kernel.h"

namespace {

constexpr double kSeconds = 0.05;  // of repetition per entry

struct Layer {
  std::string name;
  int32_t op = 0;
  mslite_Conv2DFusion conv{};
  mslite_MatMulFusion matmul{};
  std::vector<int64_t> lists;  // stride, padding: what the attributes point to
  std::vector<mslite_tensor> inputs;
  mslite_tensor output{};
  bool is_trained = false;  // the second operand is no constant
  double flops = 0;
};

mslite_tensor Tensor(const std::vector<int64_t> &dims) {
  mslite_tensor tensor{};
  tensor.type = MSLITE_FLOAT32;
  tensor.known_count = -1;
  for (int64_t dim : dims) tensor.dims[tensor.rank++] = dim;
  return tensor;
}

Layer Convolution(const std::string &name, const std::vector<int64_t> &n) {
  Layer layer;
  layer.name = name;
  layer.op = MSLITE_OP_Conv2DFusion;
  const int64_t kernel = n[4], stride = n.size() > 5 ? n[5] : 1, group = n.size() > 6 ? n[6] : 1;
  const int64_t pad = (kernel - 1) / 2;
  layer.lists = {stride, stride, pad, pad, pad, pad};
  layer.conv.group = group;
  layer.conv.activation_type = MSLITE_ACTIVATION_TYPE_RELU;
  layer.inputs = {Tensor({1, n[0], n[1], n[2]}), Tensor({n[3], kernel, kernel, n[2] / group}), Tensor({n[3]})};
  const int64_t height = (n[0] + 2 * pad - kernel) / stride + 1, width = (n[1] + 2 * pad - kernel) / stride + 1;
  const int64_t terms = kernel * kernel * (n[2] / group);
  layer.flops = 2.0 * static_cast<double>(height * width * n[3]) * static_cast<double>(terms);
  return layer;
}

Layer Product(const std::string &name, const std::vector<int64_t> &n) {
  Layer layer;
  layer.name = name;
  layer.op = MSLITE_OP_MatMulFusion;
  layer.inputs = {Tensor({n[0], n[1]}), Tensor({n[1], n[2]})};
  layer.flops = 2.0 * static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  return layer;
}

// A matmul of training, [M, K] by variable weights [K, N]: the forward pass, or the gradient of its input or weights.
Layer TrainedProduct(const std::string &name, const std::string &kind, const std::vector<int64_t> &n) {
  Layer layer = Product(name, n);
  layer.is_trained = true;
  if (kind == "input") {
    layer.matmul.transpose_b = true;
    layer.inputs = {Tensor({n[0], n[2]}), Tensor({n[1], n[2]})};
  } else if (kind == "weight") {
    layer.matmul.transpose_a = true;
    layer.inputs = {Tensor({n[0], n[1]}), Tensor({n[0], n[2]})};
  }
  return layer;
}

// False: `text` is not a layer.
bool Parse(const std::string &text, Layer *layer) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  std::vector<int64_t> numbers;
  const char *at = colon == std::string::npos ? "" : text.c_str() + colon + 1;
  while (*at != '\0') {
    char *end = nullptr;
    numbers.push_back(std::strtoll(at, &end, 10));
    if (end == at || numbers.back() < 1 || numbers.back() > 1 << 20) return false;
    at = *end == ',' ? end + 1 : end;
    if (end == at && *end != '\0') return false;
  }
  if (kind == "conv" && numbers.size() >= 5 && numbers.size() <= 7) {
    if (numbers.size() == 7 && numbers[2] % numbers[6] != 0) return false;
    *layer = Convolution(text, numbers);
    return true;
  }
  if (kind == "matmul" && numbers.size() == 3) {
    *layer = Product(text, numbers);
    return true;
  }
  if ((kind == "forward" || kind == "input" || kind == "weight") && numbers.size() == 3) {
    *layer = TrainedProduct(text, kind, numbers);
    return true;
  }
  return false;
}

// Memory that is aligned to a cache line.
class Memory {
 public:
  explicit Memory(int64_t bytes) : storage_(static_cast<size_t>(bytes) + 64) {}
  void *data() {
    const auto address = reinterpret_cast<uintptr_t>(storage_.data());
    return storage_.data() + (64 - address % 64) % 64;
  }

 private:
  std::vector<unsigned char> storage_;
};

// Returns the time of one run of `kernel` in seconds; negative if it cannot be prepared.
double Time(const mslite_kernel &kernel, const mslite_node &node, const std::vector<const void *> &inputs,
            void *output) {
  Memory derived(kernel.derived_size);
  mslite_schedule schedule{};
  if (kernel.prepare(&node, derived.data(), &schedule) != MSLITE_OK) return -1;
  std::vector<const void *> seen = inputs;
  std::vector<Memory> packed;
  packed.reserve(inputs.size());
  for (size_t i = 1; i < inputs.size() && kernel.pack_size != nullptr; ++i) {
    if (node.inputs[i]->data == nullptr) continue;
    const int64_t bytes = kernel.pack_size(&node, static_cast<int32_t>(i));
    if (bytes == 0) continue;
    packed.emplace_back(bytes);
    kernel.pack(&node, static_cast<int32_t>(i), inputs[i], packed.back().data());
    seen[i] = packed.back().data();
  }
  Memory shared(schedule.shared_bytes), scratch(schedule.scratch_bytes);
  const mslite_run run = {derived.data(), seen.data(), &output, shared.data(), scratch.data(), nullptr};
  double best = 1e30, spent = 0;
  while (spent < kSeconds) {
    const auto start = std::chrono::steady_clock::now();
    for (int32_t phase = 0; phase < schedule.phase_count; ++phase) {
      for (int32_t part = 0; part < schedule.part_count[phase]; ++part) kernel.run(&run, phase, part);
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, seconds);
    spent += seconds;
  }
  return best;
}

// Fills a tensor with values of its type. An int8 tensor gets quantization parameters.
std::vector<unsigned char> Fill(mslite_tensor *tensor, bool is_weight, std::vector<mslite_quant> *records) {
  static std::mt19937 generator(1);
  const int64_t count = mslite_element_count(tensor);
  std::vector<unsigned char> bytes(static_cast<size_t>(count * mslite_type_size(tensor->type)));
  if (tensor->type == MSLITE_FLOAT32) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) {
      const float value = normal(generator);
      std::memcpy(bytes.data() + i * 4, &value, 4);
    }
  } else if (tensor->type == MSLITE_INT8) {
    for (unsigned char &byte : bytes) byte = static_cast<unsigned char>(generator());
    const int64_t axis = tensor->rank == 4 ? 0 : tensor->rank - 1;
    records->assign(is_weight ? static_cast<size_t>(tensor->dims[axis]) : 1, {0.01, is_weight ? 0 : 3, MSLITE_INT8, 0});
    tensor->quant = records->data();
    tensor->quant_count = static_cast<int32_t>(records->size());
  }
  return bytes;
}

// Prints one line for each kernel that supports the layer, with float32 or int8. Returns false for an invalid layer.
bool Measure(Layer layer, bool is_stored, const std::string &filter, double peak) {
  layer.conv.stride = {2, layer.lists.data()};
  layer.conv.pad_list = {4, layer.lists.data() + 2};
  const void *params = layer.op == MSLITE_OP_Conv2DFusion ? static_cast<const void *>(&layer.conv) : &layer.matmul;
  std::vector<std::vector<unsigned char>> data;
  std::vector<std::vector<mslite_quant>> records(layer.inputs.size());
  std::vector<const mslite_tensor *> inputs;
  std::vector<const void *> contents;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    mslite_tensor &tensor = layer.inputs[i];
    if (is_stored) tensor.type = i == 2 ? MSLITE_INT32 : MSLITE_INT8;
    data.push_back(Fill(&tensor, i == 1, &records[i]));
    if (i > 0 && !layer.is_trained) tensor.data = data.back().data();
    inputs.push_back(&tensor);
    contents.push_back(data.back().data());
  }
  mslite_tensor *output = &layer.output;
  output->known_count = -1;
  mslite_shape_context context{MSLITE_SYMBOL_LIMIT - 1, ""};
  const auto count = static_cast<int32_t>(inputs.size());
  if (mslite_find_shape_rule(layer.op)(&context, params, inputs.data(), count, &output, 1) != MSLITE_OK) {
    std::fprintf(stderr, "%s: %s\n", layer.name.c_str(), context.message);
    return false;
  }
  const mslite_quant step = {0.5, -5, MSLITE_INT8, 0};
  if (is_stored) {
    output->quant = &step;
    output->quant_count = 1;
  }
  const mslite_tensor *outputs = output;
  const mslite_node node = {layer.op, params, count, 1, inputs.data(), &outputs, 0};
  std::vector<float> result(static_cast<size_t>(mslite_element_count(output)) + 1);
  for (const mslite_kernel *entry : mslite::EveryKernel()) {
    const mslite_kernel &kernel = *entry;
    if (kernel.op != layer.op || std::strstr(kernel.name, filter.c_str()) == nullptr) continue;
    if ((kernel.quantized != 0) != is_stored) continue;
    if (!mslite::DetectedIsas().Has(kernel.isa) || kernel.support(&node) <= 0) continue;
    if (filter.empty() && kernel.isa == MSLITE_ISA_SCALAR) continue;
    const double seconds = Time(kernel, node, contents, result.data());
    if (seconds < 0) continue;
    const double rate = layer.flops / seconds * 1e-9;
    std::printf("%-30s %-30s %10.1f us %8.1f GFLOP/s %6.1f %%\n", layer.name.c_str(), kernel.name, seconds * 1e6, rate,
                100 * rate / peak);
  }
  return true;
}

const char *const kLayers[] = {
    "conv:224,224,3,64,7,2",      "conv:56,56,64,64,3",         "conv:28,28,128,128,3",     "conv:14,14,256,256,3",
    "conv:7,7,512,512,3",         "conv:56,56,64,128,3,2",      "conv:56,56,64,256,1",      "conv:56,56,256,64,1",
    "conv:14,14,1024,256,1",      "conv:7,7,512,2048,1",        "conv:224,224,3,32,3,2",    "conv:112,112,32,32,3,1,32",
    "conv:56,56,144,144,3,2,144", "conv:14,14,576,576,3,1,576", "conv:7,7,960,960,5,1,960", "conv:14,14,64,384,1",
    "conv:7,7,160,960,1",         "matmul:128,256,1024",        "matmul:197,768,192",       "matmul:1,1280,1000"};

}  // namespace

int main(int argc, char **argv) {
  std::string filter;
  std::vector<Layer> layers;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    Layer layer;
    if (argument.rfind("--kernel=", 0) == 0) {
      filter = argument.substr(9);
    } else if (Parse(argument, &layer)) {
      layers.push_back(layer);
    } else {
      std::fprintf(stderr,
                   "kernel_bench: cannot read '%s'\n"
                   "usage: kernel_bench [--kernel=NAME] [conv:H,W,IN,OUT,KERNEL[,STRIDE[,GROUP]]] [matmul:M,K,N] "
                   "[forward:M,K,N] [input:M,K,N] [weight:M,K,N] ...\n",
                   argv[i]);
      return 2;
    }
  }
  if (layers.empty()) {
    for (const char *text : kLayers) Parse(text, &layers.emplace_back());
  }
  const double peak = mslite::benchmark::MeasurePeakGflops();
  std::printf("one core: %.1f GFLOP/s of float32 multiply-adds\n", peak);
  bool measured = true;
  for (Layer &layer : layers) {
    for (const bool is_stored : {false, true}) {
      if (!is_stored || !layer.is_trained) measured = Measure(layer, is_stored, filter, peak) && measured;
    }
  }
  return measured ? 0 : 1;
}
