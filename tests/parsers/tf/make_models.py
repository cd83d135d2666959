"""Makes the frozen GraphDefs of `cases.py` and records TensorFlow's outputs: `python -m tests.parsers.tf.make_models [NAME ...]`.

They are written to `models.zip`: `<name>.pb`, and `<name>.npz` with `input_<i>`, `output_<i>` and `names` of outputs. With names on the
command line, only cases with one of them in their name are made again.
"""

from __future__ import annotations

import io
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tests.parsers.tf.cases import CASES, Case

ARCHIVE = Path(__file__).parent / "models.zip"


def freeze(case: Case) -> Any:
    """Returns the frozen function of a case with the arguments x0, x1, ..."""
    specs = [
        tf.TensorSpec(shape, array.dtype, f"x{number}")
        for number, (shape, array) in enumerate(zip(case.shapes, case.inputs, strict=True))
    ]
    concrete = tf.function(case.function, input_signature=specs).get_concrete_function()
    return convert_variables_to_constants_v2(concrete, lower_control_flow=False)


def made(name: str, case: Case) -> dict[str, bytes]:
    """Returns the files of a case."""
    frozen = freeze(case)
    graph = frozen.graph.as_graph_def()
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        for node in nodes:
            node.ClearField("device")
            node.ClearField("experimental_debug_info")
            for attribute in ("_output_shapes", "_construction_context", "_noinline"):
                node.attr.pop(attribute, None)
    outputs = frozen(*(tf.constant(array) for array in case.inputs))
    outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
    record = {f"input_{number}": array for number, array in enumerate(case.inputs)}
    record |= {f"output_{number}": value.numpy() for number, value in enumerate(outputs)}
    names = [tensor.name.removesuffix(":0") for tensor in frozen.outputs]
    buffer = io.BytesIO()
    np.savez(buffer, names=np.array(names), **record)
    return {f"{name}.pb": graph.SerializeToString(deterministic=True), f"{name}.npz": buffer.getvalue()}


def main() -> None:
    wanted = sys.argv[1:]
    files: dict[str, bytes] = {}
    if wanted and ARCHIVE.is_file():
        with zipfile.ZipFile(ARCHIVE) as archive:
            files = {name: archive.read(name) for name in archive.namelist() if name.rpartition(".")[0] in CASES}
    for name, case in CASES.items():
        if not wanted or any(part in name for part in wanted):
            files |= made(name, case)
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files):
            archive.writestr(zipfile.ZipInfo(name), files[name], zipfile.ZIP_DEFLATED, 9)


if __name__ == "__main__":
    main()
