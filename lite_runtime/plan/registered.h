// Kernels that are not this library's (registered kernels and delegates), as seen by the planner and the executor.
#ifndef MSLITE_PLAN_REGISTERED_H
#define MSLITE_PLAN_REGISTERED_H

#include <memory>
#include <string>
#include <vector>

#include "kernel.h"
#include "model/graph.h"

namespace mslite {
// A node that a registered kernel runs, in one session.
class RegisteredNode {
 public:
  virtual ~RegisteredNode() = default;

  // Fills data type, rank and dims of the outputs; rank -1 if they depend on the contents of the inputs. Returns
  // kLiteNotSupport if the library's own shape rule should be used.
  virtual Status Infer(const std::vector<const mslite_tensor *> &inputs, std::vector<mslite_tensor> *outputs) = 0;
  // Returns whether Infer left a rank unknown; the kernel's `count` then computes it when the inputs are available.
  virtual bool counts() const = 0;
  // The kernel that runs the node. `mslite_node.params` must be this object.
  virtual const mslite_kernel &kernel() const = 0;
  // The reason why the last call of the kernel failed.
  virtual const std::string &error() const = 0;
  // Returns the rank of an output, after `count`.
  virtual int32_t CountedRank(size_t output) const = 0;
  // The device lane: nodes of one lane never run at the same time. -1: none.
  virtual int32_t lane() const { return -1; }
};

// All registered kernels of a session.
class RegisteredKernels {
 public:
  virtual ~RegisteredKernels() = default;

  // Returns whether there is a registered kernel for this node, for any data types of its inputs.
  virtual bool Has(int32_t node) const = 0;
  // Finds the registered kernel that runs the node; nullptr if the library should run it. If neither can, `why` lists
  // what is registered. Errors: those of creating the kernel.
  virtual Status Find(int32_t node, const std::vector<const mslite_tensor *> &inputs, RegisteredNode **found,
                      std::string *why) = 0;
};
}  // namespace mslite

#endif
