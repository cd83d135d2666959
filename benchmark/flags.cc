#include "flags.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <variant>

#include "load.h"

namespace mslite::benchmark {
namespace {

using Target = std::variant<std::string *, int *, float *, bool *>;

constexpr int64_t kMostRequests = 10'000'000;  // 48 bytes each are kept
constexpr int kHighestRate = 1'000'000;
constexpr char kHexadecimal[] = "0123456789abcdefABCDEF";

struct Flag {
  const char *name;
  Target target;
  const char *value;
  const char *help;
  const char *alone = nullptr;  // the value of a flag that may stand without one
};

std::vector<Flag> Table(Flags *f) {
  return {
      {"modelFile", &f->modelFile, "FILE", "the .ms model (required)"},
      {"modelType", &f->modelType, "MindIR|MindIR_Lite", "kind of model; a .ms file loads under either"},
      {"device", &f->device, "CPU|GPU", "where to run (CPU); what the GPU has no kernel for runs on the CPU"},
      {"deviceId", &f->deviceId, "N", "with --device=GPU: which GPU (0)"},
      {"numThreads", &f->numThreads, "N", "threads (2)"},
      {"interOpParallelNum", &f->interOpParallelNum, "N", "branches that run at the same time (1)"},
      {"cpuBindMode", &f->cpuBindMode, "0|1|2", "no binding, bigger cores first, middle cores first (1)"},
      {"cpuCoreList", &f->cpuCoreList, "0,1,...", "cores to run on; overrides cpuBindMode"},
      {"enableFp16", &f->enableFp16, "", "prefer float16 where the CPU computes in it, or the GPU stores it"},
      {"enableParallel", &f->enableParallel, "",
       "with --device=GPU: the CPU runs some branches while the GPU runs others"},
      {"enableParallelPredict", &f->enableParallelPredict, "", "many requests at once, to workers that share weights"},
      {"workersNum", &f->workersNum, "N", "with it: requests that are computed at the same time (2)"},
      {"parallelNum", &f->parallelNum, "N", "with it: threads that send requests (2)"},
      {"parallelTaskNum", &f->parallelTaskNum, "N", "with it: requests that each sends (2); -1: until interrupted"},
      {"requestRate", &f->requestRate, "R",
       "with it: R requests a second arrive, answered or not; else each thread waits"},
      {"warmUpLoopCount", &f->warmUpLoopCount, "N", "runs that are not timed (3)"},
      {"loopCount", &f->loopCount, "N", "timed runs (10)"},
      {"inDataFile", &f->inDataFile, "A,B,...", "one raw binary file per input; random data without"},
      {"inputShapes", &f->inputShapes, "1,32,32,3:1,10", "input shapes by position"},
      {"inputShape", &f->inputShape, "a:1,32,32,3;b:1,10", "input shapes by name"},
      {"benchmarkDataFile", &f->benchmarkDataFile, "FILE", "expected outputs: compare instead of timing"},
      {"benchmarkDataType", &f->benchmarkDataType, "FLOAT|INT32|INT8|UINT8", "type of the expected outputs"},
      {"accuracyThreshold", &f->accuracyThreshold, "PERCENT", "largest mean relative error (0.5)"},
      {"cosineDistanceThreshold", &f->cosineDistanceThreshold, "X", "smallest mean cosine; compared when >= -1"},
      {"timeProfiling", &f->timeProfiling, "", "print the time of each operator"},
      {"stepLimit", &f->stepLimit, "N", "operators of one run, after which it ends with an error (0: any number)"},
      {"timeLimit", &f->timeLimit, "MS", "milliseconds of one run, after which it ends with an error (0: any time)"},
      {"memoryLimit", &f->memoryLimit, "MIB", "memory of activations and results (0: what the machine has)"},
      {"configFile", &f->configFile, "FILE", "configuration for Model::LoadConfig"},
      {"pluginPath", &f->pluginPath, "A.so;B.so", "plug-ins with kernels of custom operators"},
      {"provider", &f->provider, "NAME", "whose registered kernels come before the library's own"},
      {"decryptKey", &f->decryptKey, "HEX", "key of an encrypted model: 32, 48 or 64 hexadecimal digits"},
      {"cryptoLibPath", &f->cryptoLibPath, "FILE", "OpenSSL's libcrypto, which decrypts; found by its name without"},
      {"verifyDigest", &f->verifyDigest, "SHA256",
       "compare the file with the digest at its end first, or with this one", "on"},
      {"jsonFile", &f->jsonFile, "FILE", "write every figure as JSON"},
      {"htmlFile", &f->htmlFile, "FILE", "write a report with pictures, one self-contained page"},
      {"version", &f->version, "", "print the version"},
      {"help", &f->help, "", "print this; so does -h"},
  };
}

// Flags of the original that this build knows and does not have.
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

std::string Assign(const Flag &flag, const std::string &text) {
  const std::string problem = std::string("--") + flag.name + "=" + text + ": expected ";
  char *end = nullptr;
  errno = 0;
  if (auto *const *target = std::get_if<std::string *>(&flag.target)) {
    **target = text;
  } else if (auto *const *number = std::get_if<int *>(&flag.target)) {
    const long value = std::strtol(text.c_str(), &end, 10);
    if (text.empty() || *end != '\0' || errno != 0 || value < std::numeric_limits<int>::min() ||
        value > std::numeric_limits<int>::max()) {
      return problem + "a whole number";
    }
    **number = static_cast<int>(value);
  } else if (auto *const *real = std::get_if<float *>(&flag.target)) {
    const float value = std::strtof(text.c_str(), &end);
    if (text.empty() || *end != '\0') return problem + "a number";
    **real = value;
  } else if (text == "true" || text == "1") {
    *std::get<bool *>(flag.target) = true;
  } else if (text == "false" || text == "0") {
    *std::get<bool *>(flag.target) = false;
  } else {
    return problem + "true or false";
  }
  return "";
}

// Letters to change, insert or delete that make `b` of `a` (Levenshtein).
size_t Distance(const std::string &a, const std::string &b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (std::tolower(a[i - 1]) == std::tolower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

// Whether what a word sets is a key, under whatever spelling.
bool IsSecret(const std::string &word) {
  std::string name = word.substr(0, word.find('='));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.size() >= 3 && name.compare(name.size() - 3, 3, "key") == 0;
}

// A word as a message may repeat it.
std::string Shown(const std::string &word) {
  return IsSecret(word) && word.find('=') != std::string::npos ? word.substr(0, word.find('=') + 1) + "..." : word;
}

// The end of a message about a word that is no flag.
std::string Meant(const std::string &argument, const std::vector<Flag> &table) {
  constexpr size_t kNear = 2;
  const size_t begin = std::min(argument.find_first_not_of('-'), argument.size());
  const std::string name = argument.substr(begin, argument.find('=') - begin);
  const Flag *nearest = nullptr;
  size_t least = kNear + 1;
  for (const Flag &flag : table) {
    const size_t distance = name.size() > 64 ? least : Distance(name, flag.name);
    if (distance < least) {
      least = distance;
      nearest = &flag;
    }
  }
  if (nearest != nullptr) return std::string("; did you mean --") + nearest->name + "?";
  return "; flags are --name=value, the model is --modelFile=FILE.ms";
}

std::string OneOf(const char *name, const std::string &value, const std::vector<std::string> &allowed) {
  std::string list;
  for (const std::string &word : allowed) {
    if (word == value) return "";
    list += (list.empty() ? "" : ", ") + word;
  }
  return std::string("--") + name + "=" + value + ": expected one of " + list;
}

// The flags of requests at once; `given`: the names of all flags on the command line.
std::string CheckParallel(const Flags &flags, const std::set<std::string> &given) {
  if (!flags.enableParallelPredict) {
    for (const char *name : {"workersNum", "parallelNum", "parallelTaskNum", "requestRate"}) {
      if (given.count(name) != 0)
        return std::string("--") + name + " is of requests at once; add --enableParallelPredict";
    }
    return "";
  }
  if (given.count("loopCount") != 0) {
    return "--loopCount is of one run after the other; with --enableParallelPredict give --parallelTaskNum";
  }
  if (flags.timeProfiling) return "--timeProfiling times operators of one run; leave out --enableParallelPredict";
  if (!flags.decryptKey.empty())
    return "--decryptKey: runners take no encrypted models; leave out --enableParallelPredict";
  if (flags.workersNum < 1) return "--workersNum must be at least 1";
  if (flags.parallelNum < 1 || flags.parallelNum > kMostClients) {
    return "--parallelNum must be 1 to " + std::to_string(kMostClients);
  }
  if (flags.parallelTaskNum == 0 || flags.parallelTaskNum < -1) {
    return "--parallelTaskNum must be at least 1, or -1: until the program is interrupted";
  }
  if (int64_t{flags.parallelNum} * flags.parallelTaskNum > kMostRequests) {
    return "--parallelNum times --parallelTaskNum must be at most " + std::to_string(kMostRequests);
  }
  if (given.count("requestRate") != 0 && !(flags.requestRate > 0 && flags.requestRate <= kHighestRate)) {
    return "--requestRate must be above 0 and at most " + std::to_string(kHighestRate) + " requests a second";
  }
  return "";
}

std::string Check(const Flags &flags, const std::set<std::string> &given) {
  if (flags.help || flags.version) return "";
  if (flags.modelFile.empty()) return "modelPath is required: give --modelFile=FILE.ms";
  if (flags.loopCount < 1) return "--loopCount must be at least 1";
  if (flags.warmUpLoopCount < 0) return "--warmUpLoopCount must not be negative";
  if (flags.stepLimit < 0) return "--stepLimit must not be negative";
  if (flags.timeLimit < 0) return "--timeLimit must not be negative";
  if (flags.memoryLimit < 0) return "--memoryLimit must not be negative";
  if (flags.numThreads < 1) return "--numThreads must be at least 1";
  if (flags.enableParallel && flags.numThreads < 2) return "--enableParallel needs --numThreads of at least 2";
  if (flags.interOpParallelNum < 1) return "--interOpParallelNum must be at least 1";
  if (flags.cpuBindMode < 0 || flags.cpuBindMode > 2) return "--cpuBindMode must be 0, 1 or 2";
  if (flags.verifyDigest != "on" && !flags.verifyDigest.empty() &&
      (flags.verifyDigest.size() != 64 || flags.verifyDigest.find_first_not_of(kHexadecimal) != std::string::npos)) {
    return "--verifyDigest=" + flags.verifyDigest + ": expected 64 hexadecimal digits, or nothing";
  }
  const size_t digits = flags.decryptKey.size();
  if (digits != 0 && ((digits != 32 && digits != 48 && digits != 64) ||
                      flags.decryptKey.find_first_not_of(kHexadecimal) != std::string::npos)) {
    return "--decryptKey: expected 32, 48 or 64 hexadecimal digits";
  }
  if (!flags.cryptoLibPath.empty() && digits == 0) return "--cryptoLibPath needs --decryptKey";
  if (flags.device != "CPU" && flags.device != "GPU") {
    const std::string problem = OneOf("device", flags.device, {"CPU", "GPU", "NPU", "Ascend"});
    return problem.empty() ? "--device=" + flags.device + " is not built into this program; use CPU or GPU" : problem;
  }
  if (flags.deviceId < 0) return "--deviceId must not be negative";
  if (flags.device == "CPU" && given.count("deviceId") != 0) return "--deviceId needs --device=GPU";
  if (flags.device == "GPU" && flags.enableParallelPredict) {
    return "--enableParallelPredict measures the CPU; leave out --device=GPU";
  }
  std::string problem = OneOf("modelType", flags.modelType, {"MindIR", "MindIR_Lite"});
  if (problem.empty()) {
    problem = OneOf("benchmarkDataType", flags.benchmarkDataType, {"FLOAT", "INT32", "INT8", "UINT8"});
  }
  if (problem.empty() && !flags.inputShape.empty() && !flags.inputShapes.empty()) {
    problem = "give --inputShape or --inputShapes, not both";
  }
  return problem.empty() ? CheckParallel(flags, given) : problem;
}

}  // namespace

std::vector<std::string> Split(const std::string &text, const std::string &separators) {
  std::vector<std::string> pieces;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find_first_of(separators, begin), text.size());
    if (end > begin) pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

void Wipe(std::string *text) {
  volatile char *byte = text->data();  // volatile: compilers must not leave it out
  for (size_t i = 0; i < text->size(); ++i) byte[i] = '\0';
  text->clear();
}

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

void HideKey(int count, char **words) {
  for (int i = 0; i < count; ++i) {
    std::string word = words[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos || !IsSecret(word)) continue;
    std::fill(words[i] + equals + 1, words[i] + word.size(), '*');
    Wipe(&word);
  }
}

std::string ParseFlags(const std::vector<std::string> &arguments, Flags *flags) {
  const std::vector<Flag> table = Table(flags);
  std::set<std::string> seen;
  for (const std::string &argument : arguments) {
    if (argument == "--") break;
    if (argument == "-h") {
      flags->help = true;
      continue;
    }
    // The original skips such words, so that a run with wrong settings looks like one with the right ones.
    if (argument.rfind("--", 0) != 0) return "'" + Shown(argument) + "' is no flag" + Meant(argument, table);
    const size_t equals = argument.find('=');
    std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
    const bool has_value = equals != std::string::npos;
    const bool negated = !has_value && name.rfind("no-", 0) == 0;
    if (negated) name = name.substr(3);
    if (NotBuilt().count(name) != 0) return "--" + name + " is not built into this program";
    const Flag *flag = nullptr;
    for (const Flag &candidate : table) {
      if (name == candidate.name) flag = &candidate;
    }
    if (flag == nullptr) return Shown(argument) + " is not a valid flag" + Meant(argument, table);
    if (!seen.insert(name).second) return "--" + name + " is given twice";
    const bool is_switch = std::holds_alternative<bool *>(flag->target);
    if (!has_value && !is_switch && flag->alone == nullptr)
      return "--" + name + " needs a value: --" + name + "=" + flag->value;
    if (negated && !is_switch) return argument + " is not a valid flag";
    const char *alone = is_switch ? (negated ? "false" : "true") : flag->alone;
    const std::string value = has_value ? argument.substr(equals + 1) : alone;
    const std::string problem = Assign(*flag, value);
    if (!problem.empty()) return problem;
  }
  return Check(*flags, seen);
}

std::string Usage() {
  Flags defaults;
  std::string text =
      "usage: benchmark --modelFile=FILE.ms [options]\n\n"
      "Measures a model, or compares its outputs with expected ones.\n\n"
      "  benchmark --modelFile=model.ms\n"
      "  benchmark --modelFile=model.ms --numThreads=1 --loopCount=100 --timeProfiling\n"
      "  benchmark --modelFile=model.ms --inputShapes=1,224,224,3 --htmlFile=report.html\n"
      "  benchmark --modelFile=model.ms --inDataFile=input.bin --benchmarkDataFile=expected.txt\n"
      "  benchmark --modelFile=model.ms --enableParallelPredict --numThreads=1 --requestRate=50 "
      "--parallelTaskNum=500\n"
      "  benchmark --modelFile=secret.ms --decryptKey=30313233343536373839414243444546\n\n";
  for (const Flag &flag : Table(&defaults)) {
    std::string head = std::string("  --") + flag.name + (*flag.value == '\0' ? "" : "=") + flag.value;
    head.resize(std::max<size_t>(head.size() + 2, 44), ' ');
    text += head + flag.help + "\n";
  }
  return text;
}

}  // namespace mslite::benchmark
