"""Sizes that a TensorFlow Lite model leaves open, through the Python API and the C API, against LiteRT at five sizes each."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from tflite_build import Graph, Operator, Tensor, build
from tflite_run import Array, lowered

import mslite
from mslite.converter.mindir import module_io
from mslite.converter.parsers.tflite import parse

_CHANCE = np.random.default_rng(3)
SIZES = [(1, 8), (3, 8), (2, 5), (4, 13), (1, 21)]


def f32(*shape: int) -> Array:
    return np.asarray(_CHANCE.uniform(-1, 1, shape), np.float32)


def flattened(signature: tuple[int, ...] = (-1, -1, 6, 3)) -> bytes:
    """relu(conv(x [n, h, 6, 3])), its sizes read by SHAPE, flattened to [n, rest] by a computed shape."""
    numbers = [("one", [1]), ("none", [0]), ("step", [1]), ("rest", [-1])]
    tensors = [
        Tensor("x", (1, 8, 6, 3), signature=signature),
        Tensor("w", data=f32(4, 3, 3, 3)), Tensor("b", data=f32(4)), Tensor("y", (1, 8, 6, 4)),
        Tensor("shape", (4,), "int32"),
        *(Tensor(name, data=np.array(values, np.int32)) for name, values in numbers),
        Tensor("batch", (1,), "int32"), Tensor("target", (2,), "int32"), Tensor("flat", (1, 192)),
    ]  # fmt: skip
    conv = {0: ("byte", 0), 1: ("int", 1), 2: ("int", 1), 3: ("byte", 1)}
    nodes = [
        Operator("CONV_2D", [0, 1, 2], [3], conv, "Conv2DOptions"),
        Operator("SHAPE", [3], [4], {0: ("byte", 2)}, "ShapeOptions"),
        Operator("STRIDED_SLICE", [4, 6, 5, 7], [9], {0: ("int", 0)}, "StridedSliceOptions"),
        Operator("CONCATENATION", [9, 8], [10], {0: ("int", 0)}, "ConcatenationOptions"),
        Operator("RESHAPE", [3, 10], [11], {}, "ReshapeOptions"),
    ]
    return build(Graph(tensors, [0], [11], nodes))


def expected(model: bytes, x: Array) -> Array:
    interpreter = pytest.importorskip("ai_edge_litert.interpreter")
    runner = interpreter.Interpreter(model_content=model)
    runner.resize_tensor_input(0, x.shape)
    runner.allocate_tensors()
    runner.set_tensor(0, x)
    runner.invoke()
    return np.asarray(runner.get_tensor(runner.get_output_details()[0]["index"]))


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Path]:
    folder, model = tmp_path_factory.mktemp("dynamic"), flattened()
    (folder / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(folder / "m.tflite")), folder / "m.ms")
    return model, folder / "m.ms"


def test_sizes_of_every_run(converted: tuple[bytes, Path]) -> None:
    model, path = converted
    runner = mslite.Model()
    runner.build_from_file(str(path), mslite.ModelType.MINDIR_LITE)
    for batch, height in SIZES:
        x = f32(batch, height, 6, 3)
        (tensor,) = runner.get_inputs()
        runner.resize([tensor], [list(x.shape)])
        (tensor,) = runner.get_inputs()
        tensor.set_data_from_numpy(x)
        (found,) = runner.predict([tensor])
        np.testing.assert_allclose(found.get_data_to_numpy(), expected(model, x), rtol=1e-5, atol=1e-5)


def test_a_batch_has_the_stated_size_until_it_is_changed(tmp_path: Path) -> None:
    """SHAPE of it must not become a constant."""
    model = flattened((-1, 8, 6, 3))
    (tmp_path / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(tmp_path / "m.tflite")), tmp_path / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(tmp_path / "m.ms"), mslite.ModelType.MINDIR_LITE)
    assert runner.get_inputs()[0].shape == [1, 8, 6, 3]
    for batch in (1, 3, 2):
        x = f32(batch, 8, 6, 3)
        (tensor,) = runner.get_inputs()
        runner.resize([tensor], [list(x.shape)])
        (tensor,) = runner.get_inputs()
        tensor.set_data_from_numpy(x)
        (found,) = runner.predict([tensor])
        np.testing.assert_allclose(found.get_data_to_numpy(), expected(model, x), rtol=1e-5, atol=1e-5)


def test_reshapes_of_any_batch(tmp_path: Path) -> None:
    """Nothing reads sizes here. What becomes of two reshapes after each other must hold for other batches, too."""
    tensors = [
        Tensor("x", (1, 12, 2), signature=(-1, 12, 2)), Tensor("order", data=np.array([0, 2, 1], np.int32)),
        Tensor("wide", data=np.array([-1, 8, 3], np.int32)), Tensor("axis", data=np.array(-3, np.int32)),
        Tensor("a", (1, 2, 12), signature=(-1, 2, 12)), Tensor("b", (1, 8, 3), signature=(-1, 8, 3)),
        Tensor("c", (1, 1, 8, 3), signature=(-1, 1, 8, 3)), Tensor("y", (1, 1, 8, 3), signature=(-1, 1, 8, 3)),
    ]  # fmt: skip
    nodes = [
        Operator("TRANSPOSE", [0, 1], [4]), Operator("RESHAPE", [4, 2], [5]),
        Operator("EXPAND_DIMS", [5, 3], [6]), Operator("ABS", [6], [7]),
    ]  # fmt: skip
    model = build(Graph(tensors, [0], [7], nodes))
    (tmp_path / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(tmp_path / "m.tflite")), tmp_path / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(tmp_path / "m.ms"), mslite.ModelType.MINDIR_LITE)
    for batch in (1, 3, 2):
        x = f32(batch, 12, 2)
        runner.resize(runner.get_inputs(), [list(x.shape)])
        (found,) = runner.predict([x])
        np.testing.assert_array_equal(found.get_data_to_numpy(), np.abs(x.swapaxes(1, 2)).reshape(batch, 1, 8, 3))


def upsampled(volume: bool) -> bytes:
    """A transposed convolution of x [n, 4, 4, 5], or of x [n, 4, 4, 4, 5], whose output size [n, 8, 8, 3] or
    [n, 8, 8, 8, 3] begins with the size of the batch."""
    axes = 3 if volume else 2
    rest = (*[8] * axes, 3)
    sizes = (*[4] * axes, 5)
    weight = f32(3, 3, 3, 3, 5) if volume else f32(3, 3, 3, 5)
    numbers = [("none", [0]), ("one", [1]), ("rest", list(rest))]
    rank = axes + 2
    tensors = [
        Tensor("x", (1, *sizes), signature=(-1, *sizes)), Tensor("w", data=weight),
        Tensor("shape", (rank,), "int32"),
        *(Tensor(name, data=np.array(values, np.int32)) for name, values in numbers),
        Tensor("batch", (1,), "int32"), Tensor("size", (rank,), "int32"), Tensor("y", (1, *rest), signature=(-1, *rest)),
    ]  # fmt: skip
    transposed = (
        Operator(
            "CONV_3D_TRANSPOSE",
            [7, 1, 0],
            [8],
            {0: ("byte", 0)} | {field: ("int", value) for field, value in enumerate((2, 2, 2, 0, 1, 1, 1), 1)},
            "Conv3DOptions",
        )
        if volume
        else Operator(
            "TRANSPOSE_CONV", [7, 1, 0], [8], {0: ("byte", 0), 1: ("int", 2), 2: ("int", 2)}, "TransposeConvOptions"
        )
    )
    nodes = [
        Operator("SHAPE", [0], [2], {0: ("byte", 2)}, "ShapeOptions"),
        Operator("STRIDED_SLICE", [2, 3, 4, 4], [6], {0: ("int", 0)}, "StridedSliceOptions"),
        Operator("CONCATENATION", [6, 5], [7], {0: ("int", 0)}, "ConcatenationOptions"),
        transposed,
    ]
    return build(Graph(tensors, [0], [8], nodes))


@pytest.mark.parametrize("volume", [False, True], ids=["image", "volume"])
def test_transposed_convolution_of_any_batch(volume: bool, tmp_path: Path) -> None:
    model = upsampled(volume)
    (tmp_path / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(tmp_path / "m.tflite")), tmp_path / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(tmp_path / "m.ms"), mslite.ModelType.MINDIR_LITE)
    for batch in (1, 4, 2):
        x = f32(batch, *runner.get_inputs()[0].shape[1:])
        runner.resize(runner.get_inputs(), [list(x.shape)])
        (tensor,) = runner.get_inputs()
        tensor.set_data_from_numpy(x)
        (found,) = runner.predict([tensor])
        np.testing.assert_allclose(found.get_data_to_numpy(), expected(model, x), rtol=1e-5, atol=1e-5)


def stretched(more: int, line: bool) -> bytes:
    """Of x [1, h, w, 5], VALID with a kernel and stride of 3: [1, h * 3 + more, w * 3, 3]; h and w are open. Of a line
    x [1, w, 5], which becomes an image of one row, [1, 3, w * 3 + more, 3]."""
    wide = (1, 1, 5) if line else (1, 1, 1, 5)
    tensors = [
        Tensor("x", wide, signature=(-1, *[-1] * (len(wide) - 2), 5)), Tensor("w", data=f32(3, 3, 3, 5)),
        Tensor("axis", data=np.int32(1)), Tensor("image", (1, 1, 1, 5), signature=(-1, 1 if line else -1, -1, 5)),
        Tensor("shape", (len(wide),), "int32"), Tensor("begin", data=np.array([1], np.int32)),
        Tensor("end", data=np.array([3], np.int32)), Tensor("one", data=np.array([1], np.int32)),
        Tensor("lengths", (1 if line else 2,), "int32"), Tensor("stride", data=np.int32(3)),
        Tensor("scaled", (1 if line else 2,), "int32"),
        Tensor("more", data=np.array([more] if line else [more, 0], np.int32)),
        Tensor("sizes", (1 if line else 2,), "int32"), Tensor("height", data=np.array([3], np.int32)),
        Tensor("channels", data=np.array([3], np.int32)), Tensor("size", (4,), "int32"),
        Tensor("y", (1, 3, 3, 3), signature=(-1, -1, -1, 3)),
        Tensor("until", data=np.array([2], np.int32)),
    ]  # fmt: skip
    nodes = [
        *([Operator("EXPAND_DIMS", [0, 2], [3], options_type="ExpandDimsOptions")] if line else []),
        Operator("SHAPE", [0], [4], {0: ("byte", 2)}, "ShapeOptions"),
        Operator("STRIDED_SLICE", [4, 5, 17 if line else 6, 7], [8], {0: ("int", 0)}, "StridedSliceOptions"),
        Operator("MUL", [8, 9], [10], options_type="MulOptions"),
        Operator("ADD", [10, 11], [12], options_type="AddOptions"),
        Operator("CONCATENATION", [7, *([13] if line else []), 12, 14], [15], {0: ("int", 0)}, "ConcatenationOptions"),
        Operator(
            "TRANSPOSE_CONV",
            [15, 1, 3 if line else 0],
            [16],
            {0: ("byte", 1), 1: ("int", 3), 2: ("int", 3)},
            "TransposeConvOptions",
        ),
    ]
    return build(Graph(tensors, [0], [16], nodes))


@pytest.mark.parametrize("line", [False, True], ids=["image", "line"])
@pytest.mark.parametrize("more", [0, 1, 2])
def test_transposed_convolution_of_any_size(more: int, line: bool, tmp_path: Path) -> None:
    model = stretched(more, line)
    (tmp_path / "m.tflite").write_bytes(model)
    module_io.save(lowered(parse(tmp_path / "m.tflite")), tmp_path / "m.ms")
    runner = mslite.Model()
    runner.build_from_file(str(tmp_path / "m.ms"), mslite.ModelType.MINDIR_LITE)
    for sizes in ((4, 5), (7, 2)):
        x = f32(1, *sizes[1:], 5) if line else f32(1, *sizes, 5)
        runner.resize(runner.get_inputs(), [list(x.shape)])
        (tensor,) = runner.get_inputs()
        tensor.set_data_from_numpy(x)
        (found,) = runner.predict([tensor])
        np.testing.assert_allclose(found.get_data_to_numpy(), expected(model, x), rtol=1e-5, atol=1e-5)


class Handles(ctypes.Structure):
    """MSTensorHandleArray."""

    _fields_ = (("count", ctypes.c_size_t), ("list", ctypes.POINTER(ctypes.c_void_p)))


class Shape(ctypes.Structure):
    """MSShapeInfo."""

    _fields_ = (("count", ctypes.c_size_t), ("dims", ctypes.c_int64 * 32))


def test_sizes_of_every_run_in_c(converted: tuple[bytes, Path]) -> None:
    model, path = converted
    library = Path(mslite.__file__).parents[2] / "lite_runtime" / "libmindspore-lite.so"
    if not library.exists():
        pytest.skip(f"{library.name} stands beside the package in a build only")
    c = ctypes.CDLL(str(library))
    pointer = ctypes.c_void_p
    for name in (
        "MSModelCreate",
        "MSContextCreate",
        "MSDeviceInfoCreate",
        "MSTensorGetMutableData",
        "MSTensorGetShape",
    ):
        getattr(c, name).restype = pointer
    for name in ("MSModelGetInputs", "MSModelGetOutputs"):
        getattr(c, name).restype = Handles
    c.MSTensorGetMutableData.argtypes = [pointer]
    c.MSTensorGetShape.argtypes = [pointer, ctypes.POINTER(ctypes.c_size_t)]
    c.MSContextAddDeviceInfo.argtypes = [pointer, pointer]
    c.MSModelBuildFromFile.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int, pointer]
    for name in ("MSModelGetInputs", "MSModelGetOutputs"):
        getattr(c, name).argtypes = [pointer]
    c.MSModelResize.argtypes = [pointer, Handles, ctypes.POINTER(Shape), ctypes.c_size_t]
    c.MSModelPredict.argtypes = [pointer, Handles, ctypes.POINTER(Handles), pointer, pointer]
    context, handle = c.MSContextCreate(), c.MSModelCreate()
    c.MSContextAddDeviceInfo(context, c.MSDeviceInfoCreate(0))
    assert c.MSModelBuildFromFile(handle, str(path).encode(), 0, context) == 0
    for batch, height in SIZES:
        x = f32(batch, height, 6, 3)
        inputs = c.MSModelGetInputs(handle)
        shape = Shape(4, (ctypes.c_int64 * 32)(*x.shape))
        assert c.MSModelResize(handle, inputs, ctypes.byref(shape), 1) == 0
        inputs = c.MSModelGetInputs(handle)
        ctypes.memmove(c.MSTensorGetMutableData(inputs.list[0]), x.ctypes.data, x.nbytes)
        outputs = Handles()
        assert c.MSModelPredict(handle, inputs, ctypes.byref(outputs), None, None) == 0
        rank = ctypes.c_size_t()
        found = outputs.list[0]
        dims = ctypes.cast(c.MSTensorGetShape(found, ctypes.byref(rank)), ctypes.POINTER(ctypes.c_int64))
        wanted = expected(model, x)
        assert dims[: rank.value] == list(wanted.shape)
        result = np.ctypeslib.as_array(
            ctypes.cast(c.MSTensorGetMutableData(found), ctypes.POINTER(ctypes.c_float)), wanted.shape
        )
        np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-5)
    c.MSModelDestroy(ctypes.byref(pointer(handle)))
