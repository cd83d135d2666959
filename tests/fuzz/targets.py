"""Fuzz target of a parser: the bytes of an input, their malformed variants, and running the parser with limits."""

from __future__ import annotations

import random
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from onnx import ModelProto

from mslite.converter import unexpected_errors
from mslite.converter.convert import convert
from mslite.converter.errors import ConversionError, UsageError
from mslite.converter.front_ends import parse_model
from mslite.converter.memory_limit import memory_limited
from mslite.converter.options import FmkType, Options
from mslite.converter.parsers.caffe.schema import NetParameter
from mslite.converter.parsers.mindir.messages import ModelProto as MindirProto
from mslite.converter.parsers.tf.protos import GraphDef

from . import mutate_caffe, mutate_mindir, mutate_ms, mutate_onnx, mutate_operands, mutate_tf, mutate_tflite
from .mutate import RAW, Mutator
from .mutate_protobuf import mutate_message
from .seeds import joined, parted

PARSERS = ("onnx", "tflite", "tf", "caffe", "mindir", "ms")
FRAMEWORKS = dict(
    zip(
        PARSERS,
        (FmkType.ONNX, FmkType.TFLITE, FmkType.TF, FmkType.CAFFE, FmkType.MINDIR, FmkType.MSLITE),
        strict=True,
    )
)
_SUFFIXES = dict(zip(PARSERS, (".onnx", ".tflite", ".pb", ".prototxt", ".mindir", ".ms"), strict=True))
_MEMORY = 256 << 20
_STRUCTURED: dict[str, Mutator] = {
    "onnx": mutate_onnx.mutate,
    "tflite": mutate_tflite.mutate,
    "tf": mutate_tf.mutate,
    "mindir": mutate_mindir.mutate,
    "ms": mutate_ms.mutate,
}
_OPERANDS: dict[str, Mutator] = {"onnx": mutate_operands.mutate_onnx, "tf": mutate_operands.mutate_tf}
_MESSAGES = {"onnx": ModelProto, "tf": GraphDef, "mindir": MindirProto}


def variant(parser: str, seed: bytes, number: int) -> bytes:
    """Returns malformed variant `number` of a valid model: damaged bytes, format-specific or protobuf mutations in turn."""
    rng = random.Random(f"{parser}-{number}")
    kind = rng.randrange(4)
    try:
        if kind == 0:
            return rng.choice(RAW)(seed, rng)
        if parser == "caffe":
            return _caffe_variant(seed, kind, rng)
        if kind == 1 or parser not in _MESSAGES:
            return _STRUCTURED[parser](seed, rng)
        if kind == 2 and parser in _OPERANDS:
            return _OPERANDS[parser](seed, rng)
        message = _MESSAGES[parser]()
        message.ParseFromString(seed)
        return mutate_message(message, rng)
    except Exception:  # the structured change cannot be written; uses a raw change instead
        return rng.choice(RAW)(seed, rng)


def _caffe_variant(seed: bytes, kind: int, rng: random.Random) -> bytes:
    text, weights = parted(seed)
    if kind == 1:
        return joined(text, mutate_caffe.mutate_weights(weights, rng))
    if kind == 2:
        message = NetParameter()
        message.ParseFromString(weights)
        return joined(text, mutate_message(message, rng))
    return joined(mutate_caffe.mutate_text(text, rng), weights)


class Target:
    """Passes bytes to one parser, or to the whole converter. `failure` has the error of the last ones."""

    def __init__(self, parser: str, whole: bool = False) -> None:
        self.parser = parser
        self._whole = whole
        self._folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self._file = Path(self._folder.name) / f"model{_SUFFIXES[parser]}"
        self.failure: str | None = None
        self.stumbled: str | None = None
        """Locations of general error handlers, which reject a file with a general reason."""
        unexpected_errors.observers.append(self._note)

    def _note(self, error: Exception) -> None:
        self.stumbled = place_of(error)

    def run(self, content: bytes) -> bool:
        """Returns whether the model was read. Raises nothing; `failure` has unexpected errors."""
        self.failure = self.stumbled = None
        weights = None
        if self.parser == "caffe":
            content, binary = parted(content)
            weights = self._file.with_suffix(".caffemodel")
            weights.write_bytes(binary)
        self._file.write_bytes(content)
        options = Options(
            self._file,
            self._file.with_name("result"),
            FRAMEWORKS[self.parser],
            weight_file=weights,
            memory_limit=_MEMORY,
        )
        try:
            if self._whole:
                convert(options)
            else:
                with memory_limited(_MEMORY):
                    parse_model(options, FRAMEWORKS[self.parser])
        except (ConversionError, UsageError, MemoryError):
            return False
        except Exception as error:
            self.failure = place_of(error)
            return False
        return True


def place_of(error: BaseException) -> str:
    """Returns the type of an error and the line of mslite that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/mslite/" in frame.filename or "/converter/" in frame.filename]
    frame = (own or frames)[-1] if frames else None
    where = "" if frame is None else f"{'/'.join(Path(frame.filename).parts[-3:])}:{frame.lineno}"
    return f"{type(error).__name__} at {where}: {str(error)[:120]!r}"


Execute = Callable[[bytes], bool]
