"""Rewrites operators with arguments that torch's ONNX exporter ignores. Loaded by exporter.py.

If other operators can express an argument, the operator is replaced before the export; else an error names it.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

aten = torch.ops.aten


class _Call:
    """A node of the program with its arguments by name, and methods to replace it."""

    def __init__(self, program: Any, graph: Any, node: Any, trains: bool) -> None:
        self.program, self.node, self.trains = program, node, trains
        self._graph = graph
        self.name = node.name
        self.arguments = {
            argument.name: node.args[index]
            if index < len(node.args)
            else node.kwargs.get(argument.name, argument.default_value)
            for index, argument in enumerate(node.target._schema.arguments)
        }

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def emit(self, target: Any, *arguments: Any) -> Any:
        """Adds a node before this one."""
        with self._graph.inserting_before(self.node):
            return self._graph.call_function(target, arguments)

    def replace(self, result: Any) -> None:
        """Replaces this node by `result`, which gets its name."""
        node = self.node
        node.replace_all_uses_with(result)
        result.meta = dict(node.meta)
        self._graph.erase_node(node)
        result.name = self.name

    def replace_parts(self, result: Any) -> None:
        """Replaces the first part of this node's tuple by `result`; the other parts must be unused."""
        for part in list(self.node.users):
            if not part.users:
                self._graph.erase_node(part)
                continue
            name, part_meta = part.name, dict(part.meta)
            part.replace_all_uses_with(result)
            self._graph.erase_node(part)
            result.name, result.meta = name, part_meta
        self._graph.erase_node(self.node)

    def guard(self, result: Any, build: Callable[[Any], Any]) -> None:
        """Replaces `result` by `build(result)` for all readers; the new node gets its name."""
        readers, name = list(result.users), result.name
        with self._graph.inserting_after(result):
            end = self._graph.call_function(aten.alias.default, (result,))
        self.node = end
        made = build(result)
        for reader in readers:
            reader.replace_input_with(result, made)
        self._graph.erase_node(end)
        made.meta = dict(result.meta)
        result.name = f"{name}_whole"
        made.name = name

    def refuse(self, what: str, remedy: str) -> ValueError:
        target = str(self.node.target).removesuffix(".default")
        return ValueError(f"torch's ONNX exporter drops {what} of '{self.name}' ({target}). {remedy}")


def repaired(program: Any, trains: bool, replacements: Mapping[Any, Callable[[Any], None]]) -> Any:
    """Replaces operators of the program in place and returns it. `trains`: the result is for training.

    `replacements`: more operators and their replacement functions. Raises ValueError, with a message for the user, for
    an argument that cannot be expressed.
    """
    repairs = {**_REPAIRS, **replacements}
    for module in program.graph_module.modules():
        graph = getattr(module, "graph", None)
        for node in list(graph.nodes) if graph is not None else ():
            repair = repairs.get(node.target) if node.op == "call_function" else None
            if repair is not None:
                repair(_Call(program, graph, node, trains))
        if graph is not None:
            module.recompile()
    return program


def _divided_pool(call: _Call) -> None:
    """Replaces divisor_override: the mean over whole windows * (window size / divisor)."""
    divisor = call["divisor_override"]
    if divisor is None:
        return
    if call["ceil_mode"]:
        raise call.refuse("divisor_override", "Remove it or ceil_mode, and multiply the result instead")
    sizes = call["kernel_size"]
    rank = 3 if call.node.target is aten.avg_pool3d.default else 2
    window = math.prod(sizes) if len(sizes) > 1 else sizes[0] ** rank
    mean = call.emit(call.node.target, call["self"], sizes, call["stride"], call["padding"], False, True, None)
    call.replace(call.emit(aten.mul.Tensor, mean, window / divisor))


def _mean_of_scattered(call: _Call) -> None:
    """Replaces reduce='mean': the scattered sum divided by the count."""
    if call["reduce"] != "mean":
        return
    target, axis, index, source = call["self"], call["dim"], call["index"], call["src"]
    if not target.meta["val"].dtype.is_floating_point:
        raise call.refuse("reduce='mean'", "Compute the mean of integers in float32")
    ones = call.emit(aten.ones_like.default, source)
    base = aten.ones_like.default if call["include_self"] else aten.zeros_like.default
    count = call.emit(aten.scatter_add.default, call.emit(base, target), axis, index, ones)
    if call["include_self"]:
        total = call.emit(aten.scatter_add.default, target, axis, index, source)
        call.replace(call.emit(aten.div.Tensor, total, count))
        return
    total = call.emit(aten.scatter_add.default, call.emit(aten.zeros_like.default, target), axis, index, source)
    mean = call.emit(aten.div.Tensor, total, call.emit(aten.clamp_min.default, count, 1))
    call.replace(call.emit(aten.where.self, call.emit(aten.gt.Scalar, count, 0), mean, target))


def _seeing_attention(call: _Call) -> None:
    """Returns zeros for queries whose keys are all masked; the exporter's formula returns the mean of values, or NaN.

    A negative scale is moved to the query, because the exporter computes its square root.
    """
    mask, scale = call["attn_mask"], call["scale"]
    if call["dropout_p"] and not call.trains:
        raise call.refuse(f"dropout_p={call['dropout_p']}", "Export the model for inference, with dropout_p=0.0")
    if isinstance(scale, float) and scale < 0:
        call.node.update_arg(0, call.emit(aten.neg.default, call["query"]))
        call.node.update_kwarg("scale", -scale)
    if mask is None or _hides_nothing(call.program, mask):
        return
    is_bool = mask.meta["val"].dtype is torch.bool
    results = [call.node]
    if len(call.node.target._schema.returns) > 1:
        results = [user for user in call.node.users if user.target is operator.getitem and user.args[1] == 0]

    def guarded(result: Any) -> Any:
        shown = mask if is_bool else call.emit(aten.ne.Scalar, mask, -math.inf)
        return call.emit(aten.where.ScalarOther, call.emit(aten.any.dim, shown, -1, True), result, 0.0)

    for result in results:
        call.guard(result, guarded)


