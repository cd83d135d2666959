/// Model: loads, runs and trains a model.
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

/// A model that is built for a context. Copies of a Model share it. Calls on one model run one after the other;
/// ModelParallelRunner runs several requests at the same time.
class MS_API Model {
 public:
  Model();
  ~Model();
  Model(const Model &) = default;
  Model &operator=(const Model &) = default;

  /// Builds a model from the bytes of a `.ms` file. The bytes are copied.
  ///
  /// Errors: kLiteNullptr without context or data; kLiteModelRebuild if the model is already built; kLiteGraphFileError
  /// for an invalid file; kLiteNotFindOp, with all nodes that this library does not support.
  Status Build(const void *model_data, size_t data_size, ModelType model_type,
               const std::shared_ptr<Context> &model_context = nullptr);
  /// Builds a model from a `.ms` file. The file is mapped into memory and must not change while the model exists.
  Status Build(const std::string &model_path, ModelType model_type,
               const std::shared_ptr<Context> &model_context = nullptr);
  /// Builds a model from an encrypted file. With an empty key, the file is read as not encrypted. `dec_mode` is
  /// "AES-GCM". OpenSSL's libcrypto is loaded from `cropto_lib_path`; if this is empty, the linker searches for it.
  ///
  /// Errors: kLiteGraphFileError for a wrong key, and for a file that was changed, is truncated or is not encrypted;
  /// kLiteParamInvalid for a key that does not have 16, 24 or 32 bytes; kLiteNotSupport for another mode;
  /// kLiteFileError if libcrypto is not found.
  Status Build(const void *model_data, size_t data_size, ModelType model_type,
               const std::shared_ptr<Context> &model_context, const Key &dec_key, const std::string &dec_mode,
               const std::string &cropto_lib_path);
  Status Build(const std::string &model_path, ModelType model_type, const std::shared_ptr<Context> &model_context,
               const Key &dec_key, const std::string &dec_mode, const std::string &cropto_lib_path);
  /// Builds a model from a graph that Serialization has loaded. With `train_cfg`, the model is built for training and
  /// starts in evaluation mode; `train_cfg` is copied. Training needs libmindspore-lite-train, which is linked to the
  /// program or is in the folder of the library.
  ///
  /// Errors of training: kLiteNotSupport without that library, or for an unsupported setting; kLiteGraphFileError for a
  /// model without a loss or without optimizers; kLiteNotFindOp, with all unsupported nodes.
  Status Build(GraphCell graph, const std::shared_ptr<Context> &model_context = nullptr,
               const std::shared_ptr<TrainCfg> &train_cfg = nullptr);
  /// Builds a model for training from a backbone and a head. The backbone is a model for inference, which may be
  /// quantized; its weights are frozen. The head is a training model. Each output of the backbone is connected to the
  /// first input of the head with the same type and shape (NCHW or NHWC). The inputs of the model are those of the
  /// backbone, followed by the unconnected inputs of the head.
  ///
  /// Errors: those of a build with a TrainCfg; kLiteParamInvalid if an output of the backbone matches no input of the
  /// head; kLiteNotSupport for models of different versions, with control flow, or with constants in a side file.
  Status BuildTransferLearning(GraphCell backbone, GraphCell head, const std::shared_ptr<Context> &context,
                               const std::shared_ptr<TrainCfg> &train_cfg = nullptr);

  /// Plans the model for new input shapes. `inputs` are tensors of GetInputs(). On failure, the old shapes stay.
  /// Variables of the model are set to their initial values.
  ///
  /// Errors: kLiteInputParamInvalid for an invalid shape, for a dimension outside the sizes that the model was
  /// converted for, and for different sizes of a dimension that inputs share (Predict returns kLiteInputTensorError for
  /// these); kLiteInputTensorError for a tensor that is not an input; kLiteInferError if a node does not support the
  /// shapes.
  Status Resize(const std::vector<MSTensor> &inputs, const std::vector<std::vector<int64_t>> &dims);
  /// Replaces the values of constants. The tensors are matched by name and have the type and size of the constants. The
  /// model is planned again, which takes as long as Build; it then has its own copy of the weights. Variables are set
  /// to their initial values. On failure, the old weights stay. The names are those of the `.ms` file, which
  /// `mslite-show` prints; the converter may have folded weights of the source model into others. Values of compressed
  /// constants are passed uncompressed.
  ///
  /// Errors: kLiteUninitializedObj before Build; kLiteParamInvalid for an unknown name, or another type or size.
  Status UpdateWeights(const std::vector<MSTensor> &new_weights);

  /// Loads a low-rank adapter (LoRA) that Serialization::ExportAdapter has written, and adds it to the matmuls of the
  /// model. It replaces the adapter that was loaded before. The first adapter for a set of weights and ranks plans the
  /// model again, which takes as long as Build; later ones are copied. Models of one file share its weights also with
  /// different adapters. On failure, the old adapter stays. The adapter file must not change while it is loaded. mslite
  /// extension.
  ///
  /// Errors: kLiteUninitializedObj before Build; kLiteFileError; kLiteGraphFileError for a file that is not an adapter;
  /// kLiteParamInvalid for an adapter of another model; kLiteNotSupport for integer matmuls, and if the context has
  /// another device than the CPU.
  Status LoadAdapter(const std::string &adapter_path);
  /// Removes the adapter. The model then computes the same results as before the first adapter. mslite extension.
  /// Errors: kLiteUninitializedObj before Build.
  Status UnloadAdapter();

