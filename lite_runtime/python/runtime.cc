// mslite._runtime: the native module of the Python API, which model.py, tensor.py and context.py use.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "buffer.h"
#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "include/mslite/digest.h"
#include "include/mslite/inspect.h"
#include "include/mslite/plugin.h"
#include "include/mslite/run_control.h"
#include "tensors.h"
#include "training.h"

namespace mslite::python {
namespace {

namespace ms = mindspore;

std::string Text(const std::vector<int64_t> &shape) {
  std::string text;
  for (const int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// Runs the model with the GIL released. Inputs are read from the arrays without a copy. Outputs of known size are
/// written to the arrays that are returned.
std::vector<Value> Predict(ms::Model &model, const std::vector<Value> &inputs,
                           const std::optional<std::vector<Value>> &targets) {
  const std::vector<ms::MSTensor> expected = model.GetOutputs();
  const BorrowedTensors given(inputs);
  std::vector<Buffer> output_memory;
  std::vector<nb::object> arrays(expected.size());
  std::vector<std::vector<int64_t>> shapes(expected.size());  // of the arrays
  std::vector<ms::MSTensor> outputs;
  output_memory.reserve(expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool sized = expected[i].ElementNum() >= 0 && expected[i].DataType() != ms::DataType::kObjectTypeString;
    Meta meta = MetaOf(expected[i]);
    if (targets && i < targets->size()) {
      meta = std::get<0>((*targets)[i]);
      std::get<0>(meta) = expected[i].Name();
      arrays[i] = std::get<1>((*targets)[i]);
    } else if (sized) {
      arrays[i] = EmptyArray(expected[i]);
    } else {
      outputs.emplace_back(nullptr);
      output_memory.emplace_back();
      continue;
    }
    const Buffer &buffer = output_memory.emplace_back(arrays[i], true);
    shapes[i] = std::get<2>(meta);
    outputs.push_back(Over(meta, buffer.data(), buffer.size()));
  }
  ms::Status status;
  {
    nb::gil_scoped_release release;
    status = model.Predict(given.tensors(), &outputs);
  }
  Check(status);
  std::vector<Value> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const void *data = outputs[i].Data().get();
    // If the shape depends on data, the array has the shape of the last run and may not match.
    const bool in_place = i < output_memory.size() && output_memory[i].data() != nullptr &&
                          data == output_memory[i].data() && outputs[i].Shape() == shapes[i];
    if (!in_place) {
      if (targets && i < targets->size()) {
        throw std::runtime_error("output '" + outputs[i].Name() + "' has the shape " + Text(outputs[i].Shape()) +
                                 ", the given tensor has " + Text(shapes[i]));
      }
      if (i >= arrays.size()) arrays.emplace_back();
      arrays[i] = CopyOf(outputs[i]);
    }
    results.emplace_back(MetaOf(outputs[i]), arrays[i]);
  }
  return results;
}

/// The settings of mslite.Context.
struct ContextSettings {
  int32_t thread_num = 0;
  int32_t inter_op_parallel_num = 0;
  int affinity_mode = 0;
  std::vector<int> affinity_cores;
  bool fp16 = false;
  std::string provider;
  std::optional<uint32_t> gpu;  // index of the GPU, which is preferred to the CPU
  bool gpu_fp16 = false;
  bool fallback = true;
  RunLimits limits;

  std::shared_ptr<ms::Context> Make() const {
    auto context = std::make_shared<ms::Context>();
    context->SetThreadNum(thread_num);
    context->SetInterOpParallelNum(inter_op_parallel_num);
    if (affinity_cores.empty()) {
      context->SetThreadAffinity(affinity_mode);
    } else {
      context->SetThreadAffinity(affinity_cores);
    }
    context->SetFallback(fallback);
    if (gpu) {
      auto device = std::make_shared<ms::GPUDeviceInfo>();
      device->SetDeviceID(*gpu);
      device->SetEnableFP16(gpu_fp16);
      context->MutableDeviceInfo().push_back(device);
    }
    auto cpu = std::make_shared<ms::CPUDeviceInfo>();
    cpu->SetEnableFP16(fp16);
    cpu->SetProvider(provider);
    context->MutableDeviceInfo().push_back(cpu);
    Check(SetRunLimits(context, limits));
    return context;
  }
};

using Config = std::map<std::string, std::map<std::string, std::string>>;

void Configure(ms::Model &model, const std::filesystem::path &config_path, const Config &config) {
  if (!config_path.empty()) Check(model.LoadConfig(config_path.string()));
  for (const auto &[section, settings] : config) {
    for (const auto &setting : settings) Check(model.UpdateConfig(section, setting));
  }
}

void UpdateWeights(ms::Model &model, const std::vector<Value> &weights) {
  const BorrowedTensors borrowed(weights);
  nb::gil_scoped_release release;
  Check(model.UpdateWeights(borrowed.tensors()));
}

int64_t WorkspaceBytes(const ms::Model &model) {
  PlanInfo info;
  Check(InspectPlan(model, &info));
  return info.arena_bytes;
}

// node, operator, backend, partition, reason, FLOPs
using Placed = std::tuple<std::string, std::string, std::string, int32_t, std::string, int64_t>;

std::vector<Placed> ToTuples(const std::vector<NodePlacement> &nodes) {
  std::vector<Placed> placed;
  placed.reserve(nodes.size());
  for (const NodePlacement &node : nodes) {
    placed.emplace_back(node.node, node.op, node.engine, node.part, node.reason, node.flops);
  }
  return placed;
}

std::vector<Placed> PlacementsOf(const ms::Model &model) {
  PlacementInfo info;
  Check(InspectPlacement(model, &info));
  return ToTuples(info.nodes);
}

// name of the backend, why it is not available, nodes
using Engine = std::tuple<std::string, std::string, std::vector<Placed>>;

std::vector<Engine> EnginesFor(const std::filesystem::path &path) {
  std::vector<EngineInfo> found;
  {
    nb::gil_scoped_release release;
    Check(InspectEngines(path.string(), &found));
  }
  std::vector<Engine> engines;
  for (const EngineInfo &engine : found) engines.emplace_back(engine.name, engine.missing, ToTuples(engine.nodes));
  return engines;
}

}  // namespace

NB_MODULE(_runtime, module) {
  module.doc() = "The native module of mslite's runtime API.";
  module.def("version", [] { return ms::Version(); });
  module.def(
      "load_plugin", [](const std::filesystem::path &path) { Check(LoadPlugin(path.string())); }, nb::arg("path"),
      "Loads a plug-in: a shared library that registers kernels.");

  module.def(
      "verify_digest",
      [](const std::filesystem::path &path, const std::string &expected) {
        Check(VerifyDigest(path.string(), expected));
      },
      nb::arg("path"), nb::arg("expected"), "Compares a model file with its digest.");

  module.def("engines", &EnginesFor, nb::arg("path"),
             "Returns the nodes of a model file that each backend of this library supports.");

  nb::class_<ContextSettings>(module, "ContextSettings")
      .def(nb::init<>())
      .def_rw("thread_num", &ContextSettings::thread_num)
      .def_rw("inter_op_parallel_num", &ContextSettings::inter_op_parallel_num)
      .def_rw("affinity_mode", &ContextSettings::affinity_mode)
      .def_rw("affinity_cores", &ContextSettings::affinity_cores)
      .def_rw("fp16", &ContextSettings::fp16)
      .def_rw("provider", &ContextSettings::provider)
      .def_rw("gpu", &ContextSettings::gpu)
      .def_rw("gpu_fp16", &ContextSettings::gpu_fp16)
      .def_rw("fallback", &ContextSettings::fallback)
      .def_prop_rw(
          "step_limit", [](const ContextSettings &settings) { return settings.limits.steps; },
          [](ContextSettings &settings, int64_t steps) { settings.limits.steps = steps; })
      .def_prop_rw(
          "time_limit", [](const ContextSettings &settings) { return settings.limits.milliseconds; },
          [](ContextSettings &settings, int64_t milliseconds) { settings.limits.milliseconds = milliseconds; })
      .def_prop_rw(
          "memory_limit", [](const ContextSettings &settings) { return settings.limits.bytes; },
          [](ContextSettings &settings, int64_t bytes) { settings.limits.bytes = bytes; });

  DefineTrainingSettings(module);

  nb::class_<ms::Model> model(module, "Model");
  model.def(nb::init<>())
      .def(
          "build",
          [](ms::Model &model, const std::filesystem::path &path, uint32_t type, const ContextSettings &settings,
             const std::filesystem::path &config_path, const Config &config, const nb::bytes &key,
             const std::string &mode) {
            Configure(model, config_path, config);
            const ms::Key own_key(key.c_str(), key.size());  // empty: the file is not encrypted
            nb::gil_scoped_release release;
            Check(model.Build(path.string(), static_cast<ms::ModelType>(type), settings.Make(), own_key, mode, ""));
          },
          nb::arg("path"), nb::arg("type"), nb::arg("settings"), nb::arg("config_path"), nb::arg("config"),
          nb::arg("key") = nb::bytes("", 0), nb::arg("mode") = "AES-GCM")
      .def("inputs", [](ms::Model &model) { return MetasOf(model.GetInputs()); })
      .def("outputs", [](ms::Model &model) { return MetasOf(model.GetOutputs()); })
      .def(
          "resize",
          [](ms::Model &model, const std::vector<size_t> &indices, const std::vector<std::vector<int64_t>> &dims) {
            const std::vector<ms::MSTensor> all = model.GetInputs();
            std::vector<ms::MSTensor> inputs;
            for (const size_t index : indices) inputs.push_back(all.at(index));
            nb::gil_scoped_release release;
            Check(model.Resize(inputs, dims));
          },
          nb::arg("indices"), nb::arg("dims"))
      .def("update_weights", &UpdateWeights, nb::arg("weights"))
      .def(
          "load_adapter",
          [](ms::Model &model, const std::filesystem::path &path) {
            nb::gil_scoped_release release;
            Check(model.LoadAdapter(path.string()));
          },
          nb::arg("path"))
      .def("unload_adapter",
           [](ms::Model &model) {
             nb::gil_scoped_release release;
             Check(model.UnloadAdapter());
           })
      .def("predict", &Predict, nb::arg("inputs"), nb::arg("targets").none())
      .def("cancel", [](const ms::Model &model) { return CancelPredict(model); })
      .def("workspace_bytes", &WorkspaceBytes)
      .def("placements", &PlacementsOf)
      .def("info", &ms::Model::GetModelInfo, nb::arg("key"));
  model.def(
      "build_transfer_learning",
      [](ms::Model &trained, const std::filesystem::path &backbone, const std::filesystem::path &head, uint32_t type,
         const ContextSettings &settings, const ms::TrainCfg &train_cfg) {
        nb::gil_scoped_release release;
        ms::Graph graphs[2];
        Check(ms::Serialization::Load(backbone.string(), static_cast<ms::ModelType>(type), &graphs[0]));
        Check(ms::Serialization::Load(head.string(), static_cast<ms::ModelType>(type), &graphs[1]));
        Check(trained.BuildTransferLearning(ms::GraphCell(graphs[0]), ms::GraphCell(graphs[1]), settings.Make(),
                                            std::make_shared<ms::TrainCfg>(train_cfg)));
      },
      nb::arg("backbone"), nb::arg("head"), nb::arg("type"), nb::arg("settings"), nb::arg("train_cfg"));
  model.def(
      "build_for_training",
      [](ms::Model &trained, const std::filesystem::path &path, uint32_t type, const ContextSettings &settings,
         const ms::TrainCfg &train_cfg, const std::filesystem::path &config_path, const Config &config,
         const nb::bytes &key, const std::string &mode) {
        Configure(trained, config_path, config);
        const ms::Key own_key(key.c_str(), key.size());
        nb::gil_scoped_release release;
        ms::Graph graph;
        Check(ms::Serialization::Load(path.string(), static_cast<ms::ModelType>(type), &graph, own_key, mode));
        Check(trained.Build(ms::GraphCell(graph), settings.Make(), std::make_shared<ms::TrainCfg>(train_cfg)));
      },
      nb::arg("path"), nb::arg("type"), nb::arg("settings"), nb::arg("train_cfg"), nb::arg("config_path"),
      nb::arg("config"), nb::arg("key") = nb::bytes("", 0), nb::arg("mode") = "AES-GCM");
  DefineTraining(&model);
}

}  // namespace mslite::python
