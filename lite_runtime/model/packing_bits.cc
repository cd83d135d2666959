// Unpacks integers: bit-packed, INDEXING and SPARSE.
#include <algorithm>

#include "model/message.h"
#include "model/packing.h"

namespace mslite {
namespace {
const char kTooShort[] = "its data ends too early";

// Reads the values that occur, stored as q + 2^(bits - 1). A count of 0 means 2^bits.
std::string ReadValues(const PackedConstant &packed, BitReader *reader, std::vector<int32_t> *values) {
  if (packed.bits < 1 || packed.bits > packed.element * 8) return Format("invalid number of bits, %d", packed.bits);
  const auto width = static_cast<uint64_t>(packed.bits);
  if (reader->left() < width) return kTooShort;
  uint32_t count = reader->Read(packed.bits);
  if (count == 0) count = 1u << packed.bits;
  if (reader->left() / width < count) return kTooShort;
  values->resize(count);
  for (int32_t &value : *values) value = static_cast<int32_t>(reader->Read(packed.bits)) - (1 << (packed.bits - 1));
  return "";
}

// Returns the bits of an index into a list: ceil(log2(count)).
int32_t IndexBits(size_t count) {
  int32_t bits = 0;
  while ((size_t{1} << bits) < count) ++bits;
  return bits;
}
}  // namespace

std::string UnpackBits(const PackedConstant &packed, uint8_t *target) {
  if (packed.bits < 1 || packed.bits > packed.element * 8) return Format("invalid number of bits, %d", packed.bits);
  if (static_cast<uint64_t>(packed.count) > packed.size * 8 / static_cast<uint64_t>(packed.bits)) {
    return Format("%lld values of %d bits need more than its %zu bytes", static_cast<long long>(packed.count),
                  packed.bits, packed.size);
  }
  // Little-endian words of 8 or 16 bits give the same bit stream.
  uint32_t window = 0;
  int32_t available = 0;
  const uint8_t *source = packed.data;
  for (int64_t i = 0; i < packed.count; ++i) {
    while (available < packed.bits) {
      window |= static_cast<uint32_t>(*source++) << available;
      available += 8;
    }
    StoreInteger(target, packed.element, i,
                 static_cast<int32_t>(window & ((1u << packed.bits) - 1)) - (1 << (packed.bits - 1)));
    window >>= packed.bits;
    available -= packed.bits;
  }
  return "";
}

std::string UnpackIndexed(const PackedConstant &packed, uint8_t *target) {
  BitReader reader(packed.data, packed.size);
  std::vector<int32_t> values;
  if (std::string error = ReadValues(packed, &reader, &values); !error.empty()) return error;
  const int32_t width = IndexBits(values.size());
  if (width > 0 && reader.left() / static_cast<uint64_t>(width) < static_cast<uint64_t>(packed.count)) return kTooShort;
  if (values.size() == 1) {  // indices have 0 bits: the shape gives the count
    FillIntegers(target, packed.element, 0, packed.count, values[0]);
    return "";
  }
  for (int64_t i = 0; i < packed.count; ++i) {
    const uint32_t index = reader.Read(width);
    if (index >= values.size()) return Format("index %u, but it has %zu values", index, values.size());
    StoreInteger(target, packed.element, i, values[index]);
  }
  return "";
}

std::string UnpackSparse(const PackedConstant &packed, uint8_t *target) {
  const auto channels = static_cast<int64_t>(packed.zero_points.size());
  if (channels == 0 || packed.count % channels != 0) return "its quantization parameters do not match its shape";
  const int64_t per_channel = packed.count / channels;
  const auto put_zeros = [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t channel = begin / per_channel;
      const int64_t stop = std::min(end, (channel + 1) * per_channel);
      FillIntegers(target, packed.element, begin, stop, packed.zero_points[static_cast<size_t>(channel)]);
      begin = stop;
    }
  };
  BitReader reader(packed.data, packed.size);
  if (reader.left() < 40) return kTooShort;
  const auto gap_width = static_cast<int32_t>(reader.Read(8));
  if (gap_width < 1 || gap_width > 31) return Format("invalid gap width, %d bits", gap_width);
  const uint32_t entries = reader.Read(32);
  std::vector<int32_t> values;
  if (std::string error = ReadValues(packed, &reader, &values); !error.empty()) return error;
  const int32_t width = IndexBits(values.size());
  if (entries > static_cast<uint64_t>(packed.count)) return "it has more entries than elements";
  if (reader.left() / static_cast<uint64_t>(width + gap_width) < entries) return kTooShort;
  BitReader gaps = reader;
  for (uint32_t i = 0; i < entries; ++i) gaps.Read(width);
  int64_t position = 0;
  for (uint32_t i = 0; i < entries; ++i) {
    const uint32_t index = reader.Read(width);
    const auto gap = static_cast<int64_t>(gaps.Read(gap_width));
    if (index >= values.size()) return Format("index %u, but it has %zu values", index, values.size());
    if (gap >= packed.count - position) return "its entries exceed its shape";
    put_zeros(position, position + gap);
    position += gap;
    StoreInteger(target, packed.element, position++, values[index]);
  }
  put_zeros(position, packed.count);
  return "";
}
}  // namespace mslite
