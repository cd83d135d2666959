"""Replaces operators that torch's ONNX exporter lacks or converts incorrectly. Loaded by exporter.py.

Each function gets a `_Call` of exporter_fixes.py, and changes the program in place.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch  # type: ignore[import-untyped, import-not-found, unused-ignore]

aten = torch.ops.aten


def _copied(call: Any) -> None:
    """copy_: casts and expands the source to the target's type and shape. The exporter returns those of the source."""
    target, source = call["self"], call["src"]
    old, new = target.meta["val"], source.meta["val"]
    if new.dtype is not old.dtype:
        source = call.emit(aten.to.dtype, source, old.dtype)
    if str(new.shape) != str(old.shape):
        source = call.emit(aten.expand_as.default, source, target)
    copies = sum(user.target is aten.copy_.default for user in source.users)
    if copies > 1:  # torch names a change like the copied value
        source = call.emit(aten.clone.default, source)
    call.node.update_arg(1, source)


def _put_by_mask(call: Any) -> None:
    """index_put with one mask and values that are the same for all its positions; the exporter does not broadcast."""
    target, values = call["self"], call["values"]
    before = 0
    for index in call["indices"]:
        if index is not None:
            break
        before += 1
    masks = [index for index in call["indices"] if index is not None]
    if len(masks) != 1 or masks[0].meta["val"].dtype is not torch.bool:
        return
    mask, shape = masks[0], values.meta["val"].shape
    rank = mask.meta["val"].dim()
    behind = target.meta["val"].dim() - before - rank
    if len(shape) > behind:
        place = len(shape) - behind - 1
        if not (isinstance(shape[place], int) and shape[place] == 1):
            return
        for _ in range(rank - 1):
            values = call.emit(aten.unsqueeze.default, values, place)
    for _ in range(behind):
        mask = call.emit(aten.unsqueeze.default, mask, -1)
    if call["accumulate"]:
        values = call.emit(aten.add.Tensor, target, values)
    result = call.emit(aten.where.self, mask, values, target)
    is_in_place = call.node.target._schema.is_mutable
    call.replace(call.emit(aten.copy_.default, target, result) if is_in_place else result)


def _bags(call: Any) -> None:
    """Embedding bag as a matmul with a 0/1 matrix of rows in bags; the exporter creates a loop over tensors."""
    if any(part.users and (part.target is not operator.getitem or part.args[1] != 0) for part in call.node.users):
        return
    indices, mode, padding = call["indices"], call["mode"], call.arguments.get("padding_idx")
    rows = call.emit(aten.embedding.default, call["weight"], indices)
    if call["per_sample_weights"] is not None:
        rows = call.emit(aten.mul.Tensor, rows, call.emit(aten.unsqueeze.default, call["per_sample_weights"], -1))
    ones = call.emit(aten.ones_like.default, indices)
    ends = call.emit(aten.unsqueeze.default, call.emit(aten.sum.default, ones), 0)
    if call["include_last_offset"]:
        starts = call.emit(aten.slice.Tensor, call["offsets"], 0, 0, -1)
        ends = call.emit(aten.slice.Tensor, call["offsets"], 0, 1)
    else:
        starts = call["offsets"]
        ends = call.emit(aten.cat.default, [call.emit(aten.slice.Tensor, starts, 0, 1), ends])
    place = call.emit(aten.sub.Tensor, call.emit(aten.cumsum.default, ones, 0), 1)
    is_in = call.emit(
        aten.logical_and.default,
        call.emit(aten.ge.Tensor, place, call.emit(aten.unsqueeze.default, starts, 1)),
        call.emit(aten.lt.Tensor, place, call.emit(aten.unsqueeze.default, ends, 1)),
    )
    if padding is not None and padding != -1:
        if padding < 0:
            padding += call["weight"].meta["val"].shape[0]
        is_in = call.emit(aten.logical_and.default, is_in, call.emit(aten.ne.Scalar, indices, padding))
    count = call.emit(aten.sum.dim_IntList, is_in, [1], True)
    if mode == 2:
        spread = call.emit(
            aten.where.ScalarOther,
            call.emit(aten.unsqueeze.default, is_in, -1),
            call.emit(aten.unsqueeze.default, rows, 0),
            -math.inf,
        )
        largest = call.emit(aten.amax.default, spread, [1])
        result = call.emit(aten.where.ScalarOther, call.emit(aten.gt.Scalar, count, 0), largest, 0.0)
    else:
        result = call.emit(aten.matmul.default, call.emit(aten.to.dtype, is_in, call["weight"].meta["val"].dtype), rows)
        if mode == 1:
            result = call.emit(aten.div.Tensor, result, call.emit(aten.clamp_min.default, count, 1))
    call.replace_parts(result)


