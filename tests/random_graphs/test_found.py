"""What random graphs brought to light, one small graph each, in ONNX's text form."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, parser

from mslite import onnx_backend

pytest.importorskip("onnxruntime", reason="onnxruntime, which computes what is right, is not installed")

from .evaluate import quiet_session
from .values import Array


def draw(*shape: int, dtype: str = "float32") -> Array:
    """Numbers between -2 and 2, the same for the same shape; integers from 0 to 8."""
    rng = np.random.default_rng(list(shape) or 1)
    return np.asarray(rng.uniform(-2, 2, shape) if dtype.startswith("f") else rng.integers(0, 9, shape), dtype)


def check(text: str, opset: int = 18, **inputs: Array) -> None:
    """The graph gives what onnxruntime gives, optimised and not."""
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["": {opset}, "ai.onnx.ml": 1, "com.microsoft": 1]> found {text}'
    )
    nameless = ModelProto.FromString(model.SerializeToString())
    for node in nameless.graph.node:
        node.name = ""  # onnxruntime wants different ones
    wanted = quiet_session(nameless.SerializeToString()).run(None, inputs)
    for optimise in (True, False):
        got = onnx_backend.run_model(model, inputs, optimise=optimise)
        for actual, right in zip(got, wanted, strict=True):
            assert (actual.dtype, actual.shape) == (right.dtype, right.shape)
            tolerance = 1e-3 if right.dtype == np.float16 else 1e-5
            np.testing.assert_allclose(actual, right, tolerance, tolerance)


def test_float32_constants_beside_float16() -> None:
    """They were stored as float16 because something else in the model is."""
    check(
        """(float[1,2] x, float16[2] h) => (float[1,2] y, float16[2] k)
        <float[2,2] w = {0.12345678, 0.3333333, 0.7777777, 0.98765432}> { y = MatMul(x, w)  k = Abs(h) }""",
        x=draw(1, 2),
        h=draw(2, dtype="float16"),
    )


def test_scale_of_attention_leaves_an_output_alone() -> None:
    """The factor went into the projection of the queries, which the model returns, too."""
    check(
        """(float[1,2,2] x, float[1,1,2,2] k) => (float[1,1,2,2] y, float[1,2,1,2] q)
        <int64[4] s = {0, -1, 1, 2}, float[2,2] w = {0.3, -0.5, -0.9, 0.7}, float c = {1.4142}> {
            p = MatMul(x, w)  q = Reshape(p, s)  t = Transpose <perm = [0, 2, 1, 3]> (q)
            a = MatMul(t, k)  y = Div(a, c)
        }""",
        x=draw(1, 2, 2),
        k=draw(1, 1, 2, 2),
    )


def test_a_dequantised_number_stays_a_number() -> None:
    """It became a list of one."""
    check(
        """(float x) => (float y, float z) <float c = {0.64}, int8 i = {5}, float s = {0.01}, int8 p = {-3}> {
            q = QuantizeLinear(c, s, p)  y = DequantizeLinear(q, s, p)  d = DequantizeLinear(i, s, p)  z = Add(x, d)
        }""",
        x=draw(),
    )


def test_output_shape_of_transposed_convolution_needs_no_batch() -> None:
    """Batches of any size were refused."""
    check(
        """(float[batch,1,3] x) => (float[batch,1,m] y) <float[1,1,3] w = {1.0, 2.0, 3.0}> {
            y = ConvTranspose <kernel_shape = [3], strides = [2], auto_pad = "SAME_UPPER", output_shape = [6]> (x, w)
        }""",
        x=draw(2, 1, 3),
    )


def test_statistics_of_float16_are_float32() -> None:
    """Mean and InvStdDev of LayerNormalization had the type of the data."""
    check(
        """(float16[3] x, float16[3] s) => (float16[3] y, float[1] m) {
            y, m = LayerNormalization <axis = -1> (x, s)
        }""",
        x=np.array([1, 2, 4.5], np.float16),
        s=np.array([1, 2, 3], np.float16),
    )


def test_group_normalisation_of_any_batch_has_a_rank() -> None:
    """Nothing behind it could be converted, because ONNX infers no shape from its definition."""
    check(
        """(float[batch,4,2] x) => (float[batch,4,2] y) <float[4] s = {1.0, 2.0, 3.0, 4.0}> {
            n = GroupNormalization <num_groups = 2> (x, s, s)  y = InstanceNormalization(n, s, s)
        }""",
        opset=21,
        x=draw(2, 4, 2),
    )


def test_norms_of_integers_keep_integer_axes() -> None:
    """The axes, int32 like the data, were cast to float32 with them."""
    check(
        "(int32[2,1,8] x) => (int32[2,1,1] y) <int64[1] a = {-1}> { y = ReduceL2(x, a) }",
        x=draw(2, 1, 8, dtype="int32"),
    )


def test_sum_of_squares_of_one_size() -> None:
    """Where the contents of a shape were known, a reduction of a single number was taken for that number."""
    check(
        """(float[batch,4] x) => (int64[n] y, int64[n] z) <int64[1] a = {1}> {
            s = Shape(x)  i = Gather <axis = 0> (s, a)  y = ReduceSumSquare(i)  n = Neg(i)  z = ReduceL1(n)
        }""",
        x=draw(3, 4),
    )


def test_slices_of_open_sizes_that_start_before_the_first_element() -> None:
    """A negative step then starts at the first element, which held for fixed sizes only."""
    check(
        """(float[n,m] x) => (float[p,q] y) <int64[2] a = {-4, -9}, int64[2] e = {-90, 3}, int64[2] c = {0, 1},
        int64[2] s = {-1, 1}> { y = Slice(x, a, e, c, s) }""",
        x=draw(3, 4),
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


def test_a_float16_input_that_is_returned_keeps_its_name() -> None:
    """The output was called `x_cast`."""
    check("(float16[2] x) => (int64 y, float16[2] x) { y = Size(x) }", x=draw(2, dtype="float16"))


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


def test_a_definition_from_before_the_means_axes_were_an_input() -> None:
    check(
        """(float[2,3] x) => (float l) <int64[2] t = {1, 2}> { l = NegativeLogLikelihoodLoss (x, t) }""",
        x=draw(2, 3),
    )


def test_a_quantised_weight_beside_integers_that_are_computed_on_in_wider_ones() -> None:
    """The weight's integers were taken for its numbers."""
    check(
        """(float[1,1] x) => (int8[1,2] z) <
            float s = {0.002}, int8 p = {-128}, int8[1,2] w = {70, 28}, float c = {0.005}, int8 o = {0}, int8 n = {5}
        > {
            a = QuantizeLinear (x, s, p)  b = DequantizeLinear (a, s, p)  d = DequantizeLinear (w, c, o)
            e = MatMul (b, d)  q = QuantizeLinear (e, s, p)  z = Mod (q, n)
        }""",
        opset=17,
        x=np.full((1, 1), 0.5, np.float32),
    )


