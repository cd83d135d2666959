// InstanceNorm between Transposes: what becomes one call on NHWC, and what stays; and where channels are in old files.
#include "plan/rewrite/transposed_norms.h"

#include <gtest/gtest.h>

#include "model/load.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
const std::vector<int32_t> kToFirst = {0, 3, 1, 2};
const std::vector<int32_t> kToLast = {0, 2, 3, 1};

// x [1, 4, 3, 5] in NHWC, and what a test puts behind it.
struct Norms {
  ModelBuilder model;
  uint32_t x = model.Value("x", {1, 4, 3, 5});
  uint32_t gamma = model.Floats("gamma", {5}, std::vector<float>(5, 2));
  uint32_t beta = model.Floats("beta", {5}, std::vector<float>(5, 1));
  std::vector<uint32_t> nodes;

  uint32_t Transpose(const std::string &name, uint32_t from, const std::vector<int32_t> &perm) {
    const uint32_t order = model.Constant(name + "_perm", {static_cast<int32_t>(perm.size())}, perm, kInt);
    return Add(name, schema::CreateTranspose(model.builder), {from, order}, perm == kToFirst);
  }
  uint32_t Norm(const std::string &name, uint32_t from) {
    return Add(name, schema::CreateInstanceNorm(model.builder, 0.5F), {from, gamma, beta}, true);
  }
  uint32_t Relu(const std::string &name, uint32_t from) {
    return Add(name, schema::CreateActivation(model.builder, schema::ActivationType_RELU), {from}, true);
  }
  template <typename Table>
  uint32_t Add(const std::string &name, flatbuffers::Offset<Table> op, const std::vector<uint32_t> &inputs,
               bool first) {
    const uint32_t y = model.Value(name, first ? std::vector<int32_t>{1, 5, 4, 3} : std::vector<int32_t>{1, 4, 3, 5});
    nodes.push_back(model.Node(name, op, inputs, {y}));
    return y;
  }

  std::shared_ptr<Graph> Load(const std::vector<uint32_t> &outputs, const std::string &version = "2.7.0") {
    model.Graph({x}, outputs, nodes);
    const std::string text = model.Finish({x}, outputs, "MindSpore Lite " + version);
    std::shared_ptr<const Bytes> bytes;
    std::shared_ptr<Graph> graph;
    EXPECT_TRUE(Bytes::Copy(text.data(), text.size(), &bytes).IsOk());
    EXPECT_TRUE(mslite::Load(bytes, &graph).IsOk());
    return graph;
  }
};

bool KeepsNone(const Node &node) {
  (void)node;
  return false;
}

// The names of the calls that are left, in order; '*' behind those that have channels last.
std::string Joined(const std::shared_ptr<Graph> &graph, const std::function<bool(const Node &)> &keeps = KeepsNone) {
  FuseTransposedNorms(graph.get(), keeps);
  std::string names;
  for (const int32_t index : graph->subgraphs[0].nodes) {
    const Node &node = graph->nodes[static_cast<size_t>(index)];
    names += (names.empty() ? "" : " ") + node.name + (node.op == MSLITE_OP_ChannelsLastInstanceNorm ? "*" : "");
  }
  return names;
}

TEST(ChannelsLast, ThreeCallsBecomeOne) {
  Norms norms;
  const uint32_t y =
      norms.Transpose("after", norms.Norm("norm", norms.Transpose("before", norms.x, kToFirst)), kToLast);
  const std::shared_ptr<Graph> graph = norms.Load({y});
  EXPECT_EQ(Joined(graph), "norm*");
  const Node &norm = graph->nodes[static_cast<size_t>(graph->subgraphs[0].nodes[0])];
  EXPECT_EQ(norm.inputs[0], static_cast<int32_t>(norms.x));
  EXPECT_EQ(norm.outputs[0], static_cast<int32_t>(y));
  EXPECT_EQ(norm.primitive, nullptr);
  EXPECT_EQ(static_cast<const mslite_ChannelsLastInstanceNorm *>(norm.params)->epsilon, 0.5F);
}

