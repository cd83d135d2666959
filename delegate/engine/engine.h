// What an engine of mslite is: a device or a library that computes parts of models. EngineDelegate makes a delegate of
// it.
#ifndef MSLITE_DELEGATE_ENGINE_ENGINE_H
#define MSLITE_DELEGATE_ENGINE_ENGINE_H

#include <memory>
#include <string>
#include <vector>

#include "engine/part.h"

namespace mslite {
// A part that an engine has made ready. Calls come one at a time.
class CompiledPart {
 public:
  virtual ~CompiledPart() = default;
  // Makes it ready for the shapes that the part's tensors have now, all of which are known. Called before the first
  // run, and again whenever shapes have changed.
  virtual Status Prepare() = 0;
  // Runs it with the contents of the part's inputs and outputs, which are in the memory of this computer. When it
  // returns, the outputs are written.
  virtual Status Run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;
  // As reports name it: "OpenCL". After Start with the device: "OpenCL (NVIDIA H200)".
  virtual std::string name() const = 0;
  // Finds the device and its driver. Errors: kLiteNotSupport where one is missing, with what is missing.
  virtual Status Start() = 0;
  // The whole model, before its parts are compiled: what an engine wants to know of what stands around them.
  virtual void Study(const Part &) {}
  // Why this engine does not run the node; an empty text: it does. All shapes of the node are known.
  virtual std::string WhyNot(const mslite_node &node) const = 0;
  // `part` lives as long as the result; its kernels (Part::Node::kernel) do not.
  virtual Status Compile(const Part &part, std::unique_ptr<CompiledPart> *compiled) = 0;
  // Whether the CPU, and parts of other engines, may work while a part of it runs. Its own parts never run at the same
  // time within a model; in several models they may, whatever this says.
  virtual bool MayRunBeside() const { return false; }
  // Of the device, reckoned roughly for the choice of what runs there; a core of a phone has 2e10.
  virtual double FlopsPerSecond() const { return 1e11; }
};
}  // namespace mslite

#endif
