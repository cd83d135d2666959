// The table of the functions of the C API for training. In a runtime that was cropped for C programs
// (cropper/crop.py), its entries are null: such a runtime does not support training.
#ifndef MSLITE_API_C_TRAINING_H
#define MSLITE_API_C_TRAINING_H

#include "include/c_api/model_c.h"

namespace mslite {
struct CTraining {
  decltype(&MSTrainCfgCreate) train_cfg_create;
  decltype(&MSTrainCfgDestroy) train_cfg_destroy;
  decltype(&MSTrainCfgGetLossName) train_cfg_get_loss_name;
  decltype(&MSTrainCfgSetLossName) train_cfg_set_loss_name;
  decltype(&MSTrainCfgGetOptimizationLevel) train_cfg_get_optimization_level;
  decltype(&MSTrainCfgSetOptimizationLevel) train_cfg_set_optimization_level;
  decltype(&MSTrainCfgGetKeepGradients) train_cfg_get_keep_gradients;
  decltype(&MSTrainCfgSetKeepGradients) train_cfg_set_keep_gradients;
  decltype(&MSTrainModelBuild) train_model_build;
  decltype(&MSTrainModelBuildFromFile) train_model_build_from_file;
  decltype(&MSModelSetTrainMode) model_set_train_mode;
  decltype(&MSModelGetTrainMode) model_get_train_mode;
  decltype(&MSModelSetLearningRate) model_set_learning_rate;
  decltype(&MSModelGetLearningRate) model_get_learning_rate;
  decltype(&MSModelSetupVirtualBatch) model_setup_virtual_batch;
  decltype(&MSModelGetWeights) model_get_weights;
  decltype(&MSModelUpdateWeights) model_update_weights;
  decltype(&MSExportModel) export_model;
  decltype(&MSExportAdapter) export_adapter;
  decltype(&MSExportModelBuffer) export_model_buffer;
  decltype(&MSExportWeightsCollaborateWithMicro) export_weights_collaborate_with_micro;
};
extern "C" const CTraining mslite_part_training[1];
}  // namespace mslite

#endif
