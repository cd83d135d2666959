"""Runs with MindSpore 2.10, without mslite: writes `NAME.mindir` and `NAME.npz` to this folder for each network below.

    python make_exports.py [NAME ...]

The arrays are the inputs `i0`, ... and the outputs of two runs one after the other, `first0`, ... and `second0`, ....
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, mint, nn, ops

HERE = Path(__file__).resolve().parent
X = np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)


class InPlace(nn.Cell):
    """Each kind of assignment that changes its operand."""

    def construct(self, x):
        y = ops.relu(x)
        y += x
        y *= 2.0
        y -= 1.0
        y /= 3.0
        z = ops.abs(x) + 1.0
        z -= y
        z //= 0.5
        z %= 0.7
        return y / 2, z


class Alias(nn.Cell):
    """Another name of the tensor has the changed values."""

    def construct(self, x):
        y = ops.relu(x)
        z = y
        y += x
        return z + y


class Integers(nn.Cell):
    """Integers mixed with float values."""

    def construct(self, x):
        y = (x * 5).astype(ms.int32)
        return y / 2, y // 2, y % 3, y * 1.5, y - 0.5, 2 - y, y**2, x // 0.5, x % 0.7


class Kept(nn.Cell):
    """A parameter that construct assigns."""

    def __init__(self):
        super().__init__()
        self.kept = Parameter(Tensor(np.zeros((1, 2, 4, 4), np.float32)), name="kept")

    def construct(self, x):
        self.kept = self.kept * 0.5 + x
        return self.kept + 1


class Assigned(nn.Cell):
    """Reads before, between and after two assignments."""

    def __init__(self):
        super().__init__()
        self.kept = Parameter(Tensor(np.zeros((1, 2, 4, 4), np.float32)), name="kept")

    def construct(self, x):
        before = self.kept + 0.0
        ops.assign_add(self.kept, x)
        between = self.kept * 2
        ops.assign_sub(self.kept, x * 0.25)
        return before + between + self.kept


class Branches(nn.Cell):
    def construct(self, x, m):
        if m == 0:
            return x
        elif m == 1:  # noqa: RET505
            return x * 2
        return x * 3


class Loop(nn.Cell):
    """A loop with an early exit; its graphs share constants."""

    def construct(self, x, m):
        i = 0 * m
        y = x
        while i < m:
            y = y + x * i
            if y.sum() > 50:
                break
            i += 1
        return y


class Handed(nn.Cell):
    """A loop with a tuple and a list as state, and a branch that reads both."""

    def construct(self, x, m):
        pair, items = (x, x * 2), [x + 1, x]
        i = 0 * m
        while i < m:
            pair = (pair[1], pair[0] + 1.0)
            items = [items[1], items[0] * 0.5]
            i += 1
        y = pair[0] + items[1] if m > 1 else pair[1] * items[0]
        return y, pair[1], items[0]


class Nested(nn.Cell):
    """Nested tuples that a condition returns."""

    def construct(self, x, m):
        if m > 1:
            y, pairs, k = x * 2, ((x, x + 1), x - 1), 3
        else:
            y, pairs, k = x, ((x - 1, x), x), 4
        return y, pairs[0][0] + pairs[1], pairs[0][1], k


class Counted(nn.Cell):
    """An integer parameter that is incremented by Python numbers, and ~ of integers."""

    def __init__(self):
        super().__init__()
        self.count = Parameter(Tensor(0, ms.int32), name="count", requires_grad=False)

    def construct(self, x):
        self.count += 1
        return self.count * 2, ~x.astype(ms.int32)


class Interpolated(nn.Cell):
    """A factor computed from dynamic sizes."""

    def construct(self, x):
        y = ops.relu(x)
        return ops.interpolate(y, scale_factor=2.0, mode="nearest", recompute_scale_factor=True)


class Statistics(nn.Cell):
    def construct(self, x):
        return (
            *(
                x.sum(),
                x.sum(1),
                x.mean((2, 3), keep_dims=True),
                x.max(),
                x.min(),
                x.argmax(1),
                (x > 0).any(),
                (x > 0).all(1),
            ),
            *(x.std(), x.var(1), ops.norm(x), ops.logsumexp(x, 1), x.prod(3), x.cumsum(1), ops.max(x, 1), x.argmin(2)),
        )


class Activations(nn.Cell):
    def __init__(self):
        super().__init__()
        self.celu, self.fast_gelu, self.log_sigmoid = nn.CELU(0.7), nn.FastGelu(), nn.LogSigmoid()
        self.hard, self.soft, self.threshold = nn.HShrink(0.4), nn.SoftShrink(0.4), nn.Threshold(0.1, 20.0)

    def construct(self, x):
        y = ops.abs(x) + 0.1
        return (
            *(self.celu(x), self.fast_gelu(x), self.log_sigmoid(x), self.hard(x), self.soft(x), self.threshold(x)),
            *(ops.log2(y), ops.log10(y), ops.expm1(x), ops.clamp(x, -0.3, 0.5), ops.mish(x), ops.gelu(x), ops.exp(x)),
        )


class Masks(nn.Cell):
    def __init__(self):
        super().__init__()
        self.edge, self.mirror = nn.ReplicationPad2d((1, 2, 0, 1)), nn.ReflectionPad2d(1)
        self.constant = nn.ConstantPad2d((2, 1, 1, 0), 3.5)
        self.table = nn.Embedding(5, 3)

    def construct(self, x):
        mask = x > 0
        rows = ops.clamp((x[0, 0] * 2).astype(ms.int32), 0, 4)
        return (
            *(ops.masked_fill(x, mask, -1e9), ops.where(mask, x, -x), ops.isclose(x, x * 1.001, 0.002), mask * x),
            *(self.edge(x), self.constant(x), self.mirror(x), self.table(rows)),
            ops.nan_to_num(x / (x - x), 1.0, 2.0, 3.0),
        )


class Views(nn.Cell):
    def construct(self, x):
        y = mint.reshape(x, (4, 2, 4))
        return (
            *(
                mint.permute(y, (2, 0, 1)),
                mint.transpose(y, 0, -1),
                mint.flatten(y, 1),
                mint.unsqueeze(y, -1),
                y.view_as(x),
            ),
            *(
                mint.narrow(y, 0, 1, 2),
                mint.select(y, 1, -1),
                mint.chunk(y, 3, 0),
                mint.split(y, 3, 2),
                mint.unbind(y, 1),
            ),
            *(mint.split(y, (1, 3), 0), y[1:, 0, ::2], mint.ones_like(y)),
            mint.bmm(y, mint.permute(y, (0, 2, 1))),
        )


class Scattered(nn.Cell):
    def construct(self, x):
        y = mint.reshape(x, (8, 4))
        places, rows = Tensor([[1], [1], [6]]), y[:3] * 2
        elements = Tensor([[0, 2, 1, 3], [1, 0, 3, 2]])
        grid = mint.reshape(x, (1, 4, 4, 2)) * 0.7
        return (
            *(ops.tensor_scatter_max(y, places, rows), ops.tensor_scatter_min(y, places, rows)),
            *(ops.tensor_scatter_sub(y, places, rows), ops.tensor_scatter_mul(y, places, rows)),
            *(ops.tensor_scatter_elements(y, elements, rows[:2], 1), ops.lerp(x, x * 3, 0.3)),
            *(ops.grid_sample(x, grid, align_corners=True), ops.grid_sample(x, grid, "nearest", "border")),
            *(ops.xlogy(x, ops.abs(x)), ops.xdivy(x - x, x - x), ops.acos(x / 4)),
        )


class Pools(nn.Cell):
    def __init__(self):
        super().__init__()
        self.average = nn.AvgPool2d(3, 2, pad_mode="pad", padding=1)
        self.maximum = nn.MaxPool2d(3, 2, pad_mode="pad", padding=1)
        self.ceil = nn.AvgPool2d(3, 2, pad_mode="pad", padding=1, ceil_mode=True, count_include_pad=False)
        self.norm = nn.GroupNorm(2, 2)

    def construct(self, x):
        even, odd = ops.adaptive_avg_pool2d(x, (2, 4)), ops.adaptive_avg_pool2d(x, (3, 3))
        return (
            self.average(x),
            self.maximum(x),
            self.ceil(x),
            self.norm(x),
            even,
            odd,
            ops.adaptive_max_pool2d(x, (3, 2)),
        )


class Volumes(nn.Cell):
    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv3d(2, 2, (2, 3, 3), pad_mode="pad", padding=1, has_bias=True)
        self.transposed = nn.Conv3dTranspose(2, 3, 3, stride=2, pad_mode="pad", padding=1, output_padding=1)
        self.same = nn.Conv3dTranspose(2, 3, (1, 3, 2), stride=(1, 2, 2), pad_mode="same", has_bias=True)
        self.maximum = nn.MaxPool3d(2, 2)
        self.average = nn.AvgPool3d(2, 2)

    def construct(self, x):
        y = self.convolution(x.reshape((1, 2, 2, 2, 4)))
        return y, self.maximum(y), self.average(y), self.transposed(y), self.same(y)


class Attention(nn.Cell):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

    def construct(self, x):
        y = x.reshape((2, 4, 4))
        return self.attention(y, y, y)[0]


class Recurrent(nn.Cell):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(4, 2, bidirectional=True)

    def construct(self, x):
        y = x.reshape((2, 4, 4))
        return self.lstm(y)[0], self.gru(y)[0]


class Sorted(nn.Cell):
    """Sorting, searchsorted, and cumulative maxima and minima with equal elements."""

    def construct(self, x):
        y = mint.reshape(x, (4, 8))
        whole = (y * 2).astype(ms.int32)
        return (
            *(
                ops.sort(y, 1, True),
                ops.sort(whole[0]),
                ops.topk(y, 3),
                ops.median(y),
                ops.median(y, axis=1, keepdims=True),
            ),
            *(
                ops.cummax(whole.astype(ms.float32), 1),
                ops.cummin(whole, 0),
                ops.searchsorted(ops.sort(y)[0], y, right=True),
            ),
            *(ops.unique_consecutive(whole[0] > 0, True, True), ops.msort(y)),
        )


class Losses(nn.Cell):
    def construct(self, x):
        y = mint.reshape(x, (4, 8))
        part, labels = ops.sigmoid(y * 2), Tensor([1, 0, 7, 3], ms.int32)
        weight = ops.sigmoid(y[0])
        return (
            *(
                ops.binary_cross_entropy_with_logits(y, part, weight, weight + 1, "none"),
                ops.kl_div(y, part, "batchmean"),
            ),
            *(ops.smooth_l1_loss(y, part, 0.7, "mean"), ops.smooth_l1_loss(y, part, 0.3), ops.l1_loss(y, part)),
            *(
                ops.nll_loss(y, labels, weight, -100, "mean"),
                ops.nll_loss(y, labels, weight, 7, "sum"),
                ops.mse_loss(y, part),
            ),
            *(
                ops.multi_margin_loss(y, labels.astype(ms.int64), 2, 1),
                ops.cross_entropy(y, labels, label_smoothing=0.1),
            ),
            *(ops.nll_loss(x, Tensor([[[0, 1, 1, 0]] * 4], ms.int32)),),
        )


class Resampled(nn.Cell):
    def construct(self, x):
        row, volume = mint.reshape(x, (1, 4, 8)), mint.reshape(x, (1, 2, 2, 2, 4))
        image = ops.transpose(x, (0, 2, 3, 1))
        return (
            *(ops.interpolate(row, size=(11,), mode="linear"), ops.interpolate(row, size=(5,), mode="nearest")),
            *(ops.interpolate(row, size=(5,), mode="linear", align_corners=True),),
            *(
                ops.interpolate(x, size=(7, 3), mode="bicubic"),
                ops.interpolate(x, size=(7, 3), mode="bicubic", align_corners=True),
            ),
            *(
                ops.interpolate(volume, size=(3, 5, 6), mode="trilinear"),
                ops.interpolate(volume, size=(3, 1, 6), mode="nearest"),
            ),
            *(
                ops.interpolate(x, size=(3, 2), mode="area"),
                ops.ResizeArea()(image, Tensor([3, 7], ms.int32)),
            ),
        )


class Placed(nn.Cell):
    """Updates of elements of parameters, which keep them, and of tensors."""

    def __init__(self):
        super().__init__()
        self.rows = Parameter(Tensor(np.arange(32, dtype=np.float32).reshape(8, 4) / 9), name="rows")
        self.elements = Parameter(Tensor(np.ones((8, 4), np.float32)), name="elements")

    def construct(self, x):
        y, places = mint.reshape(x, (8, 4)), Tensor([1, 5, 1], ms.int32)
        before = self.rows * 1.5
        ops.scatter_add(self.rows, places, y[:3])
        between = self.rows + 0
        ops.scatter_max(self.rows, places, y[3:6])
        self.rows[2] = y[7]
        ops.scatter_nd_mul(self.elements, Tensor([[0, 1], [7, 3]], ms.int32), y[0, :2])
        z = ops.relu(y)
        z[1:3] = y[4:6]
        mask = y > 0.2
        return (
            *(before, between, self.rows + 1, self.elements * 1, z, ops.index_add(y.copy(), places, y[:3], 0)),
            *(
                ops.index_fill(y, 1, Tensor([0, 3], ms.int32), 2.0),
                ops.masked_select(y, mask),
                y.masked_scatter(mask, y * 3),
            ),
            *(y[Tensor([0, 5], ms.int32), Tensor([2, 3], ms.int32)], ops.unsorted_segment_max(y[:3], places, 6)),
        )


class Reread(nn.Cell):
    """A function changes a tensor that another one reads, in an order that the file does not state."""

    def construct(self, x):
        y = mint.reshape(x, (8, 4)) * 2
        z = ops.index_add(y, Tensor([1, 5, 1], ms.int32), y[:3], 0)
        return z, y[Tensor([0, 5], ms.int32), Tensor([2, 3], ms.int32)]


class Diagonals(nn.Cell):
    def construct(self, x):
        y = mint.reshape(x, (2, 4, 4))
        square = y[0] + 3 * ops.eye(4, 4, ms.float32)
        return (
            *(ops.diagonal(y, 1, 1, 2), ops.trace(y[0]), ops.diag(y[0, 0]), ops.diag_embed(y[0], -1), ops.tril(y, 1)),
            *(
                ops.det(y),
                ops.slogdet(y),
                ops.inverse(square),
                ops.matrix_power(square, 5),
                ops.MatrixSolve()(square, y[1]),
            ),
            *(ops.FillDiagonal(2.0)(y[1]), ops.MatrixBandPart()(y, 1, 2), ops.cross(y[:, :3], y[:, 1:], 1)),
            *(
                ops.cdist(y, y + 1, 1.0),
                ops.cdist(y, y * 2),
                ops.addbmm(y[0], y, y, beta=0.5),
                ops.addr(y[0], y[0, 0], y[0, 1]),
            ),
            *(ops.baddbmm(y, y, y, beta=0.5), ops.addmv(y[0, 0], y[0], y[0, 1]), ops.addcmul(y[0], y[1], y[0], 0.5)),
        )


class Regions(nn.Cell):
    def __init__(self):
        super().__init__()
        self.ends, self.plain = ops.ROIAlign(2, 3, 0.5, 2, 1), ops.ROIAlign(2, 2, 0.5, 2, 0)
        self.suppress, self.encode = (
            ops.NMSWithMask(0.4),
            ops.BoundingBoxEncode((0.1, 0.0, 0.2, 0.0), (0.5, 1.0, 1.0, 2.0)),
        )
        self.decode = ops.BoundingBoxDecode((20, 16), (0.1, 0.0, 0.2, 0.0), (0.5, 1.0, 1.0, 2.0))

    def construct(self, x):
        numbers = ops.abs(mint.reshape(x, (8, 4))) * 4
        boxes = ops.cat((numbers[:, :2], numbers[:, :2] + numbers[:, 2:] + 1), 1)
        rois = ops.cat((ops.zeros((8, 1), ms.float32), boxes), 1)
        image = ops.transpose(x, (0, 2, 3, 1))
        return (
            *(self.ends(x, rois), self.plain(x, rois), self.suppress(ops.cat((boxes, ops.sigmoid(numbers[:, :1])), 1))),
            *(self.encode(boxes, boxes[::-1]), self.decode(boxes, mint.reshape(x, (8, 4))), ops.iou(boxes, boxes[2:])),
            ops.crop_and_resize(image, boxes / 8, ops.zeros((8,), ms.int32), (3, 2)),
        )


class Windows(nn.Cell):
    def construct(self, x):
        top, places = ops.max_pool2d(x, 2, 2, return_indices=True)
        volume = mint.reshape(x, (1, 2, 2, 2, 4))
        blocks = ops.unfold(x, (2, 3), stride=1, padding=1)
        offsets = mint.reshape(x, (1, 32))[:, :27] * Tensor(np.ones((4, 1), np.float32))
        return (
            *(
                top,
                places,
                ops.max_unpool2d(top, places, 2, 2),
                ops.max_pool3d(volume, 2, 1, return_indices=True),
                blocks,
            ),
            *(
                ops.fold(blocks, Tensor([4, 4], ms.int32), (2, 3), 1, (1, 1), 1),
                ops.batch_to_space_nd(ops.cat((x,) * 4), [2, 2], [[0, 1], [1, 0]]),
            ),
            ops.deformable_conv2d(
                x,
                ops.ones((2, 2, 3, 3), ms.float32) * 0.3,
                mint.reshape(offsets.T, (1, 27, 2, 2)),
                (3, 3),
                (1, 1, 1, 1),
                (0, 0, 0, 0),
            ),
        )


class Numbers(nn.Cell):
    """Functions that need several operators, count elements, or create tensors."""

    def construct(self, x):
        y = mint.reshape(x, (4, 8))
        return (
            *(ops.logaddexp2(y, y * 2), ops.hypot(y, y + 1), mint.sinc(y), ops.heaviside(y, y * 2), ops.frac(y * 3)),
            *(
                ops.renorm(y, 2, 0, 1.5),
                ops.histc(y, 5, -1.0, 1.0),
                ops.bincount((ops.abs(y[0]) * 3).astype(ms.int32), minlength=6),
            ),
            *(
                ops.meshgrid(y[0], y[1, :3], indexing="xy"),
                ops.repeat_interleave(y, 2, 1),
                ops.fftshift(y),
                ops.nansum(y, 1),
            ),
            *(
                ops.hamming_window(6) * y[0, :6],
                ops.logit(ops.sigmoid(y), 1e-3),
                ops.HSVToRGB()(ops.sigmoid(x[:, :, :, :3])),
            ),
            *(
                ops.rgb_to_hsv(ops.sigmoid(x[:, :, :, :3]))
                if hasattr(ops, "rgb_to_hsv")
                else ops.RGBToHSV()(ops.sigmoid(x[:, :, :, :3])),
            ),
        )


class MintVolumes(nn.Cell):
    """mint layers on volumes, which MindSpore runs on Ascend only."""

    def __init__(self):
        super().__init__()
        self.weight = Parameter(Tensor(np.sin(np.arange(36, dtype=np.float32)).reshape(2, 1, 2, 3, 3)), name="weight")
        self.narrow = Parameter(Tensor(np.cos(np.arange(24, dtype=np.float32)).reshape(2, 1, 2, 2, 3)), name="narrow")

    def construct(self, x):
        v, w = self.volume(x), self.weight
        f = mint.nn.functional
        return (
            f.conv3d(v, w, None, (1, 2, 1), 1),
            f.conv3d(v, self.narrow, ops.ones(2), 1, "same"),
            f.conv3d(v[0], w),
            f.avg_pool3d(v, 2, 1, 1),
            f.avg_pool3d(v, (2, 3, 2), ceil_mode=True),
        )

    def volume(self, x):
        return ops.stack((x[:, :1] * 2, x[:, 1:] - 1, x[:, :1], x[:, 1:]), 2)


class MintVolumesOnCpu(MintVolumes):
    def construct(self, x):
        v, w = self.volume(x), self.weight
        return (
            ops.conv3d(v, w, None, (1, 2, 1), "pad", 1),
            ops.conv3d(ops.pad(v, (1, 1, 0, 1, 0, 1)), self.narrow, ops.ones(2)),
            ops.conv3d(v[:1], w)[0],
            ops.avg_pool3d(v, 2, 1, 1),
            ops.avg_pool3d(v, (2, 3, 2), (2, 3, 2), ceil_mode=True),
        )


class MintArrays(nn.Cell):
    """Primitives of mint and ops that MindSpore does not compute on a CPU."""

    def construct(self, x):
        y = x[0, 0] + ops.eye(4) * 4
        n = ops.round(x[0] * 2).astype(ms.int32)
        return (
            mint.roll(x, (1, -2), (2, 3)),
            mint.roll(x, 3),
            ops.einsum("bchw,bcwk->bhk", x, x),
            mint.triangular_solve(x[0, 1], y, upper=False)[0],
            mint.triangular_solve(x[0, 1], y, transpose=True)[0],
            mint.unique(n, return_inverse=True),
            mint.histc(x, 5, -2.0, 2.0),
            mint.round(x, decimals=1),
            mint.round(x * 100, decimals=-1),
        )


def on_cpu(tensor):
    """The expected outputs of `MintArrays`."""
    x = tensor.asnumpy()
    y = x[0, 0] + np.eye(4, dtype=np.float32) * 4
    n = np.round(x[0] * 2).astype(np.int32)
    values, inverse = np.unique(n, return_inverse=True)
    results = (
        np.roll(x, (1, -2), (2, 3)),
        np.roll(x, 3),
        np.einsum("bchw,bcwk->bhk", x, x),
        np.linalg.solve(np.tril(y), x[0, 1]),
        np.linalg.solve(np.triu(y).T, x[0, 1]),
        values,
        inverse.reshape(n.shape),
        np.histogram(x, 5, (-2, 2))[0].astype(np.float32),
        np.round(x, 1),
        np.round(x * 100, -1),
    )
    return tuple(Tensor(result) for result in results)


class Language(nn.Cell):
    """Layers of language models, which MindSpore runs on Ascend only."""

    def __init__(self):
        super().__init__()
        self.norm = ops.auto_generate.gen_ops_prim.AddRmsNorm()

    def added(self, y, wave):
        norm, _, total = self.norm(y, y * wave, wave[0, 0, 0], 1e-6)
        return norm, total

    def construct(self, x):
        y = ops.tile(x, (1, 2, 1, 4))
        wave = ops.sin(y[:1, :1])
        mask = ops.triu(ops.ones((4, 4)), 1).astype(ms.bool_)
        rows = y.reshape(1, 4, 64)
        return (
            ops.rotary_position_embedding(y, wave, wave, 0),
            ops.rotary_position_embedding(y, wave, wave, 1),
            ops.flash_attention_score(
                y, y[:, ::2], y[:, 1::2], 4, scalar_value=0.25, attn_mask=mask, input_layout="BNSD"
            ),
            ops.flash_attention_score(rows, rows * 2, rows, 4, real_shift=wave[..., :4], input_layout="BSH"),
            ops.flash_attention_score(rows, rows, rows, 2, input_layout="SBH"),
            *self.added(y, wave),
        )


def language_on_cpu(tensor):
    """The expected outputs of `Language`."""
    y = np.tile(tensor.asnumpy(), (1, 2, 1, 4))
    wave = np.sin(y[:1, :1])
    halves = np.concatenate((-y[..., 8:], y[..., :8]), -1)
    pairs = np.stack((-y[..., 1::2], y[..., ::2]), -1).reshape(y.shape)
    rows, total = y.reshape(1, 4, 64), y + y * wave

    def attention(query, key, value, scale=1.0, shift=0.0, mask=None):
        scores = (query @ key.swapaxes(-1, -2) + shift) * scale
        scores = scores if mask is None else np.where(mask, -np.inf, scores)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ value

    shared = [np.repeat(y[:, begin::2], 2, 1) for begin in (0, 1)]
    heads = rows.reshape(1, 4, 4, 16).transpose(0, 2, 1, 3)
    columns = rows.reshape(1, 4, 2, 32).transpose(1, 2, 0, 3)
    results = (
        y * wave + halves * wave,
        y * wave + pairs * wave,
        attention(y, *shared, 0.25, mask=np.triu(np.ones((4, 4)), 1) > 0),
        attention(heads, heads * 2, heads, shift=wave[..., :4]).transpose(0, 2, 1, 3).reshape(1, 4, 64),
        attention(columns, columns, columns).transpose(2, 0, 1, 3).reshape(1, 4, 64),
        total / np.sqrt((total**2).mean(-1, keepdims=True) + 1e-6) * wave[0, 0, 0],
        total,
    )
    return tuple(Tensor(np.ascontiguousarray(result, np.float32)) for result in results)


class Found(nn.Cell):
    """Indices and unique elements with data-dependent sizes."""

    def construct(self, x):
        n = ops.round(x[0, 0, 0] * 2)
        return (
            mint.nonzero(x[0] > 0),
            *mint.nonzero(x[0, 0] > 0, as_tuple=True),
            *ops.unique(n.astype(ms.int64)),
            *ops.unique(n),
        )


class Special(nn.Cell):
    """Gamma and error functions, gcd and lcm, and indices of adaptive maximum pools."""

    def construct(self, x):
        n = ops.round(x[0] * 9).astype(ms.int32)
        many = n[1].astype(ms.int64) * 832040
        pooled, places = ops.adaptive_max_pool2d(ops.round(x), (3, 2), return_indices=True)
        return (
            ops.lgamma(x * 3),
            ops.digamma(x * 3),
            ops.erfinv(ops.tanh(x)),
            ops.lcm(n, n[1, :1]),
            ops.gcd(n[0].astype(ms.int64) * 1346269, many),
            pooled,
            places,
            ops.adaptive_max_pool2d(x, 2, return_indices=True)[1],
        )


class Short(nn.Cell):
    """bfloat16 inputs and outputs, which become float32."""

    def construct(self, x):
        y = x * 2 + 1.5
        return (
            y,
            y.astype(ms.float32) + 1,
            y.astype(ms.int32),
            ops.ones((4, 4), ms.bfloat16) + y,
            x.astype(ms.float32).max(),
        )


NETWORKS = (
    InPlace,
    Alias,
    Integers,
    Kept,
    Assigned,
    Branches,
    Loop,
    Handed,
    Nested,
    Counted,
    MintVolumes,
    MintArrays,
    Language,
    Found,
    Special,
    Short,
    Interpolated,
    Statistics,
    Activations,
    Masks,
    Views,
    Scattered,
    Pools,
    Volumes,
    Attention,
    Recurrent,
    Sorted,
    Losses,
    Resampled,
    Placed,
    Reread,
    Diagonals,
    Regions,
    Windows,
    Numbers,
)


def flat(results):
    if isinstance(results, tuple | list):
        return [array for item in results for array in flat(item)]
    if isinstance(results, Tensor) and results.dtype == ms.bfloat16:
        results = results.astype(ms.float32)
    return [results.asnumpy() if isinstance(results, Tensor) else np.asarray(results)]


def main():
    os.chdir(tempfile.mkdtemp())  # MindSpore writes files for failed compilations into the current folder
    ms.set_context(mode=ms.GRAPH_MODE, device_target="CPU")
    ms.set_seed(1)
    for kind in NETWORKS:
        name = kind.__name__.lower()
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        network = kind()
        network.set_train(False)
        arrays = [X, np.array(2, np.int32)] if kind in (Branches, Handed, Loop, Nested) else [X]
        arrays = [np.round(X * 4) / 4] if kind is Short else arrays
        tensors = [Tensor(array, ms.bfloat16 if kind is Short else None) for array in arrays]
        given = tensors
        if kind is Interpolated:
            given = [Tensor(shape=[1, 2, None, None], dtype=ms.float32)]
        ms.export(network, *given, file_name=str(HERE / name), file_format="MINDIR")
        network = {MintVolumes: MintVolumesOnCpu(), MintArrays: on_cpu, Language: language_on_cpu}.get(kind, network)
        stored = {f"i{i}": array for i, array in enumerate(arrays)}
        for run in ("first", "second"):
            stored.update(
                (f"{run}{i}", array) for i, array in enumerate(flat(network(*(tensor.copy() for tensor in tensors))))
            )
        np.savez_compressed(HERE / f"{name}.npz", **stored)
        print(name)


if __name__ == "__main__":
    main()
