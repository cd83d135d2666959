"""Primitives that are refused: the reason why, and what a network can do instead."""

from __future__ import annotations

from collections.abc import Callable

NO_COMPLEX = (
    "it computes complex numbers, which models of MindSpore Lite do not hold",
    "Compute with the real and the imaginary part as two tensors",
)

_RANDOM = (
    "it draws random numbers, which nobody can draw again elsewhere",
    "Draw them outside of the model, and give them to construct as an input",
)
_CANDIDATES = (
    "it draws candidates for a loss of training",
    "Return the network's result, and compute the loss outside of the model",
)
_TRAINING = (
    "it belongs to training",
    "Export the network without loss and optimizer; to train on the device, convert a training step with --trainModel",
)
_DECOMPOSITION = (
    "it decomposes a matrix by a loop whose rounds depend on the numbers",
    "Decompose it before the export where it is a constant, or outside of the model",
)
_SPECIAL = (
    "no operator computes this function, and no short formula comes within 1e-4 of it",
    "Compute it outside of the model, or write a polynomial for the range that the network needs",
)
_BITS = ("it works on the bits of numbers", "Use mint.bitwise_and, mint.bitwise_or, or arithmetic of integers")
_DIVISORS = (
    "it divides as often as the numbers ask for",
    "Compute it before the export where the numbers are constants, or outside of the model",
)
_SPARSE = (
    "sparse tensors are no tensors of a model",
    "Use dense ones: ops.dense_to_sparse_coo and its like before the export, and the dense operators in construct",
)
_TRANSFER = ("it moves tensors between devices", "Export the network for one device")
_SPEECH = (
    "it searches for a text, whose length depends on the numbers",
    "Return the scores, and decode them outside of the model",
)
_TEXT = ("it works on texts or tables of them", "Move it out of the model")
_FRACTIONAL = ("its windows are drawn at random", "Use nn.AdaptiveAvgPool2d or nn.AdaptiveMaxPool2d")
_LISTS = (
    "how many elements it finds is known at run time only, and nothing computes it in one pass",
    "Compute it outside of the model",
)

