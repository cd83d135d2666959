// Loading: what is accepted, and that everything else is refused with a reason and without harm.
#include "model/load.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "include/mslite/digest.h"
#include "model_builder.h"
#include "plan/frame.h"

namespace mslite::test {
namespace {
Status LoadText(const std::string &text, std::shared_ptr<Graph> *graph) {
  std::shared_ptr<const Bytes> bytes;
  EXPECT_TRUE(Bytes::Copy(text.data(), text.size(), &bytes).IsOk());
  return Load(bytes, graph);
}

void ExpectRefused(const std::string &text, const std::string &reason) {
  std::shared_ptr<Graph> graph;
  const Status status = LoadText(text, &graph);
  EXPECT_TRUE(status.IsError());
  EXPECT_NE(status.GetErrDescription().find(reason), std::string::npos) << status.GetErrDescription();
}

// abs from x to y, where the test spoils one thing.
struct Spoiled {
  ModelBuilder model;
  uint32_t x = model.Value("x", {2, 3});
  uint32_t y = model.Value("y", {2, 3});
};

TEST(VerifyDigest, TakesModelsInMemory) {
  const std::string expected =
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";  // FIPS 180-4's example
  EXPECT_TRUE(VerifyDigest("abc", 3, expected).IsOk());
  EXPECT_TRUE(VerifyDigest("abd", 3, expected) == mindspore::kLiteGraphFileError);
  EXPECT_TRUE(VerifyDigest("abc", 3) == mindspore::kLiteGraphFileError);
  EXPECT_TRUE(VerifyDigest("abc", 3, "ba78") == mindspore::kLiteParamInvalid);
  EXPECT_TRUE(VerifyDigest(nullptr, 3, expected) == mindspore::kLiteNullptr);
  EXPECT_TRUE(VerifyDigest("/absent.ms", expected) == mindspore::kLiteFileError);
}

TEST(FileDigest, IsThatOfTheWholeFile) {
  const std::string path = ::testing::TempDir() + "mslite_file_digest";
  std::ofstream(path, std::ios::binary) << "abc";
  std::string digest;
  ASSERT_TRUE(FileDigest(path, &digest).IsOk());
  EXPECT_EQ(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");  // FIPS 180-4's example
  EXPECT_TRUE(VerifyDigest(path, digest).IsOk());
  EXPECT_TRUE(FileDigest(path, nullptr) == mindspore::kLiteNullptr);
  EXPECT_TRUE(FileDigest("/absent.ms", &digest) == mindspore::kLiteFileError);
  std::remove(path.c_str());
}

TEST(Load, ReadsASmallModel) {
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(LoadText(SmallModel(), &graph).IsOk());
  EXPECT_EQ(graph->nodes.size(), 4u);
  EXPECT_EQ(graph->nodes[1].op, MSLITE_OP_MulFusion);
  EXPECT_EQ(graph->tensors[1].dims, std::vector<int64_t>{1});
  EXPECT_TRUE(graph->tensors[1].is_constant);
  EXPECT_EQ(graph->version.major, 2);
}

TEST(Load, RefusesEveryTruncation) {
  const std::string whole = SmallModel();
  for (size_t size = 0; size + 1 < whole.size(); size += 3) {
    std::shared_ptr<Graph> graph;
    EXPECT_TRUE(size == 0 || LoadText(whole.substr(0, size), &graph).IsError()) << size;
  }
}

TEST(Load, SurvivesRandomBytes) {
  std::mt19937 random(7);
  const std::string whole = SmallModel();
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string spoiled = whole;
    for (int i = 0; i < 1 + round % 4; ++i) spoiled[random() % spoiled.size()] = static_cast<char>(random());
    std::shared_ptr<Graph> graph;
    if (LoadText(spoiled, &graph).IsError()) ++refused;
  }
  EXPECT_GT(refused, 100);
}

TEST(Load, NamesTheReason) {
  ExpectRefused("this is not a model at all", "identifier");
  {
    Spoiled s;
    s.model.Node("n", schema::CreateAbs(s.model.builder), {s.x}, {77});
    s.model.Graph({s.x}, {s.y}, {0});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "node 'n' (Abs): outputs refer to tensor 77 of 2");
  }
  {
    Spoiled s;
    const uint32_t z = s.model.Value("z", {2, 3});
    s.model.Node("first", schema::CreateAbs(s.model.builder), {z}, {s.y});
    s.model.Node("second", schema::CreateAbs(s.model.builder), {s.y}, {z});
    s.model.Graph({s.x}, {s.y}, {0, 1});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "cycle");
  }
  {
    Spoiled s;
    s.model.Node("one", schema::CreateAbs(s.model.builder), {s.x}, {s.y});
    s.model.Node("two", schema::CreateNeg(s.model.builder), {s.x}, {s.y});
    s.model.Graph({s.x}, {s.y}, {0, 1});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "node 'two' (Neg): writes tensor 'y', as does node 'one' (Abs)");
  }
  {
    Spoiled s;
    const uint32_t z = s.model.Value("z", {2, 3});
    s.model.Node("n", schema::CreateAbs(s.model.builder), {z}, {s.y});
    s.model.Graph({s.x}, {s.y}, {0});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "no node produces its input tensor 'z'");
  }
  {
    Spoiled s;
    s.model.Floats("big", {INT32_MAX, INT32_MAX, 4}, {1.0f});
    s.model.Node("n", schema::CreateAbs(s.model.builder), {s.x}, {s.y});
    s.model.Graph({s.x}, {s.y}, {0});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "'big'");
  }
  {
    Spoiled s;
    s.model.Floats("short", {5}, {1.0f});
    s.model.Node("n", schema::CreateAbs(s.model.builder), {s.x}, {s.y});
    s.model.Graph({s.x}, {s.y}, {0});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "needs more than its 4 bytes");
  }
  {
    Spoiled s;
    s.model.Node("n", schema::CreateAbs(s.model.builder), {s.x}, {s.y});
    s.model.Graph({s.x}, {s.y}, {0, 0});
    ExpectRefused(s.model.Finish({s.x}, {s.y}), "listed twice");
  }
}

