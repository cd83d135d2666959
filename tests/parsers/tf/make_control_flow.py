"""Makes the frozen GraphDefs of `control_flow_cases.py` and records TensorFlow's outputs.

    python -m tests.parsers.tf.make_control_flow

They are written to `control_flow.zip`: `<name>.pb`, and `<name>.npz` with `<run>_input_<i>`, `<run>_output_<i>` and `names` of outputs.
Models of TensorFlow 2 are written twice: with functions, and without (`_lowered`).
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.parsers.tf.control_flow_cases import FIRST, SECOND, normal, tf, v1

ARCHIVE = Path(__file__).parent / "control_flow.zip"


def packed(
    name: str, graph: Any, outputs: list[str], runs: list[list[Any]], results: list[list[Any]]
) -> dict[str, bytes]:
    """Returns the two files of a model."""
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        for node in nodes:
            node.ClearField("device")
            node.ClearField("experimental_debug_info")
            for attribute in ("_output_shapes", "_construction_context", "_noinline"):
                node.attr.pop(attribute, None)
    arrays: dict[str, Any] = {"names": np.array(outputs)}
    for run, (inputs, values) in enumerate(zip(runs, results, strict=True)):
        arrays |= {f"{run}_input_{number}": np.asarray(array) for number, array in enumerate(inputs)}
        arrays |= {f"{run}_output_{number}": np.asarray(array) for number, array in enumerate(values)}
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return {f"{name}.pb": graph.SerializeToString(deterministic=True), f"{name}.npz": buffer.getvalue()}


def first_generation(name: str) -> dict[str, bytes]:
    v1.reset_default_graph()
    graph = tf.Graph()
    with graph.as_default(), v1.Session(graph=graph) as session:
        v1.disable_control_flow_v2()
        inputs, outputs, runs = FIRST[name]()
        outputs = [tf.identity(value, f"y{number}") for number, value in enumerate(outputs)]
        session.run(v1.global_variables_initializer())
        for variable in v1.global_variables():
            session.run(v1.assign(variable, normal(*variable.shape) * 0.4))
        names = [value.op.name for value in outputs]
        frozen = v1.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), names)
        results = [session.run(outputs, dict(zip(inputs, run, strict=True))) for run in runs]
    return packed(name, frozen, names, runs, results)


def second_generation(name: str, lowered: bool) -> dict[str, bytes]:
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    function, runs = SECOND[name]()
    concrete = function.get_concrete_function() if hasattr(function, "get_concrete_function") else function
    frozen = convert_variables_to_constants_v2(concrete, lower_control_flow=lowered)
    results = [tf.nest.flatten(frozen(*(tf.constant(array) for array in run))) for run in runs]
    names = [value.op.name for value in frozen.outputs]
    return packed(f"{name}_lowered" if lowered else name, frozen.graph.as_graph_def(), names, runs, results)


def main() -> None:
    files: dict[str, bytes] = {}
    for name in FIRST:
        files |= first_generation(name)
    v1.enable_control_flow_v2()
    for name in SECOND:
        files |= second_generation(name, False) | second_generation(name, True)
    with zipfile.ZipFile(ARCHIVE, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in sorted(files):
            archive.writestr(zipfile.ZipInfo(file), files[file], zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
