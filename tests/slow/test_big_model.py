"""A model over 2 GiB: ONNX with external data -> `.ms` + `.msw` -> the runtime, within the memory that it may take."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import mslite
from mslite.converter.mindir import module_io

SIZE = 8192
LAYERS = 10
WEIGHT_BYTES = SIZE * SIZE * 4
TOTAL = LAYERS * WEIGHT_BYTES  # 2.5 GiB

CONVERT = """
import resource, sys
from mslite.converter import cli
code = cli.main(["--fmk=ONNX", "--modelFile=" + sys.argv[1], "--outputFile=" + sys.argv[2]])
print("PEAK", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
sys.exit(code)
"""


def write_model(folder: Path) -> Path:
    """LAYERS products with identity matrices, half of them to be transposed, in one sparse external-data file."""
    nodes, tensors = [], []
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(TOTAL)
        for layer in range(LAYERS):
            for row in range(SIZE):
                file.seek(layer * WEIGHT_BYTES + row * (SIZE + 1) * 4)
                file.write(np.float32(1).tobytes())
    for layer in range(LAYERS):
        tensor = TensorProto(name=f"weight{layer}", data_type=TensorProto.FLOAT, dims=[SIZE, SIZE])
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "weights.bin"), ("offset", layer * WEIGHT_BYTES), ("length", WEIGHT_BYTES)):
            tensor.external_data.add(key=key, value=str(value))
        tensors.append(tensor)
        nodes.append(
            helper.make_node(
                "Gemm", [f"x{layer}", f"weight{layer}"], [f"x{layer + 1}"], name=f"gemm{layer}", transB=layer % 2
            )
        )
    graph = helper.make_graph(
        nodes,
        "big",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, [1, SIZE])],
        [helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, [1, SIZE])],
        tensors,
    )
    path = folder / "big.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
    return path


def free_bytes(folder: Path) -> int:
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def test_model_over_2_gib(tmp_path: Path) -> None:
    if free_bytes(tmp_path) < 4 * TOTAL:
        pytest.skip("less than 10 GiB of disk are free")
    model = write_model(tmp_path)
    output = tmp_path / "big.ms"
    result = subprocess.run(
        [sys.executable, "-c", CONVERT, str(model), str(output)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    peak = int(result.stdout.split("PEAK")[1])
    print(f"peak {peak / TOTAL:.3f} times the weights")
    assert peak <= 1.2 * TOTAL
    assert output.stat().st_size < 1 << 20
    assert output.with_suffix(".msw").stat().st_size >= TOTAL

    module = module_io.load(output)
    weights = [value for value in module.main.values() if value.data is not None and value.data.size == SIZE * SIZE]
    assert len(weights) == LAYERS
    assert all(float(weight.array()[5, 5]) == 1.0 for weight in weights)

    runtime = mslite.Model()
    runtime.build_from_file(str(output), mslite.ModelType.MINDIR_LITE)
    inputs = runtime.get_inputs()
    x = np.random.default_rng(1).standard_normal((1, SIZE)).astype(np.float32)
    inputs[0].set_data_from_numpy(x)
    (y,) = runtime.predict(inputs)
    np.testing.assert_array_equal(y.get_data_to_numpy(), x)
    print(f"this process peaked at {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB")
