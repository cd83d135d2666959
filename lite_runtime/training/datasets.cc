#include "include/dataset/datasets.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

#include "model/message.h"

namespace mindspore::dataset {
using mslite::Fail;
using mslite::Format;

Dataset::~Dataset() = default;

std::shared_ptr<Dataset> Dataset::Batch(int32_t batch_size) {
  batch_size_ = batch_size;
  return shared_from_this();
}

std::shared_ptr<Dataset> Dataset::Shuffle(uint32_t seed) {
  is_shuffled_ = true;
  seed_ = seed;
  return shared_from_this();
}

// Fisher-Yates shuffle with random numbers that do not depend on the C++ library.
std::vector<int64_t> Dataset::Order(int32_t epoch) const {
  std::vector<int64_t> order(static_cast<size_t>(GetDatasetSize()));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (!is_shuffled_) return order;
  std::mt19937_64 numbers((static_cast<uint64_t>(seed_) << 32) | static_cast<uint32_t>(epoch));
  for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[numbers() % left]);
  return order;
}

namespace {
// A dataset that could not be created. Reading it returns the reason.
class Failed : public Dataset {
 public:
  explicit Failed(const Status &reason) : reason_(reason) {}
  const std::vector<Column> &GetColumns() const override { return columns_; }
  int64_t GetDatasetSize() const override { return 0; }
  Status Read(int64_t, size_t, void *) const override { return reason_; }

 private:
  Status reason_;
  std::vector<Column> columns_;
};

class InMemory : public Dataset {
 public:
  InMemory(std::vector<MSTensor> tensors, int64_t rows) : tensors_(std::move(tensors)), rows_(rows) {
    for (const MSTensor &tensor : tensors_) {
      const std::vector<int64_t> shape = tensor.Shape();
      columns_.push_back({tensor.Name(), tensor.DataType(), {shape.begin() + 1, shape.end()}});
      data_.push_back(static_cast<const uint8_t *>(tensor.Data().get()));
      bytes_.push_back(rows == 0 ? 0 : tensor.DataSize() / static_cast<size_t>(rows));
    }
  }
  const std::vector<Column> &GetColumns() const override { return columns_; }
  int64_t GetDatasetSize() const override { return rows_; }
  Status Read(int64_t row, size_t column, void *data) const override {
    if (row < 0 || row >= rows_ || column >= data_.size())
      return Fail(kLiteParamInvalid, "the row is not in the dataset");
    if (bytes_[column] == 0) return kSuccess;
    std::memcpy(data, data_[column] + static_cast<size_t>(row) * bytes_[column], bytes_[column]);
    return kSuccess;
  }

