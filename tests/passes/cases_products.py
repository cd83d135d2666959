"""Cases of the rules for matmuls and scales."""

from __future__ import annotations

import numpy as np

from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.ops.activation import Activation
from mslite.converter.mindir.ops.arithmetic import AddFusion, DivFusion, MulFusion, ScaleFusion, SubFusion
from mslite.converter.mindir.ops.enums import ActivationType
from mslite.converter.mindir.ops.matmul import FullConnection, MatMulFusion
from mslite.converter.mindir.ops.normalization import FusedBatchNorm
from mslite.converter.mindir.ops.rearrange import Reshape, Transpose
from tests.passes.builder import Builder, integers, numbers
from tests.passes.case import Case


def matmul_add(rank: int) -> Module:
    b = Builder()
    x = b.input(*([2] * (rank - 1)), 5)
    return b.module(b.call(AddFusion(), numbers(7), b.call(MatMulFusion(), x, numbers(5, 7))))


def full_connection_add() -> Module:
    b = Builder()
    y = b.call(FullConnection(), b.input(3, 5), numbers(7, 5))
    return b.module(b.call(AddFusion(activation_type=ActivationType.RELU), y, numbers(1, 7)))


def matmul_add_refused() -> Module:
    b = Builder()
    return b.module(b.call(AddFusion(), b.call(MatMulFusion(), b.input(7, 5), numbers(5, 7)), numbers(7, 1)))


def matmul_scaled(divide: bool) -> Module:
    """The scale of attention, after a reshape and a transpose."""
    b = Builder()
    y = b.call(MatMulFusion(), b.input(4, 6), numbers(6, 6), numbers(6))
    y = b.call(Transpose(), b.call(Reshape(), y, integers(4, 2, 3)), integers(1, 0, 2))
    return b.module(b.call(DivFusion() if divide else MulFusion(), y, np.float32(0.25)))


def attention_scores() -> Module:
    """q k^T / 4, where q is a projection."""
    b = Builder()
    x = b.input(2, 4, 6)
    q = b.call(MatMulFusion(), x, numbers(6, 6), numbers(6))
    scores = b.call(MatMulFusion(transpose_b=True), q, b.input(2, 5, 6))
    return b.module(b.call(MulFusion(), scores, np.float32(0.25)))


def matmul_scaled_refused() -> Module:
    b = Builder()
    y = b.call(MatMulFusion(activation_type=ActivationType.RELU), b.input(4, 6), numbers(6, 6))
    return b.module(b.call(MulFusion(), y, np.float32(0.25)))


def activated(kind: ActivationType) -> Module:
    b = Builder()
    y = b.call(MatMulFusion(), b.input(4, 6), numbers(6, 3), numbers(3))
    return b.module(b.call(Activation(activation_type=kind, max_val=6.0), y))


def arithmetic_activated(op: AddFusion | SubFusion | MulFusion | DivFusion, kind: ActivationType) -> Module:
    b = Builder()
    y = b.call(op, b.input(4, 6), b.input(4, 6))
    return b.module(b.call(Activation(activation_type=kind, max_val=6.0), y))


def scale_activated(kind: ActivationType) -> Module:
    b = Builder()
    y = b.call(ScaleFusion(axis=1), b.input(4, 6), numbers(6), numbers(6, seed=2))
    return b.module(b.call(Activation(activation_type=kind, max_val=6.0), y))


def batch_norm(constant: bool) -> Module:
    b = Builder()
    x = b.input(2, 3, 3, 4)
    gamma = numbers(4) if constant else b.input(4)
    return b.module(
        b.call(FusedBatchNorm(epsilon=1e-3), x, gamma, numbers(4, seed=1), numbers(4, seed=2), np.abs(numbers(4)))
    )


def multiply_add(channels: int) -> Module:
    b = Builder()
    y = b.call(MulFusion(), b.input(2, 3, 4), numbers(channels))
    return b.module(b.call(AddFusion(activation_type=ActivationType.RELU), y, numbers(channels, seed=1)))


def flattened(keep_batch: bool) -> Module:
    b = Builder()
    x = b.input(2, 3, 4, 5)
    y = b.call(Transpose(), x, integers(0, 3, 1, 2))
    y = b.call(Reshape(), y, integers(2, 60) if keep_batch else integers(1, 120))
    return b.module(b.call(MatMulFusion(), y, numbers(60 if keep_batch else 120, 7), numbers(7)))


def flattened_full_connection() -> Module:
    b = Builder()
    y = b.call(Reshape(), b.call(Transpose(), b.input(2, 3, 4, 5), integers(0, 3, 1, 2)), integers(-1, 60))
    return b.module(b.call(FullConnection(), y, numbers(7, 60)))


RELU, RELU6, TANH = ActivationType.RELU, ActivationType.RELU6, ActivationType.TANH

CASES = {
    "MatMulAddFusion": Case(
        (
            (lambda: matmul_add(2), ["MatMulFusion"]),
            (lambda: matmul_add(3), ["MatMulFusion"]),
            (full_connection_add, ["FullConnection"]),
        ),
        matmul_add_refused,
        "per column",
    ),
    "MatMulMulFusion": Case(
        (
            (lambda: matmul_scaled(False), ["MatMulFusion", "Reshape", "Transpose"]),
            (attention_scores, ["MatMulFusion", "MatMulFusion"]),
            (lambda: matmul_scaled(True), ["MatMulFusion", "Reshape", "Transpose"]),
        ),
        matmul_scaled_refused,
        "has an activation",
    ),
    "MatMulActivationFusion": Case(
        ((lambda: activated(RELU), ["MatMulFusion"]), (lambda: activated(RELU6), ["MatMulFusion"])),
        lambda: activated(TANH),
        "only RELU and RELU6",
    ),
    "AddActivationFusion": Case(
        (
            (lambda: arithmetic_activated(AddFusion(), RELU), ["AddFusion"]),
            (lambda: arithmetic_activated(AddFusion(), RELU6), ["AddFusion"]),
        ),
        lambda: arithmetic_activated(AddFusion(), TANH),
        "only RELU and RELU6",
    ),
    "MulActivationFusion": Case(
        (
            (lambda: arithmetic_activated(MulFusion(), RELU), ["MulFusion"]),
            (lambda: arithmetic_activated(MulFusion(), RELU6), ["MulFusion"]),
        ),
        lambda: arithmetic_activated(MulFusion(), TANH),
        "only RELU and RELU6",
    ),
    "ScaleActivationFusion": Case(
        ((lambda: scale_activated(RELU), ["ScaleFusion"]),), lambda: scale_activated(TANH), "only RELU and RELU6"
    ),
    "BatchNormToScaleFusion": Case(
        ((lambda: batch_norm(True), ["ScaleFusion"]),), lambda: batch_norm(False), "not float32 constants"
    ),
    "MulAddFusion": Case(((lambda: multiply_add(4), ["ScaleFusion"]),), lambda: multiply_add(1), "per channel"),
    "FlattenMatMulFusion": Case(
        (
            (lambda: flattened(True), ["Reshape", "MatMulFusion"]),
            (flattened_full_connection, ["Reshape", "FullConnection"]),
        ),
        lambda: flattened(False),
        "the batch is flattened",
    ),
}
