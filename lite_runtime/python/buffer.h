// The memory of a Python object that has the buffer protocol.
#ifndef MSLITE_PYTHON_BUFFER_H
#define MSLITE_PYTHON_BUFFER_H

#include <nanobind/nanobind.h>

#include <cstddef>

namespace mslite::python {

namespace nb = nanobind;

/// A C-contiguous buffer, which is released by the destructor.
class Buffer {
 public:
  Buffer() = default;

  /// Raises TypeError or BufferError if `object` has no such buffer, or a read-only one for `writable`.
  explicit Buffer(nb::handle object, bool writable = false) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS | (writable ? PyBUF_WRITABLE : 0)) != 0) {
      throw nb::python_error();
    }
  }
  Buffer(Buffer &&other) noexcept : view_(other.view_) { other.view_ = Py_buffer{}; }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  Buffer &operator=(Buffer &&) = delete;
  ~Buffer() {
    if (view_.obj != nullptr) PyBuffer_Release(&view_);
  }

  /// Returns the memory. Not nullptr for an acquired buffer, even if its size is 0.
  void *data() const { return view_.buf; }
  size_t size() const { return static_cast<size_t>(view_.len); }

 private:
  Py_buffer view_{};
};

}  // namespace mslite::python

#endif
