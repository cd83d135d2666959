"""Archives that try to run code. They are made without PyTorch."""

from __future__ import annotations

import copyreg
import io
import json
import os
import pickle
import struct
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

OUTPUTS = '[1, {"type": "builtins.tuple", "context": "null", "children_spec": []}]'
INPUTS = (
    '[1, {"type": "builtins.tuple", "context": "null", "children_spec": ['
    '{"type": "builtins.tuple", "context": "null", "children_spec": []}, '
    '{"type": "builtins.dict", "context": "[]", "children_spec": []}]}]'
)
_EMPTY = b'{"config": {}}'


class Runs:
    """Pickles to a call of os.system."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self.command,)


def archive(members: Mapping[str, bytes], root: str = "net") -> bytes:
    """Returns a zip archive with its members in one folder."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, data in members.items():
            file.writestr(f"{root}/{name}", data)
    return target.getvalue()


def tensors(pickled: bytes, **members: bytes) -> bytes:
    """Returns an archive as torch.save writes it."""
    return archive({"data.pkl": pickled, "byteorder": b"little", "version": b"3\n", **members}, "archive")


def model(**fields: Any) -> dict[str, Any]:
    """Returns the JSON of a program without nodes; `fields` replace those of its graph."""
    values = {f"{kind}_values": {} for kind in ("tensor", "sym_int", "sym_float", "sym_bool", "custom_obj")}
    graph = {"inputs": [], "outputs": [], "nodes": [], "is_single_tensor_return": False, **values, **fields}
    signature = {"inputs": [], "outputs": [], "in_spec": INPUTS, "out_spec": OUTPUTS, "forward_arg_names": []}
    return {
        "graph_module": {
            "graph": graph,
            "signature": {"input_specs": [], "output_specs": []},
            "module_call_graph": [{"fqn": "", "signature": signature}],
            "metadata": {},
        },
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 1},
        "verifiers": ["TRAINING"],
        "torch_version": "2.13.0",
        "guards_code": [],
    }


def program(**members: bytes | dict[str, Any]) -> bytes:
    """Returns a whole archive; `members` replace those of a harmless one ('__' in a name stands for '/', '_DOT_' for '.')."""
    contents: dict[str, bytes] = {
        "archive_format": b"pt2",
        "archive_version": b"0",
        ".data/version": b"6\n",
        "models/model.json": json.dumps(model()).encode(),
        "data/weights/model_weights_config.json": _EMPTY,
        "data/constants/model_constants_config.json": _EMPTY,
        "data/sample_inputs/model.pt": tensors(pickle.dumps(((), {}), 2)),
    }
    for name, data in members.items():
        place = name.replace("__", "/").replace("_DOT_", ".")
        contents[place] = data if isinstance(data, bytes) else json.dumps(data).encode()
    return archive(contents)


def _call_without_reduce(command: str, how: str) -> bytes:
    """Calls os.system by INST, OBJ, NEWOBJ or an extension code."""
    text = command.encode()
    argument = b"X" + struct.pack("<I", len(text)) + text
    if how == "inst":
        return b"(" + argument + b"iposix\nsystem\n."
    if how == "obj":
        return b"(cposix\nsystem\n" + argument + b"o."
    if how == "newobj":
        return b"\x80\x02cposix\nsystem\n" + argument + b"\x85\x81."
    copyreg.add_extension("posix", "system", 77)
    try:
        return b"\x80\x02\x82\x4d" + argument + b"\x85R."
    finally:
        copyreg.remove_extension("posix", "system", 77)


def _hidden_name(command: str) -> bytes:
    """STACK_GLOBAL on memoized strings."""
    text = command.encode()
    return (
        b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x940h\x00h\x01\x93"
        + (b"X" + struct.pack("<I", len(text)) + text)
        + b"\x85R."
    )


def _listed(**entry: Any) -> dict[str, Any]:
    meta = {
        "dtype": 7,
        "sizes": [{"as_int": 1}],
        "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": 0},
        "requires_grad": False,
        "device": {"type": "cpu", "index": None},
        "layout": 7,
    }
    return {
        "config": {"w": {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta} | entry}
    }


def _node(target: str, *arguments: dict[str, Any], name: str = "y") -> dict[str, Any]:
    inputs = [{"name": "", "arg": argument, "kind": 1} for argument in arguments]
    return model(nodes=[{"target": target, "inputs": inputs, "outputs": [], "metadata": {}, "name": name}])


