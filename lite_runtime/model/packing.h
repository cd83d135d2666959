// Unpacks constants to int8, int16 or float32 elements. The bytes come from an untrusted file: each function checks
// them and returns the reason if they are invalid.
#ifndef MSLITE_MODEL_PACKING_H
#define MSLITE_MODEL_PACKING_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mslite {
struct PackedConstant {
  const uint8_t *data = nullptr;
  size_t size = 0;
  int32_t bits = 8;                  // bits of one value
  int32_t element = 1;               // bytes of one decoded integer: 1 or 2
  int64_t count = 0;                 // number of decoded elements
  std::vector<int32_t> zero_points;  // of each pair of quantization parameters
};

// The functions fill `count` elements at `target`, which must be aligned for them, and return "" or the reason why the
// bytes are invalid.

// Decodes values of `bits` bits with an offset of 2^(bits - 1), least significant bit first.
std::string UnpackBits(const PackedConstant &packed, uint8_t *target);
// Decodes a list of the values that occur, followed by the index of each element.
std::string UnpackIndexed(const PackedConstant &packed, uint8_t *target);
// As UnpackIndexed, for the elements that differ from the zero point, with the length of the gap before each.
std::string UnpackSparse(const PackedConstant &packed, uint8_t *target);
// Decodes a prefix code whose table is written as text. int8 only.
std::string UnpackHuffman(const PackedConstant &packed, uint8_t *target);
// Decodes finite state entropy coding (a table-driven asymmetric numeral system) to float32, or with `is_integer` to
// integers of `element` bytes.
std::string UnpackEntropy(const PackedConstant &packed, bool is_integer, uint8_t *target);

// Stores `value` as element `at` of an int8 (element 1) or int16 (element 2) array.
inline void StoreInteger(uint8_t *target, int32_t element, int64_t at, int64_t value) {
  if (element == 1) {
    reinterpret_cast<int8_t *>(target)[at] = static_cast<int8_t>(value);
  } else {
    reinterpret_cast<int16_t *>(target)[at] = static_cast<int16_t>(value);
  }
}

// Stores `value` as the elements [begin, end). A small file may contain a gap of two billion elements, which would take
// long one by one.
inline void FillIntegers(uint8_t *target, int32_t element, int64_t begin, int64_t end, int64_t value) {
  if (element == 1) {
    std::fill(reinterpret_cast<int8_t *>(target) + begin, reinterpret_cast<int8_t *>(target) + end,
              static_cast<int8_t>(value));
  } else {
    std::fill(reinterpret_cast<int16_t *>(target) + begin, reinterpret_cast<int16_t *>(target) + end,
              static_cast<int16_t>(value));
  }
}

inline bool FitsElement(int32_t element, int64_t value) {
  return element == 1 ? value >= INT8_MIN && value <= INT8_MAX : value >= INT16_MIN && value <= INT16_MAX;
}

// Reads bits, most significant first.
class BitReader {
 public:
  BitReader(const uint8_t *data, size_t size) : data_(data), bits_(static_cast<uint64_t>(size) * 8) {}

  uint64_t left() const { return bits_ - at_; }
  // Returns the next `count` bits (0 ... 32). The caller must check `left` first.
  uint32_t Read(int32_t count) {
    uint32_t value = 0;
    for (int32_t i = 0; i < count; ++i, ++at_) value = value << 1 | (data_[at_ / 8] >> (7 - at_ % 8) & 1u);
    return value;
  }

 private:
  const uint8_t *data_;
  uint64_t bits_;
  uint64_t at_ = 0;
};
}  // namespace mslite

#endif