TEST(ChannelsLast, ActivationsStayBehindTheNorm) {
  Norms norms;
  const uint32_t norm = norms.Norm("norm", norms.Transpose("before", norms.x, kToFirst));
  const uint32_t relu = norms.Relu("relu", norms.Relu("other", norm));
  const std::shared_ptr<Graph> graph = norms.Load({norms.Transpose("after", relu, kToLast)});
  EXPECT_EQ(Joined(graph), "norm* other relu");
  EXPECT_EQ(graph->tensors[norm].dims, (std::vector<int64_t>{1, 4, 3, 5}));
}

TEST(ChannelsLast, WhatOthersReadStays) {
  Norms norms;
  const uint32_t before = norms.Transpose("before", norms.x, kToFirst);
  const uint32_t norm = norms.Norm("norm", before);
  const uint32_t y = norms.Transpose("after", norm, kToLast);
  EXPECT_EQ(Joined(norms.Load({y, norm})), "before norm after");

  Norms others;
  const uint32_t both = others.Transpose("before", others.x, kToFirst);
  const uint32_t one = others.Transpose("after", others.Norm("norm", both), kToLast);
  EXPECT_EQ(Joined(others.Load({one, both})), "before norm*");

  Norms twins;
  const uint32_t shared = twins.Transpose("before", twins.x, kToFirst);
  const uint32_t first = twins.Transpose("after", twins.Norm("norm", shared), kToLast);
  const uint32_t second = twins.Transpose("after2", twins.Norm("norm2", shared), kToLast);
  EXPECT_EQ(Joined(twins.Load({first, second})), "norm* norm2*");
}

TEST(ChannelsLast, OtherOrdersStay) {
  Norms norms;
  const uint32_t norm = norms.Norm("norm", norms.Transpose("before", norms.x, kToFirst));
  EXPECT_EQ(Joined(norms.Load({norms.Transpose("after", norm, {0, 3, 2, 1})})), "before norm after");
}

TEST(ChannelsLast, CallsOfOthersStay) {
  for (const char *kept : {"before", "norm", "after"}) {
    Norms norms;
    const uint32_t norm = norms.Norm("norm", norms.Transpose("before", norms.x, kToFirst));
    const std::shared_ptr<Graph> graph = norms.Load({norms.Transpose("after", norm, kToLast)});
    EXPECT_EQ(Joined(graph, [&](const Node &node) { return node.name == kept; }), "before norm after") << kept;
  }
}

TEST(ChannelsLast, OneNormBehindTheOther) {
  Norms norms;
  uint32_t y = norms.Transpose("after", norms.Norm("norm", norms.Transpose("before", norms.x, kToFirst)), kToLast);
  y = norms.Transpose("after2", norms.Norm("norm2", norms.Transpose("before2", y, kToFirst)), kToLast);
  EXPECT_EQ(Joined(norms.Load({y})), "norm* norm2*");
}

// Tensors of ModelBuilder are NHWC.
TEST(Upgrade, InstanceNormFollowsTheLayoutOfLaterVersions) {
  for (const char *version : {"1.2.0", "1.3.0", "1.8.1", "2.7.0"}) {
    Norms direct;
    const std::shared_ptr<Graph> graph = direct.Load({direct.Norm("norm", direct.x)}, version);
    const bool is_late = graph->version.major > 1 || graph->version.minor > 3;
    EXPECT_EQ(graph->nodes[0].op, is_late ? MSLITE_OP_ChannelsLastInstanceNorm : MSLITE_OP_InstanceNorm) << version;
    EXPECT_NE(graph->nodes[0].primitive, nullptr);

    Norms between;
    const uint32_t norm = between.Norm("norm", between.Transpose("before", between.x, kToFirst));
    EXPECT_EQ(between.Load({norm}, version)->nodes[1].op, MSLITE_OP_InstanceNorm) << version;
  }
}
}  // namespace
}  // namespace mslite::test