  /// Runs the model. `inputs` are in the order of GetInputs(). Their shapes may differ from the planned ones if the
  /// operators support it. `outputs` receives the output tensors of the model, whose data is valid until the next run.
  /// If `outputs` already has tensors with data of the right size, the results are written to them instead.
  ///
  /// Errors: kLiteInputTensorError for a wrong number of inputs, a wrong type or size, or missing data;
  /// kLiteInferError; kLiteOpExecuteFailure.
  Status Predict(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                 const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  /// Runs the model with the data of the tensors of GetInputs(). The results are in the tensors of GetOutputs().
  Status Predict(const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  /// Runs the model on another thread. `inputs` must not change until the future is ready. The future contains the
  /// status, also if memory is exhausted; the function does not throw. mslite extension.
  std::future<Status> PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs);
  /// Runs the model on another thread, which then calls `done` with the status. mslite extension.
  void PredictAsync(const std::vector<MSTensor> &inputs, std::vector<MSTensor> *outputs,
                    const std::function<void(const Status &)> &done);
  /// The same as Predict without tensors. In training mode, it is one training step, which updates the weights.
  Status RunStep(const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  /// PredictWithPreprocess and Preprocess return kLiteNotSupport, HasPreprocess returns false.
  Status PredictWithPreprocess(const std::vector<std::vector<MSTensor>> &inputs, std::vector<MSTensor> *outputs,
                               const MSKernelCallBack &before = nullptr, const MSKernelCallBack &after = nullptr);
  Status Preprocess(const std::vector<std::vector<MSTensor>> &inputs, std::vector<MSTensor> *outputs);
  bool HasPreprocess();

  /// Reads a configuration file with sections of the form `[section]` and settings of the form `key=value`. It must be
  /// called before Build.
  Status LoadConfig(const std::string &config_path);
  /// Adds one setting to the configuration. It must be called before Build.
  Status UpdateConfig(const std::string &section, const std::pair<std::string, std::string> &config);

  std::vector<MSTensor> GetInputs();
  std::vector<MSTensor> GetOutputs();
  /// Returns an input by its name, or a null tensor if no input has this name.
  MSTensor GetInputByTensorName(const std::string &name);
  std::vector<std::string> GetOutputTensorNames();
  /// Returns an output by its name, or a null tensor if no output has this name.
  MSTensor GetOutputByTensorName(const std::string &name);
  std::vector<MSTensor> GetOutputsByNodeName(const std::string &node_name);
  Status BindGLTexture2DMemory(const std::map<std::string, unsigned int> &inputs,
                               std::map<std::string, unsigned int> *outputs);

  /// Returns true for the CPU with kMindIR or kMindIR_Lite, and false for all others.
  static bool CheckModelSupport(enum DeviceType device_type, ModelType model_type);
  std::string GetModelInfo(const std::string &key);
  Status Finalize();

  // Training. If the model is built for inference, these functions return kLiteNotSupport or an empty list. Returned
  // tensors refer to memory of the model; their data is valid until the next call of the model.

  /// Sets the metrics that Evaluate computes. The caller owns them and must keep them as long as they are used.
  Status InitMetrics(std::vector<Metrics *> metrics);
  std::vector<Metrics *> GetMetrics();
  /// Trains for a number of epochs. The callbacks are called in the order of the list.
  Status Train(int epochs, std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks);
  /// Runs the model once over the data in evaluation mode and updates the metrics.
  Status Evaluate(std::shared_ptr<dataset::Dataset> data, std::vector<TrainCallBack *> callbacks);
  /// Switches between training mode and evaluation mode. In training mode, a run is a training step and the outputs are
  /// the losses. In evaluation mode, a run is an inference with the current weights. Call GetOutputs again after a
  /// switch.
  Status SetTrainMode(bool train);
  bool GetTrainMode() const;
  /// Returns the gradients of the last training step, or their sum over the steps of a virtual batch. Returns an empty
  /// list and logs an error if the model was converted with `--trainMemory`, or built with `keep_gradients_` off, and
  /// gradients are not accumulated: the memory of each gradient is reused after its weight has been updated.
  std::vector<MSTensor> GetGradients() const;
  /// Updates the weights with the given gradients. There must be one for each tensor of GetGradients(), with its name.
  ///
  /// Errors: kLiteParamInvalid for a wrong name or size.
  Status ApplyGradients(const std::vector<MSTensor> &gradients);
  /// Returns the weights that are used for inference.
  std::vector<MSTensor> GetFeatureMaps() const;
  /// Returns the trainable parameters: the weights that the optimizers update.
  std::vector<MSTensor> GetTrainableParams() const;
  /// Replaces the values of weights. The tensors are matched by name.
  ///
  /// Errors: kLiteParamInvalid for a wrong name, type or size.
  Status UpdateFeatureMaps(const std::vector<MSTensor> &new_weights);
  /// Returns the hyperparameters of the optimizers: learning rates and others.
  std::vector<MSTensor> GetOptimizerParams() const;
  Status SetOptimizerParams(const std::vector<MSTensor> &params);
  /// Sets the learning rate of all optimizers.
  ///
  /// Errors: kLiteParamInvalid for a negative value; kLiteNotSupport if the graph computes the learning rate.
  Status SetLearningRate(float learning_rate);
  float GetLearningRate();
  /// Accumulates gradients: the weights are updated once in `virtual_batch_multiplier` steps, with the sum of the
  /// gradients. A value below 2 turns accumulation off and restores the previous learning rate. `lr` is the learning
  /// rate, `momentum` that of batch normalization; if negative, the current value divided by the multiplier is used.
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
