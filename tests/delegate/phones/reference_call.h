// One operator call for the stand-ins of phones' libraries: shapes by the library's own rules, numbers by its own
// kernels.
#ifndef MSLITE_TESTS_REFERENCE_CALL_H
#define MSLITE_TESTS_REFERENCE_CALL_H

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "kernel.h"

namespace mslite::test {
struct CallTensor {
  int32_t type = 0;
  std::vector<int64_t> dims;
  std::vector<mslite_quant> quant;
  const void *contents = nullptr;  // null: not yet there
  bool is_constant = false;
};

// An operator of mslite with its attributes and operands. Lists that attributes point to are kept.
class ReferenceCall {
 public:
  template <typename Params>
  void Be(int32_t op, const Params &params) {
    op_ = op;
    params_ = std::make_shared<Params>(params);
  }
  mslite_longs List(std::vector<int64_t> numbers);
  // Contents that the call makes for an operand.
  const void *Keep(std::vector<uint8_t> bytes);
  CallTensor Integers(const std::vector<int32_t> &numbers);

  // "" where the rules give outputs of these types and dimensions, else why not.
  std::string Check() const;
  // Computes the outputs into memory of their sizes; all inputs have contents. "" or why not.
  std::string Run(const std::vector<void *> &targets) const;

  std::vector<CallTensor> inputs;
  std::vector<CallTensor> outputs;
  bool is_quantized = false;

 private:
  int32_t op_ = 0;
  std::shared_ptr<void> params_;
  std::deque<std::vector<int64_t>> lists_;
  std::deque<std::vector<uint8_t>> kept_;
};

int64_t BytesOf(const CallTensor &tensor);
// [a][b][c] as [c][b][a], of elements of so many bytes.
std::vector<uint8_t> EndsExchanged(const void *contents, int64_t a, int64_t b, int64_t c, int64_t bytes);
// To the nearest number of float16.
void RoundToHalf(float *numbers, int64_t count);

// Counts the calls that may fail, and whether this one has to: those of [first, last], as `fail_calls` of the stand-in
// was told.
bool MustFail();
}  // namespace mslite::test

#endif
