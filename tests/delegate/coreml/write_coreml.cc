// write_coreml MODEL.ms FOLDER: the parts of a model that Core ML would run, as part_0.mlmodel and so on. Prints a line
// for each node: the number of its part (-1: it stays on the CPU), its operator, and why, with tabs between them.
#include <fstream>
#include <iostream>

#include "coreml/coreml_plan.h"
#include "engine/engine_delegate.h"
#include "include/api/model.h"

namespace {
using namespace mslite;  // NOLINT

class Writer : public Engine {
 public:
  explicit Writer(std::string folder) : folder_(std::move(folder)) {}

  std::string name() const override { return "Core ML's specification"; }
  Status Start() override { return mindspore::kSuccess; }
  std::string UnsupportedReason(const mslite_node &node) const override { return WhyNotCoreMl(node); }
  Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) override {
    *compiled = std::make_unique<Written>(part, folder_ + "/part_" + std::to_string(count_++) + ".mlmodel");
    return mindspore::kSuccess;
  }

 private:
  class Written : public CompiledPart {
   public:
    Written(const Part &part, std::string path) : part_(part), path_(std::move(path)) {}
    Status Prepare() override {
      CoreMlModelText text;
      MSLITE_TRY(WriteCoreMlPart(part_, &text));
      std::ofstream(path_, std::ios::binary) << text.bytes;
      return mindspore::kSuccess;
    }
    Status Run(const std::vector<const void *> &, const std::vector<void *> &) override {
      return Fail(mindspore::kLiteNotSupport, "nothing runs it here");
    }

   private:
    const Part &part_;
    std::string path_;
  };

  std::string folder_;
  int count_ = 0;
};
}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  auto delegate = std::make_shared<EngineDelegate>(std::make_shared<Writer>(argv[2]));
  auto context = std::make_shared<mindspore::Context>();
  context->MutableDeviceInfo() = {std::make_shared<mindspore::CPUDeviceInfo>()};
  context->set_delegate(delegate);
  mindspore::Model model;
  const mindspore::Status status = model.Build(argv[1], mindspore::kMindIR_Lite, context);
  for (const Placement &placement : delegate->placements()) {
    std::cout << placement.part << "\t" << placement.op << "\t" << placement.reason << "\n";
  }
  if (status.IsOk()) return 0;
  std::cerr << status.GetErrDescription() << "\n";
  return 1;
}