TEST(Load, SortsNodes) {
  Spoiled s;
  const uint32_t z = s.model.Value("z", {2, 3});
  s.model.Node("late", schema::CreateAbs(s.model.builder), {z}, {s.y});
  s.model.Node("early", schema::CreateNeg(s.model.builder), {s.x}, {z});
  s.model.Graph({s.x}, {s.y}, {0, 1});
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(LoadText(s.model.Finish({s.x}, {s.y}), &graph).IsOk());
  EXPECT_EQ(graph->subgraphs[0].nodes, (std::vector<int32_t>{1, 0}));
}

TEST(Load, WidensFloat16) {
  Spoiled s;
  // 1, -2, the largest half, the smallest subnormal, infinity, 0
  const std::vector<uint16_t> halves = {0x3c00, 0xc000, 0x7bff, 0x0001, 0x7c00, 0x0000};
  const uint32_t w = s.model.Constant("w", {2, 3}, halves, MSLITE_FLOAT16);
  s.model.Node("n", schema::CreateAddFusion(s.model.builder), {s.x, w}, {s.y});
  s.model.Graph({s.x}, {s.y}, {0});
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(LoadText(s.model.Finish({s.x}, {s.y}), &graph).IsOk());
  const Tensor &tensor = graph->tensors[w];
  EXPECT_EQ(tensor.type, MSLITE_FLOAT32);
  const auto *values = reinterpret_cast<const float *>(tensor.data);
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.0f);
  EXPECT_EQ(values[2], 65504.0f);
  EXPECT_EQ(values[3], 5.9604644775390625e-8f);
  EXPECT_EQ(values[4], std::numeric_limits<float>::infinity());
  EXPECT_EQ(values[5], 0.0f);
}

// A constant in `small.msw` beside `small.ms`.
TEST(Load, ReadsSideFiles) {
  ModelBuilder model;
  auto &builder = model.builder;
  const uint32_t x = model.Value("x", {2, 3});
  const uint32_t y = model.Value("y", {2, 3});
  const auto add = [&](const char *name, int64_t offset, int64_t length) {
    std::vector<flatbuffers::Offset<schema::ExternalData>> records = {
        schema::CreateExternalData(builder, 0, builder.CreateString("small.msw"), offset, length)};
    return model.Add(schema::CreateTensor(builder, 0, kFloat, builder.CreateVector(std::vector<int32_t>{3}),
                                          schema::Format_NHWC, 0, 0, 0, 0, 0, builder.CreateString(name), false,
                                          schema::WeightQuantCompressType_NONE, builder.CreateVector(records)));
  };
  const uint32_t w = add("w", 4096, 12);
  model.Node("n", schema::CreateAddFusion(builder), {x, w}, {y});
  model.Graph({x}, {y}, {0});
  const std::string file = model.Finish({x}, {y});
  ExpectRefused(file, "build from the file");

  const std::string folder = ::testing::TempDir();
  std::ofstream(folder + "small.ms", std::ios::binary) << file;
  std::string side(4096 + 12, '\0');
  const float values[] = {1.5f, -2.0f, 3.0f};
  std::memcpy(side.data() + 4096, values, sizeof values);
  std::ofstream(folder + "small.msw", std::ios::binary) << side;
  std::shared_ptr<const Bytes> bytes;
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(Bytes::Map(folder + "small.ms", &bytes).IsOk());
  const Status status = Load(bytes, &graph);
  ASSERT_TRUE(status.IsOk()) << status.ToString();
  EXPECT_EQ(std::memcmp(graph->tensors[w].data, values, sizeof values), 0);

  std::ofstream(folder + "small.msw", std::ios::binary) << side.substr(0, 4100);
  const Status cut = Load(bytes, &graph);
  EXPECT_NE(cut.GetErrDescription().find("outside of 'small.msw'"), std::string::npos) << cut.ToString();
}

