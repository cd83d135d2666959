#include "train_flags.h"

#include <set>

#include "command_line.h"

namespace mslite::benchmark {
namespace {

std::vector<FlagGroup> Table(TrainFlags *f) {
  return {
      {"model",
       {
           {"modelFile", &f->modelFile, "FILE", "the .ms model (required); it trains when its name contains \"train\""},
           {"bbModelFile", &f->bbModelFile, "FILE", "the backbone, of which the model is the head: transfer learning"},
       }},
      {"input",
       {
           {"inDataFile", &f->inDataFile, "PREFIX",
            "raw inputs PREFIX1.bin, PREFIX2.bin, ..., of one batch or several; random data without"},
           {"inputShapes", &f->inputShapes, "1,32,32,3:1,10", "input shapes by position"},
       }},
      {"train",
       {
           {"epochs", &f->epochs, "N", "timed passes over the batches of inDataFile (1); 0: evaluation only"},
           {"warmUpLoopCount", &f->warmUpLoopCount, "N", "steps before, which are not timed; they train, too (0)"},
           {"virtualBatch", &f->virtualBatch, "", "one update for the gradients of all epochs together"},
           {"lossName", &f->lossName, "A,B,...", "nodes whose names contain one of these are losses"},
           {"keepGradients", &f->keepGradients, "true|false",
            "false: each gradient gives up its memory when its weight is updated; the same training in less memory "
            "(true)"},
       }},
      {"threads",
       {
           {"numThreads", &f->numThreads, "N", "threads (1)"},
           {"cpuBindMode", &f->cpuBindMode, "0|1|2", "no binding, bigger cores first, middle cores first (1)"},
           {"enableFp16", &f->enableFp16, "",
            "train in mixed precision, and evaluate in float16, where the CPU computes in it"},
       }},
      {"compare",
       {
           {"expectedDataFile", &f->expectedDataFile, "PREFIX",
            "expected outputs of evaluation after the steps: PREFIX1.bin, ..., float32, in the order of their names"},
           {"accuracyThreshold", &f->accuracyThreshold, "PERCENT", "largest mean relative error (0.5)"},
       }},
      {"output",
       {
           {"exportFile", &f->exportFile, "FILE",
            "write the trained training model to it, and to FILE_qt with 8-bit weights"},
           {"inferenceFile", &f->inferenceFile, "FILE",
            "write the model for inference to it, and to FILE_qt with 8-bit weights"},
           {"timeProfiling", &f->timeProfiling, "", "print the time of each operator"},
           {"layerCheckSum", &f->layerCheckSum, "", "print the sum of each output of each operator, of the first step"},
       }},
      {"help",
       {
           {"unifiedApi", &f->unifiedApi, "", "no effect: there is one API"},
           {"version", &f->version, "", "print the version"},
           {"help", &f->help, "", "print this; so does -h"},
       }},
  };
}

std::string Check(const TrainFlags &flags) {
  if (flags.help || flags.version) return "";
  if (flags.modelFile.empty()) return "modelPath is required: give --modelFile=FILE.ms";
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
         "Trains a model and measures it, compares what it computes then with expected outputs, and exports it.\n\n"
         "  benchmark_train --modelFile=lenet_train.ms --epochs=100\n"
         "  benchmark_train --modelFile=lenet_train.ms --inDataFile=data/lenet_input --epochs=5 "
         "--exportFile=trained.ms\n"
         "  benchmark_train --modelFile=lenet_train.ms --inDataFile=data/lenet_input "
         "--expectedDataFile=data/lenet_output\n\n" +
         DescribeFlags(Table(&defaults));
}

}  // namespace mslite::benchmark
