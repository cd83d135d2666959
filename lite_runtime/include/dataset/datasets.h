/// What a model is trained with. These classes are in libmindspore-lite-train.
#ifndef MINDSPORE_INCLUDE_DATASET_DATASETS_H
#define MINDSPORE_INCLUDE_DATASET_DATASETS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore::dataset {
/// Rows of columns. Train and Evaluate give column i of a batch to input i of the model. A class of mslite's own with
/// the name of MindSpore's: other classes of its data engine do not exist here.
class MS_API Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  struct Column {
    std::string name;
    enum DataType type;
    std::vector<int64_t> shape;  ///< of one row
  };

  virtual ~Dataset();
  virtual const std::vector<Column> &GetColumns() const = 0;
  virtual int64_t GetDatasetSize() const = 0;
  /// Copies one column of one row, as many bytes as its shape says. Errors: kLiteFileError and others of the source.
  virtual Status Read(int64_t row, size_t column, void *data) const = 0;

  /// Rows that are given to the model at once; 0, as it begins: as many as its first input takes. The last rows that do
  /// not fill a batch are left out.
  std::shared_ptr<Dataset> Batch(int32_t batch_size);
  int32_t GetBatchSize() const { return batch_size_; }
  /// Each epoch has an order of its own, which depends on the seed and the epoch alone. Evaluation does not shuffle.
  std::shared_ptr<Dataset> Shuffle(uint32_t seed);
  /// The rows of one epoch in their order.
  std::vector<int64_t> Order(int32_t epoch) const;

 private:
  int32_t batch_size_ = 0;
  bool is_shuffled_ = false;
  uint32_t seed_ = 0;
};

/// Tensors in memory, whose first dimension counts the rows. The tensors are shared, not copied.
/// Errors, which Read gives: kLiteParamInvalid for tensors without data or of different numbers of rows.
MS_API std::shared_ptr<Dataset> Tensors(const std::vector<MSTensor> &tensors);

/// The MNIST files (IDX format) in a folder: `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`, or those of
/// `t10k` for usage "test". Columns: image, float32 [rows, columns, 1] between 0 and 1; label, int32 [].
/// Errors, which Read gives: kLiteFileError for a file that is missing or damaged.
MS_API std::shared_ptr<Dataset> Mnist(const std::string &dataset_dir, const std::string &usage = "train");
}  // namespace mindspore::dataset

#endif
