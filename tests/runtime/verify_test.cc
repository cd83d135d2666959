// The verifier by layouts says of any bytes what the one says that flatc has generated from the schema.
#include "model/verify.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "model/unpack.h"
#include "model_builder.h"

namespace mslite::test {
namespace {
constexpr int kOperators = 256;  // more than a file knows
constexpr int kTables = 300;     // of each
constexpr int kSlots = 20;       // as many as the largest table has, and more
constexpr int kDamages = 20000;

const uint8_t *BytesOf(const std::string &text) { return reinterpret_cast<const uint8_t *>(text.data()); }

flatbuffers::Verifier Generated(const std::string &text) {
  return flatbuffers::Verifier(BytesOf(text), text.size(), 64, static_cast<flatbuffers::uoffset_t>(text.size() / 4));
}

class RandomTable {
 public:
  explicit RandomTable(std::mt19937 *random) : random_(*random) { builder_.ForceDefaults(true); }

  // An operator's table with a few fields of any kinds, which may be what its schema says, or not.
  std::string Primitive(uint8_t op) {
    const flatbuffers::Offset<void> texts[] = {
        builder_.CreateString("text").Union(), builder_.CreateVector(std::vector<int64_t>{1, 2, 3}).Union(),
        builder_.CreateVector(std::vector<int32_t>{1 << 30, 2}).Union(), builder_.CreateVector<uint8_t>({}).Union()};
    const auto row = schema::CreateVec(builder_, texts[Choose(4)].o);
    const auto rows = schema::CreateVec2D(builder_, builder_.CreateVector(std::vector{row, row}));
    const auto pair = schema::CreateAttribute(builder_, texts[Choose(4)].o, texts[Choose(4)].o);
    const flatbuffers::Offset<void> others[] = {rows.Union(), row.Union(),
                                                builder_.CreateVector(std::vector{pair, pair}).Union()};
    const flatbuffers::uoffset_t start = builder_.StartTable();
    std::set<int> ids;
    for (int fields = Choose(4); fields > 0; --fields) ids.insert(Choose(kSlots));
    for (const int id : ids) {
      const auto slot = static_cast<flatbuffers::voffset_t>(4 + 2 * id);
      switch (Choose(5)) {
        case 0:
          builder_.AddElement<uint8_t>(slot, 1, 0);
          break;
        case 1:
          builder_.AddElement<int32_t>(slot, 100, 0);
          break;
        case 2:
          builder_.AddElement<int64_t>(slot, 100, 0);
          break;
        case 3:
          builder_.AddOffset(slot, texts[Choose(4)]);
          break;
        default:
          builder_.AddOffset(slot, others[Choose(3)]);
      }
    }
    const flatbuffers::Offset<void> table(builder_.EndTable(start));
    builder_.Finish(schema::CreatePrimitive(builder_, static_cast<schema::PrimitiveType>(op), table));
    return std::string(reinterpret_cast<const char *>(builder_.GetBufferPointer()), builder_.GetSize());
  }

 private:
  int Choose(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }

  std::mt19937 &random_;
  flatbuffers::FlatBufferBuilder builder_;
};

void Damage(std::mt19937 *random, std::string *text) {
  for (unsigned changes = 1 + (*random)() % 2; changes > 0; --changes) {
    (*text)[(*random)() % text->size()] = static_cast<char>((*random)() % 4 == 0 ? (*random)() : (*random)() % 16);
  }
  if ((*random)() % 16 == 0) text->resize((*random)() % text->size());
}

TEST(Verify, SaysOfOperatorsWhatTheGeneratedVerifierSays) {
  std::mt19937 random(1);
  int sound = 0;
  int unsound = 0;
  for (int op = 0; op < kOperators; ++op) {
    for (int i = 0; i < kTables; ++i) {
      std::string text = RandomTable(&random).Primitive(static_cast<uint8_t>(op));
      if (i % 4 == 0) Damage(&random, &text);
      const bool wanted = Generated(text).VerifyBuffer<schema::Primitive>(nullptr);
      ++(wanted ? sound : unsound);
      ASSERT_EQ(VerifyPrimitive(BytesOf(text), text.size()), wanted) << "operator " << op << ", table " << i;
      if (!wanted) continue;
      // Sanitizers see what is read of it.
      unpack::Arena arena;
      int32_t number = 0;
      unpack::UnpackPrimitive(*flatbuffers::GetRoot<schema::Primitive>(text.data()), arena, &number);
      const auto type = static_cast<int32_t>(flatbuffers::GetRoot<schema::Primitive>(text.data())->value_type());
      EXPECT_TRUE(number == type || number >= 1000) << number << " is read as " << type;
    }
  }
  EXPECT_GT(sound, 5000);
  EXPECT_GT(unsound, 5000);
}

TEST(Verify, SaysOfModelsWhatTheGeneratedVerifierSays) {
  ModelBuilder quantized;
  const uint32_t x = quantized.Quantized("x", {{0.5, 1}, {0.25, 2}});
  const uint32_t y = quantized.Quantized("y", {{0.5, 1}});
  quantized.Node("crop", schema::CreateBatchToSpaceND(quantized.builder), {x}, {y});
  quantized.Graph({x}, {y}, {0});
  std::mt19937 random(2);
  int sound = 0;
  int unsound = 0;
  for (const std::string &model : {SmallModel(2, 3), LoopModel(true), quantized.Finish({x}, {y})}) {
    ASSERT_TRUE(VerifyModel(BytesOf(model), model.size()));
    for (int i = 0; i < kDamages; ++i) {
      std::string text = model;
      Damage(&random, &text);
      const bool wanted = Generated(text).VerifyBuffer<schema::MetaGraph>(nullptr);
      ++(wanted ? sound : unsound);
      ASSERT_EQ(VerifyModel(BytesOf(text), text.size()), wanted) << "model of " << model.size() << " bytes, " << i;
    }
  }
  EXPECT_GT(sound, kDamages / 4);
  EXPECT_GT(unsound, kDamages / 4);
}
}  // namespace
}  // namespace mslite::test
