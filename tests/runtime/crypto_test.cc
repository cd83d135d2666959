// Encrypted files and the obfuscation ratio, from within. tests/runtime/test_encryption.py compares with another
// implementation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <random>

#include "api/config.h"
#include "api/shared_models.h"
#include "crypto/cipher.h"
#include "crypto/libcrypto.h"
#include "include/api/model_parallel_runner.h"
#include "include/api/serialization.h"
#include "model/wipe.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
using mindspore::Key;
using mindspore::kSuccess;

constexpr char kKey[] = "0123456789ABCDEF";
const std::string kName = "x";

std::string Head(uint32_t rest, uint32_t iv_size, uint32_t size) {
  std::string text = "\xD8\x5E\x3A\x7F" + std::string(16, 't');
  const auto add = [&text](uint32_t number) {
    for (int i = 0; i < 4; ++i) text += static_cast<char>(number >> 8 * i & 255);
  };
  add(rest);
  add(iv_size);
  text += std::string(16, 'i');
  add(size);
  return text;
}

std::string Block(const std::string &cipher) {
  const auto size = static_cast<uint32_t>(cipher.size());
  return Head(24 + size, 16, size) + cipher;
}

volatile uint8_t touched;  // nobody reads it: it keeps the reading in Split

Status Split(const std::string &file, std::vector<EncryptedBlock> *blocks) {
  // A copy of just that size, so that AddressSanitizer sees what is read behind it.
  const std::vector<uint8_t> bytes(file.begin(), file.end());
  std::vector<EncryptedBlock> found;
  const Status status = SplitBlocks(bytes.data(), bytes.size(), kName, CipherMode::kAesGcm, &found);
  for (EncryptedBlock &block : found) {
    for (size_t i = 0; i < block.size; ++i) touched = static_cast<uint8_t>(block.cipher[i] ^ block.iv[i % 16]);
    block.cipher = nullptr;
  }
  if (blocks != nullptr) *blocks = found;
  return status;
}

TEST(SplitBlocks, FindsEveryBlock) {
  std::vector<EncryptedBlock> blocks;
  ASSERT_TRUE(Split(Block("abc") + Block("") + Block("d"), &blocks).IsOk());
  ASSERT_EQ(blocks.size(), 3U);
  EXPECT_EQ(blocks[0].size, 3U);
  EXPECT_EQ(blocks[1].size, 0U);
  EXPECT_EQ(blocks[2].size, 1U);
}

TEST(SplitBlocks, RefusesLengthsThatContradictEachOther) {
  for (const auto &[rest, iv_size, size] : std::vector<std::array<uint32_t, 3>>{{27, 12, 3},
                                                                                {27, 0xFFFFFFFF, 3},
                                                                                {26, 16, 3},
                                                                                {28, 16, 4},
                                                                                {0, 16, 0xFFFFFFE8},
                                                                                {0x80000018, 16, 0x80000000},
                                                                                {0x17, 16, 0xFFFFFFFF},
                                                                                {0x7FFFFFFF, 16, 0x7FFFFFE7}}) {
    EXPECT_TRUE(Split(Head(rest, iv_size, size) + "abc", nullptr) == mindspore::kLiteGraphFileError) << size;
  }
}

TEST(SplitBlocks, SurvivesRandomEdits) {
  std::mt19937 random(1);
  const std::string whole = Block("abcdefgh") + Block("i") + Block(std::string(40, 'j'));
  for (int round = 0; round < 50000; ++round) {
    std::string file = whole.substr(0, random() % 4 == 0 ? random() % whole.size() : whole.size());
    for (uint32_t edits = random() % 4; edits > 0 && !file.empty(); --edits) {
      constexpr signed char kOdd[] = {0, 1, 16, 24, 127, -128, -1};
      file[random() % file.size()] =
          random() % 2 == 0 ? static_cast<char>(kOdd[random() % sizeof kOdd]) : static_cast<char>(random());
    }
    Split(file, nullptr);
  }
}

// Known answer: made with another implementation, key kKey, IV 00 01 .. 0f.
constexpr uint8_t kFile[] = {0xd8, 0x5e, 0x3a, 0x7f, 0xc7, 0x7a, 0x2a, 0xc7, 0x37, 0xeb, 0x9c, 0x80, 0x7a, 0x6d, 0x00,
                             0x16, 0x4a, 0x44, 0x60, 0xd5, 0x21, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x01,
                             0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x09,
                             0x00, 0x00, 0x00, 0x3d, 0xb9, 0xc6, 0x4a, 0x44, 0x9f, 0xfd, 0xae, 0x23};

