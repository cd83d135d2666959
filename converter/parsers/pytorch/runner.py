"""Program that runs a `torch.export` program several times on random inputs, with PyTorch.

    python -P runner.py <program.pt2> <asked.json> <result.npz> <memory limit in bytes> <seconds>

`asked.json` contains `shapes` of inputs that differ from the program's example (-1: the example's size), and whether
programs in training mode are an error (`in_evaluation`). The result contains for run r `input<r>/<name>`,
`output<r>/<position>`, and `noise<r>`: the change of each output for small random changes of inputs and weights, and
for other random numbers. On errors, prints the reason as the last line of standard output; the exit code is 1.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from pathlib import Path
from typing import Any

RUNS = 2


def main() -> int:
    source, asked, target, limit, seconds = sys.argv[1:6]
    common = _beside("exporter")
    common.limit_memory(int(limit) + common.OWN_BYTES)
    said = ""
    with common.quiet():
        try:
            _run(source, json.loads(Path(asked).read_text()), target, float(seconds))
        except Exception as error:  # operators raise any type
            said = common.first_line(error)
    if said:
        print(said)
    return 1 if said else 0


def _beside(name: str) -> Any:
    """Loads `name`.py in this folder. The folder is not in sys.path, because its files could hide other modules."""
    spec = importlib.util.spec_from_file_location(f"mslite_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _run(source: str, asked: dict[str, Any], target: str, seconds: float) -> None:
    import numpy as np
    import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

    start = time.monotonic()
    torch.set_num_threads(1)
    _beside("quantized_programs").register(source)
    program = torch.export.load(source)
    _check_operators(program)
    if asked["in_evaluation"]:
        _check_mode(program)
    session = _Session(program)
    inputs, outputs = _drawn_runs(session, asked["shapes"])
    result: dict[str, Any] = {
        "is_coarse": np.bool_(session.is_coarse),
        "is_quantized": np.bool_(session.is_quantized),
    }
    for run in range(RUNS):
        result.update({f"input{run}/{name}": _array(value) for name, value in inputs[run].items()})
        result.update({f"output{run}/{place}": _array(value) for place, value in enumerate(outputs[run])})
    if time.monotonic() - start < seconds / 3:
        del session, program
        perturbed = _Session(torch.export.load(source)).perturbed(inputs)
        for run in range(RUNS):
            pairs = zip(outputs[run], perturbed[run], strict=True)
            noise = [_distance(_array(one), _array(other)) for one, other in pairs]
            result[f"noise{run}"] = np.array(noise, np.float64)
    np.savez(target, **result)


_SAFE_PRIVATE = frozenset(
    {
        "_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "_assert_async", "_assert_scalar", "_assert_tensor_metadata",
        "_cdist_forward", "_conj", "_embedding_bag_forward_only", "_fft_c2c", "_fft_c2r", "_fft_r2c",
        "_local_scalar_dense", "_log_softmax", "_native_batch_norm_legit", "_native_batch_norm_legit_functional",
        "_native_batch_norm_legit_no_training", "_pad_circular", "_pad_enum", "_reshape_alias", "_safe_softmax",
        "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention_for_cpu", "_shape_as_tensor",
        "_softmax", "_stack", "_to_copy", "_trilinear", "_unique", "_unique2", "_unsafe_view",
        "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
        "_upsample_nearest_exact3d", "_weight_norm", "_weight_norm_interface",
    }
)  # fmt: skip
"""Private operators of PyTorch that programs contain and that check their arguments."""


def _check_operators(program: Any) -> None:
    """Raises ValueError for private operators of PyTorch: some of them do not check their arguments."""
    for module in program.graph_module.modules():
        for node in getattr(getattr(module, "graph", None), "nodes", ()):
            name = getattr(getattr(node.target, "_schema", None), "name", "")
            private = name.partition("::")[2]
            is_private = private.startswith("_") and not private.startswith("__")
            if node.op == "call_function" and is_private and private not in _SAFE_PRIVATE:
                raise ValueError(f"it calls {name}, a private operator of PyTorch")


def _check_mode(program: Any) -> None:
    """Raises ValueError for programs in training mode."""
    for node in program.graph_module.graph.nodes:
        for index, argument in enumerate(getattr(getattr(node.target, "_schema", None), "arguments", ())):
            value = node.args[index] if index < len(node.args) else node.kwargs.get(argument.name)
            if argument.name in ("train", "training") and value is True:
                raise ValueError("it was exported in training mode")


class _Session:
    """A program that runs on inputs by name, with its state, which can be reset."""

    def __init__(self, program: Any) -> None:
        import torch
        from torch.utils import _pytree as pytree

        self._torch, self._pytree, self._program = torch, pytree, program
        self._module = program.module()
        self._first = {name: buffer.clone() for name, buffer in self._module.named_buffers()}
        signature = program.graph_signature
        self._specs = [spec for spec in signature.input_specs if spec.kind.name == "USER_INPUT"]
        self._results = [spec for spec in signature.output_specs if spec.kind.name == "USER_OUTPUT"]
        if program.example_inputs is None:
            raise ValueError("it contains no example inputs")
        self._leaves = pytree.tree_flatten(program.example_inputs)[0]
        nodes = [
            node
            for module in program.graph_module.modules()
            for node in getattr(getattr(module, "graph", None), "nodes", ())
        ]
        kinds = {value.dtype for node in nodes if isinstance(value := node.meta.get("val"), torch.Tensor)}
        self.is_coarse = bool(kinds & {torch.float16, torch.bfloat16})
        self.is_quantized = any(getattr(node.target, "namespace", "") == "quantized_decomposed" for node in nodes)

    def examples(self) -> dict[str, Any]:
        """Returns input name -> tensor or number of the program's example."""
        return {
            spec.arg.name: leaf
            for spec, leaf in zip(self._specs, self._leaves, strict=True)
            if type(spec.arg).__name__ != "ConstantArgument"
        }

    def runs(self, inputs: list[dict[str, Any]], seed: int = 0) -> list[list[Any]]:
        """Returns the outputs of consecutive runs, starting with the program's initial state."""
        torch = self._torch
        torch.manual_seed(seed)
        with torch.no_grad():
            for name, buffer in self._module.named_buffers():
                buffer.copy_(self._first[name])
            return [self._once(one) for one in inputs]

    def _once(self, inputs: dict[str, Any]) -> list[Any]:
        leaves = [
            _copied(inputs.get(spec.arg.name, leaf)) for spec, leaf in zip(self._specs, self._leaves, strict=True)
        ]
        args, kwargs = self._pytree.tree_unflatten(leaves, self._program.call_spec.in_spec)
        found = self._pytree.tree_flatten(self._module(*args, **kwargs))[0]
        return [
            _copied(leaf)
            for spec, leaf in zip(self._results, found, strict=True)
            if type(spec.arg).__name__ != "ConstantArgument"
        ]

    def perturbed(self, inputs: list[dict[str, Any]]) -> list[list[Any]]:
        """As `runs`, with small random changes of inputs and weights, and other random numbers. Changes the weights."""
        torch = self._torch
        chance = torch.Generator().manual_seed(7)

        def shake(value: Any) -> Any:
            if not isinstance(value, torch.Tensor) or value.dtype not in (torch.float32, torch.float64):
                return value
            return value * (1 + 1e-6 * (torch.rand(value.shape, generator=chance) * 2 - 1).to(value.dtype))

        with torch.no_grad():
            for parameter in self._module.parameters():
                parameter.data = shake(parameter.data)
        return self.runs([{name: shake(value) for name, value in one.items()} for one in inputs], seed=1)


