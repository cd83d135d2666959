"""What random graphs brought to light of types, ranks and sizes that the parser has to know, one small graph each."""

from __future__ import annotations

import numpy as np
import pytest

from .found import check, draw


def test_output_shape_of_transposed_convolution_needs_no_batch() -> None:
    """Batches of any size were refused."""
    check(
        """(float[batch,1,3] x) => (float[batch,1,m] y) <float[1,1,3] w = {1.0, 2.0, 3.0}> {
            y = ConvTranspose <kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER", output_shape = [6]> (x, w)
        }""",
        x=draw(2, 1, 3),
    )


def test_group_normalization_of_any_batch_has_a_rank() -> None:
    """Nothing behind it could be converted, because ONNX infers no shape from its definition."""
    check(
        """(float[batch,4,2] x) => (float[batch,4,2] y) <float[4] s = {1.0, 2.0, 3.0, 4.0}> {
            n = GroupNormalization <num_groups = 2> (x, s, s)  y = InstanceNormalization(n, s, s)
        }""",
        opset=21,
        x=draw(2, 4, 2),
    )


def test_values_that_a_loop_carries_have_a_rank() -> None:
    """Nothing behind a loop could be converted that needs to know it; ONNX's inference leaves it open. So are the sizes."""
    check(
        """(float[2,3,4,4] x, int64 n) => (float[2,3,1,1] y, float[2,3,1,2,2] z) <int64[1] a = {2}> {
            l = Loop <body = step (int64 i, bool go, float[2,3,4,4] a) => (bool on, float[2,3,4,4] b) {
                on = Identity(go)  b = Add(a, x)
            }> (n, , x)
            y = GlobalMaxPool(l)  u = Unsqueeze(l, a)  z = AveragePool <kernel_shape = [1, 2, 2], strides = [1, 2, 2]> (u)
        }""",
        x=draw(2, 3, 4, 4),
        n=np.asarray(3),
    )


def test_slices_that_a_loop_collects_have_a_rank() -> None:
    """Images of an open batch, one from each round: what they are pooled by needs to know the rank."""
    check(
        """(float[batch,3,4] x, int64 n) => (float[m,batch,1,1] y) {
            l, s = Loop <body = step (int64 i, bool go, float[batch,3,4] a) => (bool on, float[batch,3,4] b, float[batch,3,4] c) {
                on = Identity(go)  b = Add(a, x)  c = Neg(b)
            }> (n, , x)
            y = GlobalMaxPool(s)
        }""",
        x=draw(2, 3, 4),
        n=np.asarray(3),
    )


def test_a_transposed_number_has_a_rank() -> None:
    """ONNX's inference leaves it open, and Expand needs to know it."""
    check("(float x) => (float[n] y) <int64[1] s = {2}> { t = Transpose(x)  y = Expand(t, s) }", x=draw())


def test_an_inverse_has_the_rank_of_its_matrices() -> None:
    """ONNX's inference does not know it, as it is no operator of the standard."""
    check(
        """(float[2,2] x) => (int64[1,2] y) {
            i = com.microsoft.Inverse(x)  r = Relu(i)  y = ArgMax <axis = 0, select_last_index = 1> (r)
        }""",
        x=draw(2, 2),
    )


def test_parts_of_a_sequence_can_be_stacked() -> None:
    """Their rank was not known when they were joined along a new axis that is counted from behind."""
    check(
        """(float[3,5] x) => (float[3,1,5] y) {
            s = SplitToSequence <axis = -1> (x)  y = ConcatFromSequence <axis = -1, new_axis = 1> (s)
        }""",
        x=draw(3, 5),
    )


def test_inference_that_crashes_does_not_end_the_program() -> None:
    """onnx reads the type of what EyeLike takes, which nobody knows behind an operator of onnxruntime."""
    check(
        "(float[2,3] x) => (float[2,3] y) { p = com.microsoft.Trilu(x)  y = EyeLike <dtype = 1, k = 1> (p) }",
        x=draw(2, 3),
    )


