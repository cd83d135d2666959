/* Models of the C API. Handles and arrays that a model returns belong to the model. If a call fails, the reason is
   logged to standard error (the environment variable GLOG_v=4 turns the log off). */
#ifndef MINDSPORE_INCLUDE_C_API_MODEL_C_H
#define MINDSPORE_INCLUDE_C_API_MODEL_C_H

#include "include/c_api/context_c.h"
#include "include/c_api/status_c.h"
#include "include/c_api/tensor_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *MSModelHandle;

typedef struct MSTensorHandleArray {
  size_t handle_num;
  MSTensorHandle *handle_list;
} MSTensorHandleArray;

#define MS_MAX_SHAPE_NUM 32
typedef struct MSShapeInfo {
  size_t shape_num;
  int64_t shape[MS_MAX_SHAPE_NUM];
} MSShapeInfo;

typedef struct MSCallBackParamC {
  char *node_name;
  char *node_type;
} MSCallBackParamC;

/* A callback before or after a node. The arguments are valid only during the call. */
typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                                  const MSCallBackParamC kernel_info);

MS_API MSModelHandle MSModelCreate(void);
MS_API void MSModelDestroy(MSModelHandle *model);
/* Workspace of generated C for microcontrollers. In the runtime, these functions return kMSStatusLiteNotSupport and
   0. */
MS_API MSStatus MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size);
MS_API size_t MSModelCalcWorkspaceSize(MSModelHandle model);
/* Builds a model from memory or from a file. On success, the model owns the context: the caller must not destroy it.
   In generated C, the caller keeps the context. */
MS_API MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                             const MSContextHandle model_context);
MS_API MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                     const MSContextHandle model_context);
/* Builds an encrypted model. The key has 16, 24 or 32 bytes; the caller should clear it afterwards. `dec_mode` is
   "AES-GCM" or NULL, which means the same. OpenSSL's libcrypto is loaded from `crypto_lib_path`; if this is NULL, the
   linker searches for it. Returns kMSStatusLiteGraphFileError for a wrong key or a file that was changed. mslite
   extension; not in generated C. */
MS_API MSStatus MSModelBuildWithKey(MSModelHandle model, const void *model_data, size_t data_size,
                                    MSModelType model_type, const MSContextHandle model_context, const void *dec_key,
                                    size_t key_size, const char *dec_mode, const char *crypto_lib_path);
MS_API MSStatus MSModelBuildFromFileWithKey(MSModelHandle model, const char *model_path, MSModelType model_type,
                                            const MSContextHandle model_context, const void *dec_key, size_t key_size,
                                            const char *dec_mode, const char *crypto_lib_path);
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                              size_t shape_info_num);
/* Runs the model. If `outputs->handle_num` is 0, the array is filled with the output handles of the model. */
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                               const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Queues a run for a thread of the model and returns. `inputs` and `outputs` must not change until `done` has been
   called. `done` is called exactly once: on that thread, or before this function returns if the request is refused.
   `outputs` is filled as by MSModelPredict. Output tensors of the model are valid until `done` returns, because the
   next request then starts. mslite extension; not in generated C. */
typedef void (*MSPredictDone)(MSStatus status, void *user_data);
MS_API MSStatus MSModelPredictAsync(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                                    MSPredictDone done, void *user_data);
/* The same as MSModelPredictAsync, and sets `*run` to a handle of the request, which MSAsyncRunDestroy frees. `done`
   may be NULL. The handle is set when the function returns, which may be after the call of `done`. If the function
   fails, the handle is NULL and `done` is not called. If the queue is full, the request ends with
   kMSStatusLiteServiceDeny. This function and those of MSAsyncRun are mslite extensions and not in generated C. */
typedef void *MSAsyncRunHandle;
MS_API MSStatus MSModelStartPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                                    MSPredictDone done, void *user_data, MSAsyncRunHandle *run);
/* Cancels a request, from any thread. A waiting request ends at once; this function calls its `done`. A running request
   ends before its next operator, or succeeds if it is past the last one. The status of a canceled request is
   kMSStatusLiteServiceDeny. Returns false if the request has already ended. Other requests are not affected. */
MS_API bool MSAsyncRunCancel(MSAsyncRunHandle run);
/* Waits until the request has ended and `done` has returned. Returns the status of the request. Must not be called in
   `done`. */
MS_API MSStatus MSAsyncRunWait(MSAsyncRunHandle run);
/* Returns true if the request has ended and `done` has returned. */
MS_API bool MSAsyncRunIsDone(const MSAsyncRunHandle run);
/* Frees the handle and sets it to NULL. The request continues. */
MS_API void MSAsyncRunDestroy(MSAsyncRunHandle *run);
/* Cancels the current run of the model, from any thread. The run ends before its next operator with
   kMSStatusLiteServiceDeny. Returns false if the model is not running. */
