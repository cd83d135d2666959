/// Loading of model files into graphs, and writing of trained models.
#ifndef MINDSPORE_INCLUDE_API_SERIALIZATION_H
#define MINDSPORE_INCLUDE_API_SERIALIZATION_H

#include <map>
#include <string>
#include <vector>

#include "include/api/graph.h"
#include "include/api/model.h"
#include "include/api/status.h"
#include "include/api/types.h"

namespace mindspore {
class MS_API Serialization {
 public:
  /// Copies the bytes of a model, or decrypts them with a key that is not empty, as Model::Build does.
  static Status Load(const void *model_data, size_t data_size, ModelType model_type, Graph *graph,
                     const Key &dec_key = {}, const std::string &dec_mode = kDecModeAesGcm);
  /// Opens a model file; ".ms" is added to a path that has no such suffix.
  static Status Load(const std::string &file, ModelType model_type, Graph *graph, const Key &dec_key = {},
                     const std::string &dec_mode = kDecModeAesGcm);
  static Status Load(const std::vector<std::string> &files, ModelType model_type, std::vector<Graph> *graphs,
                     const Key &dec_key = {}, const std::string &dec_mode = kDecModeAesGcm);
  static Status SetParameters(const std::map<std::string, Buffer> &parameters, Model *model);

  /// Writes a model that is built for training, as it is, as a `.ms` file: the part for inference, with these outputs
  /// (names of tensors or nodes; none: its own), or the training graph, which goes on where it was. A file is there
  /// whole or as it was before; ".ms" is added to a path that has no such suffix.
  ///
  /// Errors: kLiteNotSupport for a model that is built for inference, another type or a quantization that cannot be
  /// written; kLiteParamInvalid for an output that is not there; kLiteFileError where the file cannot be written.
  static Status ExportModel(const Model &model, ModelType model_type, Buffer *model_data,
                            QuantizationType quantization_type = kNoQuant, bool export_inference_only = true,
                            std::vector<std::string> output_tensor_name = {});
  static Status ExportModel(const Model &model, ModelType model_type, const std::string &model_file,
                            QuantizationType quantization_type = kNoQuant, bool export_inference_only = true,
                            std::vector<std::string> output_tensor_name = {});
  /// Writes what a model with low-rank adapters has learned, and nothing of its base, as a `.ms` file for
  /// Model::LoadAdapter; the path as in ExportModel. Beyond MindSpore Lite.
  ///
  /// Errors: kLiteNotSupport for a model that has no adapters or is not built for training; kLiteFileError.
  static Status ExportAdapter(const Model &model, const std::string &adapter_file);
  /// Writes the weights of a model that is built for training, as inference reads them now, as the file net<i>.bin of C
  /// that mslite-codegen has made with keep_original_weight=true of the inference model that ExportModel writes. Only
  /// for inference. `enable_fp16` writes half of the bytes, which the C turns into float32. `changeable_weights_name`
  /// must be what the C was made with. The path is taken as it is; the file is there whole or as it was before.
  ///
  /// Errors: kLiteNotSupport for a model that is built for inference, another type, or is_inference=false;
  /// kLiteInputParamInvalid for names of no float32 weights; kLiteParamInvalid for weights beyond float16
  /// (enable_fp16); kLiteFileError where the file cannot be written.
  static Status ExportWeightsCollaborateWithMicro(const Model &model, ModelType model_type,
                                                  const std::string &weight_file, bool is_inference = true,
                                                  bool enable_fp16 = false,
                                                  const std::vector<std::string> &changeable_weights_name = {});
};
}  // namespace mindspore

#endif