def _drawn_runs(session: _Session, shapes: dict[str, list[int]]) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Returns inputs and outputs of each run: random inputs, or the example if the program fails with them."""
    import torch

    draw = _beside("random_inputs").draw
    chance = torch.Generator().manual_seed(20)
    examples = session.examples()
    drawn = [
        {name: draw(value, shapes.get(name), chance, run) for name, value in examples.items()} for run in range(RUNS)
    ]
    try:
        return drawn, session.runs(drawn)
    except Exception:  # such as an index out of range
        if shapes:
            raise
        return [examples] * RUNS, session.runs([examples] * RUNS)


def _copied(value: Any) -> Any:
    return value.detach().clone() if hasattr(value, "detach") else value


def _array(value: Any) -> Any:
    """Returns a tensor or number as an array that NumPy can store; types that NumPy lacks become float32."""
    import numpy as np
    import torch

    if not isinstance(value, torch.Tensor):
        return np.asarray(value)
    if value.dtype is torch.bfloat16 or "float8" in str(value.dtype):
        value = value.float()
    return np.array(value.detach().cpu().resolve_conj().numpy(), order="C")


def _distance(one: Any, other: Any) -> float:
    import numpy as np

    if one.shape != other.shape:
        return float("inf")
    if one.dtype.kind == "c":
        one, other = (np.stack([value.real, value.imag]) for value in (one, other))
    a, b = one.astype(np.float64), other.astype(np.float64)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return float("inf")
    return float(np.abs(a - b)[np.isfinite(a)].max(initial=0.0))


if __name__ == "__main__":
    sys.exit(main())
