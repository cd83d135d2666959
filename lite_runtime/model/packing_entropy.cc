// Unpacks finite state entropy coding (FSE, FSE_INT, FSE_INFER). The data:
//   uint16 symbols, uint16 table_log, uint32 chunks, uint32 frequency[symbols], padding to 8,
//   4-byte centroid[symbols] (the value of a symbol), padding to 8, uint64 chunk[chunks],
//   uint8 bits of the last chunk
// The chunks are one bit string, most significant bit first, read from its end; the last chunk is left-aligned.
#include <cmath>
#include <cstring>

#include "model/message.h"
#include "model/packing.h"

namespace mslite {
namespace {
// From 4 on, the step between the slots of a symbol is odd, so that all slots are reached.
constexpr int32_t kMinimumTableLog = 4;
constexpr int32_t kMaximumTableLog = 16;

template <typename T>
T ReadAs(const uint8_t *data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

struct Slot {
  uint16_t symbol = 0;
  uint8_t bits = 0;   // bits to read for the next state
  uint32_t base = 0;  // the value that they are added to
};

// The sections of the data.
struct Sections {
  uint32_t symbols = 0;
  int32_t table_log = 0;
  uint64_t chunks = 0;
  const uint8_t *frequencies = nullptr;
  const uint8_t *centroids = nullptr;
  const uint8_t *words = nullptr;
  uint32_t last_bits = 0;
};

std::string FindSections(const PackedConstant &packed, Sections *sections) {
  if (packed.size < 8) return "its data ends too early";
  sections->symbols = ReadAs<uint16_t>(packed.data);
  sections->table_log = ReadAs<uint16_t>(packed.data + 2);
  sections->chunks = ReadAs<uint32_t>(packed.data + 4);
  if (sections->symbols == 0 || sections->table_log < kMinimumTableLog || sections->table_log > kMaximumTableLog ||
      sections->chunks == 0) {
    return Format("invalid table: %u symbols, %d bits, %llu chunks", sections->symbols, sections->table_log,
                  static_cast<unsigned long long>(sections->chunks));
  }
  const auto padded = [](uint64_t offset) { return (offset + 7) / 8 * 8; };
  const uint64_t centroids = padded(8 + uint64_t{4} * sections->symbols);
  const uint64_t words = padded(centroids + uint64_t{4} * sections->symbols);
  const uint64_t end = words + sections->chunks * 8;
  if (end >= packed.size) return "its data ends too early";
  sections->frequencies = packed.data + 8;
  sections->centroids = packed.data + centroids;
  sections->words = packed.data + words;
  sections->last_bits = packed.data[end];
  return sections->last_bits > 64 ? Format("its last chunk has %u bits", sections->last_bits) : "";
}

std::string MakeTable(const Sections &sections, std::vector<Slot> *table) {
  const uint32_t size = 1u << sections.table_log;
  std::vector<uint32_t> next(sections.symbols);
  uint64_t sum = 0;
  for (uint32_t s = 0; s < sections.symbols; ++s) {
    next[s] = ReadAs<uint32_t>(sections.frequencies + size_t{4} * s);
    sum += next[s];
    if (sum > size) break;
  }
  if (sum != size) return "its frequencies do not add up to the size of its table";
  table->resize(size);
  const uint32_t step = size / 2 + size / 8 + 3;
  uint32_t position = 0;
  for (uint32_t s = 0; s < sections.symbols; ++s) {
    for (uint32_t i = 0; i < next[s]; ++i) {
      (*table)[position].symbol = static_cast<uint16_t>(s);
      position = (position + step) & (size - 1);
    }
  }
  // x is in [frequency, 2 * frequency) of the symbol, so base + any value of `bits` bits is a valid slot.
  for (Slot &slot : *table) {
    const uint32_t x = next[slot.symbol]++;
    int32_t log = 0;
    while (x >> (log + 1) != 0) ++log;
    slot.bits = static_cast<uint8_t>(sections.table_log - log);
    slot.base = (x << slot.bits) - size;
  }
  return "";
}

// Reads bits from the end of the string.
class BackwardReader {
 public:
  BackwardReader(const uint8_t *words, uint64_t bits) : words_(words), left_(bits) {}

  bool Take(int32_t count, uint32_t *value) {
    if (left_ < static_cast<uint64_t>(count)) return false;
    left_ -= static_cast<uint64_t>(count);
    *value = 0;
    for (uint64_t at = left_; at < left_ + static_cast<uint64_t>(count); ++at) {
      *value = *value << 1 | static_cast<uint32_t>(ReadAs<uint64_t>(words_ + at / 64 * 8) >> (63 - at % 64) & 1u);
    }
    return true;
  }

 private:
  const uint8_t *words_;
  uint64_t left_;
};
}  // namespace

std::string UnpackEntropy(const PackedConstant &packed, bool is_integer, uint8_t *target) {
  Sections sections;
  if (std::string error = FindSections(packed, &sections); !error.empty()) return error;
  std::vector<Slot> table;
  if (std::string error = MakeTable(sections, &table); !error.empty()) return error;
  BackwardReader reader(sections.words, 64 * (sections.chunks - 1) + sections.last_bits);
  uint32_t state = 0;
  if (!reader.Take(sections.table_log, &state)) return "its data ends too early";
  for (int64_t i = packed.count - 1; i >= 0; --i) {
    const Slot &slot = table[state];
    const uint8_t *centroid = sections.centroids + size_t{4} * slot.symbol;
    if (!is_integer) {
      std::memcpy(target + 4 * i, centroid, 4);
    } else if (const int64_t value = ReadAs<int32_t>(centroid); FitsElement(packed.element, value)) {
      StoreInteger(target, packed.element, i, value);
    } else {
      return Format("value %lld is not an int%d", static_cast<long long>(value), packed.element * 8);
    }
    uint32_t more = 0;
    if (i > 0 && !reader.Take(slot.bits, &more)) return "its data ends too early";
    state = slot.base + more;
  }
  return "";
}
}  // namespace mslite
