// Small training graphs for tests: a weight, what is said to be its gradient, and Momentum.
#ifndef MSLITE_TESTS_TRAINING_MODELS_H
#define MSLITE_TESTS_TRAINING_MODELS_H

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/model.h"
#include "include/api/serialization.h"
#include "model_builder.h"

namespace mslite::test {
// Adds nodes that make a gradient of the loss, [6], and gives its tensor.
using MakeGradient = std::function<uint32_t(ModelBuilder *m, uint32_t loss)>;

struct TrainingSettings {
  std::vector<int32_t> weight = {6};
  std::vector<int32_t> moments = {6};
  std::vector<int32_t> rate = {};
  std::string rate_name = "learning_rate";
  std::string moments_name = "moments";
  std::string other_name = "other";  // of a constant that the network reads
};

inline size_t Count(const std::vector<int32_t> &dims) {
  size_t count = 1;
  for (const int32_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

// loss = x - (mean(w) + 3), and w by the gradient that `make` gives; x is [6].
inline std::string ModelWithGradient(const MakeGradient &make, const TrainingSettings &settings = {}) {
  ModelBuilder m;
  auto &b = m.builder;
  const uint32_t x = m.Value("x", {6});
  const uint32_t weight = m.Floats("w", settings.weight, std::vector<float>(Count(settings.weight), 1.0f));
  const uint32_t moments =
      m.Floats(settings.moments_name, settings.moments, std::vector<float>(Count(settings.moments), 0.0f));
  const uint32_t rate = m.Floats(settings.rate_name, settings.rate, std::vector<float>(Count(settings.rate), 0.5f));
  const uint32_t momentum = m.Floats("momentum", {}, {0.5f});
  const uint32_t other = m.Floats(settings.other_name, {1}, {3.0f});
  const uint32_t axes = m.Constant<int32_t>("axes", {1}, {0}, kInt);
  const uint32_t mean = m.Value("mean", {1}), sum = m.Value("sum", {1}), loss = m.Value("loss", {6});
  m.Node("net/Mean", schema::CreateReduceFusion(b, true, schema::ReduceMode_ReduceMean), {weight, axes}, {mean});
  m.Node("net/Add", schema::CreateAddFusion(b), {mean, other}, {sum});
  m.Node("net/_loss_fn", schema::CreateSubFusion(b), {x, sum}, {loss});
  const uint32_t gradient = make(&m, loss);
  m.Node("optimizer/w", schema::CreateApplyMomentum(b), {weight, moments, rate, gradient, momentum},
         {m.Value("updated", settings.weight)});
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < m.node_count(); ++i) nodes.push_back(i);
  m.Graph({x}, {loss}, nodes);
  return m.Finish({x}, {loss});
}

// The gradient is the loss, doubled.
inline uint32_t Doubled(ModelBuilder *m, uint32_t loss) {
  const uint32_t gradient = m->Value("gradient", {6});
  m->Node("Gradients/double", schema::CreateAddFusion(m->builder), {loss, loss}, {gradient});
  return gradient;
}

inline std::shared_ptr<mindspore::Context> OneThread() {
  auto context = std::make_shared<mindspore::Context>();
  context->SetThreadNum(1);
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  return context;
}

inline mindspore::Status BuildForTraining(const std::string &file, const mindspore::TrainCfg &config,
                                          const std::shared_ptr<mindspore::Context> &context, mindspore::Model *model) {
  mindspore::Graph graph;
  const auto status = mindspore::Serialization::Load(file.data(), file.size(), mindspore::kMindIR, &graph);
  if (status.IsError()) return status;
  return model->Build(mindspore::GraphCell(graph), context, std::make_shared<mindspore::TrainCfg>(config));
}
}  // namespace mslite::test

#endif
