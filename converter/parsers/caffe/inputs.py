"""Data layers: their top blobs become inputs of the model."""

from __future__ import annotations

from .prototxt import SourceLayer

Declared = tuple[str, tuple[int, ...] | None, str]
"""Name of a blob, its shape or None if the layer does not have it, and the remedy for a missing shape."""

_FILES = ("Data", "ImageData", "WindowData", "HDF5Data", "AnnotatedData", "VideoData", "ImageSegData", "DenseImageData")
_DATA_LAYERS = frozenset(("Input", "MemoryData", *_FILES))


def is_data_layer(layer: SourceLayer) -> bool:
    """Returns whether a layer reads or generates data."""
    if layer.type == "DummyData":
        return any(filler.type != "constant" for filler in layer.parameter("dummy_data").data_filler)
    return layer.type in _DATA_LAYERS or (layer.type == "Python" and not layer.bottoms)


def dummy_shapes(layer: SourceLayer) -> list[tuple[int, ...]]:
    """Returns the shapes of the top blobs of a DummyData layer, or one for all."""
    given = layer.parameter("dummy_data")
    if given.shape:
        return [tuple(shape.dim) for shape in given.shape]
    return list(zip(given.num, given.channels, given.height, given.width, strict=False))


def layer_inputs(layer: SourceLayer) -> list[Declared]:
    """Returns the inputs for the top blobs of a data layer: images first, then labels."""
    shapes: list[tuple[int, ...] | None] = []
    if layer.type in ("Input", "DummyData"):
        given = layer.parameter("input").shape
        shapes = [tuple(shape.dim) for shape in given] if layer.type == "Input" else [*dummy_shapes(layer)]
        if len(shapes) == 1:
            shapes *= len(layer.tops)
    elif layer.type == "MemoryData":
        memory = layer.parameter("memory_data")
        shapes = [(memory.batch_size, memory.channels, memory.height, memory.width), (memory.batch_size,)]
    elif layer.type == "ImageData":
        image = layer.parameter("image_data")
        crop = layer.parameter("transform").crop_size or image.crop_size
        sizes = (crop, crop) if crop else (image.new_height, image.new_width)
        shapes = [(image.batch_size, 3 if image.is_color else 1, *sizes) if all(sizes) else None, (image.batch_size,)]
    shapes += [None] * (len(layer.tops) - len(shapes))
    return [
        (top, shape, f"Set --inputShape={top}:1,3,224,224 (with its sizes), or use the prototxt for deployment")
        for top, shape in zip(layer.tops, shapes, strict=False)
    ]
