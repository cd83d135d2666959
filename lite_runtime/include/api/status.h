/// Status: the result of an operation, with a code and a message.
///
/// Functions of this library do not throw. If memory is exhausted, a function with a Status returns kLiteMemoryFailed;
/// other functions return an empty object or change nothing, and log an error. Exceptions to this: constructors of
/// contexts, devices, configurations and buffers, and copies of arguments that are passed by value, may throw
/// std::bad_alloc.
#ifndef MINDSPORE_INCLUDE_API_STATUS_H
#define MINDSPORE_INCLUDE_API_STATUS_H

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "include/api/visible.h"

namespace mindspore {
enum CompCode : uint32_t {
  kCore = 0x00000000u,
  kMD = 0x10000000u,
  kME = 0x20000000u,
  kMC = 0x30000000u,
  kLite = 0xF0000000u,
};

enum StatusCode : uint32_t {
  kSuccess = 0,
  kCoreFailed = kCore | 0x1,

  kMDOutOfMemory = kMD | 1,
  kMDShapeMisMatch = kMD | 2,
  kMDInterrupted = kMD | 3,
  kMDNoSpace = kMD | 4,
  kMDPyFuncException = kMD | 5,
  kMDDuplicateKey = kMD | 6,
  kMDPythonInterpreterFailure = kMD | 7,
  kMDTDTPushFailure = kMD | 8,
  kMDFileNotExist = kMD | 9,
  kMDProfilingError = kMD | 10,
  kMDBoundingBoxOutOfBounds = kMD | 11,
  kMDBoundingBoxInvalidShape = kMD | 12,
  kMDSyntaxError = kMD | 13,
  kMDTimeOut = kMD | 14,
  kMDBuddySpaceFull = kMD | 15,
  kMDNetWorkError = kMD | 16,
  kMDNotImplementedYet = kMD | 17,
  kMDUnexpectedError = kMD | 127,

  kMEFailed = kME | 0x1,
  kMEInvalidInput = kME | 0x2,

  kMCFailed = kMC | 0x1,
  kMCDeviceError = kMC | 0x2,
  kMCInvalidInput = kMC | 0x3,
  kMCInvalidArgs = kMC | 0x4,

  // A code of MindSpore Lite is kLite | (0x0FFFFFFF & n), with n < 0.
  kLiteError = kLite | (0x0FFFFFFF & -1),
  kLiteNullptr = kLite | (0x0FFFFFFF & -2),
  kLiteParamInvalid = kLite | (0x0FFFFFFF & -3),
  kLiteNoChange = kLite | (0x0FFFFFFF & -4),
  kLiteSuccessExit = kLite | (0x0FFFFFFF & -5),
  kLiteMemoryFailed = kLite | (0x0FFFFFFF & -6),
  kLiteNotSupport = kLite | (0x0FFFFFFF & -7),
  kLiteThreadPoolError = kLite | (0x0FFFFFFF & -8),
  kLiteUninitializedObj = kLite | (0x0FFFFFFF & -9),
  kLiteFileError = kLite | (0x0FFFFFFF & -10),
  kLiteServiceDeny = kLite | (0x0FFFFFFF & -11),
  kLiteModelRebuild = kLite | (0x0FFFFFFF & -12),
  kLiteOutOfTensorRange = kLite | (0x0FFFFFFF & -100),
  kLiteInputTensorError = kLite | (0x0FFFFFFF & -101),
  kLiteReentrantError = kLite | (0x0FFFFFFF & -102),
  kLiteGraphFileError = kLite | (0x0FFFFFFF & -200),
  kLiteNotFindOp = kLite | (0x0FFFFFFF & -300),
  kLiteInvalidOpName = kLite | (0x0FFFFFFF & -301),
  kLiteInvalidOpAttr = kLite | (0x0FFFFFFF & -302),
  kLiteOpExecuteFailure = kLite | (0x0FFFFFFF & -303),
  kLiteFormatError = kLite | (0x0FFFFFFF & -400),
  kLiteInferError = kLite | (0x0FFFFFFF & -500),
  kLiteInferInvalid = kLite | (0x0FFFFFFF & -501),
  kLiteInputParamInvalid = kLite | (0x0FFFFFFF & -600),
};

/// A status code with an optional message. The default is kSuccess.
class MS_API Status {
 public:
  Status();
  Status(enum StatusCode code, const std::string &message = "");  // NOLINT(runtime/explicit)
  Status(enum StatusCode code, int line, const char *file, const std::string &extra = "");
  ~Status() = default;

  enum StatusCode StatusCode() const;
  std::string ToString() const;

  int GetLineOfCode() const;
  std::string GetFileName() const;
  std::string GetErrDescription() const;
  std::string SetErrDescription(const std::string &description);
  void SetStatusMsg(const std::string &message);

  MS_API friend std::ostream &operator<<(std::ostream &stream, const Status &status);

  bool operator==(const Status &other) const { return StatusCode() == other.StatusCode(); }
  bool operator==(enum StatusCode other) const { return StatusCode() == other; }
  bool operator!=(const Status &other) const { return StatusCode() != other.StatusCode(); }
  bool operator!=(enum StatusCode other) const { return StatusCode() != other; }

  explicit operator bool() const { return IsOk(); }
  explicit operator int() const { return static_cast<int>(StatusCode()); }

  static Status OK() { return StatusCode::kSuccess; }
  bool IsOk() const { return StatusCode() == StatusCode::kSuccess; }
  bool IsError() const { return !IsOk(); }

  /// Returns a short description of a code.
  static std::string CodeAsString(enum StatusCode code);

 private:
  struct Data;
  std::shared_ptr<Data> data_;  // null for success, which therefore allocates no memory
};
}  // namespace mindspore

#endif
