// mslite._native: shape inference, kernels and file verification of the C++ library, for the converter and tests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "build_check.h"
#include "crypto/cipher.h"
#include "model/names.h"
#include "model/operands.h"
#include "model/verify.h"
#include "model/wipe.h"
#include "plan/cpu_features.h"
#include "plan/kernel_types.h"
#include "plan/work.h"
#include "schema/ops_generated.h"
#include "single_call.h"

namespace mslite::python {
namespace {

std::pair<std::vector<TensorInfo>, int64_t> Infer(nb::handle primitive, const std::vector<TensorInfo> &inputs,
                                                  int32_t output_count, int64_t next_symbol) {
  const PrimitiveBuffer buffer(primitive);
  if (output_count < 0 || output_count > 1 << 16) throw OperatorError("invalid number of outputs");
  const TensorViews views(inputs);
  std::vector<mslite_tensor> outputs(static_cast<size_t>(output_count));
  Check(InferShapes(buffer.op, buffer.params, views.Pointers(), &outputs, &next_symbol));
  std::vector<TensorInfo> infos;
  for (const mslite_tensor &output : outputs) infos.push_back(ToInfo(output));
  return {std::move(infos), next_symbol};
}

std::vector<nb::object> Evaluate(nb::handle primitive, const std::vector<TensorInfo> &inputs, int32_t output_count) {
  const PrimitiveBuffer buffer(primitive);
  const TensorViews views(inputs);
  SingleNode node(buffer.op, buffer.params, SingleInputs(views, nullptr), output_count);
  Check(node.Prepare(IsaSet{}));
  std::vector<nb::object> arrays;
  std::vector<void *> targets;
  for (const mslite_tensor &output : node.outputs()) {
    arrays.push_back(EmptyArray(output));
    targets.push_back(Buffer(arrays.back(), true).data());
  }
  Outcome outcome;
  {
    nb::gil_scoped_release release;
    outcome = node.Run(targets);
  }
  Check(outcome);
  return arrays;
}

const mslite_kernel *KernelNamed(const std::string &name) {
  return FindKernel({OwnKernels(), TrainingKernels()}, name);
}

SingleCall CallOf(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<bool> &constant,
                  int32_t output_count) {
  if (output_count < 0 || output_count > 1 << 16) throw OperatorError("invalid number of outputs");
  return {primitive, inputs, constant, std::vector<TensorInfo>(static_cast<size_t>(output_count)), 0};
}

/// Returns true if the kernel supports the call.
bool KernelSupports(const std::string &name, nb::handle primitive, const std::vector<TensorInfo> &inputs,
                    const std::vector<bool> &constant, int32_t output_count) {
  SingleCall call = CallOf(primitive, inputs, constant, output_count);
  return Supports(KernelNamed(name), &call);
}

std::vector<nb::object> RunNamed(const std::string &name, nb::handle primitive, const std::vector<TensorInfo> &inputs,
                                 const std::vector<bool> &constant, int32_t output_count, int32_t threads,
                                 uint32_t shuffle_seed, bool in_place) {
  const mslite_kernel *kernel = KernelNamed(name);
  if (!DetectedIsas().Has(kernel->isa)) throw UnsupportedError("this machine cannot run " + name);
  SingleCall call = CallOf(primitive, inputs, constant, output_count);
  return RunKernel(kernel, &call, {threads, shuffle_seed, in_place});
}

/// Returns (name, operator, instruction set, whether it may run in place) of all kernels of the library, and of the
/// training library if it is available.
std::vector<KernelEntry> Kernels() {
  std::vector<KernelEntry> list;
  for (const KernelList &kernels : {OwnKernels(), TrainingKernels()}) {
    for (int32_t i = 0; i < kernels.count; ++i) list.push_back(EntryOf(*kernels.kernels[i]));
  }
  return list;
}

/// Returns the names of the kernels for quantized tensors.
std::vector<std::string> QuantizedKernels() {
  std::vector<std::string> names;
  const KernelList kernels = OwnKernels();
  for (int32_t i = 0; i < kernels.count; ++i) {
    if (kernels.kernels[i]->quantized != 0) names.emplace_back(kernels.kernels[i]->name);
  }
  return names;
}

/// Returns the data types of inputs and outputs for which a portable kernel supports a call, for any size of dynamic
/// dimensions, and whether the operator compares (the highest bit of uint64 inputs must then be inverted). Returns
/// nullopt if there is no such kernel.
std::optional<std::tuple<std::vector<int32_t>, std::vector<int32_t>, bool>> KernelTypes(
    nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<int32_t> &expected) {
  const PrimitiveBuffer buffer(primitive);
  TensorViews views(inputs);
  CallTypes types;
  if (buffer.params == nullptr || !FindKernelTypes(buffer.op, buffer.params, views.Pointers(), expected, &types)) {
    return std::nullopt;
  }
  return std::tuple(std::move(types.inputs), std::move(types.outputs), ComparesOperands(buffer.op, buffer.params));
}

/// Returns the number of multiply-accumulates of a call with known sizes; 0 if inputs or outputs are missing.
int64_t Macs(nb::handle primitive, const std::vector<TensorInfo> &inputs, const std::vector<TensorInfo> &outputs) {
  const PrimitiveBuffer buffer(primitive);
  const TensorViews input_views(inputs);
  const TensorViews output_views(outputs);
  const std::vector<const mslite_tensor *> x = input_views.Pointers();
  const std::vector<const mslite_tensor *> y = output_views.Pointers();
  const auto input_count = static_cast<int32_t>(x.size());
  const auto output_count = static_cast<int32_t>(y.size());
  if (input_count < MinInputs(buffer.op) || output_count < MinOutputs(buffer.op)) return 0;
  return CountMacs({buffer.op, buffer.params, input_count, output_count, x.data(), y.data(), 0});
}

/// Returns the operators (values of PrimitiveType) that have shape inference.
std::vector<int32_t> ShapeRules() {
  std::vector<int32_t> operators;
#define X(number, name, custom_type) \
  if (HasShapeRule(number)) operators.push_back(number);
#include "op_names.inc"
#undef X
  return operators;
}

std::vector<std::string> Isas() {
  std::vector<std::string> names;
  for (int32_t isa = 0; isa < 32; ++isa) {
    if (DetectedIsas().Has(isa) && IsaName(isa) != nullptr) names.emplace_back(IsaName(isa));
  }
  return names;
}

bool VerifyModel(nb::handle buffer) {
  const Buffer bytes(buffer);
  return mslite::VerifyModel(static_cast<const uint8_t *>(bytes.data()), bytes.size()) &&
         schema::MetaGraphBufferHasIdentifier(bytes.data());
}

void Raise(const Status &status) {
  if (status.IsError()) throw std::runtime_error(status.GetErrDescription());
}

mindspore::Key KeyOf(const nb::bytes &key) { return mindspore::Key(key.c_str(), key.size()); }

/// Returns `size` bytes that `fill` writes, with the GIL released.
template <typename Fill>
nb::bytes MakeBytes(size_t size, Fill fill) {
  auto made = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!made.is_valid()) throw nb::python_error();
  auto *data = reinterpret_cast<uint8_t *>(PyBytes_AS_STRING(made.ptr()));
  nb::gil_scoped_release release;
  fill(data);
  return made;
}

nb::bytes EncryptBytes(nb::handle text, const nb::bytes &key) {
  const Buffer bytes(text);
  const mindspore::Key own_key = KeyOf(key);
  const std::string name = "<buffer>";
  return MakeBytes(EncryptedSize(bytes.size()), [&](uint8_t *data) {
    Raise(EncryptFile({static_cast<const uint8_t *>(bytes.data()), bytes.size(), name}, own_key, "", data));
  });
}

nb::bytes DecryptBytes(nb::handle file, const nb::bytes &key, const std::string &mode, const std::string &name) {
  const Buffer bytes(file);
  const mindspore::Key own_key = KeyOf(key);
  CipherMode cipher_mode = CipherMode::kAesGcm;
  Raise(ParseCipherMode(mode, &cipher_mode));
  AlignedBuffer text;
  size_t size = 0;
  {
    nb::gil_scoped_release release;
    Raise(DecryptFile({static_cast<const uint8_t *>(bytes.data()), bytes.size(), name}, own_key, cipher_mode, "", &text,
                      &size));
  }
  return MakeBytes(size, [&](uint8_t *data) {
    std::copy(text.get(), text.get() + size, data);
    Wipe(text.get(), size);
  });
}

bool IsSoundPrimitive(nb::handle buffer) {
  const Buffer bytes(buffer);
  return mslite::VerifyPrimitive(static_cast<const uint8_t *>(bytes.data()), bytes.size());
}

}  // namespace

