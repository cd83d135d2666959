"""Settings of the quantizer: the quantization sections of `--configFile`, typed and checked."""

from mslite.quantizer.settings.reading import Sections, quantizer_settings, read_section, section_of
from mslite.quantizer.settings.sections import (
    SECTIONS,
    AccuracyParam,
    ActivationMethod,
    CommonQuantParam,
    DataPreprocessParam,
    DynamicQuantParam,
    FullQuantParam,
    InputType,
    Method,
    MethodsParam,
    MixedBitWeightQuantParam,
    PruneParam,
    QuantizerSettings,
    TargetDevice,
    TransformQuantParam,
    WeightQuantParam,
)

__all__ = [
    "SECTIONS",
    "AccuracyParam",
    "ActivationMethod",
    "CommonQuantParam",
    "DataPreprocessParam",
    "DynamicQuantParam",
    "FullQuantParam",
    "InputType",
    "Method",
    "MethodsParam",
    "MixedBitWeightQuantParam",
    "PruneParam",
    "QuantizerSettings",
    "Sections",
    "TargetDevice",
    "TransformQuantParam",
    "WeightQuantParam",
    "quantizer_settings",
    "read_section",
    "section_of",
]
