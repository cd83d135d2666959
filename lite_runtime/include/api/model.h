/// A model that has been built for a context and runs.
#ifndef MINDSPORE_INCLUDE_API_MODEL_H
#define MINDSPORE_INCLUDE_API_MODEL_H

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "include/api/cell.h"
#include "include/api/cfg.h"
#include "include/api/context.h"
#include "include/api/graph.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore {
class Metrics;
class ModelImpl;
class ModelInspector;
class TrainCallBack;
namespace dataset {
class Dataset;
}

/// Copies share the model. Calls on one model take turns; for requests in parallel use ModelParallelRunner.
class MS_API Model {
 public:
  Model();
  ~Model();
  Model(const Model &) = default;
  Model &operator=(const Model &) = default;

  /// Builds from the bytes of a `.ms` file, which are copied.
  ///
  /// Errors: kLiteNullptr without context or data, kLiteModelRebuild for a second build, kLiteGraphFileError for a
  /// file that is not valid, kLiteNotFindOp naming every node that this library cannot run.
  Status Build(const void *model_data, size_t data_size, ModelType model_type,
               const std::shared_ptr<Context> &model_context = nullptr);
  /// Builds from a `.ms` file, which is mapped into memory and must not change while the model lives.
  Status Build(const std::string &model_path, ModelType model_type,
               const std::shared_ptr<Context> &model_context = nullptr);
  /// As above for encrypted files; an empty key is none. Decrypted bytes are the model's own. `dec_mode` is "AES-GCM".
  /// OpenSSL's libcrypto is loaded from `cropto_lib_path`, or where the linker finds it when that is empty.
  ///
  /// Errors: kLiteGraphFileError for another key, a file that was changed or cut off, or one that is not encrypted;
  /// kLiteParamInvalid for a key that has not 16, 24 or 32 bytes; kLiteNotSupport for another mode; kLiteFileError
  /// without libcrypto.
  Status Build(const void *model_data, size_t data_size, ModelType model_type,
               const std::shared_ptr<Context> &model_context, const Key &dec_key, const std::string &dec_mode,
               const std::string &cropto_lib_path);
  Status Build(const std::string &model_path, ModelType model_type, const std::shared_ptr<Context> &model_context,
               const Key &dec_key, const std::string &dec_mode, const std::string &cropto_lib_path);
  /// Builds from a graph loaded by Serialization; with `train_cfg`, which is copied, for training, beginning in
  /// evaluation mode. Training needs libmindspore-lite-train, linked to the program or beside the library.
  ///
  /// Errors of training: kLiteNotSupport without that library, or for a setting that it does not have;
  /// kLiteGraphFileError for a model without a loss or without optimizers; kLiteNotFindOp naming every node that cannot
  /// run.
  Status Build(GraphCell graph, const std::shared_ptr<Context> &model_context = nullptr,
               const std::shared_ptr<TrainCfg> &train_cfg = nullptr);
  /// Builds a model of a backbone for inference, which stays as it is and may be quantized, and a training model behind
  /// it, the head. Each output of the backbone becomes the first input of the head that has its type and shape (its
  /// channels may be in the other place); inputs are those of the backbone, then what is left of the head's. All else
  /// is as in a build with a TrainCfg. Errors: those of it; kLiteParamInvalid where an output fits no input;
  /// kLiteNotSupport for models of different versions, with control flow, or with constants in files beside.
  Status BuildTransferLearning(GraphCell backbone, GraphCell head, const std::shared_ptr<Context> &context,
                               const std::shared_ptr<TrainCfg> &train_cfg = nullptr);

