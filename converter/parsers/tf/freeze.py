"""Script that freezes a SavedModel folder or a Keras file to a GraphDef; runs in a separate process, with TensorFlow.

    python -P freeze.py <model> <result.pb> <memory limit in bytes> <signature of a SavedModel, or nothing>

`saved_model.py` has checked the model before; HDF5 files are checked here, because that needs a library. Functions (If,
While) are not inlined. The outputs have the names of the signature. The last line of the standard output has the names
of the outputs or, with exit code 1 (3: unsupported), the error.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

_OWN_BYTES = 2 << 30
"""Memory that TensorFlow may use in addition to the model."""


class FreezeError(Exception):
    """A model cannot be frozen; `str()` is the reason."""


class NotSupported(FreezeError):
    """A model is unsupported, because freezing would lose state; the exit code is 3."""


def signature(folder: Path, name: str) -> Any:
    """Returns the function of a SavedModel's signature; the default is `serving_default` or the only signature. Raises
    FreezeError."""
    import tensorflow as tf

    _limit_to(resource.RLIMIT_FSIZE, 0)  # loading may run operators of the model; they must not write files
    loaded = tf.saved_model.load(str(folder))
    signatures = dict(loaded.signatures)
    signatures.pop("__saved_model_init_op", None)
    function = signatures.get(name or "serving_default")
    if function is None and len(signatures) == 1 and not name:
        function = next(iter(signatures.values()))
    if function is None:
        remedy = f"select one with --signature={min(signatures)}" if signatures else "export it with a signature"
        names = ", ".join(sorted(signatures)) or "none"
        raise FreezeError(f"it has no signature '{name or 'serving_default'}' (its signatures: {names}); {remedy}")
    function._keeps_loaded = loaded  # keeps the variables alive
    return function


def keras_function(file: Path) -> Any:
    """Returns the inference function of a Keras model: one argument for each input, a dictionary of outputs."""
    import tensorflow as tf

    model = _load_keras(file)
    specs = [
        tf.TensorSpec(tensor.shape, tensor.dtype, name=_plain(tensor.name, f"input_{number}"))
        for number, tensor in enumerate(model.inputs)
    ]
    given = getattr(model, "output_names", None) or [tensor.name for tensor in model.outputs]
    names = _unique([_plain(name, f"output_{number}") for number, name in enumerate(given)])

    def serve(*arguments: Any) -> dict[str, Any]:
        outputs = tf.nest.flatten(model(_packed(model, arguments), training=False))
        return dict(zip(names, outputs, strict=True))

    function = tf.function(serve, input_signature=specs).get_concrete_function()
    function._keeps_loaded = model  # the function has only weak references to the variables
    function._inputs_in_order = [tensor.name.removesuffix(":0") for tensor in function.inputs[: len(specs)]]
    function._outputs_in_order = names
    return function


def _packed(model: Any, arguments: tuple[Any, ...]) -> Any:
    """Returns the arguments in the input structure of the model."""
    import tensorflow as tf

    structure = getattr(model, "_inputs_struct", None)
    if structure is None:
        structure = getattr(model, "_nested_inputs", None)
    if structure is None or len(tf.nest.flatten(structure)) != len(arguments):
        return arguments[0] if len(arguments) == 1 else list(arguments)
    return tf.nest.pack_sequence_as(structure, list(arguments))


def _check_hdf5(file: Path) -> None:
    """Raises FreezeError for a file that would run code or read other files."""
    import h5py  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from mslite.converter.parsers.tf.keras_config import UnsafeKerasModel, check_keras_config

    with h5py.File(file, "r") as opened:
        _check_group(opened)
        for name in ("model_config", "training_config"):
            text = opened.attrs.get(name)
            try:
                if text is not None:
                    check_keras_config(text if isinstance(text, str | bytes) else str(text))
            except UnsafeKerasModel as error:
                raise FreezeError(str(error)) from None


def _check_group(opened: Any) -> None:
    import h5py  # type: ignore[import-untyped, import-not-found, unused-ignore]

    work, seen, total = [opened], {opened.id.__hash__()}, 0
    while work:
        group = work.pop()
        for name in group:
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise FreezeError("its weights are links to other groups or files, which are not followed")
            item = group[name]
            if item.id.__hash__() in seen:
                continue
            seen.add(item.id.__hash__())
            if isinstance(item, h5py.Group):
                work.append(item)
            elif item.external or item.is_virtual:
                raise FreezeError("its weights are in other files, which are not read")
            else:
                total += int(item.nbytes)
    if total > _limit():
        raise FreezeError(f"its weights need {total >> 20} MiB, more than --memoryLimit")


def _limit() -> int:
    return int(sys.argv[3])


def _load_keras(file: Path) -> Any:
    """Loads the model with Keras 3; if that fails, with Keras 2 (tf_keras)."""
    if file.suffix == ".keras":
        _check_archived_weights(file)
    else:
        _check_hdf5(file)
    import tensorflow as tf

    try:
        return tf.keras.models.load_model(str(file), compile=False)
    except Exception as error:
        first = error
    try:
        import tf_keras

        return tf_keras.models.load_model(str(file), compile=False)
    except ImportError:
        raise first from None
    except Exception:
        raise first from None


def _check_archived_weights(file: Path) -> None:
    import io
    import zipfile

    import h5py  # type: ignore[import-untyped, import-not-found, unused-ignore]

    with zipfile.ZipFile(file) as archive:
        if "model.weights.h5" in archive.namelist():
            with archive.open("model.weights.h5") as member, h5py.File(io.BytesIO(member.read()), "r") as opened:
                _check_group(opened)


def _plain(name: str, otherwise: str) -> str:
    """Returns a tensor name without its output number, as a valid argument name; else `otherwise`."""
    text = name.partition(":")[0].replace("/", "_").replace("-", "_").replace(".", "_")
    return text if text.isidentifier() else otherwise


def _unique(names: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name}_{seen[name] - 1}")
    return result


def frozen_graph(function: Any) -> tuple[Any, list[str]]:
    """Returns the GraphDef of a function, with variables as constants, and the names of its output nodes.

    Inputs are the first nodes. Inputs and outputs are in the order of the Keras model, or sorted by the numbers in
    their names; else, inputs are in their original order, and outputs are sorted by name.
    """
    from tensorflow.python.framework.convert_to_constants import (
        convert_variables_to_constants_v2,
    )

    from mslite.converter.parsers.tf.name_order import in_numbered_order

    frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
    graph = frozen.graph.as_graph_def()
    inputs = getattr(function, "_inputs_in_order", None)
    if inputs is None:
        inputs = in_numbered_order([node.name for node in graph.node if node.op == "Placeholder"])
    places = {name: place for place, name in enumerate(inputs)}
    graph.node.sort(key=lambda node: places.get(node.name, len(places)))
    structure = function.structured_outputs
    wanted = sorted(structure) if isinstance(structure, dict) else []
    taken = {node.name for node in graph.node}
    names = []
    for number, tensor in enumerate(frozen.outputs):
        name = wanted[number] if len(wanted) == len(frozen.outputs) else ""
        if name in taken or not name.replace("_", "a").isalnum():
            name = f"output_{number}"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
        copy = graph.node.add(name=name, op="Identity", input=[tensor.name.removesuffix(":0")])
        copy.attr["T"].type = tensor.dtype.as_datatype_enum
    if len(wanted) == len(names):
        order = getattr(function, "_outputs_in_order", None) or in_numbered_order(wanted)
        names = [names[wanted.index(name)] for name in order]
    return graph, names


def _check_state(function: Any) -> None:
    """Raises NotSupported for a function that keeps state between calls."""
    from mslite.converter.parsers.tf.stateful_resources import refusal

    reason = refusal(function, getattr(function, "_keeps_loaded", None))
    if reason is not None:
        raise NotSupported(reason)


def _limit_to(kind: int, count: int) -> None:
    hard = resource.getrlimit(kind)[1]
    resource.setrlimit(kind, (count if hard < 0 else min(count, hard), hard))


def _let_write() -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))


def main() -> int:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    _limit_to(resource.RLIMIT_DATA, _limit() + _OWN_BYTES)
    try:
        function = signature(source, sys.argv[4]) if source.is_dir() else keras_function(source)
        _check_state(function)
        graph, names = frozen_graph(function)
        _let_write()
        target.write_bytes(graph.SerializeToString())
    except MemoryError:
        print("it needs more memory than --memoryLimit")
        return 1
    except NotSupported as error:
        print(str(error))
        return 3
    except Exception as error:  # any exception of TensorFlow is reported in one line
        text = " ".join(str(error).split()) or type(error).__name__
        print(text[:500])
        return 1
    print(*names)
    return 0


if __name__ == "__main__":
    sys.exit(main())