// Its size does not fit into 32 bits, and what would be left of it looks like a small file.
TEST(Load, AFileOfMoreThanFourGigabytes) {
  const std::string path = ::testing::TempDir() + "large.ms";
  std::ofstream(path, std::ios::binary) << std::string(4096, '\0');
  std::filesystem::resize_file(path, (uint64_t{1} << 32) + 4096);  // takes no room on the disk
  std::shared_ptr<const Bytes> bytes;
  const Status mapped = Bytes::Map(path, &bytes);
  std::filesystem::remove(path);
  if (sizeof(void *) < 8) {
    EXPECT_TRUE(mapped == mindspore::kLiteFileError);
    EXPECT_NE(mapped.GetErrDescription().find("has 4294971392 bytes, more than"), std::string::npos)
        << mapped.GetErrDescription();
  } else {
    ASSERT_TRUE(mapped.IsOk()) << mapped.ToString();
    EXPECT_EQ(bytes->size(), (uint64_t{1} << 32) + 4096);
  }
}

// More memory than addresses reach is refused; what is left of the number in 32 bits is not taken for it.
TEST(Load, MoreMemoryThanThereIs) {
  for (const uint64_t bytes : {(uint64_t{1} << 32) + 64, uint64_t{1} << 40, UINT64_MAX}) {
    const bool is_beyond = sizeof(void *) < 8 || bytes > uint64_t{1} << 36;
    EXPECT_TRUE(!is_beyond || MakeAligned(bytes) == nullptr) << bytes;
  }
  EXPECT_EQ(ByteSize({MSLITE_INT8, 1, {INT64_MAX}}), -1);
  EXPECT_EQ(ByteSize({MSLITE_FLOAT32, 2, {1 << 15, 1 << 14}}), sizeof(void *) < 8 ? -1 : int64_t{1} << 31);
}

// A weight-quantized constant of 4 bits per value, one record per channel of dimension 0.
TEST(Load, DecodesBitPackedWeights) {
  ModelBuilder model;
  const uint32_t x = model.Value("x", {2, 3});
  const uint32_t y = model.Value("y", {2, 3});
  auto &builder = model.builder;
  const std::vector<int> stored = {-8, -1, 0, 1, 7, 3};
  std::vector<uint8_t> packed((stored.size() + 1) / 2, 0);
  for (size_t i = 0; i < stored.size(); ++i) packed[i / 2] |= static_cast<uint8_t>((stored[i] + 8) << (i % 2 * 4));
  std::vector<flatbuffers::Offset<schema::QuantParam>> records = {
      schema::CreateQuantParam(builder, 0.5, 1, 0, 0, true, 4),
      schema::CreateQuantParam(builder, 2.0, -1, 0, 0, true, 4)};
  const auto tensor = schema::CreateTensor(builder, 0, MSLITE_INT8, builder.CreateVector(std::vector<int32_t>{2, 3}),
                                           schema::Format_NHWC, 0, 0, builder.CreateVector(packed),
                                           builder.CreateVector(records), 0, builder.CreateString("w"));
  const uint32_t w = model.Add(tensor);
  model.QuantizedNode("n", schema::CreateAddFusion(builder), {x, w}, {y}, schema::QuantType_QUANT_WEIGHT);
  model.Graph({x}, {y}, {0});
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(LoadText(model.Finish({x}, {y}), &graph).IsOk());
  const Tensor &decoded = graph->tensors[static_cast<size_t>(graph->nodes[0].inputs[1])];
  ASSERT_EQ(decoded.type, MSLITE_FLOAT32);
  const auto *values = reinterpret_cast<const float *>(decoded.data);
  const std::vector<float> wanted = {-4.5f, -1.0f, -0.5f, 4.0f, 16.0f, 8.0f};
  EXPECT_EQ(std::vector<float>(values, values + 6), wanted);
}

// Names reach logs, terminals and Python: whatever bytes a file has, they are UTF-8 without control characters.
TEST(Load, NamesBecomeText) {
  EXPECT_EQ(CleanText("plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"), "plain \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(CleanText("\x1b[2J\x7f"), "?[2J?");
  EXPECT_EQ(CleanText("cut \xe2\x82"), "cut ??");
  EXPECT_EQ(CleanText("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff"), "?? ??? ???? ?");
  ModelBuilder model;
  const uint32_t x = model.Value("in\xd8", {2});
  const uint32_t y = model.Value("out", {2});
  model.Node("a\nb\x07", schema::CreateAbs(model.builder), {x}, {y});
  std::shared_ptr<Graph> graph;
  ASSERT_TRUE(LoadText(model.Finish({x}, {y}), &graph).IsOk());
  EXPECT_EQ(graph->tensors[0].name, "in?");
  EXPECT_EQ(graph->nodes[0].name, "a\nb?");
}
}  // namespace
}  // namespace mslite::test