def _entropy(call: Any) -> None:
    """Cross entropy of probabilities, or without a batch. The exporter reads each target as a class index."""
    if call["label_smoothing"] != 0.0:
        remedy = "Write the loss with log_softmax()"
        raise call.refuse(f"label_smoothing={call['label_smoothing']}", remedy)
    scores, target, weight, reduction = call["self"], call["target"], call["weight"], call["reduction"]
    rank = scores.meta["val"].dim()
    if target.meta["val"].dtype.is_floating_point:
        axis = min(rank - 1, 1)
        logarithms = call.emit(aten.log_softmax.int, scores, axis)
        if weight is not None:
            weight = call.emit(aten.reshape.default, weight, [-1] + [1] * (rank - 1 - axis))
            logarithms = call.emit(aten.mul.Tensor, logarithms, weight)
        products = call.emit(aten.mul.Tensor, logarithms, target)
        losses = call.emit(aten.neg.default, call.emit(aten.sum.dim_IntList, products, [axis]))
        reduced = {1: aten.mean.default, 2: aten.sum.default}
        call.replace(call.emit(reduced[reduction], losses) if reduction in reduced else losses)
    elif rank == 1:
        batch = [call.emit(aten.unsqueeze.default, value, 0) for value in (scores, target)]
        loss = call.emit(call.node.target, *batch, weight, reduction, call["ignore_index"])
        call.replace(call.emit(aten.squeeze.dim, loss, 0) if reduction == 0 else loss)


def _sorted_stably(call: Any) -> None:
    """Removes `stable`: ONNX TopK keeps the order of equal elements."""
    plain = aten.sort.default if call.node.target is aten.sort.stable else aten.argsort.default
    call.replace(call.emit(plain, call["self"], call["dim"], call["descending"]))


def _distances(call: Any) -> None:
    differences = call.emit(
        aten.sub.Tensor,
        call.emit(aten.unsqueeze.default, call["x1"], -2),
        call.emit(aten.unsqueeze.default, call["x2"], -3),
    )
    call.replace(call.emit(aten.linalg_vector_norm.default, differences, call["p"], [-1]))


def _sum_of_exponentials(call: Any) -> None:
    """logaddexp without overflow; the exporter adds the exponentials."""
    one, other = call["self"], call["other"]
    distance = call.emit(aten.abs.default, call.emit(aten.sub.Tensor, one, other))
    more = call.emit(aten.log1p.default, call.emit(aten.exp.default, call.emit(aten.neg.default, distance)))
    usual = call.emit(aten.add.Tensor, call.emit(aten.maximum.default, one, other), more)
    same = call.emit(aten.add.Tensor, one, math.log(2))  # the difference of two infinities is NaN
    call.replace(call.emit(aten.where.self, call.emit(aten.eq.Tensor, one, other), same, usual))


def _running_sum_of_exponentials(call: Any) -> None:
    """logcumsumexp of each prefix; the exporter subtracts the total maximum, and small early elements underflow."""
    operand, axis = call["self"], call["dim"]
    value = operand.meta["val"]
    if value.dim() == 0 or not isinstance(value.shape[axis], int):
        return
    last = call.emit(aten.transpose.int, operand, axis, -1)
    places = call.emit(aten.arange.default, value.shape[axis])
    is_before = call.emit(aten.ge.Tensor, call.emit(aten.unsqueeze.default, places, 1), places)
    rows = call.emit(aten.unsqueeze.default, last, -2)
    shown = call.emit(aten.where.ScalarOther, is_before, rows, -math.inf)
    call.replace(call.emit(aten.transpose.int, call.emit(aten.logsumexp.default, shown, [-1]), axis, -1))