def _hides_nothing(program: Any, mask: Any) -> bool:
    """Returns whether the mask is a constant in which each query attends to at least one key."""
    if mask.op != "placeholder" or any(_writes(user) for user in mask.users):
        return False
    signature = program.graph_signature
    name = signature.inputs_to_buffers.get(mask.name) or signature.inputs_to_lifted_tensor_constants.get(mask.name)
    found = program.state_dict.get(name, program.constants.get(name)) if name else None
    if found is None:
        return False
    shown = found if found.dtype is torch.bool else found != -math.inf
    return bool(shown.any(-1).all())


def _writes(node: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    return node.op == "call_function" and (schema is None or schema.is_mutable)


def _sized_by_scale(call: _Call) -> None:
    """Raises ValueError if positions follow a given scale; the exporter computes the scale from the sizes."""
    axes = [name for name in ("scales", "scales_d", "scales_h", "scales_w") if name in call.arguments]
    scales = [call[name] for name in axes] or call["scale_factors"] or []
    before, after = (value.meta["val"].shape[2:] for value in (call.node.args[0], call.node))
    if call["align_corners"]:
        return
    for old, size, scale in zip(before, after, scales, strict=False):
        if scale is None or scale == 1:
            continue
        if not (isinstance(size, int) and isinstance(old, int) and math.isclose(scale, size / old)):
            remedy = "Give interpolate() a size, or recompute_scale_factor=True, and export again"
            raise call.refuse(f"the scale {scale}", remedy)


def _aligned_by_size(call: _Call) -> None:
    """Replaces scales by sizes for align_corners. ONNX Resize aligns the corners of the size before rounding."""
    scales = call["scale_factors"]
    if not call["align_corners"] or not scales or all(float(scale).is_integer() for scale in scales):
        return
    sizes = list(call.node.meta["val"].shape[2:])
    if not all(isinstance(size, int) for size in sizes):
        raise call.refuse(f"the rounding of the scales {scales}", "Give interpolate() a size, or whole scales")
    call.node.args, call.node.kwargs = (call["input"], sizes, True, None), {}


def _converted_first(call: _Call) -> None:
    """Casts the input to `dtype` first. The exporter computes in the input's type and casts the result."""
    operand, dtype = call["self"], call["dtype"]
    if dtype is not None and operand.meta["val"].dtype is not dtype:
        call.node.update_arg(0, call.emit(aten.to.dtype, operand, dtype))


def _normalized_by_batch(call: _Call) -> None:
    """Raises ValueError for training mode, in which the exporter normalizes by the running statistics if present."""
    if call["training"] and call["running_mean"] is not None and not call.trains:
        raise call.refuse("the training mode", "Export the model for inference: call model.eval() before")


def _dropped(call: _Call, name: str, harmless: Any, remedy: str) -> None:
    if call[name] != harmless:
        raise call.refuse(f"{name}={call[name]}", remedy)


def _drawn_once(call: _Call) -> None:
    if not call["replacement"] and call["num_samples"] != 1:
        raise call.refuse("replacement=False", "Draw samples outside of the model")


_REPAIRS: dict[Any, Callable[[_Call], None]] = {
    aten.avg_pool2d.default: _divided_pool,
    aten.avg_pool3d.default: _divided_pool,
    aten.scatter_reduce.two: _mean_of_scattered,
    aten.scaled_dot_product_attention.default: _seeing_attention,
    aten._scaled_dot_product_flash_attention_for_cpu.default: _seeing_attention,
    aten.batch_norm.default: _normalized_by_batch,
    aten._native_batch_norm_legit.default: _normalized_by_batch,
    aten._native_batch_norm_legit_functional.default: _normalized_by_batch,
    aten.multinomial.default: _drawn_once,
    aten.allclose.default: functools.partial(
        _dropped, name="equal_nan", harmless=False, remedy="Compare the NaN elements separately with isnan()"
    ),
    **dict.fromkeys(
        (
            aten.mean.default,
            aten.mean.dim,
            aten.sum.default,
            aten.sum.dim_IntList,
            aten.prod.default,
            aten.prod.dim_int,
            aten.cumsum.default,
            aten.cumprod.default,
            aten.softmax.int,
            aten.log_softmax.int,
            aten.nansum.default,
            aten.norm.ScalarOpt_dtype,
            aten.norm.ScalarOpt_dim_dtype,
            aten.linalg_norm.default,
            aten.linalg_vector_norm.default,
            aten.linalg_matrix_norm.default,
            aten.linalg_matrix_norm.str_ord,
        ),
        _converted_first,
    ),
    **dict.fromkeys(
        (
            aten.upsample_linear1d.default,
            aten.upsample_bilinear2d.default,
            aten.upsample_bicubic2d.default,
            aten.upsample_trilinear3d.default,
            aten._upsample_bilinear2d_aa.default,
            aten._upsample_bicubic2d_aa.default,
            aten._upsample_bilinear2d_aa.vec,
            aten._upsample_bicubic2d_aa.vec,
        ),
        _sized_by_scale,
    ),
    **dict.fromkeys(
        (
            aten.upsample_linear1d.vec,
            aten.upsample_bilinear2d.vec,
            aten.upsample_bicubic2d.vec,
            aten.upsample_trilinear3d.vec,
        ),
        _aligned_by_size,
    ),
}
