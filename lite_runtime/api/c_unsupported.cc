// What the C API of MindSpore Lite has and this library does not: training in the runtime.
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "api/log.h"
#include "include/api/cfg.h"
#include "include/c_api/model_c.h"

namespace {
mindspore::TrainCfg *To(MSTrainCfgHandle handle) { return static_cast<mindspore::TrainCfg *>(handle); }

MSStatus NoTraining(const char *what) {
  mslite::Log(mslite::LogLevel::kError, std::string(what) + ": training is not supported by this library");
  return kMSStatusLiteNotSupport;
}
}  // namespace

MSTrainCfgHandle MSTrainCfgCreate() { return new (std::nothrow) mindspore::TrainCfg; }
void MSTrainCfgDestroy(MSTrainCfgHandle *train_cfg) {
  if (train_cfg == nullptr) return;
  delete To(*train_cfg);
  *train_cfg = nullptr;
}

char **MSTrainCfgGetLossName(MSTrainCfgHandle train_cfg, size_t *num) {
  if (num == nullptr) return nullptr;
  *num = 0;
  if (train_cfg == nullptr) return nullptr;
  char **names = nullptr;
  mslite::Guard([&]() -> mindspore::Status {
    const std::vector<std::string> texts = To(train_cfg)->GetLossName();
    names = static_cast<char **>(std::calloc(texts.size() + 1, sizeof(char *)));
    for (; names != nullptr && *num < texts.size(); ++*num) {
      names[*num] = strdup(texts[*num].c_str());
      if (names[*num] == nullptr) break;
    }
    return mindspore::kSuccess;
  });
  return names;
}
void MSTrainCfgSetLossName(MSTrainCfgHandle train_cfg, const char **loss_name, size_t num) {
  if (train_cfg == nullptr || (loss_name == nullptr && num != 0)) return;
  mslite::Guard([&]() -> mindspore::Status {
    std::vector<std::string> names;
    for (size_t i = 0; i < num; ++i) names.emplace_back(loss_name[i] == nullptr ? "" : loss_name[i]);
    To(train_cfg)->SetLossName(names);
    return mindspore::kSuccess;
  });
}
MSOptimizationLevel MSTrainCfgGetOptimizationLevel(MSTrainCfgHandle train_cfg) {
  return train_cfg == nullptr ? kMSKO0 : static_cast<MSOptimizationLevel>(To(train_cfg)->optimization_level_);
}
void MSTrainCfgSetOptimizationLevel(MSTrainCfgHandle train_cfg, MSOptimizationLevel level) {
  if (train_cfg == nullptr) return;
  To(train_cfg)->optimization_level_ = static_cast<mindspore::OptimizationLevel>(level);
}

MSStatus MSTrainModelBuild(MSModelHandle, const void *, size_t, MSModelType, const MSContextHandle,
                           const MSTrainCfgHandle) {
  return NoTraining("MSTrainModelBuild");
}
MSStatus MSTrainModelBuildFromFile(MSModelHandle, const char *, MSModelType, const MSContextHandle,
                                   const MSTrainCfgHandle) {
  return NoTraining("MSTrainModelBuildFromFile");
}
MSStatus MSRunStep(MSModelHandle, const MSKernelCallBackC, const MSKernelCallBackC) { return NoTraining("MSRunStep"); }
MSStatus MSModelSetLearningRate(MSModelHandle, float) { return NoTraining("MSModelSetLearningRate"); }
float MSModelGetLearningRate(MSModelHandle) { return 0.0f; }
MSTensorHandleArray MSModelGetWeights(MSModelHandle) { return {0, nullptr}; }
bool MSModelGetTrainMode(MSModelHandle) { return false; }
MSStatus MSModelSetupVirtualBatch(MSModelHandle, int, float, float) { return NoTraining("MSModelSetupVirtualBatch"); }
MSStatus MSExportModel(MSModelHandle, MSModelType, const char *, MSQuantizationType, bool, char **, size_t) {
  return NoTraining("MSExportModel");
}
MSStatus MSExportModelBuffer(MSModelHandle, MSModelType, char **, size_t *, MSQuantizationType, bool, char **, size_t) {
  return NoTraining("MSExportModelBuffer");
}
MSStatus MSExportWeightsCollaborateWithMicro(MSModelHandle, MSModelType, const char *, bool, bool, char **, size_t) {
  return NoTraining("MSExportWeightsCollaborateWithMicro");
}