 private:
  std::vector<MSTensor> tensors_;
  int64_t rows_;
  std::vector<Column> columns_;
  std::vector<const uint8_t *> data_;
  std::vector<size_t> bytes_;
};

// ---- MNIST ----

constexpr size_t kMaxRows = 10000000;

Status ReadFile(const std::string &path, std::vector<uint8_t> *bytes) {
  std::FILE *file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return Fail(kLiteFileError, "file '" + path + "': " + std::strerror(errno));
  constexpr size_t kChunk = size_t{1} << 20;
  size_t got = kChunk;
  while (got == kChunk) {
    const size_t at = bytes->size();
    bytes->resize(at + kChunk);
    got = std::fread(bytes->data() + at, 1, kChunk, file);
    bytes->resize(at + got);
  }
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  return failed ? Fail(kLiteFileError, "file '" + path + "' cannot be read") : Status(kSuccess);
}

// Reads an IDX file of bytes with `rank` dimensions: the bytes 0 0 8 rank, then each dimension in four bytes,
// big-endian.
Status ReadIdx(const std::string &path, size_t rank, std::vector<size_t> *dims, std::vector<uint8_t> *values) {
  MSLITE_TRY(ReadFile(path, values));
  const size_t header = 4 + 4 * rank;
  const uint8_t magic[4] = {0, 0, 8, static_cast<uint8_t>(rank)};
  bool is_whole = values->size() >= header && std::memcmp(values->data(), magic, sizeof magic) == 0;
  size_t count = 1;
  for (size_t i = 0; is_whole && i < rank; ++i) {
    const uint8_t *at = values->data() + 4 + 4 * i;
    const size_t dim = (size_t{at[0]} << 24) | (size_t{at[1]} << 16) | (size_t{at[2]} << 8) | at[3];
    is_whole = dim > 0 && dim <= kMaxRows && count <= values->size() / dim;
    count *= dim;
    dims->push_back(dim);
  }
  if (!is_whole || values->size() - header != count) {
    return Fail(kLiteFileError, "file '" + path + "' is not a complete IDX file of bytes with " + std::to_string(rank) +
                                    " dimension(s)");
  }
  values->erase(values->begin(), values->begin() + static_cast<std::ptrdiff_t>(header));
  return kSuccess;
}

class MnistFiles : public Dataset {
 public:
  static std::shared_ptr<Dataset> Open(const std::string &prefix) {
    const auto made = std::make_shared<MnistFiles>();
    const Status status = made->Load(prefix);
    if (status.IsError()) return std::make_shared<Failed>(status);
    return made;
  }
  const std::vector<Column> &GetColumns() const override { return columns_; }
  int64_t GetDatasetSize() const override { return static_cast<int64_t>(labels_.size()); }
  Status Read(int64_t row, size_t column, void *data) const override {
    if (row < 0 || row >= GetDatasetSize() || column > 1)
      return Fail(kLiteParamInvalid, "the row is not in the dataset");
    const auto at = static_cast<size_t>(row);
    if (column == 1) {
      const int32_t label = labels_[at];
      std::memcpy(data, &label, sizeof label);
      return kSuccess;
    }
    for (size_t i = 0; i < pixels_; ++i) {
      static_cast<float *>(data)[i] = static_cast<float>(images_[at * pixels_ + i]) / 255.0f;
    }
    return kSuccess;
  }

 private:
  Status Load(const std::string &prefix) {
    std::vector<size_t> dims;
    std::vector<size_t> count;
    MSLITE_TRY(ReadIdx(prefix + "-images-idx3-ubyte", 3, &dims, &images_));
    MSLITE_TRY(ReadIdx(prefix + "-labels-idx1-ubyte", 1, &count, &labels_));
    if (count[0] != dims[0]) {
      return Fail(kLiteFileError,
                  Format("files '%.300s-*': %zu images, but %zu labels", prefix.c_str(), dims[0], count[0]));
    }
    pixels_ = dims[1] * dims[2];
    columns_ = {
        {"image", DataType::kNumberTypeFloat32, {static_cast<int64_t>(dims[1]), static_cast<int64_t>(dims[2]), 1}},
        {"label", DataType::kNumberTypeInt32, {}}};
    return kSuccess;
  }

  std::vector<Column> columns_;
  std::vector<uint8_t> images_;
  std::vector<uint8_t> labels_;
  size_t pixels_ = 0;
};
}  // namespace

std::shared_ptr<Dataset> Tensors(const std::vector<MSTensor> &tensors) {
  int64_t rows = -1;
  for (const MSTensor &tensor : tensors) {
    if (tensor == nullptr || tensor.Data() == nullptr || tensor.Shape().empty()) {
      return std::make_shared<Failed>(Fail(kLiteParamInvalid, "a tensor of the dataset has no data or no rows"));
    }
    if (rows >= 0 && tensor.Shape()[0] != rows) {
      return std::make_shared<Failed>(
          Fail(kLiteParamInvalid, "tensor '" + tensor.Name() + "' of the dataset has a different number of rows"));
    }
    rows = tensor.Shape()[0];
  }
  if (tensors.empty()) return std::make_shared<Failed>(Fail(kLiteParamInvalid, "the dataset has no tensors"));
  return std::make_shared<InMemory>(tensors, rows);
}

std::shared_ptr<Dataset> Mnist(const std::string &dataset_dir, const std::string &usage) {
  if (usage != "train" && usage != "test") {
    return std::make_shared<Failed>(
        Fail(kLiteParamInvalid, "Mnist: usage '" + usage + "', but it must be 'train' or 'test'"));
  }
  return MnistFiles::Open(dataset_dir + (usage == "train" ? "/train" : "/t10k"));
}
}  // namespace mindspore::dataset