def test_spectrograms_have_half_of_the_frequencies_unless_told_otherwise() -> None:
    """onnx's inference says all of them, which what is behind believed."""
    check(
        """(float[2,17,1] x) => (float[a,b,c,d] y) <int64 l = {8}, int64 s = {4}, int64[2] z = {4, 5}> {
            t = STFT(x, s, , l)  y = CenterCropPad <axes = [0, 2]> (t, z)
        }""",
        x=draw(2, 17, 1),
    )


def test_weights_that_are_returned_keep_their_shape() -> None:
    """Inference believed the output, which declares no sizes, and so knew no rank of the convolution's result."""
    check(
        """(float[2,1,9] x) => (float[a,b,c] y, float[d,e,f] w)
        <float[1,1,3] w = {1.0, 2.0, 3.0}, float[1] s = {0.5}> {
            c = Conv <pads = [1, 1]> (x, w)  y = BatchNormalization(c, s, s, s, s)
        }""",
        x=draw(2, 1, 9),
    )


def test_ranks_behind_normalized_groups_and_triangles() -> None:
    check(
        """(float[2,2,5] x, float[2] a, float[2] b) => (float[2,5,2] y, float[5,2,2] z) {
            n = GroupNormalization <num_groups = 1> (x, a, b)  y = Transpose <perm = [0, 2, 1]> (n)
            t = com.microsoft.Trilu <upper = 0> (x)  z = Transpose (t)
        }""",
        opset=21,
        x=draw(2, 2, 5),
        a=draw(2),
        b=draw(2),
    )


def test_the_rank_behind_unpooling_to_a_shape() -> None:
    check(
        """(float[1,1,2,2] x) => (float[1,1,1,1] y) <int64[1,1,2,2] i = {5, 7, 13, 15}, int64[4] s = {1, 1, 5, 5}> {
            u = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i, s)  y = GlobalLpPool (u)
        }""",
        x=draw(1, 1, 2, 2),
    )


def test_types_behind_operators_that_the_operator_set_does_not_have_yet() -> None:
    check(
        """(float[2,4,7,5] x, float[2,2,4,2] p) => (float[2,4,2,4] y) {
            g = com.microsoft.GridSample <align_corners = 1> (x, p)  y = PRelu (g, g)
        }""",
        opset=15,
        x=draw(2, 4, 7, 5),
        p=draw(2, 2, 4, 2),
    )


def test_the_rank_behind_an_older_compress() -> None:
    check(
        """(float[3,2] x) => (float[2,2] y) <bool[3] c = {1, 0, 1}> { k = Compress <axis = -2> (x, c)  y = Softmax (k) }""",
        opset=10,
        x=draw(3, 2),
    )


@pytest.mark.filterwarnings("ignore")
def test_volumes_whose_last_window_would_begin_outside() -> None:
    """ONNX's inference counted these windows before operator set 22."""
    check(
        """(float[1,6,6,2,1] x) => (float[a,b,c,d,e] y) {
            y = MaxPool <auto_pad = "VALID", ceil_mode = 1, kernel_shape = [1, 1, 1], strides = [3, 3, 3]> (x)
        }""",
        opset=12,
        x=draw(1, 6, 6, 2, 1),
    )


def test_an_axis_from_the_end_in_an_old_operator_set() -> None:
    """ONNX's inference takes it for none."""
    check(
        """(float[3,4,8] x, float[4] b) => (float[a,b,c,d] y) <float[4] s = {1.4, 1.3, 0.8, 0.9}> {
            u = Unsqueeze <axes = [-2]> (x)  y = InstanceNormalization (u, s, b)
        }""",
        opset=10,
        x=draw(3, 4, 8),
        b=draw(4),
    )


