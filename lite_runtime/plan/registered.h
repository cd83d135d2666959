// Kernels that are not this library's own, as planning and running see them.
#ifndef MSLITE_PLAN_REGISTERED_H
#define MSLITE_PLAN_REGISTERED_H

#include <memory>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/graph.h"

namespace mslite {
// A node that such a kernel runs, in one session.
class RegisteredNode {
 public:
  virtual ~RegisteredNode() = default;

  // Fills type, rank and dims of the outputs; rank -1 where only the contents of the inputs tell.
  // kLiteNotSupport: the library's own rule is to be asked.
  virtual Status Infer(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs) = 0;
  // Whether it was Infer that left a rank open: then the kernel's `count` tells, once the inputs are there.
  virtual bool counts() const = 0;
  // Runs it. `mslite_node.params` must be this object.
  virtual const mslite_kernel &kernel() const = 0;
  // Why the last call of the kernel failed.
  virtual const std::string &error() const = 0;
  // After `count`.
  virtual int32_t CountedRank(size_t output) const = 0;
  // Nodes of one lane never run at the same time; of none: -1.
  virtual int32_t lane() const { return -1; }
};

// All of a session.
class RegisteredKernels {
 public:
  virtual ~RegisteredKernels() = default;

  // Whether there is a kernel for this node, for some types of its inputs.
  virtual bool Has(int32_t node) const = 0;
  // The node, to be run by a registered kernel; nullptr where the library's own shall run it. Where there is neither,
  // `why` says what is registered. Errors: those of making the kernel.
  virtual Status Find(int32_t node, const std::vector<const mslite_tensor *> &inputs, RegisteredNode **found,
                      std::string *why) = 0;
};
}  // namespace mslite

#endif
