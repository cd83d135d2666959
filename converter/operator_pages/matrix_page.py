"""The text of docs/operators.md: an index by the names of source formats, and the matrix of operators and backends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mslite.converter.operator_pages.matrix import COLUMNS, Matrix
from mslite.converter.operator_pages.source_operators import FORMATS

_INDEXED = ("onnx", "tflite", "tensorflow", "caffe")
"""Source formats with an index on this page. MindSpore's primitives have a page of their own."""

_INTRODUCTION = """\
# Operators

This page shows which operators of a source model mslite converts, and which backends compute them. `make operators` writes it
from the tables of the build. Inputs, outputs, attributes and data types are in the
[operator reference](operators_reference.md).

- Find a source operator: {index},
  [MindSpore](primitives.md)
- Find an operator of mslite: [backends](#backends)

To see where the nodes of your model run, and why a node stays on the CPU, use `converter_lite --modelFile=model.onnx --check`
([checking.md](checking.md))."""

_INDEX = """\
## Source operators

A source operator becomes one of the listed operators, or several of them together. Operators that are computed at conversion,
such as Constant, have no entry."""

_BACKENDS = """\
## Backends

{count} operators. `yes` means that the backend computes the operator. A backend may still leave single nodes to the CPU because of
an attribute, a data type or a shape.

| column | backend | `yes` | `part` |
|---|---|---|---|
| float32 | CPU | it has a kernel | |
| float16 | 64-bit Arm CPU with float16 arithmetic ([float16.md](float16.md)) | a kernel reads and writes float16 | computed in float32, between casts |
| int8 | CPU, quantized models ([quantization.md](quantization.md)) | full quantization uses int8 | int8 only in models that were quantized before \
conversion |
| C | generated C ([micro_codegen.md](micro_codegen.md)) | for x86, Arm and Cortex-M | only if shapes do not depend on computed values |
| OpenCL | [GPU](gpu.md), float32 and float16 | it has a kernel | |
| OpenVINO | [OpenVINO](openvino.md) | it has an equivalent | only outputs that follow from shapes |
| NNAPI, NNRT | [NPU](npu.md) | it has an equivalent | only outputs that follow from shapes |
| Core ML | [NPU](npu.md) | it has an equivalent | |
| Ethos-U | [Ethos-U](ethosu.md), int8 | mslite passes it to vela | only next to an operator with `yes` |
| training | [training](training.md) on the CPU | it has a gradient | |

Other cells:

- `-`: unsupported. Nodes that OpenCL, OpenVINO, NNAPI, NNRT, Core ML or Ethos-U do not compute run on the CPU. In the column int8,
  the node stays in float32. In the column training, the operator has no gradient, or needs none.
- `other`: the operator has no float inputs. The reference lists its data types.
- `weights`, in the column training: the operator has a gradient, and its weights are trained by default.
- `step`, in the column training: the operator is a part of training steps, such as a loss, a gradient or an optimizer.

Notes:

- `--padToMaxOutputSize` of `mslite-codegen` lets generated C compute NonMaxSuppression, as PaddedNonMaxSuppression.
- Custom holds an operator that the schema does not define: one of mslite's own, which has a row of its own, or
  [yours](extending.md). GenOP holds any operator, in an obfuscated file.
- mslite reads and prints other operators that have `-` in every column, but it does not compute them."""


def matrix_page(cells: Matrix, sources: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    """The page, from the matrix and from operator -> source format -> source operators."""
    index = ",\n  ".join(f"[{FORMATS[key]}](#{_anchor(key)})" for key in _INDEXED)
    parts = [_INTRODUCTION.format(index=index), _INDEX]
    for source_format in _INDEXED:
        parts += [f"### {FORMATS[source_format]}", _index(source_format, sources)]
    parts += [_BACKENDS.format(count=len(cells)), _table(cells), links(cells)]
    return "\n\n".join(parts) + "\n"


def _anchor(source_format: str) -> str:
    return FORMATS[source_format].lower().replace(" ", "-")


def _index(source_format: str, sources: Mapping[str, Mapping[str, Sequence[str]]]) -> str:
    becomes: dict[str, list[str]] = {}
    for operator, names in sources.items():
        for source in names.get(source_format, ()):
            becomes.setdefault(source, []).append(operator)
    lines = [f"| {FORMATS[source_format]} | operators of mslite |", "|---|---|"]
    for source, operators in sorted(becomes.items(), key=lambda item: (item[0].lower(), item[0])):
        lines.append(f"| {source} | {', '.join(f'[{name}]' for name in sorted(operators))} |")
    return "\n".join(lines)


def _table(cells: Matrix) -> str:
    head = [f"| operator | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    return "\n".join([*head, *(f"| [{name}] | {' | '.join(row)} |" for name, row in cells.items())])


def links(operators: Sequence[str] | Matrix) -> str:
    """The addresses of `[Abs]` and the like in the reference."""
    return "\n".join(f"[{name}]: operators_reference.md#{name.lower()}" for name in operators)
