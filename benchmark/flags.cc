#include "flags.h"

#include <cstdint>
#include <set>

#include "load.h"

namespace mslite::benchmark {
namespace {

constexpr int64_t kMaxRequests = 10'000'000;  // each needs 48 bytes
constexpr int kHighestRate = 1'000'000;
constexpr char kHexadecimal[] = "0123456789abcdefABCDEF";

std::vector<FlagGroup> Table(Flags *f) {
  return {
      {"model",
       {
           {"modelFile", &f->modelFile, "FILE", "the .ms model (required)"},
           {"modelType", &f->modelType, "MindIR|MindIR_Lite", "type of the model; both are .ms files"},
           {"configFile", &f->configFile, "FILE", "configuration for Model::LoadConfig"},
           {"pluginPath", &f->pluginPath, "A.so;B.so", "plug-ins with kernels of custom operators"},
           {"provider", &f->provider, "NAME",
            "provider whose registered kernels are preferred to those of the library"},
       }},
      {"input",
       {
           {"inDataFile", &f->inDataFile, "A,B,...", "one raw binary file for each input; default: random data"},
           {"inputShape", &f->inputShape, "a:1,32,32,3;b:1,10", "input shapes by name"},
           {"inputShapes", &f->inputShapes, "1,32,32,3:1,10", "input shapes by position"},
       }},
      {"device and threads",
       {
           {"device", &f->device, "CPU|GPU", "device (CPU); nodes that the GPU does not support run on the CPU"},
           {"deviceId", &f->deviceId, "N", "with --device=GPU: index of the GPU (0)"},
           {"numThreads", &f->numThreads, "N", "number of threads (2)"},
           {"interOpParallelNum", &f->interOpParallelNum, "N", "operators that run at the same time (1)"},
           {"cpuBindMode", &f->cpuBindMode, "0|1|2", "no binding, big cores first, middle cores first (1)"},
           {"cpuCoreList", &f->cpuCoreList, "0,1,...", "cores to run on; overrides cpuBindMode"},
           {"enableFp16", &f->enableFp16, "", "use float16 if the device supports it"},
           {"enableParallel", &f->enableParallel, "",
            "with --device=GPU: run branches on the CPU while the GPU runs others"},
       }},
      {"measure",
       {
           {"warmUpLoopCount", &f->warmUpLoopCount, "N", "runs before the timed runs (3)"},
           {"loopCount", &f->loopCount, "N", "timed runs (10)"},
           {"timeProfiling", &f->timeProfiling, "", "print the time of each operator"},
           {"shapeStep", &f->shapeStep, "a:0,1;b.*:0,0,1,0",
            "measure the planning of new shapes: each timed run adds this to the input shapes"},
       }},
      {"measure parallel requests",
       {
           {"enableParallelPredict", &f->enableParallelPredict, "",
            "send parallel requests to workers that share weights"},
           {"workersNum", &f->workersNum, "N", "workers: requests that run at the same time (2)"},
           {"parallelNum", &f->parallelNum, "N", "clients: threads that send requests (2)"},
           {"parallelTaskNum", &f->parallelTaskNum, "N", "requests of each client (2); -1: until interrupted"},
           {"requestRate", &f->requestRate, "R",
            "send R requests per second; default: each client waits for an answer before its next request"},
       }},
      {"compare",
       {
           {"benchmarkDataFile", &f->benchmarkDataFile, "FILE",
            "compare with these expected outputs instead of measuring"},
           {"benchmarkDataType", &f->benchmarkDataType, "FLOAT|INT32|INT8|UINT8", "type of the expected outputs"},
           {"accuracyThreshold", &f->accuracyThreshold, "PERCENT", "maximum mean relative error (0.5)"},
           {"cosineDistanceThreshold", &f->cosineDistanceThreshold, "X",
            "minimum mean cosine similarity; used if >= -1"},
       }},
      {"limits",
       {
           {"stepLimit", &f->stepLimit, "N", "maximum number of operators in one run (0: no limit)"},
           {"timeLimit", &f->timeLimit, "MS", "maximum time of one run in milliseconds (0: no limit)"},
           {"memoryLimit", &f->memoryLimit, "MIB", "maximum memory of activations and outputs (0: no limit)"},
       }},
      {"security",
       {
           {"decryptKey", &f->decryptKey, "HEX", "key of an encrypted model: 32, 48 or 64 hexadecimal digits"},
           {"cryptoLibPath", &f->cryptoLibPath, "FILE",
            "OpenSSL's libcrypto for the decryption; default: the linker searches for it"},
           {"verifyDigest", &f->verifyDigest, "SHA256",
            "first compare the file with the digest at its end, or with this digest", "on"},
       }},
      {"output",
       {
           {"jsonFile", &f->jsonFile, "FILE", "write all results as JSON"},
           {"htmlFile", &f->htmlFile, "FILE", "write a self-contained HTML report with charts"},
           {"quiet", &f->quiet, "", "print only results: no settings and no line for each request"},
       }},
      {"help",
       {
           {"version", &f->version, "", "print the version"},
           {"help", &f->help, "", "print this text (also -h)"},
       }},
  };
}

// Flags of MindSpore Lite that this program does not support.
const std::set<std::string> &NotBuilt() {
  static const std::set<std::string> names = {"enableGLTexture",
                                              "delegateMode",
                                              "perfProfiling",
                                              "perfEvent",
                                              "GroupInfoFile",
                                              "rankId",
                                              "enableSharedThreadPool",
                                              "threadNumLimitPerWorker",
                                              "threadNumRemainingPerWorker"};
  return names;
}

// Checks the flags for parallel requests. `given`: the names of all flags on the command line.
std::string CheckParallel(const Flags &flags, const std::set<std::string> &given) {
  if (!flags.enableParallelPredict) {
    for (const char *name : {"workersNum", "parallelNum", "parallelTaskNum", "requestRate"}) {
      if (given.count(name) != 0) return std::string("--") + name + " needs --enableParallelPredict";
    }
    return "";
  }
  if (given.count("loopCount") != 0) {
    return "--loopCount has no effect with --enableParallelPredict; use --parallelTaskNum";
  }
  if (flags.timeProfiling) return "--timeProfiling cannot be used with --enableParallelPredict";
  if (!flags.decryptKey.empty()) {
    return "--decryptKey cannot be used with --enableParallelPredict: runners do not support encrypted models";
  }
  if (flags.workersNum < 1) return "--workersNum must be at least 1";
  if (flags.parallelNum < 1 || flags.parallelNum > kMaxClients) {
    return "--parallelNum must be 1 to " + std::to_string(kMaxClients);
  }
  if (flags.parallelTaskNum == 0 || flags.parallelTaskNum < -1) {
    return "--parallelTaskNum must be at least 1, or -1 (until the program is interrupted)";
  }
  if (int64_t{flags.parallelNum} * flags.parallelTaskNum > kMaxRequests) {
    return "--parallelNum times --parallelTaskNum must be at most " + std::to_string(kMaxRequests);
  }
  if (given.count("requestRate") != 0 && !(flags.requestRate > 0 && flags.requestRate <= kHighestRate)) {
    return "--requestRate must be above 0 and at most " + std::to_string(kHighestRate) + " requests per second";
  }
  return "";
}

std::string Check(const std::set<std::string> &given, Flags *values) {
  const Flags &flags = *values;
  if (flags.help || flags.version) return "";
  if (flags.modelFile.empty()) return "modelPath is required: use --modelFile=FILE.ms";
  if (flags.loopCount < 1) return "--loopCount must be at least 1";
  if (flags.warmUpLoopCount < 0) return "--warmUpLoopCount must not be negative";
  if (flags.stepLimit < 0) return "--stepLimit must not be negative";
  if (flags.timeLimit < 0) return "--timeLimit must not be negative";
  if (flags.memoryLimit < 0) return "--memoryLimit must not be negative";
  if (flags.numThreads < 1) return "--numThreads must be at least 1";
  if (!flags.shapeStep.empty() &&
      (flags.enableParallelPredict || !flags.benchmarkDataFile.empty() || !flags.inDataFile.empty() ||
       flags.timeProfiling || !flags.jsonFile.empty() || !flags.htmlFile.empty())) {
    return "--shapeStep cannot be used with --enableParallelPredict, --benchmarkDataFile, --inDataFile, "
           "--timeProfiling, --jsonFile or --htmlFile";
  }
  if (flags.enableParallel && flags.numThreads < 2) return "--enableParallel needs --numThreads of at least 2";
  if (flags.interOpParallelNum < 1) return "--interOpParallelNum must be at least 1";
  if (flags.cpuBindMode < 0 || flags.cpuBindMode > 2) return "--cpuBindMode must be 0, 1 or 2";
  if (flags.verifyDigest != "on" && !flags.verifyDigest.empty() &&
      (flags.verifyDigest.size() != 64 || flags.verifyDigest.find_first_not_of(kHexadecimal) != std::string::npos)) {
    return "--verifyDigest=" + flags.verifyDigest + ": expected 64 hexadecimal digits, or no value";
  }
  const size_t digits = flags.decryptKey.size();
  if (digits != 0 && ((digits != 32 && digits != 48 && digits != 64) ||
                      flags.decryptKey.find_first_not_of(kHexadecimal) != std::string::npos)) {
    return "--decryptKey: expected 32, 48 or 64 hexadecimal digits";
  }
  if (!flags.cryptoLibPath.empty() && digits == 0) return "--cryptoLibPath needs --decryptKey";
  std::string problem = OneOf("device", {"CPU", "GPU", "NPU", "Ascend"}, &values->device);
  if (!problem.empty()) return problem;
  if (flags.device != "CPU" && flags.device != "GPU") {
    return "--device=" + flags.device + " is not supported by this program; use CPU or GPU";
  }
  if (flags.cpuCoreList.find_first_not_of("0123456789,") != std::string::npos) {
    return "--cpuCoreList=" + flags.cpuCoreList + ": expected core numbers separated by commas, for example 0,1";
  }
  if (flags.deviceId < 0) return "--deviceId must not be negative";
  if (flags.device == "CPU" && given.count("deviceId") != 0) return "--deviceId needs --device=GPU";
  if (flags.device == "GPU" && flags.enableParallelPredict) {
    return "--enableParallelPredict only supports the CPU; remove --device=GPU";
  }
  problem = OneOf("modelType", {"MindIR", "MindIR_Lite"}, &values->modelType);
  if (problem.empty()) {
    if (flags.benchmarkDataType == "float32" || flags.benchmarkDataType == "FLOAT32")
      values->benchmarkDataType = "FLOAT";
    problem = OneOf("benchmarkDataType", {"FLOAT", "INT32", "INT8", "UINT8"}, &values->benchmarkDataType);
  }
  if (problem.empty() && !flags.inputShape.empty() && !flags.inputShapes.empty()) {
    problem = "use --inputShape or --inputShapes, not both";
  }
  return problem.empty() ? CheckParallel(flags, given) : problem;
}

}  // namespace

std::string TakeKey(std::string *digits) {
  std::string key;
  key.reserve(digits->size() / 2);
  const auto value = [](char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; };
  for (size_t i = 0; i + 1 < digits->size(); i += 2) {
    key += static_cast<char>(value((*digits)[i]) * 16 + value((*digits)[i + 1]));
  }
  Wipe(digits);
  return key;
}

std::string ParseFlags(const std::vector<std::string> &arguments, Flags *flags) {
  std::set<std::string> given;
  const std::string problem = ParseArguments(arguments, Table(flags), NotBuilt(), &given);
  return problem.empty() ? Check(given, flags) : problem;
}

std::string Usage() {
  Flags defaults;
  return "usage: benchmark --modelFile=FILE.ms [options]\n\n"
         "Measures a model, or compares its outputs with expected outputs.\n\n"
         "  benchmark --modelFile=model.ms\n"
         "  benchmark --modelFile=model.ms --numThreads=1 --loopCount=100 --timeProfiling\n"
         "  benchmark --modelFile=model.ms --inputShapes=1,224,224,3 --htmlFile=report.html\n"
         "  benchmark --modelFile=model.ms --inputShapes=1,16 --shapeStep='*:0,1' --loopCount=300\n"
         "  benchmark --modelFile=model.ms --inDataFile=input.bin --benchmarkDataFile=expected.txt\n"
         "  benchmark --modelFile=model.ms --enableParallelPredict --numThreads=1 --requestRate=50 "
         "--parallelTaskNum=500\n"
         "  benchmark --modelFile=secret.ms --decryptKey=30313233343536373839414243444546\n\n" +
         DescribeFlags(Table(&defaults));
}

}  // namespace mslite::benchmark
