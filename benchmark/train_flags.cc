#include "train_flags.h"

#include <set>

#include "command_line.h"

namespace mslite::benchmark {
namespace {

std::vector<FlagGroup> Table(TrainFlags *f) {
  return {
      {"model",
       {
           {"modelFile", &f->modelFile, "FILE",
            "the .ms model (required); it is trained if its name contains \"train\""},
           {"bbModelFile", &f->bbModelFile, "FILE", "the backbone for transfer learning; the model is the head"},
       }},
      {"input",
       {
           {"inDataFile", &f->inDataFile, "PREFIX",
            "raw inputs PREFIX1.bin, PREFIX2.bin, ... with one or more batches; default: random data"},
           {"inputShapes", &f->inputShapes, "1,32,32,3:1,10", "input shapes by position"},
       }},
      {"train",
       {
           {"epochs", &f->epochs, "N", "timed passes over the batches of inDataFile (1); 0: evaluation only"},
           {"warmUpLoopCount", &f->warmUpLoopCount, "N", "training steps before the timed ones (0)"},
           {"virtualBatch", &f->virtualBatch, "", "accumulate the gradients of all epochs for one update"},
           {"lossName", &f->lossName, "A,B,...", "parts of node names that identify losses"},
           {"keepGradients", &f->keepGradients, "true|false",
            "false: reuse the memory of gradients after the update of their weights; same results with less memory "
            "(true)"},
       }},
      {"threads",
       {
           {"numThreads", &f->numThreads, "N", "number of threads (1)"},
           {"cpuBindMode", &f->cpuBindMode, "0|1|2", "no binding, big cores first, middle cores first (1)"},
           {"enableFp16", &f->enableFp16, "",
            "train in mixed precision and evaluate in float16, if the CPU supports it"},
       }},
      {"compare",
       {
           {"expectedDataFile", &f->expectedDataFile, "PREFIX",
            "expected outputs in evaluation mode after training: PREFIX1.bin, ..., float32, in the order of the "
            "output names"},
           {"accuracyThreshold", &f->accuracyThreshold, "PERCENT", "maximum mean relative error (0.5)"},
       }},
      {"output",
       {
           {"exportFile", &f->exportFile, "FILE",
            "write the training model with its trained weights, also to FILE_qt with 8-bit weights"},
           {"inferenceFile", &f->inferenceFile, "FILE",
            "write the inference model, also to FILE_qt with 8-bit weights"},
           {"timeProfiling", &f->timeProfiling, "", "print the time of each operator"},
           {"layerCheckSum", &f->layerCheckSum, "", "print the sum of each output of each operator in the first step"},
       }},
      {"help",
       {
           {"unifiedApi", &f->unifiedApi, "", "no effect: there is one API"},
           {"version", &f->version, "", "print the version"},
           {"help", &f->help, "", "print this text (also -h)"},
       }},
  };
}

std::string Check(const TrainFlags &flags) {
  if (flags.help || flags.version) return "";
  if (flags.modelFile.empty()) return "modelPath is required: use --modelFile=FILE.ms";
  if (flags.epochs < 0) return "--epochs must not be negative";
  if (flags.warmUpLoopCount < 0) return "--warmUpLoopCount must not be negative";
  if (flags.numThreads < 1) return "--numThreads must be at least 1";
  if (flags.cpuBindMode < 0 || flags.cpuBindMode > 2) return "--cpuBindMode must be 0, 1 or 2";
  return "";
}

}  // namespace

std::string ParseTrainFlags(const std::vector<std::string> &arguments, TrainFlags *flags) {
  std::set<std::string> given;
  const std::string problem = ParseArguments(arguments, Table(flags), {}, &given);
  return problem.empty() ? Check(*flags) : problem;
}

std::string TrainUsage() {
  TrainFlags defaults;
  return "usage: benchmark_train --modelFile=FILE.ms [options]\n\n"
         "Trains a model and measures the training, compares its outputs with expected outputs, and exports it.\n\n"
         "  benchmark_train --modelFile=lenet_train.ms --epochs=100\n"
         "  benchmark_train --modelFile=lenet_train.ms --inDataFile=data/lenet_input --epochs=5 "
         "--exportFile=trained.ms\n"
         "  benchmark_train --modelFile=lenet_train.ms --inDataFile=data/lenet_input "
         "--expectedDataFile=data/lenet_output\n\n" +
         DescribeFlags(Table(&defaults));
}

}  // namespace mslite::benchmark
