#include "include/api/status.h"

#include "include/errorcode.h"

namespace mindspore {
struct Status::Data {
  enum StatusCode code = kSuccess;
  std::string message;
  int line = -1;
  std::string file;
};

Status::Status() = default;

Status::Status(enum StatusCode code, const std::string &message) {
  if (code == kSuccess && message.empty()) return;
  data_ = std::make_shared<Data>();
  data_->code = code;
  data_->message = message;
}

Status::Status(enum StatusCode code, int line, const char *file, const std::string &extra) : Status(code, extra) {
  if (data_ == nullptr) data_ = std::make_shared<Data>();
  data_->line = line;
  data_->file = file == nullptr ? "" : file;
}

enum StatusCode Status::StatusCode() const { return data_ == nullptr ? kSuccess : data_->code; }

std::string Status::ToString() const {
  const std::string code = CodeAsString(StatusCode());
  return data_ == nullptr || data_->message.empty() ? code : code + " " + data_->message;
}

int Status::GetLineOfCode() const { return data_ == nullptr ? -1 : data_->line; }
std::string Status::GetFileName() const { return data_ == nullptr ? "" : data_->file; }
std::string Status::GetErrDescription() const { return data_ == nullptr ? "" : data_->message; }

std::string Status::SetErrDescription(const std::string &description) {
  if (data_ == nullptr) data_ = std::make_shared<Data>();
  data_->message = description;
  return description;
}

void Status::SetStatusMsg(const std::string &message) { SetErrDescription(message); }

std::ostream &operator<<(std::ostream &stream, const Status &status) { return stream << status.ToString(); }

std::string Status::CodeAsString(enum StatusCode code) {
  switch (code) {
    case kSuccess:
      return "Success.";
    case kCoreFailed:
      return "Error.";
    case kLiteError:
      return "Error.";
    case kLiteNullptr:
      return "A pointer is null.";
    case kLiteParamInvalid:
      return "Invalid parameter.";
    case kLiteNoChange:
      return "No change.";
    case kLiteSuccessExit:
      return "Finished early.";
    case kLiteMemoryFailed:
      return "Out of memory.";
    case kLiteNotSupport:
      return "Not supported.";
    case kLiteThreadPoolError:
      return "Thread pool error.";
    case kLiteUninitializedObj:
      return "Not initialized.";
    case kLiteFileError:
      return "File error.";
    case kLiteServiceDeny:
      return "The request was refused or canceled.";
    case kLiteModelRebuild:
      return "The model is already built.";
    case kLiteOutOfTensorRange:
      return "Index outside of a tensor.";
    case kLiteInputTensorError:
      return "Wrong input tensor.";
    case kLiteReentrantError:
      return "The model is already running.";
    case kLiteGraphFileError:
      return "Invalid model file.";
    case kLiteNotFindOp:
      return "No kernel for an operator.";
    case kLiteInvalidOpName:
      return "Invalid operator name.";
    case kLiteInvalidOpAttr:
      return "Invalid operator attribute.";
    case kLiteOpExecuteFailure:
      return "An operator failed.";
    case kLiteFormatError:
      return "Wrong tensor format.";
    case kLiteInferError:
      return "Shape inference failed.";
    case kLiteInferInvalid:
      return "A shape is unknown until the model runs.";
    case kLiteInputParamInvalid:
      return "Invalid input parameter.";
    default:
      return "Error code " + std::to_string(static_cast<uint32_t>(code)) + ".";
  }
}

namespace lite {
std::string GetErrorInfo(STATUS error_code) {
  if (error_code == RET_OK) return Status::CodeAsString(kSuccess);
  return Status::CodeAsString(static_cast<StatusCode>(kLite | (0x0FFFFFFFu & static_cast<uint32_t>(error_code))));
}
}  // namespace lite
}  // namespace mindspore