TEST(Decrypt, GivesTheKnownAnswerOrSaysThatLibcryptoIsMissing) {
  AlignedBuffer text;
  size_t size = 0;
  const Status status = DecryptFile({kFile, sizeof kFile, kName}, Key(kKey, 16), CipherMode::kAesGcm, "", &text, &size);
  Libcrypto library;
  if (const Status missing = LoadLibcrypto("", &library); missing.IsError()) {  // emulated machines have none
    EXPECT_EQ(status.GetErrDescription(), missing.GetErrDescription());
    return;
  }
  ASSERT_TRUE(status.IsOk()) << status.GetErrDescription();
  EXPECT_EQ(std::string(text.get(), text.get() + size), "no secret");
  EXPECT_TRUE(DecryptFile({kFile, sizeof kFile, kName}, Key("0123456789ABCDEf", 16), CipherMode::kAesGcm, "", &text,
                          &size) == mindspore::kLiteGraphFileError);
}

TEST(Decrypt, NamesALibraryThatCannotBeUsed) {
  Libcrypto library;
  const auto reason = [&library](const std::string &path) {
    const Status status = LoadLibcrypto(path, &library);
    EXPECT_TRUE(status == mindspore::kLiteFileError);
    return status.GetErrDescription();
  };
  EXPECT_NE(reason("/absent/libcrypto.so").find("'/absent/libcrypto.so' cannot be loaded: "), std::string::npos);
  EXPECT_NE(reason("libm.so.6").find("'libm.so.6' has no function EVP_CIPHER_CTX_new"), std::string::npos);
  const std::string path = ::testing::TempDir() + "mslite_no_library.so";
  std::ofstream(path) << "text";
  EXPECT_NE(reason(path).find("cannot be loaded"), std::string::npos);
  std::remove(path.c_str());
}

TEST(Key, TakesUpTo32Bytes) {
  const std::string bytes(40, 'k');
  EXPECT_EQ(Key(bytes.data(), 32).len, 32U);
  EXPECT_EQ(Key(bytes.data(), 33).len, 0U);
  EXPECT_EQ(Key(nullptr, 16).len, 0U);
  const Key key(bytes.data(), 24);
  const Key copy(key);
  EXPECT_EQ(copy.len, 24U);
  EXPECT_EQ(std::memcmp(copy.key, key.key, sizeof key.key), 0);
}

TEST(Key, IsWipedWithItsOwner) {
  alignas(Key) unsigned char place[sizeof(Key)];
  const auto *key = new (place) Key(kKey, 16);
  const std::string bytes = kKey;
  const auto holds = [&] {
    return std::search(place, place + sizeof place, bytes.begin(), bytes.end()) != place + sizeof place;
  };
  EXPECT_TRUE(holds());
  key->~Key();
  __asm__ __volatile__("" : : "r"(place) : "memory");
  EXPECT_FALSE(holds());
}

TEST(Key, OfAnImpossibleLengthIsNotRead) {
  AlignedBuffer text;
  size_t size = 0;
  for (const size_t length : {size_t{1}, size_t{15}, size_t{17}, size_t{33}, size_t{1000}, SIZE_MAX}) {
    Key key(kKey, 16);
    key.len = length;
    EXPECT_TRUE(DecryptFile({kFile, sizeof kFile, kName}, key, CipherMode::kAesGcm, "", &text, &size) ==
                mindspore::kLiteParamInvalid);
  }
}

// y = x * w of a node that obfuscation has added, and z = x * w of one that it has not.
std::string Obfuscated(const std::vector<float> &weights, const std::string &name = "Default/obf_op-obf_mul-7") {
  ModelBuilder model;
  const auto x = model.Value("x", {2, 3});
  const auto w = model.Floats("w", {static_cast<int32_t>(weights.size())}, weights);
  const auto y = model.Value("y", {2, 3});
  const auto z = model.Value("z", {2, 3});
  const auto first = model.Node(name, schema::CreateMulFusion(model.builder), {x, w}, {y});
  const auto second = model.Node("plain", schema::CreateMulFusion(model.builder), {w, x}, {z});
  model.Graph({x}, {y, z}, {first, second});
  return model.Finish({x}, {y, z});
}

std::shared_ptr<mindspore::Context> CpuContext() {
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo().push_back(std::make_shared<mindspore::CPUDeviceInfo>());
  return context;
}

// The first elements of both outputs for ones.
template <typename Runs>
std::pair<float, float> Products(Runs *model) {
  std::vector<float> ones(6, 1.0F);
  mindspore::MSTensor input("x", mindspore::DataType::kNumberTypeFloat32, {2, 3}, ones.data(), 24);
  std::vector<mindspore::MSTensor> outputs;
  const Status status = model->Predict({input}, &outputs);
  EXPECT_TRUE(status.IsOk()) << status.GetErrDescription();
  if (outputs.size() != 2) return {-1, -1};
  EXPECT_EQ(outputs[0].Shape(), (std::vector<int64_t>{2, 3}));
  return {static_cast<const float *>(outputs[0].Data().get())[0],
          static_cast<const float *>(outputs[1].Data().get())[0]};
}

using Pair = std::pair<float, float>;

