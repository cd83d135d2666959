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
/// Functions that read and write model files.
class MS_API Serialization {
 public:
  /// Loads a model from memory. The bytes are copied, or decrypted with `dec_key` if it is not empty.
  static Status Load(const void *model_data, size_t data_size, ModelType model_type, Graph *graph,
                     const Key &dec_key = {}, const std::string &dec_mode = kDecModeAesGcm);
  /// Loads a model file. The suffix ".ms" is added to a path without it.
  static Status Load(const std::string &file, ModelType model_type, Graph *graph, const Key &dec_key = {},
                     const std::string &dec_mode = kDecModeAesGcm);
  static Status Load(const std::vector<std::string> &files, ModelType model_type, std::vector<Graph> *graphs,
                     const Key &dec_key = {}, const std::string &dec_mode = kDecModeAesGcm);
  static Status SetParameters(const std::map<std::string, Buffer> &parameters, Model *model);

  /// Writes a model that is built for training as a `.ms` file, with its current weights. With `export_inference_only`,
  /// the file has the inference graph, with the outputs `output_tensor_name` (names of tensors or nodes; if empty,
  /// those of the model). Without it, the file has the training graph and the optimizer state, and training can
  /// continue. The file is replaced atomically. The suffix ".ms" is added to a path without it.
  ///
  /// Errors: kLiteNotSupport for a model that is built for inference, another model type or an unsupported
  /// quantization; kLiteParamInvalid for an unknown output; kLiteFileError if the file cannot be written.
  static Status ExportModel(const Model &model, ModelType model_type, Buffer *model_data,
                            QuantizationType quantization_type = kNoQuant, bool export_inference_only = true,
                            std::vector<std::string> output_tensor_name = {});
  static Status ExportModel(const Model &model, ModelType model_type, const std::string &model_file,
                            QuantizationType quantization_type = kNoQuant, bool export_inference_only = true,
                            std::vector<std::string> output_tensor_name = {});
  /// Writes the trained low-rank adapters (LoRA) of a model, without its other weights, as a `.ms` file for
  /// Model::LoadAdapter. The suffix ".ms" is added to a path without it. mslite extension.
  ///
  /// Errors: kLiteNotSupport for a model without adapters or a model that is not built for training; kLiteFileError.
  static Status ExportAdapter(const Model &model, const std::string &adapter_file);
  /// Writes the current inference weights of a model that is built for training, as a weight file net<i>.bin of
  /// generated C. mslite-codegen must have generated the C with keep_original_weight=true from the inference model that
  /// ExportModel writes. With `enable_fp16`, weights are stored as float16 and the generated C converts them to
  /// float32. `changeable_weights_name` must be the same as for mslite-codegen. No suffix is added to the path. The
  /// file is replaced atomically.
  ///
  /// Errors: kLiteNotSupport for a model that is built for inference, another model type or is_inference=false;
  /// kLiteInputParamInvalid for names that are not those of float32 weights; kLiteParamInvalid for weights outside the
  /// range of float16 (enable_fp16); kLiteFileError if the file cannot be written.
  static Status ExportWeightsCollaborateWithMicro(const Model &model, ModelType model_type,
                                                  const std::string &weight_file, bool is_inference = true,
                                                  bool enable_fp16 = false,
                                                  const std::vector<std::string> &changeable_weights_name = {});
};
}  // namespace mindspore

#endif
