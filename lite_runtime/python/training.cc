#include "training.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <filesystem>
#include <string>
#include <vector>

#include "include/api/cfg.h"
#include "include/api/serialization.h"
#include "tensors.h"

namespace mslite::python {
namespace {

/// Calls a function of the model with arrays as tensors. The GIL is released.
template <ms::Status (ms::Model::*function)(const std::vector<ms::MSTensor> &)>
void Give(ms::Model &model, const std::vector<Value> &values) {
  const BorrowedTensors borrowed(values);
  nb::gil_scoped_release release;
  Check((model.*function)(borrowed.tensors()));
}

/// Returns copies of the tensors that a function of the model returns.
template <std::vector<ms::MSTensor> (ms::Model::*function)() const>
std::vector<Value> Copied(const ms::Model &model) {
  std::vector<Value> values;
  for (const ms::MSTensor &tensor : (model.*function)()) values.emplace_back(MetaOf(tensor), CopyOf(tensor));
  return values;
}

}  // namespace

/// Defines a property of TrainCfg for a member of its MixPrecisionCfg.
template <auto member>
void DefineMixed(nb::class_<ms::TrainCfg> *config, const char *name) {
  using Value = std::decay_t<decltype(std::declval<ms::MixPrecisionCfg>().*member)>;
  config->def_prop_rw(
      name, [](const ms::TrainCfg &train) { return train.mix_precision_cfg_.*member; },
      [](ms::TrainCfg &train, Value value) { train.mix_precision_cfg_.*member = value; });
}

void DefineTrainingSettings(nb::module_ &module) {
  nb::class_<ms::TrainCfg> config(module, "TrainCfg");
  DefineMixed<&ms::MixPrecisionCfg::dynamic_loss_scale_>(&config, "dynamic_loss_scale");
  DefineMixed<&ms::MixPrecisionCfg::loss_scale_>(&config, "loss_scale");
  DefineMixed<&ms::MixPrecisionCfg::num_of_not_nan_iter_th_>(&config, "num_of_not_nan_iter_th");
  DefineMixed<&ms::MixPrecisionCfg::is_raw_mix_precision_>(&config, "is_raw_mix_precision");
  config.def(nb::init<>())
      .def_prop_rw("loss_name", &ms::TrainCfg::GetLossName, &ms::TrainCfg::SetLossName)
      .def_rw("accumulate_gradients", &ms::TrainCfg::accumulate_gradients_)
      .def_rw("keep_gradients", &ms::TrainCfg::keep_gradients_)
      .def_prop_rw(
          "optimization_level",
          [](const ms::TrainCfg &config) { return static_cast<uint32_t>(config.optimization_level_); },
          [](ms::TrainCfg &config, uint32_t level) {
            config.optimization_level_ = static_cast<ms::OptimizationLevel>(level);
          });
}

void DefineTraining(nb::class_<ms::Model> *model) {
  model->def(
      "set_train_mode",
      [](ms::Model &trained, bool train) {
        nb::gil_scoped_release release;
        Check(trained.SetTrainMode(train));
      },
      nb::arg("train"));
  model->def("train_mode", &ms::Model::GetTrainMode);
  model->def("gradients", &Copied<&ms::Model::GetGradients>);
  model->def("apply_gradients", &Give<&ms::Model::ApplyGradients>, nb::arg("gradients"));
  model->def("feature_maps", &Copied<&ms::Model::GetFeatureMaps>);
  model->def("update_feature_maps", &Give<&ms::Model::UpdateFeatureMaps>, nb::arg("weights"));
  model->def("trainable_params", &Copied<&ms::Model::GetTrainableParams>);
  model->def("optimizer_params", &Copied<&ms::Model::GetOptimizerParams>);
  model->def("set_optimizer_params", &Give<&ms::Model::SetOptimizerParams>, nb::arg("params"));
  model->def("learning_rate", &ms::Model::GetLearningRate);
  model->def(
      "set_learning_rate", [](ms::Model &trained, float rate) { Check(trained.SetLearningRate(rate)); },
      nb::arg("learning_rate"));
  model->def(
      "setup_virtual_batch",
      [](ms::Model &trained, int multiplier, float learning_rate, float momentum) {
        nb::gil_scoped_release release;
        Check(trained.SetupVirtualBatch(multiplier, learning_rate, momentum));
      },
      nb::arg("multiplier"), nb::arg("learning_rate"), nb::arg("momentum"));
  model->def(
      "export_adapter",
      [](const ms::Model &trained, const std::filesystem::path &path) {
        nb::gil_scoped_release release;
        Check(ms::Serialization::ExportAdapter(trained, path.string()));
      },
      nb::arg("path"));
  model->def(
      "export_model",
      [](const ms::Model &trained, const std::filesystem::path &path, uint32_t quantization, bool inference_only,
         const std::vector<std::string> &outputs) {
        nb::gil_scoped_release release;
        Check(ms::Serialization::ExportModel(trained, ms::kMindIR, path.string(),
                                             static_cast<ms::QuantizationType>(quantization), inference_only, outputs));
      },
      nb::arg("path"), nb::arg("quantization"), nb::arg("inference_only"), nb::arg("outputs"));
  model->def(
      "export_micro_weights",
      [](const ms::Model &trained, const std::filesystem::path &path, bool is_inference, bool half,
         const std::vector<std::string> &changeable) {
        nb::gil_scoped_release release;
        Check(ms::Serialization::ExportWeightsCollaborateWithMicro(trained, ms::kMindIR, path.string(), is_inference,
                                                                   half, changeable));
      },
      nb::arg("path"), nb::arg("is_inference"), nb::arg("half"), nb::arg("changeable"));
}

}  // namespace mslite::python
