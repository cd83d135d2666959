"""Operators that random graphs do not contain, and the reasons."""

from __future__ import annotations

_REFUSED = "the converter refuses it and says what to do instead; tests/parsers/onnx/test_refusals.py"
_TOO_NEW = "onnxruntime knows operator sets up to 26"
_NO_REFERENCE = "onnxruntime has no kernel for the CPU"

BY_REASON = {
    "gives other numbers in every run; tests/foreign/test_distributions.py compares distributions": (
        "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike com.microsoft.SampleOp"
    ),
    "a part of every graph: the builder makes a quarter of its constants so": "Constant",
    "text and files of images are no tensors of numbers": (
        "ImageDecoder RegexFullMatch StringConcat StringNormalizer StringSplit com.microsoft.Tokenizer"
    ),
    "tables of numbers that have to fit each other; tests/parsers/onnx/test_ngrams.py, test_scikit.py": (
        "TfIdfVectorizer ai.onnx.ml.LabelEncoder"
    ),
    "ONNX's checker knows no operator of that name; tests/parsers/onnx/test_unofficial.py": (
        "Affine DynamicSlice GeLUFunction Lrn ParametricSoftplus ScaledTanh SimplifiedLayerNormalization Splice"
        " logical_not"
    ),
    "onnxruntime does not know its domain; tests/parsers/onnx/test_qonnx.py": (
        "onnx.brevitas.BipolarQuant onnx.brevitas.FloatQuant onnx.brevitas.IntQuant onnx.brevitas.Quant"
        " onnx.brevitas.Trunc qonnx.custom_op.general.BipolarQuant qonnx.custom_op.general.FloatQuant"
        " qonnx.custom_op.general.IntQuant qonnx.custom_op.general.Quant qonnx.custom_op.general.Trunc"
    ),
    _REFUSED: (
        "SequenceMap com.microsoft.BeamSearch com.microsoft.BiasSoftmax com.microsoft.BifurcationDetector"
        " com.microsoft.BitmaskBiasDropout com.microsoft.BitmaskDropout com.microsoft.CropAndResize"
        " com.microsoft.DecoderAttention com.microsoft.DecoderMaskedMultiHeadAttention"
        " com.microsoft.DecoderMaskedSelfAttention com.microsoft.DynamicTimeWarping com.microsoft.EPContext"
        " com.microsoft.GatedRelativePositionBias com.microsoft.GreedySearch com.microsoft.LongformerAttention"
        " com.microsoft.MaxpoolWithMask com.microsoft.MoE com.microsoft.MurmurHash3 com.microsoft.NGramRepeatBlock"
        " com.microsoft.NhwcFusedConv com.microsoft.PackedAttention com.microsoft.PackedMultiHeadAttention"
        " com.microsoft.PagedAttention com.microsoft.QMoE com.microsoft.RemovePadding com.microsoft.RestorePadding"
        " com.microsoft.Sampling com.microsoft.ShrunkenGather com.microsoft.SparseAttention"
        " com.microsoft.SparseToDenseMatMul com.microsoft.UnfoldTensor com.microsoft.WhisperBeamSearch"
        " com.microsoft.WordConvEmbedding ai.onnx.ml.CastMap ai.onnx.ml.CategoryMapper ai.onnx.ml.DictVectorizer"
        " ai.onnx.ml.SVMClassifier ai.onnx.ml.SVMRegressor"
        " ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier ai.onnx.ml.TreeEnsembleRegressor"
        " ai.onnx.ml.ZipMap ai.onnx.preview.training.Adagrad ai.onnx.preview.training.Adam"
        " ai.onnx.preview.training.Gradient ai.onnx.preview.training.Momentum"
    ),
    "packed by onnxruntime in an order of its own; tests/parsers/onnx/test_microsoft.py": "com.microsoft.MatMulFpQ4",
    _TOO_NEW: "CausalConvWithState LinearAttention SwiGLU",
    _NO_REFERENCE: (
        "com.microsoft.BiasAdd com.microsoft.BiasDropout com.microsoft.BiasSplitGelu com.microsoft.ComplexMul"
        " com.microsoft.ComplexMulConj com.microsoft.ConvInteger com.microsoft.DynamicQuantizeLinear"
        " com.microsoft.FusedMatMulActivation com.microsoft.GemmFastGelu com.microsoft.GroupNorm com.microsoft.Irfft"
        " com.microsoft.MatMulInteger com.microsoft.NhwcConv com.microsoft.QLinearMatMul"
        " com.microsoft.QLinearReduceMean com.microsoft.QOrderedAttention com.microsoft.QOrderedGelu"
        " com.microsoft.QOrderedLayerNormalization com.microsoft.QOrderedMatMul com.microsoft.RelativePositionBias"
        " com.microsoft.Rfft com.microsoft.SimplifiedLayerNormalization com.microsoft.SkipGroupNorm"
    ),
}