@pytest.mark.parametrize(
    "node",
    [
        "Concat <axis = -1> (x, x)",
        "Split <axis = -2, split = [1, 3]> (x)",
        "Compress <axis = -1> (x, c)",
        "Slice <axes = [1, -1], starts = [0, 1], ends = [9, 9]> (x)",
    ],
)
def test_ranks_behind_an_axis_from_the_end_in_an_old_operator_set(node: str) -> None:
    """ONNX's inference stopped there."""
    results = "u, v" if "Split" in node else "u"
    check(
        f"(float[1,2,4,3] x, bool[3] c) => (float[a,b,d,e] y) {{ {results} = {node}  y = LRN <size = 1> (u) }}",
        opset=9,
        x=draw(1, 2, 4, 3),
        c=np.array([True, False, True]),
    )


def test_dimensions_taken_out_from_the_end_in_an_old_operator_set() -> None:
    check(
        """(float[3,3,7,1,2] x) => (float[3,3,1,1] y, float[3,3,7,2] z) {
            s = Squeeze <axes = [-2]> (x)  y = GlobalMaxPool (s)  z = Hardmax <axis = 0> (s)
        }""",
        opset=10,
        x=draw(3, 3, 7, 1, 2),
    )


def test_products_behind_an_operator_that_the_operator_set_does_not_have_yet() -> None:
    """They are expanded before the nodes in front of them are read."""
    check(
        """(float[1,2,4,3] x, float[1,1,4,2] p) => (float[1,2,4,4] y) <float[1,4] c = {-0.3, -0.5, 0.5, -0.7}> {
            g = com.microsoft.GridSample (x, p)  y = com.microsoft.FusedMatMul <alpha = 0.5, transA = 1> (g, c)
        }""",
        opset=12,
        x=draw(1, 2, 4, 3),
        p=draw(1, 1, 4, 2),
    )


def test_products_behind_a_converter_of_another_domain() -> None:
    """ONNX's inference knows nothing of an inverse."""
    check(
        """(float[2,2] x, float[2,1] z) => (float[2,1] y) <float[2,2] c = {4.0, 0.0, 0.0, 4.0}> {
            a = Add (x, c)  v = com.microsoft.Inverse (a)  e = Elu (v)
            y = com.microsoft.FusedMatMul <transA = 1> (e, z)
        }""",
        opset=20,
        x=draw(2, 2),
        z=draw(2, 1),
    )


def test_products_behind_what_a_loop_carries() -> None:
    """ONNX's inference tells no rank there."""
    check(
        """(float[3,1] x, float[4,3] z) => (float[1,4] y, float[a,b,c] each) <int64 n = {2}, bool go = {1}> {
            carried, each = Loop <body = body (int64 i, bool on, float[3,1] v) => (bool still, float[3,1] w, float[3,1] e) {
                still = Identity (on)  w = Add (v, x)  e = Identity (w)
            }> (n, go, x)
            y = com.microsoft.TransposeMatMul <transA = 1, transB = 1> (carried, z)
        }""",
        opset=19,
        x=draw(3, 1),
        z=draw(4, 3),
    )


def test_a_grid_whose_shape_is_asked_for() -> None:
    """The sizes were split, and nobody knew the parts."""
    check(
        """(float[1,3,4] t) => (float[1,1,2,2,3] y)
        <int64[5] s = {1, 1, 2, 2, 2}, float[1,2,1,1,1] w = {0.13696168, -0.23021328}> {
            g = AffineGrid (t, s)  y = Conv <kernel_shape = [1, 1, 1]> (g, w)
        }""",
        opset=24,
        t=draw(1, 3, 4),
    )


def test_pooling_what_was_in_a_sequence() -> None:
    """ONNX's inference knew no rank."""
    check(
        """(float[1,3,2,2] x) => (uint8[1,3,1,1] y) <float s = {0.02}, uint8 z = {127}, int64 at = {0}> {
            none = SequenceEmpty <dtype = 1> ()  one = SequenceInsert (none, x)  item = SequenceAt (one, at)
            q = QuantizeLinear (item, s, z)
            y = com.microsoft.QLinearGlobalAveragePool <channels_last = 0> (q, s, z, s, z)
        }""",
        opset=20,
        x=draw(1, 3, 2, 2),
    )


