/* Models of the C API. Handles and arrays that a model returns belong to it. Why a call failed is in the log, on the
   standard error stream (the environment variable GLOG_v=4 turns it off). */
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

/* The arguments hold during the call only. */
typedef bool (*MSKernelCallBackC)(const MSTensorHandleArray inputs, const MSTensorHandleArray outputs,
                                  const MSCallBackParamC kernel_info);

MS_API MSModelHandle MSModelCreate(void);
MS_API void MSModelDestroy(MSModelHandle *model);
/* For generated C on microcontrollers; elsewhere kMSStatusLiteNotSupport and 0. */
MS_API MSStatus MSModelSetWorkspace(MSModelHandle model, void *workspace, size_t workspace_size);
MS_API size_t MSModelCalcWorkspaceSize(MSModelHandle model);
/* On success the context belongs to the model: it must not be destroyed. In generated C it stays the caller's. */
MS_API MSStatus MSModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                             const MSContextHandle model_context);
MS_API MSStatus MSModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                     const MSContextHandle model_context);
/* As the two above for encrypted models, with a key of 16, 24 or 32 bytes, which is the caller's to wipe. `dec_mode` is
   "AES-GCM", or NULL for the same; OpenSSL's libcrypto is loaded from `crypto_lib_path`, or where the linker finds it
   when that is NULL. kMSStatusLiteGraphFileError: another key, or a file that was changed. Beyond MindSpore Lite; not
   in generated C. */
MS_API MSStatus MSModelBuildWithKey(MSModelHandle model, const void *model_data, size_t data_size,
                                    MSModelType model_type, const MSContextHandle model_context, const void *dec_key,
                                    size_t key_size, const char *dec_mode, const char *crypto_lib_path);
MS_API MSStatus MSModelBuildFromFileWithKey(MSModelHandle model, const char *model_path, MSModelType model_type,
                                            const MSContextHandle model_context, const void *dec_key, size_t key_size,
                                            const char *dec_mode, const char *crypto_lib_path);
MS_API MSStatus MSModelResize(MSModelHandle model, const MSTensorHandleArray inputs, MSShapeInfo *shape_infos,
                              size_t shape_info_num);
/* An output array with handle_num 0 is filled with handles of the model. */
MS_API MSStatus MSModelPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                               const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Beyond MindSpore Lite, as the next one; not in generated C. Queues a run for a thread
   of the model and returns. `inputs` and `outputs` must stay as they are until `done` has been called, which happens
   exactly once: on that thread, or before this returns when the request is refused. `outputs` is filled as
   MSModelPredict does; tensors of the model hold until `done` returns, for then the next request begins. */
typedef void (*MSPredictDone)(MSStatus status, void *user_data);
MS_API MSStatus MSModelPredictAsync(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                                    MSPredictDone done, void *user_data);
/* As MSModelPredictAsync, with a handle of the request in `*run`, which MSAsyncRunDestroy frees; `done` may be NULL.
   The handle is set when this returns, which may be after `done` has been called; NULL where this fails, and then
   `done` is not called. A request that is refused because as many wait as may has ended with kMSStatusLiteServiceDeny.
   Beyond MindSpore Lite, as all that begins with MSAsyncRun; not in generated C. */
typedef void *MSAsyncRunHandle;
MS_API MSStatus MSModelStartPredict(MSModelHandle model, const MSTensorHandleArray inputs, MSTensorHandleArray *outputs,
                                    MSPredictDone done, void *user_data, MSAsyncRunHandle *run);
/* From any thread. A request that waits ends at once and is never begun, and this calls its `done`; one that runs ends
   before its next operator. Their status is kMSStatusLiteServiceDeny (a run that is past its last operator still
   succeeds). False when it had ended already. Never ends another request. */
MS_API bool MSAsyncRunCancel(MSAsyncRunHandle run);
/* Blocks until the request has ended and `done` has returned; gives its status. Must not be called in `done`. */
MS_API MSStatus MSAsyncRunWait(MSAsyncRunHandle run);
/* Whether it has ended and `done` has returned. */
MS_API bool MSAsyncRunIsDone(const MSAsyncRunHandle run);
/* Sets the handle to NULL. The request goes on. */
MS_API void MSAsyncRunDestroy(MSAsyncRunHandle *run);
/* From any thread: ends the run of the model that goes on before its next operator, with kMSStatusLiteServiceDeny.
   False when none does. */
MS_API bool MSModelCancelPredict(MSModelHandle model);
/* As MSRunStep. */
MS_API MSStatus MSModelRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Between training, where a run is a step and the outputs are the losses, and evaluation, where a built model begins
   and a run infers with the weights as they are. The handle of an output shows the output of the same place afterwards;
   their array is to be asked for again. kMSStatusLiteNotSupport for `true` where the model is built for inference. */
