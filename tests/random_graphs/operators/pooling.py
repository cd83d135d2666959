"""Window pooling and global pooling."""

from __future__ import annotations

from ..builder import Builder
from ..evaluate import Rejected
from .layers import image, pooling_window
from .registry import operator


@operator("MaxPool", "AveragePool", "LpPool")
def pool(g: Builder, name: str) -> None:
    dtypes = ("float32", "float32", "int8", "uint8") if name == "MaxPool" else ("float32",)
    x = image(g, dtypes=dtypes)
    attributes = pooling_window(g, x, dilated=name == "MaxPool" or g.opset >= (19 if name == "AveragePool" else 18))
    if name != "LpPool" or g.opset >= 18:
        attributes["ceil_mode"] = g.choose((None, None, 1))
    if name == "AveragePool":
        attributes["count_include_pad"] = g.choose((None, 0, 1))
    if name == "LpPool":
        attributes["p"] = g.choose((None, 1, 2, 3))
    outputs = 1
    if name == "MaxPool" and g.maybe(4):
        outputs = 2
        attributes["storage_order"] = g.choose((None, 1))
    g.nodes_results(name, x, outputs=outputs, **attributes)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(g: Builder, name: str) -> None:
    x = image(g)
    g.node(name, x, p=g.choose((None, 1, 3)) if name == "GlobalLpPool" else None)


@operator("MaxUnpool")
def unpool(g: Builder, name: str) -> None:
    x = image(g, 2, 2, 2)
    if not x.fixed_shape or any(size % 2 for size in x.shape[2:]):
        # With output_shape, indices refer to the shape of the pooled tensor in the standard, and to output_shape in onnxruntime.
        raise Rejected("open or odd sizes")
    pooled, places = g.nodes_results("MaxPool", x, outputs=2, kernel_shape=[2, 2], strides=[2, 2])
    shape = g.constant(x.shape, "int64") if g.maybe() else None
    g.node(name, pooled, places, shape, kernel_shape=[2, 2], strides=[2, 2])
