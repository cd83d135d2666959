// Engine: the interface of a backend of mslite, which runs partitions of models on a device or with a library.
// EngineDelegate makes it a delegate.
#ifndef MSLITE_DELEGATE_ENGINE_ENGINE_H
#define MSLITE_DELEGATE_ENGINE_ENGINE_H

#include <memory>
#include <string>
#include <vector>

#include "engine/part.h"

namespace mslite {
// A partition that a backend has compiled. Not thread-safe.
class CompiledPart {
 public:
  virtual ~CompiledPart() = default;
  // Prepares the partition for the current shapes of its tensors, which are all known. Called before the first run and
  // after each change of shapes.
  virtual Status Prepare() = 0;
  // Runs the partition with the data of its inputs and outputs in host memory. The outputs are written when it returns.
  virtual Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // Returns the name for reports: "OpenCL", and after Start "OpenCL (NVIDIA H200)" with the device.
  virtual std::string name() const = 0;
  // Finds the device and its driver. Errors: kLiteNotSupport, with the reason, if one of them is missing.
  virtual Status Start() = 0;
  // Called with the whole model before partitions are compiled, for backends that need the nodes around a partition.
  virtual void Study(const Part &) {}
  // Returns why the backend does not support the node; "" if it does. All shapes of the node are known.
  virtual std::string UnsupportedReason(const mslite_node &node) const = 0;
  // Compiles a partition. `part` exists as long as the result. Its Part::Node::kernel are null.
  virtual Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) = 0;
  // Returns true if the CPU and other backends may run at the same time as a partition. Partitions of one model and
  // backend never run at the same time; those of several models may.
  virtual bool MayRunInParallel() const { return false; }
  // Returns an estimate of the FLOP/s of the device, for the selection of partitions; a core of a phone has 2e10.
  virtual double FlopsPerSecond() const { return 1e11; }
};
}  // namespace mslite

#endif