MS_API MSStatus MSModelSetTrainMode(const MSModelHandle model, bool train);
/* For generated C that trains; elsewhere kMSStatusLiteNotSupport. */
MS_API MSStatus MSModelExportWeight(const MSModelHandle model, const char *export_path);
MS_API MSTensorHandleArray MSModelGetInputs(const MSModelHandle model);
MS_API MSTensorHandleArray MSModelGetOutputs(const MSModelHandle model);
MS_API MSTensorHandle MSModelGetInputByTensorName(const MSModelHandle model, const char *tensor_name);
MS_API MSTensorHandle MSModelGetOutputByTensorName(const MSModelHandle model, const char *tensor_name);

/* Gives constants of the file, found by the names of the tensors, other contents of the same type and size, and plans
   again; of a model that is built for training, what MSModelGetWeights shows and what is trained. On failure the old
   ones stay. Not in generated C. */
MS_API MSStatus MSModelUpdateWeights(MSModelHandle model, const MSTensorHandleArray new_weights);

/* Lets products of the model add what a low-rank adapter of MSExportAdapter has learned, in place of the one before; or
   no adapter, so that it computes what it did at first. Beyond MindSpore Lite, and not in generated C. */
MS_API MSStatus MSModelLoadAdapter(MSModelHandle model, const char *adapter_path);
MS_API MSStatus MSModelUnloadAdapter(MSModelHandle model);

/* Training in the runtime, by libmindspore-lite-train, which lies beside the library or is linked to the program; not
   in generated C. Without that library MSTrainModelBuild is kMSStatusLiteNotSupport; with a model that is built for
   inference all that follows it, but for MSRunStep, which infers. */
typedef void *MSTrainCfgHandle;

MS_API MSTrainCfgHandle MSTrainCfgCreate(void);
MS_API void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg);
/* The texts and their array are from malloc; the caller frees each text, then the array. Without memory NULL and 0. */
MS_API char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num);
MS_API void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num);
MS_API MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level);
/* Whether gradients are kept until the next step (true), or each gives up its memory when its weight has been updated:
   the same losses and weights. Beyond MindSpore Lite. */
MS_API bool MSTrainCfgGetKeepGradients(MSTrainCfgHandle train_cfg);
MS_API void MSTrainCfgSetKeepGradients(MSTrainCfgHandle train_cfg, bool keep_gradients);

/* As MSModelBuild, of a training graph. The context belongs to the model on success; the configuration is copied and
   stays the caller's. kMSStatusLiteGraphFileError for a model without a loss or without optimizers. */
MS_API MSStatus MSTrainModelBuild(MSModelHandle model, const void *model_data, size_t data_size, MSModelType model_type,
                                  const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
MS_API MSStatus MSTrainModelBuildFromFile(MSModelHandle model, const char *model_path, MSModelType model_type,
                                          const MSContextHandle model_context, const MSTrainCfgHandle train_cfg);
/* Runs on what the tensors of MSModelGetInputs hold, into those of MSModelGetOutputs: in train mode one step, which
   changes the weights. The functions may be NULL. */
MS_API MSStatus MSRunStep(MSModelHandle model, const MSKernelCallBackC before, const MSKernelCallBackC after);
/* Of all optimizers. */
MS_API MSStatus MSModelSetLearningRate(MSModelHandle model, float learning_rate);
MS_API float MSModelGetLearningRate(MSModelHandle model);
/* The weights that inference reads, as they are. The handles hold until the next call of this or until the model goes,
   what they show until the next call of the model. */
MS_API MSTensorHandleArray MSModelGetWeights(MSModelHandle model);
MS_API bool MSModelGetTrainMode(MSModelHandle model);
/* Updates the weights once for so many steps, by the sum of their gradients; less than 2: for each again, with the
   learning rate of before. `momentum` is that of batch normalization. A negative `lr` or `momentum` stands for the
   present one divided by the multiplier. */
MS_API MSStatus MSModelSetupVirtualBatch(MSModelHandle model, int virtual_batch_multiplier, float lr, float momentum);
/* Writes the model as it is, as a `.ms` file, whole or not at all; ".ms" is added to a path without it. With
   `export_inference_only` the part for inference, with these outputs (names of tensors or nodes; num 0: its own);
   without, the training graph, which goes on where it was. kMSStatusLiteNotSupport for a quantization_type that cannot
   be written. */
MS_API MSStatus MSExportModel(MSModelHandle model, MSModelType model_type, const char *model_file,
                              MSQuantizationType quantization_type, bool export_inference_only,
                              char **output_tensor_name, size_t num);
/* The same into memory from malloc, which the caller frees; NULL and 0 on failure. */
MS_API MSStatus MSExportModelBuffer(MSModelHandle model, MSModelType model_type, char **model_data, size_t *data_size,
                                    MSQuantizationType quantization_type, bool export_inference_only,
                                    char **output_tensor_name, size_t num);
/* Writes what low-rank adapters have learned, and nothing of their base, for MSModelLoadAdapter. */
MS_API MSStatus MSExportAdapter(MSModelHandle model, const char *adapter_file);
/* kMSStatusLiteNotSupport. */
MS_API MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle model, MSModelType model_type,
                                                    const char *weight_file, bool is_inference, bool enable_fp16,
                                                    char **changeable_weights_name, size_t num);

#ifdef __cplusplus
}
#endif
#endif
