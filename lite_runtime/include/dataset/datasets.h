/// Datasets for Model::Train and Model::Evaluate. These classes are in libmindspore-lite-train.
#ifndef MINDSPORE_INCLUDE_DATASET_DATASETS_H
#define MINDSPORE_INCLUDE_DATASET_DATASETS_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore::dataset {
/// A dataset of rows and columns. Train and Evaluate copy column i of a batch to input i of the model. The class has
/// the name of MindSpore's class, but not its interface; other classes of MindSpore's data engine do not exist.
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
  /// Copies one column of one row to `data`. The size follows from the type and shape of the column. Errors:
  /// kLiteFileError and others, which depend on the source of the data.
  virtual Status Read(int64_t row, size_t column, void *data) const = 0;

  /// Sets the batch size. 0, the default: the batch size of the first input of the model. Rows at the end that do not
  /// fill a batch are not used.
  std::shared_ptr<Dataset> Batch(int32_t batch_size);
  int32_t GetBatchSize() const { return batch_size_; }
  /// Shuffles the rows in each epoch. The order depends only on the seed and the epoch. Evaluation does not shuffle.
  std::shared_ptr<Dataset> Shuffle(uint32_t seed);
  /// Returns the row indices of one epoch in their order.
  std::vector<int64_t> Order(int32_t epoch) const;

 private:
  int32_t batch_size_ = 0;
  bool is_shuffled_ = false;
  uint32_t seed_ = 0;
};

/// Returns a dataset of tensors in memory. The first dimension of each tensor is the number of rows. The tensors are
/// shared, not copied. Read returns kLiteParamInvalid for tensors without data or with different numbers of rows.
MS_API std::shared_ptr<Dataset> Tensors(const std::vector<MSTensor> &tensors);

/// Returns a dataset of the MNIST files (IDX format) in a folder: `train-images-idx3-ubyte` and
/// `train-labels-idx1-ubyte`; for usage "test", the files that begin with `t10k`. Columns: image, float32
/// [rows, columns, 1] between 0 and 1; label, int32 []. Read returns kLiteFileError for a missing or damaged file.
MS_API std::shared_ptr<Dataset> Mnist(const std::string &dataset_dir, const std::string &usage = "train");
}  // namespace mindspore::dataset

#endif
