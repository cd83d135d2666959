// What the handles of the C API point at.
#ifndef MSLITE_API_C_HANDLES_H
#define MSLITE_API_C_HANDLES_H

#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "include/api/context.h"
#include "include/api/model.h"

namespace mslite {
struct CContext {
  std::shared_ptr<mindspore::Context> context = std::make_shared<mindspore::Context>();
  std::vector<int32_t> cores;
};

struct CDevice {
  std::shared_ptr<mindspore::DeviceInfoContext> info;
  std::string provider;
  std::string provider_device;
};

// A tensor, with the texts and arrays that the getters give out.
struct CTensor {
  explicit CTensor(const mindspore::MSTensor &value) : tensor(value), name(value.Name()) {}
  mindspore::MSTensor tensor;
  std::string name;
};

struct CModel {
  // Requests that still wait show their results in the handles: they end before those go.
  ~CModel() { model = mindspore::Model(); }

  mindspore::Model model;
  std::shared_ptr<mindspore::Context> context;  // keeps the context that Build took over
  std::deque<CTensor> inputs;
  std::deque<CTensor> outputs;
  std::vector<void *> input_handles;
  std::vector<void *> output_handles;
};
}  // namespace mslite

#endif
