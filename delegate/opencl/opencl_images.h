// Selection of the tensors and weights that are stored as 2-D images.
#ifndef MSLITE_DELEGATE_OPENCL_OPENCL_IMAGES_H
#define MSLITE_DELEGATE_OPENCL_OPENCL_IMAGES_H

#include <map>
#include <utility>
#include <vector>

#include "engine/part.h"
#include "opencl/opencl_device.h"
#include "opencl/opencl_plan.h"

namespace mslite {
// The size of an image in texels of four float values. A tensor [batch, height, width, channels] has batch * height
// rows of width * channels / 4 texels.
struct OpenClImageShape {
  size_t width = 0;
  size_t height = 0;

  bool operator==(const OpenClImageShape &other) const { return width == other.width && height == other.height; }
};

// The tensors and packed weights that are stored as images: kernels read them by rows of one length, and read and write
// them only in vectors of four.
class OpenClImages {
 public:
  OpenClImages() = default;  // no images
  // `roots`: for each tensor, the tensor that has its memory.
  OpenClImages(const Part &part, const std::vector<OpenClPlan> &plans, const std::vector<int32_t> &roots,
               const OpenClDevice::Limits &limits);
  // Return the shape of the image; null if the tensor or constant is a buffer. `root`: a tensor that has its own
  // memory.
  const OpenClImageShape *OfTensor(int32_t root) const;
  const OpenClImageShape *OfConstant(size_t node, int32_t index) const;

 private:
  std::map<int32_t, OpenClImageShape> tensors_;
  std::map<std::pair<size_t, int32_t>, OpenClImageShape> constants_;
};
}  // namespace mslite

#endif