def _over_all(call: Any) -> None:
    """Adds the dimensions, which the exporter requires."""
    if not call["dim"]:
        axes = list(range(call["self"].meta["val"].dim()))
        call.node.args, call.node.kwargs = (call["self"], axes, call["keepdim"]), {}


def _shifted(call: Any) -> None:
    """Shifts in the result's type. The exporter turns uint8 into int8, needs equal types, and lacks `<<` of tensors."""
    operand, count, dtype = call["self"], call["other"], call.node.meta["val"].dtype
    wide = torch.int32 if dtype is torch.uint8 else dtype
    is_left = "lshift" in call.node.target.name() or "left" in call.node.target.name()
    shift = aten.bitwise_left_shift if is_left else aten.bitwise_right_shift
    if hasattr(count, "meta"):
        shift, count = shift.Tensor, call.emit(aten.to.dtype, count, wide)
    else:
        shift = shift.Tensor_Scalar
    result = call.emit(shift, call.emit(aten.to.dtype, operand, wide), count)
    if dtype is torch.uint8:
        result = call.emit(aten.to.dtype, call.emit(aten.bitwise_and.Scalar, result, 255), dtype)
    is_in_place = call.node.target._schema.is_mutable
    call.replace(call.emit(aten.copy_.default, operand, result) if is_in_place else result)


_SHIFTS = [
    getattr(getattr(aten, f"{name}{ending}"), kind)
    for names, endings, kinds in (
        (("__lshift__", "__rshift__", "__ilshift__", "__irshift__"), ("",), ("Tensor", "Scalar")),
        (("bitwise_left_shift", "bitwise_right_shift"), ("", "_"), ("Tensor", "Tensor_Scalar")),
    )
    for name in names
    for ending in endings
    for kind in kinds
]


def _any_of_none(call: Any) -> None:
    """any() of an empty tensor is False; the exporter returns True."""
    operand = call["self"]
    if all(isinstance(size, int) and size > 0 for size in operand.meta["val"].shape):
        return
    axes = call.arguments.get("dim")
    if axes is None:
        axes = list(range(operand.meta["val"].dim()))
    held = call.emit(aten.ne.Scalar, operand, 0)
    axes = [axes] if isinstance(axes, int) else axes
    count = call.emit(aten.sum.dim_IntList, held, axes, call.arguments.get("keepdim", False))
    call.replace(call.emit(aten.gt.Scalar, count, 0))


def _power_of_nothing(call: Any) -> None:
    """matrix_power(0): one identity per matrix; the exporter creates a single one."""
    operand = call["self"]
    value, size = operand.meta["val"], operand.meta["val"].shape[-1]
    if call["n"] == 0 and isinstance(size, int):
        places = call.emit(aten.arange.default, size)
        identity = call.emit(aten.eq.Tensor, places, call.emit(aten.unsqueeze.default, places, 1))
        identity = call.emit(aten.to.dtype, identity, value.dtype)
        call.replace(call.emit(aten.expand_as.default, identity, operand))


REPLACEMENTS: dict[Any, Callable[[Any], None]] = {
    aten.copy_.default: _copied,
    **dict.fromkeys((aten.index_put.default, aten.index_put_.default), _put_by_mask),
    **dict.fromkeys((aten.embedding_bag.default, aten.embedding_bag.padding_idx), _bags),
    aten.cross_entropy_loss.default: _entropy,
    **dict.fromkeys((aten.sort.stable, aten.argsort.stable), _sorted_stably),
    **dict.fromkeys((aten.cdist.default, aten._cdist_forward.default), _distances),
    **dict.fromkeys((aten.matrix_power.default, aten.linalg_matrix_power.default), _power_of_nothing),
    aten.logaddexp.default: _sum_of_exponentials,
    aten.logcumsumexp.default: _running_sum_of_exponentials,
    **dict.fromkeys(_SHIFTS, _shifted),
    **dict.fromkeys((aten.any.default, aten.any.dim, aten.any.dims), _any_of_none),
    **dict.fromkeys((aten.amax.default, aten.amin.default), _over_all),
}
