"""Parameter messages of layers that forks of Caffe added.

Forks use different field numbers, and prototxt files do not contain any, so the numbers here are mslite's. Only blobs
are read from weight files.
"""

from __future__ import annotations

from mslite.converter.parsers.protobuf import Enums, Messages

FORK_MESSAGES: Messages = {
    "BNParameter": {
        "slope_filler": (1, "FillerParameter"),
        "bias_filler": (2, "FillerParameter"),
        "momentum": (3, "float = 0.9"),
        "eps": (4, "float = 1e-5"),
        "frozen": (5, "bool"),
        "engine": (6, "Engine"),
        "scale_filler": (7, "FillerParameter"),
        "shift_filler": (8, "FillerParameter"),
        "bn_mode": (9, "BNParameter.BNMode"),
    },
    "InterpParameter": {
        "height": (1, "int32"),
        "width": (2, "int32"),
        "zoom_factor": (3, "int32 = 1"),
        "shrink_factor": (4, "int32 = 1"),
        "pad_beg": (5, "int32"),
        "pad_end": (6, "int32"),
    },
    "NormalizeParameter": {
        "across_spatial": (1, "bool = true"),
        "scale_filler": (2, "FillerParameter"),
        "channel_shared": (3, "bool = true"),
        "eps": (4, "float = 1e-10"),
    },
    "PermuteParameter": {"order": (1, "repeated uint32")},
    "PriorBoxParameter": {
        "min_size": (1, "repeated float"),
        "max_size": (2, "repeated float"),
        "aspect_ratio": (3, "repeated float"),
        "flip": (4, "bool = true"),
        "clip": (5, "bool"),
        "variance": (6, "repeated float"),
        "img_size": (7, "uint32"),
        "img_h": (8, "uint32"),
        "img_w": (9, "uint32"),
        "step": (10, "float"),
        "step_h": (11, "float"),
        "step_w": (12, "float"),
        "offset": (13, "float = 0.5"),
    },
    "NonMaximumSuppressionParameter": {
        "nms_threshold": (1, "float = 0.3"),
        "top_k": (2, "int32"),
        "eta": (3, "float = 1"),
    },
    "SaveOutputParameter": {
        "output_directory": (1, "string"),
        "output_name_prefix": (2, "string"),
        "output_format": (3, "string"),
        "label_map_file": (4, "string"),
        "name_size_file": (5, "string"),
        "num_test_image": (6, "uint32"),
    },
    "DetectionOutputParameter": {
        "num_classes": (1, "uint32"),
        "share_location": (2, "bool = true"),
        "background_label_id": (3, "int32 = 0"),
        "nms_param": (4, "NonMaximumSuppressionParameter"),
        "save_output_param": (5, "SaveOutputParameter"),
        "code_type": (6, "DetectionOutputParameter.CodeType = CORNER"),
        "variance_encoded_in_target": (8, "bool"),
        "keep_top_k": (7, "int32 = -1"),
        "confidence_threshold": (9, "float"),
        "visualize": (10, "bool"),
        "visualize_threshold": (11, "float"),
        "save_file": (12, "string"),
    },
    "ProposalParameter": {
        "feat_stride": (1, "uint32 = 16"),
        "base_size": (2, "uint32 = 16"),
        "min_size": (3, "uint32 = 16"),
        "ratio": (4, "repeated float"),
        "scale": (5, "repeated float"),
        "pre_nms_topn": (6, "uint32 = 6000"),
        "post_nms_topn": (7, "uint32 = 300"),
        "nms_thresh": (8, "float = 0.7"),
    },
    "PSROIPoolingParameter": {"spatial_scale": (1, "float"), "output_dim": (2, "int32"), "group_size": (3, "int32")},
    "ReorgParameter": {"stride": (1, "uint32 = 1"), "reverse": (2, "bool")},
    "ROIPoolingParameter": {"pooled_h": (1, "uint32"), "pooled_w": (2, "uint32"), "spatial_scale": (3, "float = 1")},
    "ShuffleChannelParameter": {"group": (1, "uint32 = 1")},
    "UpsampleParameter": {
        "scale": (1, "uint32 = 2"),
        "scale_h": (2, "uint32"),
        "scale_w": (3, "uint32"),
        "pad_out_h": (4, "bool"),
        "pad_out_w": (5, "bool"),
        "upsample_h": (6, "uint32"),
        "upsample_w": (7, "uint32"),
    },
}

FORK_ENUMS: Enums = {
    "BNParameter.BNMode": {"LEARN": 0, "INFERENCE": 1},
    "DetectionOutputParameter.CodeType": {"CORNER": 1, "CENTER_SIZE": 2, "CORNER_SIZE": 3},
}

FORK_FIELDS = {
    "bn_param": "BNParameter",
    "detection_output_param": "DetectionOutputParameter",
    "interp_param": "InterpParameter",
    "norm_param": "NormalizeParameter",
    "permute_param": "PermuteParameter",
    "prior_box_param": "PriorBoxParameter",
    "proposal_param": "ProposalParameter",
    "psroi_pooling_param": "PSROIPoolingParameter",
    "reorg_param": "ReorgParameter",
    "roi_pooling_param": "ROIPoolingParameter",
    "shuffle_channel_param": "ShuffleChannelParameter",
    "upsample_param": "UpsampleParameter",
}
"""Field of LayerParameter -> message name."""
