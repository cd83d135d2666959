"""Formulas that several expansions use. `like`: tensors of the type of x, for an x of unknown type."""

from __future__ import annotations

from math import pi, sqrt

from .body import Body


def gelu(body: Body, x: str, *like: str) -> str:
    """Returns x * 0.5 * (1 + erf(x / sqrt 2))."""
    if body.version >= 20:
        return body.op("Gelu", x)
    like = like or (x,)
    error = body.op("Erf", body.op("Div", x, body.number(sqrt(2), *like)))
    halved = body.op("Mul", x, body.op("Add", error, body.number(1.0, *like)))
    return body.op("Mul", halved, body.number(0.5, *like))


def gelu_tanh(body: Body, x: str, *like: str) -> str:
    """Returns x * 0.5 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)))."""
    if body.version >= 20:
        return body.op("Gelu", x, approximate="tanh")
    like = like or (x,)
    cube = body.op("Mul", body.op("Mul", x, x), x)
    inner = body.op("Add", x, body.op("Mul", cube, body.number(0.044715, *like)))
    curve = body.op("Tanh", body.op("Mul", inner, body.number(sqrt(2 / pi), *like)))
    halved = body.op("Mul", x, body.op("Add", curve, body.number(1.0, *like)))
    return body.op("Mul", halved, body.number(0.5, *like))


def swish(body: Body, x: str, alpha: float, *like: str) -> str:
    """Returns x * sigmoid(alpha * x)."""
    scaled = x if alpha == 1.0 else body.op("Mul", x, body.number(alpha, *(like or (x,))))
    return body.op("Mul", x, body.op("Sigmoid", scaled))


def scaled_curve(body: Body, x: str, curve: str, alpha: float, beta: float, *like: str) -> str:
    """Returns alpha * curve(beta * x)."""
    like = like or (x,)
    inner = body.op("Mul", x, body.number(beta, *like))
    return body.op("Mul", body.op(curve, inner), body.number(alpha, *like))


def activation(body: Body, x: str, name: str, parameters: dict[int, float], attribute: str = "activation") -> str:
    """Applies a fused activation. Missing parameters have the defaults of the standard operator."""

    def parameter(index: int, default: float) -> float:
        return parameters.get(index, default)

    if name in ("", "None", "none"):
        return x
    if name in ("Relu", "Tanh", "Sigmoid", "Softplus", "Softsign", "HardSwish"):
        return body.op(name, x)
    if name in ("LeakyRelu", "Elu", "ThresholdedRelu"):
        return body.op(name, x, alpha=parameter(0, 0.01 if name == "LeakyRelu" else 1.0))
    if name == "HardSigmoid":
        return body.op(name, x, alpha=parameter(0, 0.2), beta=parameter(1, 0.5))
    if name == "Clip":
        return body.clip(x, parameter(0, -3.4028234e38), parameter(1, 3.4028234e38))
    if name == "Gelu":
        return gelu(body, x)
    if name in ("ScaledTanh", "ParametricSoftplus"):
        curve = "Tanh" if name == "ScaledTanh" else "Softplus"
        return scaled_curve(body, x, curve, parameter(0, 1.0), parameter(1, 1.0))
    raise body.block(f"'{name}' is not supported", "Export without fused activations", attribute)


def layer_norm(body: Body, x: str, epsilon: float, axes: tuple[int, ...], *like: str) -> tuple[str, str, str]:
    """Returns (x - mean) / sqrt(variance + epsilon) over the last axes, the mean, and the square root."""
    mean = body.mean(x, *axes)
    centered = body.op("Sub", x, mean)
    variance = body.mean(body.op("Mul", centered, centered), *axes)
    root = body.op("Sqrt", body.op("Add", variance, body.number(epsilon, *like)))
    return body.op("Div", centered, root), mean, root


def rms_norm(body: Body, x: str, epsilon: float, axes: tuple[int, ...], *like: str) -> tuple[str, str]:
    """Returns x / sqrt(mean(x^2) + epsilon) over the last axes, and the square root."""
    squares = body.mean(body.op("Mul", x, x), *axes)
    root = body.op("Sqrt", body.op("Add", squares, body.number(epsilon, *like)))
    return body.op("Div", x, root), root