NB_MODULE(_native, module) {
  module.doc() = "Shape inference, kernels and file verification, for one operator or one file at a time.";
  // The derived exception is registered last, because translators are called in reverse order.
  nb::exception<OperatorError> operator_error(module, "OperatorError", PyExc_ValueError);
  nb::exception<UnsupportedError>(module, "UnsupportedError", operator_error.ptr());

  nb::class_<TensorInfo>(
      module, "TensorInfo",
      "Data type, dimensions (None: unknown) and known values of a tensor; its quantization parameters as (scale, "
      "zero point, source type), and whether they round half to even.")
      .def(
          "__init__",
          [](TensorInfo *self, int32_t dtype, std::optional<std::vector<int64_t>> dims,
             std::optional<std::vector<int64_t>> known, nb::object data,
             std::vector<std::tuple<double, int32_t, int32_t>> quant, bool rounds_even) {
            new (self)
                TensorInfo{dtype, std::move(dims), std::move(known), std::move(data), std::move(quant), rounds_even};
          },
          nb::arg("dtype"), nb::arg("dims").none() = nb::none(), nb::arg("known").none() = nb::none(),
          nb::arg("data").none() = nb::none(), nb::arg("quant") = std::vector<std::tuple<double, int32_t, int32_t>>{},
          nb::arg("rounds_even") = false)
      .def_ro("dtype", &TensorInfo::dtype)
      .def_ro("dims", &TensorInfo::dims)
      .def_ro("known", &TensorInfo::known)
      .def_ro("data", &TensorInfo::data)
      .def_ro("quant", &TensorInfo::quant);

  module.def("verify_model", &VerifyModel, nb::arg("buffer"), "Returns True if all offsets of a `.ms` file are valid.");
  module.def(
      "check_build", &CheckBuild, nb::arg("path"), nb::arg("open_size"), nb::call_guard<nb::gil_scoped_release>(),
      "Builds a `.ms` file for the CPU of this machine without packing weights, with `open_size` for each dynamic "
      "dimension of its inputs. Returns why it cannot be built (empty if it can), and whether the cause is the file "
      "and not the dynamic dimensions or the memory of the machine.");
  module.def("verify_primitive", &IsSoundPrimitive, nb::arg("buffer"),
             "Returns True if all offsets of a buffer with a Primitive as its root are valid.");
  module.def("encrypt", &EncryptBytes, nb::arg("text"), nb::arg("key"),
             "Encrypts `text` with AES-GCM. Returns the bytes of a file. Raises RuntimeError without libcrypto.");
  module.def("decrypt", &DecryptBytes, nb::arg("file"), nb::arg("key"), nb::arg("mode"), nb::arg("name"),
             "Decrypts the bytes of an encrypted file. Raises RuntimeError with the reason.");
  module.def("infer", &Infer, nb::arg("primitive"), nb::arg("inputs"), nb::arg("output_count"), nb::arg("next_symbol"),
             "Infers types and shapes of the outputs. Returns them and the next unused symbol. Raises OperatorError.");
  module.def("evaluate", &Evaluate, nb::arg("primitive"), nb::arg("inputs"), nb::arg("output_count"),
             "Runs the operator with scalar kernels. All inputs must have data. Raises OperatorError.");
  module.def(
      "kernel_types", &KernelTypes, nb::arg("primitive"), nb::arg("inputs"), nb::arg("expected"),
      "Returns the data types of inputs and outputs for which a portable kernel supports a call with outputs of the "
      "`expected` types, and whether the operator compares; None if there is no such kernel.");
  module.def("has_macs", &IsMultiplyAccumulate, nb::arg("op"),
             "Returns True if the operator consists of multiply-accumulates: convolutions, matmuls and others.");
  module.def("macs", &Macs, nb::arg("primitive"), nb::arg("inputs"), nb::arg("outputs"),
             "Returns the multiply-accumulates of a call with known sizes; 0 for operators that have none.");
  module.def("kernels", &Kernels, "Returns (name, operator, instruction set, may run in place) of all kernels.");
  module.def("quantized_kernels", &QuantizedKernels, "Returns the names of the kernels for quantized tensors.");
  module.def("shape_rules", &ShapeRules, "Returns the operators that have shape inference, as integers.");
  module.def("isas", &Isas, "Returns the instruction sets of this machine.");
  module.def("supports", &KernelSupports, nb::arg("name"), nb::arg("primitive"), nb::arg("inputs"), nb::arg("constant"),
             nb::arg("output_count"), "Returns True if the named kernel supports the call.");
  module.def("run_kernel", &RunNamed, nb::arg("name"), nb::arg("primitive"), nb::arg("inputs"), nb::arg("constant"),
             nb::arg("output_count"), nb::arg("threads") = 1, nb::arg("shuffle_seed") = 0, nb::arg("in_place") = false,
             "Runs the named kernel with guard bytes around its buffers. Raises OperatorError if it overwrites them.");
}

}  // namespace mslite::python
