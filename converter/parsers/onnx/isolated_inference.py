"""onnx's inference with contents, in a process of its own with bounded memory and time.

Run on its own, it reads a model from the standard input and writes it, with its types, to the standard output.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import ModelProto, shape_inference

_MEMORY, _TIMES = 384 << 20, 16
"""The most memory, and so many times the size of the model where that is more."""

_SECONDS = 30


def infer_isolated(model: ModelProto) -> ModelProto:
    """The model with the types that inference with contents tells; without contents where that takes too much."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__], input=model.SerializeToString(), capture_output=True, check=False
        )
        if done.returncode == 0:
            result = ModelProto()
            result.ParseFromString(done.stdout)
            return result
    except (OSError, DecodeError, EncodeError):
        pass
    return shape_inference.infer_shapes(model)


def main() -> int:
    content = sys.stdin.buffer.read()
    memory = max(_MEMORY, _TIMES * len(content))
    for kind, value in ((resource.RLIMIT_DATA, memory), (resource.RLIMIT_CPU, _SECONDS), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (value if hard < 0 else min(value, hard), hard))
    model = ModelProto.FromString(content)
    try:
        result = shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # whatever a wrong model makes onnx raise: without contents it may tell more
        return 1
    sys.stdout.buffer.write(result.SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