def test_one_grid() -> None:
    """Its definition squeezed the batch."""
    check(
        "(float[1,2,3] t) => (float[1,3,2,2] y) <int64[4] s = {1, 1, 3, 2}> { y = AffineGrid (t, s) }",
        20,
        t=draw(1, 2, 3),
    )


def test_a_constant_that_is_read_backwards_from_before_its_first_element() -> None:
    check(
        """(int64[1] x) => (int64[1] y) <
            int64[3] c = {3, 4, 17}, int64[1] b = {-4}, int64[1] e = {-9223372036854775807}, int64[1] a = {0}, int64[1] s = {-1}
        > { p = Slice (c, b, e, a, s)  y = Add (p, x) }""",
        x=draw(1, dtype="int64"),
    )


def test_ranks_behind_normalised_groups_and_triangles() -> None:
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


def test_an_image_that_is_constant() -> None:
    """Its only row lost its first dimension when the layout changed."""
    numbers = ", ".join(["0.5"] * 26)
    check(
        f"""(float[1] x) => (float[1,8,1,1] y) <
            float[1,26,1] s = {{{numbers}}}, int64 h = {{4}}, int64 n = {{3}}, float b = {{0.0296}}, int8 z = {{22}}
        > {{
            v = STFT <onesided = 0> (s, n, "", h)  w = QuantizeLinear (v, b, z)  d = DequantizeLinear (w, b, z)
            p = GlobalAveragePool (d)  y = Add (p, x)
        }}""",
        x=draw(1),
    )