MS_API bool MSModelCancelPredict(MSModelHandle model);
/* The same as MSRunStep. */
MS_API MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Switches between training mode and evaluation mode. In training mode, a run is a training step and the outputs are
   the losses. In evaluation mode, a run is an inference with the current weights. A model is built in evaluation mode.
   After a switch, an output handle refers to the output with the same index; call MSModelGetOutputs again for the
   array. Returns kMSStatusLiteNotSupport for `true` if the model is built for inference. */
MS_API MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train);
/* Writes the weights in generated C that trains. In the runtime, it returns kMSStatusLiteNotSupport. */
MS_API MSStatus MSModelExportWeight(const MSModelHandle model, const char *export_path);
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name);
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name);

/* Replaces the values of constants, which are matched by name and must have the same type and size, and plans the model
   again. In a model that is built for training, it replaces weights of MSModelGetWeights and trainable parameters. On
   failure, the old weights stay. Not in generated C. */
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights);

/* Load a low-rank adapter (LoRA) that MSExportAdapter has written, which replaces the previous one, or remove the
   adapter. mslite extensions; not in generated C. */
MS_API MSStatus MSModelLoadAdapter(MSModelHandle model, const char *adapter_path);
MS_API MSStatus MSModelUnloadAdapter(MSModelHandle model);

/* Training in the runtime. It needs libmindspore-lite-train, which is in the folder of the library or is linked to the
   program; without it, MSTrainModelBuild returns kMSStatusLiteNotSupport. If the model is built for inference,
   MSRunStep runs an inference and the other functions return kMSStatusLiteNotSupport. Not in generated C. */
typedef void *MSTrainCfgHandle;

MS_API MSTrainCfgHandle MSTrainCfgCreate(void);
MS_API void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg);
/* Returns the names. The caller frees each name and then the array, with free(). Returns NULL, and 0 in `*num`, if
   memory is exhausted. */
MS_API char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num);
MS_API void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num);
MS_API MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level);
/* If true, gradients are kept until the next step. If false, the memory of each gradient is reused after its weight has
   been updated; losses and weights are the same. mslite extension. */
MS_API bool MSTrainCfgGetKeepGradients(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetKeepGradients(MSTrainCfgHandle train_cfg, bool keep_gradients);

/* Builds a training model from memory or from a file. On success, the model owns the context. The configuration is
   copied; the caller destroys it. Returns kMSStatusLiteGraphFileError for a model without a loss or without
   optimizers. */
MS_API MSStatus MSTrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                                  const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                          const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
/* Runs the model with the data of the tensors of MSModelGetInputs; the results are in the tensors of MSModelGetOutputs.
   In training mode, it is one training step, which updates the weights. The callbacks may be NULL. */
MS_API MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Sets the learning rate of all optimizers. */
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
MS_API float MSModelGetLearningRate(MSModelHandle model);
/* Returns the weights that are used for inference. The handles are valid until the next call of this function or until
   the model is destroyed, and their data until the next call of the model. */
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model);
MS_API bool MSModelGetTrainMode(MSModelHandle model);
/* Accumulates gradients: the weights are updated once in `virtual_batch_multiplier` steps, with the sum of the
   gradients. A value below 2 turns accumulation off and restores the previous learning rate. `lr` is the learning rate,
   `momentum` that of batch normalization; if negative, the current value divided by the multiplier is used. */
MS_API MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum);
/* Writes the model with its current weights as a `.ms` file, which is replaced atomically. The suffix ".ms" is added to
   a path without it. With `export_inference_only`, the file has the inference graph with the given outputs (names of
   tensors or nodes; num 0: those of the model). Without it, the file has the training graph and the optimizer state,
   and training can continue. Returns kMSStatusLiteNotSupport for an unsupported quantization_type. */
MS_API MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                              MSQuantizationType quantization_type, bool export_inference_only,
                              char **output_tensor_name, size_t num);
/* The same as MSExportModel, into memory that the caller frees with free(). Sets NULL and 0 on failure. */
MS_API MSStatus MSExportModelBuffer(MSModelHandle model, MSModelType model_type, char **model_data, size_t *data_size,
                                    MSQuantizationType quantization_type, bool export_inference_only,
                                    char **output_tensor_name, size_t num);
/* Writes the trained low-rank adapters (LoRA), without the other weights, for MSModelLoadAdapter. mslite extension. */
MS_API MSStatus MSExportAdapter(MSModelHandle model, const char *adapter_file);
/* Writes the current inference weights as a weight file of generated C. See
   Serialization::ExportWeightsCollaborateWithMicro in include/api/serialization.h. */
MS_API MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle model, MSModelType model_type,
                                                    const char *weight_file, bool is_inference, bool enable_fp16,
                                                    char **changeable_weights_name, size_t num);

#ifdef __cplusplus
}
#endif
#endif
