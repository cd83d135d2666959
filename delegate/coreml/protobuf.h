// Writes Protocol Buffers messages: fields by their number, without a schema.
#ifndef MSLITE_DELEGATE_COREML_PROTOBUF_H
#define MSLITE_DELEGATE_COREML_PROTOBUF_H

#include <cstdint>
#include <string>
#include <vector>

namespace mslite {
class ProtoMessage {
 public:
  ProtoMessage &Whole(int32_t field, int64_t number);
  ProtoMessage &Real(int32_t field, float number);
  ProtoMessage &Text(int32_t field, const std::string &text);
  ProtoMessage &Part(int32_t field, const ProtoMessage &message);
  // Packed repeated fields.
  ProtoMessage &Wholes(int32_t field, const std::vector<int64_t> &numbers);
  ProtoMessage &Reals(int32_t field, const float *numbers, size_t count);

  const std::string &bytes() const { return bytes_; }

 private:
  void Varint(uint64_t number);
  void Key(int32_t field, uint32_t wire);

  std::string bytes_;
};
}  // namespace mslite

#endif