def test_a_constant_whose_integers_are_all_large() -> None:
    """They were given a zero point that int8 does not have."""
    check(
        """(float[2] x) => (uint8[2] y) <
            float s = {0.005}, uint8 z = {0}, float[2] k = {0.697, 0.391}, float t = {0.00273429}, float u = {0.03}
        > {
            a = QuantizeLinear (x, s, z)  b = QuantizeLinear (k, t, z)
            y = com.microsoft.QLinearMul (a, s, z, b, t, z, u, z)
        }""",
        17,
        x=np.asarray([1.0, 1.2], np.float32),
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


def test_float32_results_that_only_integers_lead_to() -> None:
    """They were stored as float16 because something else in the model is."""
    check(
        """(float16[2] x) => (float16[2] h, float[3,8,1] y) <
            int64[3,8] c = {3, 1, 1, 1, 3, 2, 4, 3, 3, 0, 4, 1, 4, 4, 1, 3, 2, 2, 3, 3, 2, 0, 0, 4}
        > {
            h = Elu (x)  f = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1, 2, 3, 5]> (c)  s = Sin (f)
            a = AveragePool <kernel_shape = [5]> (s)  y = GlobalMaxPool (a)
        }""",
        x=draw(2, dtype="float16"),
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


def test_interpolated_integers_are_cut_off() -> None:
    """Behind a quantised product they were rounded, as numbers that a QuantizeLinear stores."""
    check(
        """(uint8[1,5,6] x) => (uint8[1,5,3] y) <float s = {0.02}, uint8 z = {128}, float[3] half = {1.0, 1.0, 0.5}> {
            r = DequantizeLinear (x, s, z)  q = QuantizeLinear (r, s, z)  y = Resize <mode = "linear"> (q, "", half)
        }""",
        opset=21,
        x=np.arange(30, dtype=np.uint8).reshape(1, 5, 6) * 7,
    )


def test_doubles_are_compared_as_they_are_computed() -> None:
    """The activation was computed in float32, and equal to no double."""
    check(
        "(double[6] x) => (bool[6] y, bool[6] z) { r = Relu (x)  y = Equal (x, r)  z = GreaterOrEqual (r, x) }",
        opset=21,
        x=draw(6, dtype="float64"),
    )


def test_quantised_moves_of_one_name() -> None:
    """Their operands on real numbers were called by it."""
    check(
        """(float[1,3] x) => (uint8[1,3] y) <float s = {0.02}, uint8 z = {128}> {
            q = QuantizeLinear (x, s, z)  [Flatten] f = Flatten (q)  [Flatten] y = Flatten (f)
        }""",
        opset=19,
        x=draw(1, 3),
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


@pytest.mark.parametrize("axis", [1, -2])
@pytest.mark.parametrize("size", [5, 6, 7])
def test_parts_of_a_dimension_that_is_known_late(axis: int, size: int) -> None:
    """Those of five elements were to be equal."""
    check(
        f"""(float[2,2,3] t, int64[4] s) => (float[a,b,c,d] p, float[e,f,g,h] q, float[i,j,k,l] r) {{
            grid = AffineGrid (t, s)  turned = Transpose <perm = [0, {"1, 2" if axis == 1 else "3, 1"}, {3 if axis == 1 else 2}]> (grid)
            p, q, r = Split <axis = {axis}, num_outputs = 3> (turned)
        }}""",
        opset=20,
        t=draw(2, 2, 3),
        s=np.array([2, 2, size, 2] if axis == 1 else [2, 2, size, 3], np.int64),
    )


@pytest.mark.parametrize("sizes", [(1, 3, 2, 3), (1, 3, 2, 3, 4)])
def test_a_grid_in_a_branch(sizes: tuple[int, ...]) -> None:
    """The branch of its definition for the other number of dimensions was converted, too."""
    rank = len(sizes)
    check(
        f"""(float[1,{rank - 2},{rank - 1}] t, bool go) => (float[{",".join("abcde"[:rank])}] y) {{
            y = If (go) <
                then_branch = one () => (float[{",".join("fghij"[:rank])}] p) {{
                    s = Constant <value_ints = [{", ".join(map(str, sizes))}]> ()  p = AffineGrid (t, s)
                }},
                else_branch = other () => (float[{",".join("klmno"[:rank])}] q) <float[{",".join(["1"] * rank)}] q = {{0.5}}> {{}}
            >
        }}""",
        opset=20,
        t=draw(1, rank - 2, rank - 1),
        go=np.array(True),
    )


@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax", "Hardmax"])
def test_normalising_nothing(operator: str) -> None:
    """A size of 0 asked Reshape for the operand's."""
    check(
        f"(float[0,4,4,1] x) => (float[0,4,4,1] y) {{ y = {operator} <axis = 0> (x) }}",
        opset=11,
        x=np.zeros((0, 4, 4, 1), np.float32),
    )


@pytest.mark.parametrize("operator", ["ReduceMean", "ReduceSum", "ReduceMax", "ReduceL2", "ReduceLogSumExp"])
def test_reducing_nothing_to_nothing(operator: str) -> None:
    """Rows of no elements ended the process: parts were counted by dividing by their size."""
    check(
        f"(float[2,3,0] x) => (float[2,1,0] y) {{ a = Constant <value_ints = [1]> ()  y = {operator} (x, a) }}",
        x=np.zeros((2, 3, 0), np.float32),
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


def test_a_border_that_is_cut_off_at_the_other_end() -> None:
    """It keeps the shape, and was taken for nothing."""
    check(
        """(float[2,3] x) => (float[2,3] y) <int64[4] pads = {1, 0, -1, 0}> {
            r = Relu(x)  p = Pad(r, pads)  y = Neg(p)
        }""",
        x=draw(2, 3),
    )


def test_statistics_of_float16() -> None:
    """They are float32, the number that is added to the variance, too."""
    check(
        """(float16[2,1] x) => (float[2,1] y) <float16[1] s = {15360}> {
            n, mean, y = LayerNormalization <axis = -1> (x, s)
        }""",
        x=draw(2, 1, dtype="float16"),
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


def test_averages_of_the_padding_alone() -> None:
    """They are zeros, not zero by zero."""
    check(
        """(float[1,2,2,1] x) => (float[1,2,2,1] y) {
            y = AveragePool <kernel_shape = [1, 4], dilations = [1, 2], pads = [0, 3, 0, 3]> (x)
        }""",
        opset=19,
        x=draw(1, 2, 2, 1),
    )


def test_wrapping_what_is_left() -> None:
    """A negative entry cuts off first; what is left wraps around."""
    check(
        """(float[2,5] x) => (float[2,6] y) <int64[4] pads = {0, -1, 0, 2}> { y = Pad <mode = "wrap"> (x, pads) }""",
        opset=19,
        x=draw(2, 5),
    )


def test_products_of_integers_as_real_numbers() -> None:
    """Sums that cancel were rounded on the way; integers are exact."""
    check(
        """(int8[1,2] a) => (float[1,1] y)
        <float s = {0.013}, int8 z = {0}, int8[2,1] b = {127, -126}, float t = {0.007}, int32[1] c = {-120}> {
            p = com.microsoft.QGemm (a, s, z, b, t, z, c)  y = Reciprocal (p)
        }""",
        a=np.array([[121, 121]], np.int8),
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


@pytest.mark.parametrize("mode", ["floor", "ceil", "round_prefer_floor"])
def test_the_nearest_pixel_between_aligned_corners(mode: str) -> None:
    """The step was rounded before it was multiplied: the last pixel came out as 6.9999995."""
    check(
        f"""(float[1,2,8,5] x) => (float[1,2,24,5] y) <float[4] s = {{1, 1, 3, 1}}> {{
            y = Resize <coordinate_transformation_mode = "align_corners", mode = "nearest", nearest_mode = "{mode}"> (x, "", s)
        }}""",
        opset=13,
        x=draw(1, 2, 8, 5),
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