def _with_spec(spec: str) -> dict[str, Any]:
    found = model()
    found["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = spec
    return found


def _twice(data: bytes) -> bytes:
    """Adds the example inputs again, under the same name."""
    target = io.BytesIO(program())
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(target, "a") as file:
        file.writestr("net/data/sample_inputs/model.pt", data)
    return target.getvalue()


def _patched(data: bytes, offset: int, value: int) -> bytes:
    """Changes a 16-bit field of the first member in both headers."""
    changed = bytearray(data)
    for signature, shift in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(signature) + shift + offset
        changed[at : at + 2] = struct.pack("<H", value)
    return bytes(changed)


def attacks(marker: Path) -> dict[str, Callable[[], bytes]]:
    """Archives by attack; each would create the file `marker` if its code ran."""
    command = f"touch {marker}"
    run = Runs(command)
    sympy = f"__import__('os').system('{command}')"
    expression = {"as_expr": {"expr_str": sympy, "hint": None}}
    factory = {"default_factory_module": "this", "default_factory_name": "x", "dict_context": []}
    in_spec = [1, {"type": "collections.defaultdict", "context": factory, "children_spec": []}]
    enum = [
        1,
        {"type": "builtins.dict", "context": '[{"__enum__": true, "fqn": "this:x", "name": "y"}]', "children_spec": []},
    ]
    inputs = "data__sample_inputs__model_DOT_pt"
    return {
        **{
            f"reduce, protocol {protocol}": lambda protocol=protocol: program(  # type: ignore[misc]
                **{inputs: tensors(pickle.dumps(run, protocol))}
            )
            for protocol in range(6)
        },
        **{
            how: lambda how=how: program(**{inputs: tensors(_call_without_reduce(command, how))})  # type: ignore[misc]
            for how in ("inst", "obj", "newobj", "extension")
        },
        "hidden name": lambda: program(**{inputs: tensors(_hidden_name(command))}),
        "state of a dictionary": lambda: program(**{inputs: tensors(pickle.dumps(OrderedDict({"w": run}), 2))}),
        "old torch.save": lambda: program(**{inputs: pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(run, 2)}),
        "TorchScript inside": lambda: program(
            **{inputs: tensors(pickle.dumps(((), {}), 2), **{"constants.pkl": b"", "code/__torch__.py": b""})}
        ),
        "weights of old archives": lambda: program(data__weights__model_DOT_pt=tensors(pickle.dumps(run, 2))),
        "pickled weight": lambda: program(
            data__weights__model_weights_config_DOT_json=_listed(use_pickle=True),
            data__weights__weight_0=tensors(pickle.dumps(run, 2)),
        ),
        "pickled constant": lambda: program(
            data__constants__model_constants_config_DOT_json=_listed(path_name="tensor_0", use_pickle=True),
            data__constants__tensor_0=tensors(pickle.dumps(run, 2)),
        ),
        "opaque object": lambda: program(
            data__constants__model_constants_config_DOT_json=_listed(path_name="opaque_obj_0"),
            data__constants__opaque_obj_0=pickle.dumps(run, 2),
        ),
        "custom object": lambda: program(
            data__constants__model_constants_config_DOT_json=_listed(path_name="custom_obj_0"),
            data__constants__custom_obj_0=b"PK",
        ),
        "library": lambda: program(data__aotinductor__model__a_DOT_so=b"\x7fELF"),
        "pickle nobody asks for": lambda: program(data__more_DOT_pkl=pickle.dumps(run)),
        "archive before 2.8": lambda: _old_archive(tensors(pickle.dumps(run, 2))),
        "expression": lambda: program(models__model_DOT_json=model(sym_int_values={"s": expression})),
        "operator": lambda: program(models__model_DOT_json=_node("torch.os.system", {"as_string": command})),
        "operator, twice removed": lambda: program(models__model_DOT_json=_node("torch.ops.os.system.default")),
        "file operator": lambda: program(
            models__model_DOT_json=_node(
                "torch.ops.aten.from_file.default", {"as_string": str(marker)}, {"as_bool": True}
            )
        ),
        "name with code": lambda: program(
            models__model_DOT_json=_node(
                "torch.ops.aten.relu.default", name=f"y = __import__('os').system('{command}')\n"
            )
        ),
        "input with code": lambda: program(
            models__model_DOT_json=model(inputs=[{"as_tensor": {"name": f"x=print('{command}')"}}])
        ),
        "module of a container": lambda: program(models__model_DOT_json=_with_spec(json.dumps(in_spec))),
        "module of an enumeration": lambda: program(models__model_DOT_json=_with_spec(json.dumps(enum))),
        "member twice": lambda: _twice(tensors(pickle.dumps(run, 2))),
        "member outside": lambda: archive({"../../x": b"1"}),
        "encrypted": lambda: _patched(program(), 0, 1),
        "compressed by LZMA": lambda: _patched(program(), 2, 14),
        "storage without end": lambda: program(**{inputs: tensors(_storage(1 << 40))}),
        "tensor without end": lambda: program(**{inputs: tensors(_storage(1, 1 << 45), **{"data/0": b"1234"})}),
        "remembers without end": lambda: program(**{inputs: tensors(b"\x80\x02Nr\xff\xff\xff\x7f.")}),
        "containers without end": lambda: program(**{inputs: tensors(_doubling(60))}),
    }


def _old_archive(example_inputs: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr("version", b"8.8")
        file.writestr("serialized_exported_program.json", json.dumps(model()))
        file.writestr("serialized_state_dict.pt", tensors(pickle.dumps({}, 2)))
        file.writestr("serialized_constants.pt", tensors(pickle.dumps({}, 2)))
        file.writestr("serialized_example_inputs.pt", example_inputs)
    return target.getvalue()


def _storage(elements: int, size: int = 1) -> bytes:
    """A float32 tensor with the given number of elements and all strides 0."""
    count, length = (b"\x8a\x08" + struct.pack("<q", number) for number in (elements, size))
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" + count + b"tQ"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + length + b"\x85K\x00\x85\x89"
    return b"\x80\x02(" + tensor + b"ccollections\nOrderedDict\n)RtRt}\x86."


def _doubling(times: int) -> bytes:
    """Nested pairs with shared elements: 2^times leaves."""
    return (
        b"\x80\x04)"
        + b"\x94h\x00\x86"[0:1]
        + b"".join(b"h" + bytes([index]) + b"h" + bytes([index]) + b"\x86\x94" for index in range(times))
        + b"."
    )
