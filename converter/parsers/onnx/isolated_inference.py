"""Runs onnx's inference with contents in a separate process with limited memory and time.

As a program, it reads a model from standard input and writes it, with inferred types, to standard output.
"""

from __future__ import annotations

import resource
import subprocess
import sys

from google.protobuf.message import DecodeError, EncodeError  # type: ignore[import-untyped]
from onnx import ModelProto, shape_inference

_MEMORY, _TIMES = 384 << 20, 16
"""The memory limit is the larger of 384 MB and 16 times the model's size."""

_SECONDS = 30


def infer_isolated(model: ModelProto) -> ModelProto:
    """Returns the model with inferred types; without propagated contents if that exceeds the limits."""
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
    except Exception:  # an invalid model may raise anything; the caller tries again without contents
        return 1
    sys.stdout.buffer.write(result.SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
