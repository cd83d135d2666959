// A layer with a low-rank adapter, as converter_lite writes it for training, and the same layer without one.
#ifndef MSLITE_TESTS_FUZZ_ADAPTER_NETWORKS_H
#define MSLITE_TESTS_FUZZ_ADAPTER_NETWORKS_H

#include <string>
#include <utility>
#include <vector>

#include "model_builder.h"

namespace mslite::test {
constexpr int32_t kAdaptedRows = 4, kAdaptedIn = 3, kAdaptedOut = 2;

// y = relu(x w^T + bias), for inference.
inline std::string LayerNetwork() {
  ModelBuilder m;
  const uint32_t x = m.Value("x", {kAdaptedRows, kAdaptedIn}), y = m.Value("y", {kAdaptedRows, kAdaptedOut});
  const uint32_t w = m.Floats("w", {kAdaptedOut, kAdaptedIn}, {0.5f, -0.25f, 1.0f, 2.0f, 0.75f, -1.0f});
  const uint32_t bias = m.Floats("bias", {kAdaptedOut}, {0.5f, 1.5f});
  m.Node("layer", schema::CreateFullConnection(m.builder, true, false, 0, schema::ActivationType_RELU), {x, w, bias},
         {y});
  m.Graph({x}, {y}, {0});
  return m.Finish({x}, {y});
}

// loss = x w^T + scale (x A^T) B^T + bias - target; A, B and the bias are trained.
inline std::string AdaptedNetwork(int32_t rank) {
  ModelBuilder m;
  auto &b = m.builder;
  const std::vector<int32_t> in = {kAdaptedRows, kAdaptedIn}, out = {kAdaptedRows, kAdaptedOut};
  const std::vector<int32_t> narrow = {kAdaptedRows, rank}, of_a = {rank, kAdaptedIn}, of_b = {kAdaptedOut, rank};
  std::vector<float> first_a, zeros_a, zeros_b;
  for (int32_t i = 0; i < rank * kAdaptedIn; ++i) first_a.push_back(0.25f * static_cast<float>(i % 5 - 2));
  zeros_a.resize(first_a.size());
  zeros_b.resize(static_cast<size_t>(kAdaptedOut * rank));
  std::vector<uint32_t> nodes;
  const auto add = [&](const char *name, auto op, std::vector<uint32_t> inputs, uint32_t output) {
    nodes.push_back(m.Node(name, op, std::move(inputs), {output}));
    return output;
  };
  const auto product = [&](bool turns_first, bool turns_second) {
    return schema::CreateMatMulFusion(b, turns_first, turns_second);
  };
  const uint32_t x = m.Value("x", in), target = m.Value("target", out);
  const uint32_t w = m.Floats("w", {kAdaptedOut, kAdaptedIn}, {0.5f, -0.25f, 1.0f, 2.0f, 0.75f, -1.0f});
  const uint32_t bias = m.Floats("bias", {kAdaptedOut}, {0.5f, 1.5f});
  const uint32_t matrix_a = m.Floats("w.lora_A", of_a, first_a), matrix_b = m.Floats("w.lora_B", of_b, zeros_b);
  const uint32_t scale = m.Floats("lora_scale", {}, {2.0f});
  const uint32_t base = add("net/w", product(false, true), {x, w}, m.Value("base", out));
  const uint32_t thin = add("net/A", product(false, true), {x, matrix_a}, m.Value("thin", narrow));
  const uint32_t scaled = add("net/scale", schema::CreateMulFusion(b), {thin, scale}, m.Value("scaled", narrow));
  const uint32_t added = add("net/B", product(false, true), {scaled, matrix_b}, m.Value("added", out));
  const uint32_t sum = add("net/sum", schema::CreateAddFusion(b), {base, added}, m.Value("sum", out));
  const uint32_t y = add("net/bias", schema::CreateAddFusion(b), {sum, bias}, m.Value("y", out));
  const uint32_t loss = add("net/_loss_fn", schema::CreateSubFusion(b), {y, target}, m.Value("loss", out));
  const uint32_t dy = add("Gradients/loss", schema::CreateAddFusion(b), {loss, loss}, m.Value("dy", out));
  const uint32_t axis = m.Constant<int32_t>("axis", {1}, {0}, kInt);
  const uint32_t dbias = add("Gradients/bias", schema::CreateReduceFusion(b, false, schema::ReduceMode_ReduceSum),
                             {dy, axis}, m.Value("dbias", {kAdaptedOut}));
  const uint32_t db = add("Gradients/B", product(true, false), {dy, scaled}, m.Value("dB", of_b));
  const uint32_t dscaled = add("Gradients/scale", product(false, false), {dy, matrix_b}, m.Value("dscaled", narrow));
  const uint32_t dthin = add("Gradients/thin", schema::CreateMulFusion(b), {dscaled, scale}, m.Value("dthin", narrow));
  const uint32_t da = add("Gradients/A", product(true, false), {dthin, x}, m.Value("dA", of_a));
  const uint32_t rate = m.Floats("learning_rate", {}, {0.03125f}), momentum = m.Floats("momentum", {}, {0.5f});
  const auto update = [&](const char *name, uint32_t weight, uint32_t gradient, const std::vector<int32_t> &dims,
                          const std::vector<float> &zeros) {
    const uint32_t moments = m.Floats(std::string("moments.") + name, dims, zeros);
    add(name, schema::CreateApplyMomentum(b), {weight, moments, rate, gradient, momentum},
        m.Value(std::string("new.") + name, dims));
  };
  update("optimizer/A", matrix_a, da, of_a, zeros_a);
  update("optimizer/B", matrix_b, db, of_b, zeros_b);
  update("optimizer/bias", bias, dbias, {kAdaptedOut}, {0.0f, 0.0f});
  m.Graph({x, target}, {loss}, nodes);
  return m.Finish({x, target}, {loss});
}
}  // namespace mslite::test

#endif
