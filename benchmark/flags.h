// The command line of `benchmark`: the flags of MindSpore Lite and of mslite.
#ifndef MSLITE_BENCHMARK_FLAGS_H_
#define MSLITE_BENCHMARK_FLAGS_H_

#include <string>
#include <vector>

#include "command_line.h"

namespace mslite::benchmark {

struct Flags {
  std::string modelFile;
  std::string modelType = "MindIR";
  std::string device = "CPU";
  int deviceId = 0;
  std::string inDataFile;
  std::string inputShapes;
  std::string inputShape;
  std::string shapeStep;
  std::string benchmarkDataFile;
  std::string benchmarkDataType = "FLOAT";
  float accuracyThreshold = 0.5F;
  float cosineDistanceThreshold = -1.1F;
  int loopCount = 10;
  int warmUpLoopCount = 3;
  int numThreads = 2;
  int cpuBindMode = 1;
  std::string cpuCoreList;
  int interOpParallelNum = 1;
  int stepLimit = 0;
  int timeLimit = 0;
  int memoryLimit = 0;
  bool enableFp16 = false;
  bool enableParallel = false;
  bool enableParallelPredict = false;
  int parallelNum = 2;
  int parallelTaskNum = 2;
  int workersNum = 2;
  float requestRate = 0;  // 0: not given
  bool timeProfiling = false;
  std::string configFile;
  std::string pluginPath;
  std::string provider;
  std::string decryptKey;  // hexadecimal digits
  std::string cryptoLibPath;
  std::string verifyDigest;  // "on", or the expected digest
  std::string jsonFile;
  std::string htmlFile;
  bool quiet = false;
  bool version = false;
  bool help = false;
};

// Fills `flags` from the command line. Returns an error message, or "".
std::string ParseFlags(const std::vector<std::string> &arguments, Flags *flags);

// Returns the bytes of a key and clears the digits.
std::string TakeKey(std::string *digits);

// Returns the usage text, with examples.
std::string Usage();

}  // namespace mslite::benchmark

#endif  // MSLITE_BENCHMARK_FLAGS_H_
