"""What random graphs brought to light of numbers, one small graph each."""

from __future__ import annotations

import numpy as np
import pytest

from .found import check, draw


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


def test_a_dequantized_number_stays_a_number() -> None:
    """It became a list of one."""
    check(
        """(float x) => (float y, float z) <float c = {0.64}, int8 i = {5}, float s = {0.01}, int8 p = {-3}> {
            q = QuantizeLinear(c, s, p)  y = DequantizeLinear(q, s, p)  d = DequantizeLinear(i, s, p)  z = Add(x, d)
        }""",
        x=draw(),
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


def test_a_float16_input_that_is_returned_keeps_its_name() -> None:
    """The output was called `x_cast`."""
    check("(float16[2] x) => (int64 y, float16[2] x) { y = Size(x) }", x=draw(2, dtype="float16"))


def test_a_definition_from_before_the_means_axes_were_an_input() -> None:
    check(
        """(float[2,3] x) => (float l) <int64[2] t = {1, 2}> { l = NegativeLogLikelihoodLoss (x, t) }""",
        x=draw(2, 3),
    )


def test_a_quantized_weight_beside_integers_that_are_computed_on_in_wider_ones() -> None:
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


def test_interpolated_integers_are_cut_off() -> None:
    """Behind a quantized product they were rounded, as numbers that a QuantizeLinear stores."""
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


def test_quantized_moves_of_one_name() -> None:
    """Their operands on float values were called by it."""
    check(
        """(float[1,3] x) => (uint8[1,3] y) <float s = {0.02}, uint8 z = {128}> {
            q = QuantizeLinear (x, s, z)  [Flatten] f = Flatten (q)  [Flatten] y = Flatten (f)
        }""",
        opset=19,
        x=draw(1, 3),
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
def test_normalizing_nothing(operator: str) -> None:
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
