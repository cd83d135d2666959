#include "coreml/protobuf.h"

#include <cstring>

namespace mslite {
namespace {
enum Wire : uint32_t { kVarint = 0, kBytes = 2, kFixed32 = 5 };
}  // namespace

void ProtoMessage::Varint(uint64_t number) {
  for (; number >= 0x80; number >>= 7) bytes_.push_back(static_cast<char>((number & 0x7f) | 0x80));
  bytes_.push_back(static_cast<char>(number));
}

void ProtoMessage::Key(int32_t field, uint32_t wire) { Varint(static_cast<uint64_t>(field) << 3 | wire); }

ProtoMessage &ProtoMessage::Whole(int32_t field, int64_t number) {
  Key(field, kVarint);
  Varint(static_cast<uint64_t>(number));
  return *this;
}

ProtoMessage &ProtoMessage::Real(int32_t field, float number) {
  Key(field, kFixed32);
  bytes_.append(reinterpret_cast<const char *>(&number), sizeof number);
  return *this;
}

ProtoMessage &ProtoMessage::Text(int32_t field, const std::string &text) {
  Key(field, kBytes);
  Varint(text.size());
  bytes_ += text;
  return *this;
}

ProtoMessage &ProtoMessage::Part(int32_t field, const ProtoMessage &message) { return Text(field, message.bytes_); }

ProtoMessage &ProtoMessage::Wholes(int32_t field, const std::vector<int64_t> &numbers) {
  ProtoMessage list;
  for (const int64_t number : numbers) list.Varint(static_cast<uint64_t>(number));
  return Text(field, list.bytes_);
}

ProtoMessage &ProtoMessage::Reals(int32_t field, const float *numbers, size_t count) {
  Key(field, kBytes);
  Varint(count * sizeof(float));
  bytes_.append(reinterpret_cast<const char *>(numbers), count * sizeof(float));
  return *this;
}
}  // namespace mslite