TEST(ObfuscationRatio, StandsForTheConstantOfTheNamedNode) {
  for (const std::vector<float> &weights : {std::vector<float>{1}, std::vector<float>{1, 2, 3}}) {
    const std::string file = Obfuscated(weights);
    mindspore::Model model;
    ASSERT_TRUE(model.UpdateConfig("build_session", {"obf_ratio", "2.5"}).IsOk());
    ASSERT_TRUE(model.Build(file.data(), file.size(), mindspore::kMindIR_Lite, CpuContext()).IsOk());
    EXPECT_EQ(Products(&model), (Pair{2.5F, 1}));
  }
  const std::string other = Obfuscated({1}, "Default/Mul-op0");  // without such a node nothing happens
  mindspore::Model model;
  ASSERT_TRUE(model.UpdateConfig("build_session", {"obf_ratio", "50"}).IsOk());
  ASSERT_TRUE(model.Build(other.data(), other.size(), mindspore::kMindIR_Lite, CpuContext()).IsOk());
  EXPECT_EQ(Products(&model), (Pair{1, 1}));
}

TEST(ObfuscationRatio, IsANumberUpTo50) {
  const auto ratio = [](const std::string &text, float *number) {
    return ObfuscationRatio({{"build_session", {{"obf_ratio", text}}}}, number);
  };
  float number = -1;
  EXPECT_TRUE(ObfuscationRatio({}, &number).IsOk());
  EXPECT_EQ(number, 0);
  for (const char *text : {"0", "1", "1.0", "-1"}) {
    number = -1;
    EXPECT_TRUE(ratio(text, &number).IsOk()) << text;
    EXPECT_EQ(number, 0);
  }
  EXPECT_TRUE(ratio("0.25", &number).IsOk());
  EXPECT_EQ(number, 0.25F);
  for (const char *text : {"", "x", "2x", "50.5", "-2", "nan", "inf", "1e9", "2,5"}) {
    EXPECT_TRUE(ratio(text, &number) == mindspore::kLiteParamInvalid) << text;
  }
  const std::string file = Obfuscated({1});
  mindspore::Model model;
  ASSERT_TRUE(model.UpdateConfig("build_session", {"obf_ratio", "many"}).IsOk());
  const Status status = model.Build(file.data(), file.size(), mindspore::kMindIR_Lite, CpuContext());
  EXPECT_NE(status.GetErrDescription().find("obf_ratio of [build_session] is 'many'"), std::string::npos);
}

TEST(ObfuscationRatio, IsNotSharedWithOtherBuildsOfTheFile) {
  const std::string path = ::testing::TempDir() + "mslite_obfuscated.ms";
  const std::string file = Obfuscated({1});
  std::ofstream(path, std::ios::binary) << file;
  mindspore::Model first, second, third, fourth;
  ASSERT_TRUE(first.Build(path, mindspore::kMindIR_Lite, CpuContext()).IsOk());
  ASSERT_TRUE(second.UpdateConfig("build_session", {"obf_ratio", "3"}).IsOk());
  ASSERT_TRUE(second.Build(path, mindspore::kMindIR_Lite, CpuContext()).IsOk());
  ASSERT_TRUE(third.Build(path, mindspore::kMindIR_Lite, CpuContext()).IsOk());
  mindspore::Graph graph;
  ASSERT_TRUE(mindspore::Serialization::Load(path, mindspore::kMindIR_Lite, &graph).IsOk());
  ASSERT_TRUE(fourth.UpdateConfig("build_session", {"obf_ratio", "4"}).IsOk());
  ASSERT_TRUE(fourth.Build(mindspore::GraphCell(graph), CpuContext()).IsOk());
  auto config = std::make_shared<mindspore::RunnerConfig>();
  config->SetWorkersNum(1);
  config->SetConfigInfo("build_session", {{"obf_ratio", "5"}});
  mindspore::ModelParallelRunner runner;
  ASSERT_TRUE(runner.Init(path, config).IsOk());
  EXPECT_EQ(Products(&first), (Pair{1, 1}));
  EXPECT_EQ(Products(&second), (Pair{3, 1}));
  EXPECT_EQ(Products(&third), (Pair{1, 1}));
  EXPECT_EQ(Products(&fourth), (Pair{4, 1}));
  EXPECT_EQ(Products(&runner), (Pair{5, 1}));
  std::remove(path.c_str());
}

TEST(ObfuscationRatio, NeedsANumberToReplace) {
  ModelBuilder model;
  const auto x = model.Value("x", {2}, kInt);
  const auto w = model.Constant<int32_t>("w", {1}, {1}, kInt);
  const auto y = model.Value("y", {2}, kInt);
  const auto node = model.Node("obf_op-obf_mul", schema::CreateMulFusion(model.builder), {x, w}, {y});
  model.Graph({x}, {y}, {node});
  const std::string file = model.Finish({x}, {y});
  mindspore::Model built;
  ASSERT_TRUE(built.UpdateConfig("build_session", {"obf_ratio", "3"}).IsOk());
  const Status status = built.Build(file.data(), file.size(), mindspore::kMindIR_Lite, CpuContext());
  EXPECT_TRUE(status == mindspore::kLiteNotSupport);
  EXPECT_NE(status.GetErrDescription().find("node 'obf_op-obf_mul'"), std::string::npos);
}
}  // namespace
}  // namespace mslite::test
