"""Unsupported primitives, with the reason and the remedy for each."""

from __future__ import annotations

from collections.abc import Callable

NO_COMPLEX = (
    "it computes complex numbers, which MindSpore Lite does not support",
    "Compute with the real and the imaginary part as two tensors",
)

_RANDOM = (
    "mslite has no operator that samples from this distribution",
    "Generate the random values outside of the model, and pass them to construct as an input",
)
_CANDIDATES = (
    "it samples candidates for a training loss",
    "Return the network's result, and compute the loss outside of the model",
)
_TRAINING = (
    "it is part of training",
    "Export the network without loss and optimizer; to train on the device, convert a training step with --trainModel",
)
_DECOMPOSITION = (
    "mslite has no operator for matrix decompositions",
    "Decompose a constant matrix before the export, or compute the decomposition outside of the model",
)
_SPECIAL = (
    "mslite has no operator for this function",
    "Compute it outside of the model, or approximate it by a polynomial over the range that the network needs",
)
_BITS = ("it works on the bits of values", "Use mint.bitwise_and, mint.bitwise_or, or integer arithmetic")
_SPARSE = (
    "sparse tensors are not supported",
    "Use dense tensors: convert sparse ones before the export, and use the dense operators in construct",
)
_TRANSFER = ("it moves tensors between devices", "Export the network for one device")
_SPEECH = (
    "it decodes a text, whose length depends on the values",
    "Return the scores, and decode them outside of the model",
)
_CACHE = ("it belongs to the embedding cache of training", "Gather from the whole table with ops.gather")
_NGRAMS = ("mslite has no operator that finds repeated n-grams", "Find them between the runs of the model")
_FRACTIONAL = ("its windows are random", "Use nn.AdaptiveAvgPool2d or nn.AdaptiveMaxPool2d")
_OPEN = (
    "MindSpore stores Python's computation of shapes in the file if sizes or the number of dimensions are dynamic",
    "Export with fixed shapes, or use ops.max_pool2d(x, kernel, stride, padding) instead of a padded nn.MaxPool2d, which makes the number"
    " of dimensions dynamic, and ops.gather and ops.gather_nd instead of x[:, i] and x[i, j]",
)
_GROUPS: tuple[tuple[tuple[str, str], str], ...] = (
    (
        NO_COMPLEX,
        "Angle Complex ComplexAbs ConjugateTranspose Imag ImagView Polar RealView FFT FFT2 FFTN FFTOrtho FFTWithSize HFFT HFFT2"
        " HFFTN IFFT IFFT2 IFFTN IHFFT IHFFT2 IHFFTN IRFFT IRFFT2 IRFFTDouble IRFFTN RFFT RFFT2 RFFTN STFT"
        " MatrixLogarithm Eig",
    ),
    (
        _RANDOM,
        "Cauchy Gamma InplaceBernoulliScalar InplaceBernoulliTensor InplaceExponential"
        " InplaceNormal InplaceRandom InplaceUniform Multinomial MultinomialExt MultinomialWithReplacement "
        " ParameterizedTruncatedNormal Poisson "
        " RandomCategorical RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle RandpermExt"
        " RandpermV2 LogNormalReverse StandardLaplace TruncatedNormal SampleDistortedBoundingBoxV2",
    ),
    (_CANDIDATES, "ComputeAccidentalHits LogUniformCandidateSampler UniformCandidateSampler"),
    (
        _TRAINING,
        "AdamWeightDecay AdamW ApplyAdamW CTCLoss CTCLossV2 SGD Adam FusedSparseAdam FusedSparseFtrl FusedSparseLazyAdam"
        " FusedSparseProximalAdagrad ResizeBilinearGrad MultilabelMarginLoss",
    ),
    (
        _DECOMPOSITION,
        "Cholesky Eigh Geqrf LinalgQr Lstsq LstsqV2 Lu LuSolve LuUnpack MatrixExp Ormqr Orgqr Qr Svd",
    ),
    (
        _SPECIAL,
        "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc"
        " Igamma Igammac Mvlgamma Polygamma Zeta",
    ),
    (_BITS, "CompareAndBitpack NextAfter PopulationCount ViewDtype"),
    (
        _SPARSE,
        "CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix DenseToDenseSetOperation"
        " DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SparseAdd SparseConcat"
        " SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseMatrixAdd SparseMatrixMatMul SparseMatrixNNZ"
        " SparseMatrixSoftmax SparseMatrixSparseMatMul SparseMatrixTranspose SparseReorder SparseSegmentMean"
        " SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments"
        " SparseSlice SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseTensorToCSRSparseMatrix Sspaddmm",
    ),
    (_TRANSFER, "CopyToDevice CopyToHost Free InplaceToDevice ToDevice UpdateToDevice UpdateToRemote"),
    (_SPEECH, "CTCGreedyDecoder"),
    (_CACHE, "MapCacheIdx MapUniform SubAndFilter"),
    (_NGRAMS, "NoRepeatNGram"),
    (
        _OPEN,
        "EllipsisToSlice GetSqueezeSliceShape GetTupleIndexInfo JoinedStr NormalizeDimIndex NormalizeSlice"
        " NormalizeTupleIndex RemoveExpandedDims SequenceAdd SequenceSlice SliceToIndices raise sequence_len tuple_equal",
    ),
    (
        _FRACTIONAL,
        "FractionalAvgPool FractionalMaxPool FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize",
    ),
)

UNSUPPORTED_PRIMITIVES: dict[str, tuple[str, str]] = {
    name: why for why, names in _GROUPS for name in sorted(names.split())
}
"""Name of an unsupported primitive -> reason, remedy."""

_NAMED: tuple[tuple[Callable[[str], bool], tuple[str, str]], ...] = (
    (
        lambda name: (
            any(part in name for part in ("Grad", "Backward", "Backprop")) or name.startswith(("Apply", "SparseApply"))
        ),
        _TRAINING,
    ),
    (
        lambda name: (
            name.startswith(("AllGather", "AllReduce", "AllToAll", "Broadcast", "DistComm", "InnerComm", "Reduce"))
            or name in ("Send", "Receive", "ReduceScatter", "Barrier")
        ),
        ("it is for computation on several devices", "Export the network for one device"),
    ),
)

_UNKNOWN = (
    "the primitive is unknown",
    "docs/primitives.md lists the supported primitives: use functions in construct that become those",
)


def refusal(name: str) -> tuple[str, str]:
    """Returns the reason why a primitive without a converter is unsupported, and the remedy."""
    if name in UNSUPPORTED_PRIMITIVES:
        return UNSUPPORTED_PRIMITIVES[name]
    return next((why for fits, why in _NAMED if fits(name)), _UNKNOWN)