def test_cropping_what_was_in_a_sequence() -> None:
    """ONNX's inference gives no rank to what a sequence that began empty is joined to."""
    check(
        """(float[2] x) => (float[z] y) <int64[1] five = {5}> {
            none = SequenceEmpty()  one = SequenceInsert(none, x)  two = SequenceInsert(one, x)
            j = ConcatFromSequence <axis = -1> (two)  n = LpNormalization(j)  y = CenterCropPad(n, five)
        }""",
        x=draw(2),
    )


def test_an_operator_of_a_later_set_behind_an_output() -> None:
    """Its operand's type stood with the outputs only, where nobody looked."""
    check(
        """(float[1,3,4] x, float[4,12] w, float[12] c) => (uint8[1,3,4] y, float[b,s,h] a)
        <float s = {0.02}, uint8 z = {0}, float r = {0.00390625}> {
            a = com.microsoft.Attention <num_heads = 1> (x, w, c)  t = com.microsoft.Trilu (a)
            q = QuantizeLinear (t, s, z)  y = com.microsoft.QLinearSoftmax <axis = 2, opset = 13> (q, s, z, r, z)
        }""",
        opset=12,
        x=draw(1, 3, 4),
        w=draw(4, 12),
        c=draw(12),
    )


@pytest.mark.parametrize("operator", ["MaxPool", "AveragePool"])
@pytest.mark.parametrize("opset", [10, 21])
def test_sizes_behind_pools_that_drop_a_window(operator: str, opset: int) -> None:
    """ONNX's inference counted windows that ceil_mode begins behind the input."""
    check(
        f"""(float[1,1,8,1] x) => (int64[4] s, float[k,l,m,n] y) {{
            a = {operator} <kernel_shape = [1, 1], strides = [3, 1], ceil_mode = 1> (x)
            b = {operator} <kernel_shape = [1, 1], strides = [2, 1], ceil_mode = 1> (a)
            y = Identity(b)  s = Shape(b)
        }}""",
        opset=opset,
        x=draw(1, 1, 8, 1),
    )


@pytest.mark.parametrize("out", ["SequenceAt (two, at)", "ConcatFromSequence <axis = 0> (two)"])
def test_products_behind_what_was_in_a_sequence(out: str) -> None:
    """They are expanded before the sequence is read."""
    check(
        f"""(float[2,2] x) => (float[a,b] y) <int64 at = {{0}}> {{
            none = SequenceEmpty <dtype = 1> ()  one = SequenceInsert (none, x)  more = SequenceInsert (one, x)
            two = SequenceErase (more)  item = {out}  r = Relu (item)
            y = com.microsoft.FusedMatMul <transB = 1> (r, r)
        }}""",
        x=draw(2, 2),
    )


def test_pools_behind_an_output_without_sizes() -> None:
    """What the output declares was all that was known of the second pool, and the first one came too late."""
    check(
        """(float[1,2,8,8] x) => (float[1,4,1,1] y, float[a,b,c,d] r) {
            p = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (x)
            r = Relu (p)  n = Neg (p)  j = Concat <axis = 1> (r, n)
            q = MaxPool <kernel_shape = [3, 3], strides = [2, 2], ceil_mode = 1> (j)  y = GlobalAveragePool (q)
        }""",
        opset=11,
        x=draw(1, 2, 8, 8),
    )


def test_types_behind_selected_boxes_in_an_old_operator_set() -> None:
    """ONNX's inference gave Compress no type because NonMaxSuppression had no rank."""
    check(
        """(float[1,1,4] b, float[1,1,1] s, bool[1] c) => (int64[n,m] y) <int64[1] most = {1}> {
            k = NonMaxSuppression (b, s, most)  p = Compress <axis = 0> (k, c)  f = Flatten (p)  y = NonZero (f)
        }""",
        opset=10,
        b=np.array([[[0, 0, 1, 1]]], np.float32),
        s=np.array([[[0.6]]], np.float32),
        c=np.array([True]),
    )