  /// Plans for new input shapes. `inputs` are tensors of GetInputs(); on failure the old shapes stay. Variables of the
  /// model get their first values again. Errors: kLiteInputParamInvalid for a shape that is not possible, for other
  /// sizes than the file says the model was converted for, and for different sizes where the file says that inputs
  /// share one (Predict: kLiteInputTensorError); kLiteInputTensorError for a tensor that is no input; kLiteInferError
  /// for shapes that a node cannot take.
  Status Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims);
  /// Gives constants of the file, found by their names, other contents of the same type and size, and plans again from
  /// the model's bytes: as long as a build. The model shares its weights with no other one from then on, and variables
  /// get their first values again. On failure the old weights stay. Names are those of the `.ms` file (`mslite-show`);
  /// the converter folds some of the source's into others. Packed constants are given as they are unpacked.
  ///
  /// Errors: kLiteUninitializedObj before a build, kLiteParamInvalid for a name that is no constant's, or another type
  /// or size.
  Status UpdateWeights(const std::vector<MSTensor> &new_weights);

  /// Lets products of the model add what a low-rank adapter (Serialization::ExportAdapter) has learned, in place of the
  /// one that was loaded before. The first adapter of its weights and ranks plans again, as long as a build; the next
  /// ones are copied into their places. Models of one file with such adapters share the file's weights. On failure the
  /// old adapter stays. The file must not change while it is loaded. Beyond MindSpore Lite.
  ///
  /// Errors: kLiteUninitializedObj before a build; kLiteFileError, kLiteGraphFileError for a file that is no adapter;
  /// kLiteParamInvalid for one of another model; kLiteNotSupport for products of integers, and where the context asks
  /// for more than the CPU.
  Status LoadAdapter(const std::string &adapter_path);
  /// The model computes again exactly what it did without an adapter. Errors: kLiteUninitializedObj before a build.
  Status UnloadAdapter();

  /// Runs the model. `inputs` in the order of GetInputs(); their shapes may differ from the planned ones where the
  /// operators allow it. `outputs` receives the model's own output tensors, whose contents stay until the next run;
  /// an output tensor of the caller that has data of the right size is written in place instead.
  ///
  /// Errors: kLiteInputTensorError (count, type, size, missing data), kLiteInferError, kLiteOpExecuteFailure.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                 const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  /// Runs on the tensors of GetInputs() into those of GetOutputs().
  Status Predict(const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  /// Runs on another thread. `inputs` must stay alive and unchanged until the future is ready. What goes wrong, lack of
  /// memory included, is the future's status; nothing is thrown. Beyond MindSpore Lite.
  std::future<Status> PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs);
  /// As above; `done` is called from that thread.
  void PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                    const std::function<void(const Status &)> &done);
  /// As Predict on the model's own tensors: in train mode one step, which changes the weights.
  Status RunStep(const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  Status PredictWithPreprocess(const std::vector<std::vector<MSTensor>> &inputs, std::vector<MSTensor> *outputs,
                               const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  Status Preprocess(const std::vector<std::vector<MSTensor>> &inputs, std::vector<MSTensor> *outputs);
  bool HasPreprocess();

  /// Reads `[section] key=value` settings. Must come before Build.
  Status LoadConfig(const std::string &config_path);
  Status UpdateConfig(const std::string &section, const std::pair<std::string, std::string> &config);

  std::vector<MSTensor> GetInputs();
  std::vector<MSTensor> GetOutputs();
  /// A null tensor when there is none of that name.
  MSTensor GetInputByTensorName(const std::string &name);
  std::vector<std::string> GetOutputTensorNames();
  MSTensor GetOutputByTensorName(const std::string &name);
  std::vector<MSTensor> GetOutputsByNodeName(const std::string &node_name);
  Status BindGLTexture2DMemory(const std::map<std::string, unsigned int> &inputs,
                               std::map<std::string, unsigned int> *outputs);

  /// Only CPU with kMindIR or kMindIR_Lite.
  static bool CheckModelSupport(enum DeviceType device_type, ModelType model_type);
  std::string GetModelInfo(const std::string &key);
  Status Finalize();

  // Training. A model that is built for inference gives kLiteNotSupport, or nothing. Tensors that are returned show
  // memory of the model, whose contents hold until its next call.

  /// What Evaluate computes; the metrics stay the caller's, and must live as long as they are used.
  Status InitMetrics(std::vector<Metrics *> metrics);
  std::vector<Metrics *> GetMetrics();
  /// Epochs over the data in train mode. The callbacks are called in their order.
  Status Train(int epochs, std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks);
  /// One pass over the data in evaluation mode, into the metrics.
  Status Evaluate(std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks);
  /// Between training, where a run is a step and the outputs are the losses, and evaluation, where a run infers with
  /// the weights as they are. The outputs are to be asked for again afterwards.
  Status SetTrainMode(bool train);
  bool GetTrainMode() const;
  /// Of the last step, or their sum where several make one update. None, with a message, where the model was made with
  /// `--trainMemory` and steps do not accumulate: each gradient gives up its memory when its weight is updated.
  std::vector<MSTensor> GetGradients() const;
  /// Updates the weights by these gradients, one for each of GetGradients(), found by name.
  ///
  /// Errors: kLiteParamInvalid for names or sizes that do not fit.
  Status ApplyGradients(const std::vector<MSTensor> &gradients);
  /// The weights that inference reads.
  std::vector<MSTensor> GetFeatureMaps() const;
  /// The weights that optimizers change.
  std::vector<MSTensor> GetTrainableParams() const;
  /// Gives weights other contents, found by name.
  ///
  /// Errors: kLiteParamInvalid for names, types or sizes that do not fit.
  Status UpdateFeatureMaps(const std::vector<MSTensor> &new_weights);
  /// Learning rates and the optimizers' other numbers.
  std::vector<MSTensor> GetOptimizerParams() const;
  Status SetOptimizerParams(const std::vector<MSTensor> &params);
  /// Of all optimizers. Errors: kLiteParamInvalid for a negative one, kLiteNotSupport where the graph computes it.
  Status SetLearningRate(float learning_rate);
  float GetLearningRate();
  /// Updates the weights once for so many steps, by the sum of their gradients; less than 2: for each again, with the
  /// learning rate of before. `momentum` is that of batch normalization. A negative `lr` or `momentum` stands for the
  /// present one divided by the multiplier.
  Status SetupVirtualBatch(int virtual_batch_multiplier, float lr = -1.0f, float momentum = -1.0f);

 private:
  friend class Serialization;
  friend class ModelGroup;
  friend class ModelInspector;
  friend class ModelAccess;
  std::shared_ptr<ModelImpl> impl_;
};
}  // namespace mindspore

#endif
