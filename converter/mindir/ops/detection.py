"""Post-processing of object detection."""

from __future__ import annotations

from ._declare import Floats, Longs, Operator, boolean, enum, long, longs, operator, real, reals, text
from .enums import Format


@operator(
    104,
    inputs="boxes scores [max_output_boxes] [iou_threshold] [score_threshold]",
    outputs="indices",
    onnx="NonMaxSuppression",
    tensorflow="NonMaxSuppressionV3",
)
class NonMaxSuppression(Operator):
    """Greedy suppression of overlapping boxes."""

    center_point_box: int = long(0)


@operator(1301, inputs="boxes scores [iou_threshold] [score_threshold]", custom_type="mslite.PaddedNonMaxSuppression")
class PaddedNonMaxSuppression(Operator):
    """NonMaxSuppression with the output [images * classes * min(max_output_boxes, boxes), 3], padded with rows of
    -1."""

    center_point_box: int = long(0)
    max_output_boxes: int = long(1)
    """per image and class"""


@operator(
    46,
    inputs="boxes scores anchors",
    outputs="boxes classes scores count",
    tflite="CUSTOM:TFLite_Detection_PostProcess",
)
class DetectionPostProcess(Operator):
    """Decoding and non-maximum suppression of SSD boxes."""

    format: Format = enum(0, Format.NCHW)
    input_size: int = long(1)
    scale: Floats = reals(2)
    """scales of height, width, x and y"""
    nms_iou_threshold: float = real(3)
    nms_score_threshold: float = real(4)
    max_detections: int = long(5)
    detections_per_class: int = long(6)
    max_classes_per_detection: int = long(7)
    num_classes: int = long(8)
    use_regular_nms: bool = boolean(9)
    out_quantized: bool = boolean(10)


@operator(111, inputs="feature_map [image]", caffe="PriorBox")
class PriorBox(Operator):
    """Anchor boxes of SSD."""

    min_sizes: Longs = longs(0)
    max_sizes: Longs = longs(1)
    aspect_ratios: Floats = reals(2)
    variances: Floats = reals(3)
    image_size_w: int = long(4)
    image_size_h: int = long(5)
    step_w: float = real(6)
    step_h: float = real(7)
    clip: bool = boolean(8)
    flip: bool = boolean(9)
    offset: float = real(10)


@operator(1107, inputs="x rois batch_indices", onnx="RoiAlign", custom_type="mslite.RoiAlign")
class RoiAlign(Operator):
    """Average or maximum of bilinear samples in the bins of regions of NCHW images."""

    mode: str | None = text(0)
    """`avg` (default) or `max`"""
    output_height: int = long(1, 1)
    output_width: int = long(2, 1)
    sampling_ratio: int = long(3)
    """samples per bin and direction; 0: ceil(size of the region / size of the output)"""
    spatial_scale: float = real(4, 1.0)
    half_pixel: bool = boolean(5, True)
    """coordinates are shifted by -0.5 (ONNX `half_pixel`)"""


@operator(1120, inputs="locations scores priors", caffe="DetectionOutput", custom_type="mslite.DetectionOutput")
class DetectionOutput(Operator):
    """Caffe's DetectionOutput: [1, 1, count, 7], rows of image, label, score, x_min, y_min, x_max, y_max, best
    first."""

    num_classes: int = long(0)
    share_location: bool = boolean(1, True)
    background_label: int = long(2)
    code_type: int = long(3, 1)
    """1 corners, 2 center and size, 3 corners by size"""
    variance_encoded_in_target: bool = boolean(4)
    nms_threshold: float = real(5, 0.3)
    nms_top_k: int = long(6, -1)
    """candidates per class; -1: all"""
    nms_eta: float = real(7, 1.0)
    """factor for a threshold above 0.5 after each selected box"""
    keep_top_k: int = long(8, -1)
    """rows per image; -1: all"""
    confidence_threshold: float = real(9)


@operator(
    1300,
    inputs="boxes scores max_output_boxes iou_threshold score_threshold sigma",
    outputs="indices kept_scores",
    custom_type="mslite.SoftNonMaxSuppression",
)
class SoftNonMaxSuppression(Operator):
    """Soft NMS of boxes [n, 4]: selects boxes by score; each multiplies the scores of the others by exp(-overlap^2 / 2
    sigma)."""

    hard_limit: bool = boolean(0)
    """boxes that overlap by iou_threshold or more are removed; always for sigma 0"""
