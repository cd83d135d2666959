// The command line of `benchmark_train`, with the flags of MindSpore Lite.
#ifndef MSLITE_BENCHMARK_TRAIN_FLAGS_H_
#define MSLITE_BENCHMARK_TRAIN_FLAGS_H_

#include <string>
#include <vector>

namespace mslite::benchmark {

struct TrainFlags {
  std::string modelFile;
  std::string bbModelFile;
  std::string inDataFile;
  std::string expectedDataFile;
  int epochs = 1;
  int warmUpLoopCount = 0;
  int numThreads = 1;
  int cpuBindMode = 1;
  float accuracyThreshold = 0.5F;
  std::string exportFile;
  std::string inferenceFile;
  bool timeProfiling = false;
  bool layerCheckSum = false;
  bool enableFp16 = false;
  bool virtualBatch = false;
  bool keepGradients = true;
  bool unifiedApi = false;
  std::string lossName;
  std::string inputShapes;
  bool version = false;
  bool help = false;
};

// Fills `flags` from the command line. Returns an error message, or "".
std::string ParseTrainFlags(const std::vector<std::string> &arguments, TrainFlags *flags);

// Returns the usage text, with examples.
std::string TrainUsage();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_TRAIN_FLAGS_H_
