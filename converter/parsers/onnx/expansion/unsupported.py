"""Operators that are known but unsupported, each with a remedy."""

from __future__ import annotations

from .body import Body
from .registry import expands

_GENERATION = "Convert only the decoder and do the search in the program"
_PACKING = "Export the model with padded batches"
_TEXT = "Move text processing out of the model"
_MASK = "Export the model for inference (eval mode)"

_REFUSED: dict[str, tuple[str, str]] = {
    "BeamSearch": ("a complete search over a language model", _GENERATION),
    "GreedySearch": ("a complete search over a language model", _GENERATION),
    "Sampling": ("a complete search over a language model", _GENERATION),
    "WhisperBeamSearch": ("a complete search over a language model", _GENERATION),
    "NGramRepeatBlock": ("a step of text generation", _GENERATION),
    "BifurcationDetector": ("a step of text generation", _GENERATION),
    "PackedAttention": ("attention over packed sequences", _PACKING),
    "PackedMultiHeadAttention": ("attention over packed sequences", _PACKING),
    "RemovePadding": ("packing of sequences", _PACKING),
    "RestorePadding": ("packing of sequences", _PACKING),
    "PagedAttention": ("attention over a paged cache", "Export GroupQueryAttention instead"),
    "SparseAttention": ("block-sparse attention", "Export GroupQueryAttention instead"),
    "LongformerAttention": ("sliding-window attention with global tokens", "Export the model without fusion"),
    "DecoderAttention": ("attention over a cache with a special layout", "Export MultiHeadAttention instead"),
    "DecoderMaskedMultiHeadAttention": ("attention over a shared buffer", "Export MultiHeadAttention instead"),
    "DecoderMaskedSelfAttention": ("attention over a shared buffer", "Export Attention instead"),
    "GatedRelativePositionBias": ("a gated position bias", "Export the model without fusion"),
    "BiasSoftmax": ("a fused softmax", "Save the model with fewer graph optimizations"),
    "BitmaskDropout": ("dropout with a bit mask", _MASK),
    "BitmaskBiasDropout": ("dropout with a bit mask", _MASK),
    "MoE": ("a mixture of experts", "Export the experts as plain matmuls"),
    "QMoE": ("a quantized mixture of experts", "Export the experts as plain matmuls"),
    "DynamicTimeWarping": ("dynamic time warping", "Move it out of the model"),
    "UnfoldTensor": ("sliding windows of a tensor", "Export them as Gather"),
    "CropAndResize": ("resizing of regions", "Export RoiAlign instead"),
    "MaxpoolWithMask": ("pooling with a mask", "Export MaxPool instead"),
    "NhwcFusedConv": ("a convolution in the layout of one device", "Save the model for the CPU"),
    "SparseToDenseMatMul": ("a matmul with a sparse tensor", "Export dense weights"),
    "MurmurHash3": ("hashing", "Hash outside of the model"),
    "Tokenizer": ("text processing", _TEXT),
    "WordConvEmbedding": ("text processing", _TEXT),
    "EPContext": ("a graph compiled for one device", "Save the model without compiled contexts"),
    "ShrunkenGather": ("a gradient operator", "Export the model for inference"),
}


def _refuse(body: Body) -> None:
    what, remedy = _REFUSED[body.node.op_type]
    raise body.block(f"{what} is not supported", remedy)


expands(*_REFUSED)(_refuse)


def _refuse_training(body: Body) -> None:
    raise body.block("a training operator is not supported", "Export the model for inference")


expands("Adagrad", "Adam", "Gradient", "Momentum", domain="ai.onnx.preview.training")(_refuse_training)

_SCIKIT = "Export the model with a neural network library, or run this part outside of the model"

_SCIKIT_REFUSED = (
    "CastMap",
    "CategoryMapper",
    "DictVectorizer",
    "SVMClassifier",
    "SVMRegressor",
    "TreeEnsemble",
    "TreeEnsembleClassifier",
    "TreeEnsembleRegressor",
)


def _refuse_scikit(body: Body) -> None:
    raise body.block("classical machine learning is not supported", _SCIKIT)


expands(*_SCIKIT_REFUSED, domain="ai.onnx.ml")(_refuse_scikit)


@expands("ZipMap", domain="ai.onnx.ml")
def _refuse_zip_map(body: Body) -> None:
    reason = "an output of dictionaries from classes to probabilities is not supported"
    raise body.block(reason, "Export with options={'zipmap': False}: the probabilities are then a tensor")