_GROUPS: tuple[tuple[tuple[str, str], str], ...] = (
    (
        NO_COMPLEX,
        "Angle Complex ComplexAbs ConjugateTranspose Imag ImagView Polar RealView FFT FFT2 FFTN FFTOrtho FFTWithSize HFFT HFFT2"
        " HFFTN IFFT IFFT2 IFFTN IHFFT IHFFT2 IHFFTN IRFFT IRFFT2 IRFFTDouble IRFFTN RFFT RFFT2 RFFTN STFT ISTFT"
        " MatrixLogarithm Eig",
    ),
    (
        _RANDOM,
        "Bernoulli BernoulliExt Gamma Igamma_random InplaceBernoulliScalar InplaceBernoulliTensor InplaceExponential"
        " InplaceNormal InplaceRandom InplaceUniform Multinomial MultinomialExt MultinomialWithReplacement NormalFloatFloat"
        " NormalFloatTensor NormalTensorFloat NormalTensorTensor ParameterizedTruncatedNormal Poisson RandExt RandInt RandIntLike"
        " RandLikeExt Randn RandnLike RandomCategorical RandomChoiceWithMask RandomGamma RandomPoisson RandomShuffle RandpermExt"
        " RandpermV2 StandardLaplace TruncatedNormal UniformExt UniformInt SampleDistortedBoundingBoxV2",
    ),
    (_CANDIDATES, "ComputeAccidentalHits LogUniformCandidateSampler UniformCandidateSampler"),
    (
        _TRAINING,
        "AdamWeightDecay AdamW ApplyAdamW CTCLoss CTCLossV2 SGD Adam FusedSparseAdam FusedSparseFtrl FusedSparseLazyAdam"
        " FusedSparseProximalAdagrad ResizeBilinearGrad MultilabelMarginLoss",
    ),
    (
        _DECOMPOSITION,
        "Cholesky Eigh Geqrf LinalgQr Lstsq LstsqV2 LU Lu LuSolve LuUnpack MatrixExp Ormqr Orgqr Qr Svd",
    ),
    (
        _SPECIAL,
        "BesselI0 BesselI0e BesselI1 BesselI1e BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 BesselY1 Betainc"
        " Digamma Erfinv Igamma Igammac InplaceErfinv Lgamma Mvlgamma Polygamma Zeta",
    ),
    (_BITS, "CompareAndBitpack NextAfter PopulationCount ViewDtype"),
    (_DIVISORS, "Gcd Lcm"),
    (
        _SPARSE,
        "CSRSparseMatrixToDense CSRSparseMatrixToSparseTensor DenseToCSRSparseMatrix DenseToDenseSetOperation"
        " DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SparseAdd SparseConcat SparseCross"
        " SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseMatrixAdd SparseMatrixMatMul SparseMatrixNNZ"
        " SparseMatrixSoftmax SparseMatrixSparseMatMul SparseMatrixTranspose SparseReorder SparseSegmentMean"
        " SparseSegmentMeanWithNumSegments SparseSegmentSqrtN SparseSegmentSqrtNWithNumSegments SparseSegmentSumWithNumSegments"
        " SparseSlice SparseSoftmax SparseSparseMaximum SparseSparseMinimum SparseTensorToCSRSparseMatrix Sspaddmm",
    ),
    (_TRANSFER, "CopyToDevice CopyToHost Free InplaceToDevice ToDevice UpdateToDevice UpdateToRemote"),
    (_SPEECH, "CTCGreedyDecoder NoRepeatNGram EditDistance"),
    (_TEXT, "MapCacheIdx MapUniform SubAndFilter SearchCacheIdx"),
    (
        _FRACTIONAL,
        "FractionalAvgPool FractionalMaxPool FractionalMaxPool3DWithFixedKsize FractionalMaxPoolWithFixedKsize",
    ),
    (_LISTS, "ListDiff UniqueWithPad"),
    (
        (
            "it averages the pixels under each pixel of the result with weights of their parts",
            "Use nn.AdaptiveAvgPool2d, or ops.interpolate with 'bilinear'",
        ),
        "ResizeArea",
    ),
    (
        ("its filter widens with the factor", "Use ops.interpolate with 'bilinear' or 'bicubic'"),
        "ScaleAndTranslate",
    ),
    (
        (
            "three diagonals are no tensor of ours",
            "Multiply by slices in construct: upper * x[1:] + main * x + lower * x[:-1]",
        ),
        "TridiagonalMatMul",
    ),
    (
        (
            "its sampled points stand in another order than those of a deformable convolution",
            "Sample with ops.grid_sample in construct",
        ),
        "DeformableOffsets",
    ),
)

REFUSED: dict[str, tuple[str, str]] = {name: why for why, names in _GROUPS for name in sorted(names.split())}
"""Primitive -> reason and remedy."""

_NAMED: tuple[tuple[Callable[[str], bool], tuple[str, str]], ...] = (
    (lambda name: "Grad" in name or "Backward" in name or name.startswith(("Apply", "SparseApply")), _TRAINING),
    (
        lambda name: (
            name.startswith(("AllGather", "AllReduce", "AllToAll", "Broadcast", "DistComm", "InnerComm", "Reduce"))
            or name in ("Send", "Receive", "ReduceScatter", "Barrier")
        ),
        ("it belongs to computation on several devices", "Export the network for one device"),
    ),
)

_UNKNOWN = (
    "the primitive is not known",
    "docs/primitives.md lists those that are: write it in construct by functions that become them",
)


def refusal(name: str) -> tuple[str, str]:
    """Why a primitive without a converter is refused, and what to do instead."""
    if name in REFUSED:
        return REFUSED[name]
    return next((why for fits, why in _NAMED if fits(name)), _UNKNOWN)
