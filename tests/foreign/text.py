"""Strings and hashing, computed with LiteRT's and onnxruntime's operators and Python's string functions."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from mslite.converter.mindir.ops import OPERATORS, Operator
from mslite.converter.mindir.ops.enums import LshProjectionType
from mslite.converter.mindir.reference.text import fingerprint, packed, unpacked
from tests.kernels.random_calls import Call, Draw, ints, normal, typed
from tests.parsers.tflite.tflite_build import Tensor, single
from tests.parsers.tflite.tflite_run import run_source

from .graph import Array, Graph
from .litert import run_litert
from .registry import compared


@st.composite
def tables(draw: Draw, name: str) -> Call:
    keys = sorted(draw(st.lists(st.integers(-20, 20), unique=True, min_size=1, max_size=6)))
    ids = ints(*(draw(st.sampled_from((*keys, 3, -7))) for _ in range(draw(st.integers(1, 6)))))
    return Call(OPERATORS[name](), (ids, ints(*keys), normal(draw, (len(keys), draw(st.integers(1, 4))))))


@compared("HashtableLookup", strategy=tables)
def hashtable_lookup(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    return run_litert("HASHTABLE_LOOKUP", inputs, ("float32", "uint8"), constant=(1, 2))


@st.composite
def hashed(draw: Draw, name: str) -> Call:
    rows, bits, count = (draw(st.integers(1, high)) for high in (3, 6, 4))
    kind = draw(st.sampled_from((LshProjectionType.SPARSE, LshProjectionType.DENSE)))
    items = typed(draw, (count, draw(st.integers(1, 20))), ("int32",))
    operands = [normal(draw, (rows, bits)), items]
    if draw(st.booleans()):
        operands.append(normal(draw, (count,)))
    return Call(OPERATORS[name](type=kind), tuple(operands))


@compared("LshProjection", strategy=hashed)
def lsh_projection(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    number = 1 if op.type is LshProjectionType.SPARSE else 2
    return run_litert("LSH_PROJECTION", inputs, ("int32",), options=("LSHProjectionOptions", {0: ("byte", number)}))


_WORDS = (
    "the",
    "I'm",
    "we'll",
    "isn't",
    "don 't",
    "a.b*c",
    "what?!",
    "No!!!",
    "they've",
    "'tis",
    ";",
    "you're",
    "OK,",
    "she 'll",
)
_TEXTS = st.lists(st.sampled_from(_WORDS), max_size=7).map(" ".join) | st.text("abnt'lrevds.?!,; \t-&I", max_size=40)


@st.composite
def phrases(draw: Draw, name: str) -> Call:
    text = draw(st.lists(st.sampled_from(("a", "bc", "def", "g")), max_size=7).map(" ".join))
    op = OPERATORS[name](
        include_all_grams=draw(st.booleans()), max_skip_size=draw(st.integers(0, 3)), ngram_size=draw(st.integers(1, 4))
    )
    return Call(op, (packed([text.encode()]),))


@compared("SkipGram", strategy=phrases)
def skip_gram(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    options = {0: ("int", op.ngram_size), 1: ("int", op.max_skip_size), 2: ("bool", op.include_all_grams)}
    model = single(
        "SKIP_GRAM", [Tensor("x", (1,), "string")], (), ("string",), options=options, options_type="SkipGramOptions"
    )
    (found,) = run_source(model, [np.array(unpacked(inputs[0]), object)])
    return [packed(found.tolist())]


@st.composite
def sentences(draw: Draw, name: str) -> Call:
    texts = [draw(_TEXTS).encode() for _ in range(draw(st.integers(1, 3)))]
    if name == "CustomExtractFeatures":
        texts += draw(st.sampled_from(([], [b"<S>"], [b"<E>", b"<S> <E>"])))
    return Call(OPERATORS[name](), (packed(texts),))


_MARKS = "?!"
_ENDINGS = ("'t", "'nt", "n't", "'d", "'ll", "'s", "'m", "'ve", "'re")
_CONTRACTIONS = {"'ll": " will", "'nt": " not", "'re": " are", "'ve": " have", "n't": " not"}


def _joined_endings(text: str) -> str:
    """`is 'nt ` becomes `is'nt `: removes the space before an ending that is followed by a space, a punctuation mark, or the end."""
    for at_end in (False, True):
        out, at = "", 0
        while at < len(text):
            endings = [each for each in _ENDINGS if text[at].isspace() and text.startswith(each, at + 1)]
            behind = [text[at + 1 + len(each) : at + 2 + len(each)] for each in endings]
            fits = [not rest if at_end else bool(rest) and (rest.isspace() or rest in ",;:/") for rest in behind]
            if any(fits):
                ending = endings[fits.index(True)]
                out += ending + behind[fits.index(True)]
                at += 1 + len(ending) + len(behind[fits.index(True)])
            else:
                out += text[at]
                at += 1
        text = out
    return text


def _expanded(text: str, ending: str, words: str) -> str:
    """Finds the last such ending of each word, except if it is the whole word."""
    pieces = re.split(r"(\s+)", text, flags=re.ASCII)
    for index, piece in enumerate(pieces):
        head, found, tail = piece.rpartition(ending)
        if found and head:
            pieces[index] = head + words + tail
    return "".join(pieces)


def _normal(text: str) -> str:
    """MindSpore Lite's normalization, written with string functions instead of regular expressions."""
    text = text.lower().strip(" \t\n\r\f\v").translate(str.maketrans("", "", '.*()"'))
    text = _joined_endings(text)
    for ending, words in _CONTRACTIONS.items():
        text = _expanded(text, ending, words)
    text = text.replace("i'm", "i am")
    for mark in _MARKS:
        while mark * 2 in text:
            text = text.replace(mark * 2, mark)
    out, run = "", ""
    for character in text:  # words and the punctuation marks after them are separated by spaces
        if character in _MARKS and run:
            out, run = f"{out}{run} {character} ", ""
        elif character in _MARKS:
            out += character
        else:
            run += character
    out += run
    text, at = "", 0
    while at < len(out):
        pair = out[at : at + 2]
        two = len(pair) == 2 and all(character in _MARKS for character in pair)
        text, at = text + (" ".join(pair) if two else pair[0]), at + 1 + two
    return text.rstrip(" \t\n\r\f\v,:;-&'\"").lstrip(" \t\n\r\f\v,:;-&'\"")


@compared("CustomNormalize", strategy=sentences)
def custom_normalize(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    """No available runtime has the operator."""
    texts = [_normal(text.decode("ascii")).strip()[:300] for text in unpacked(inputs[0])]
    return [packed([f"<S> {text} <E>".encode("ascii") for text in texts])]


def _is_positive(text: bytes) -> bool:
    """Returns whether the 64-bit fingerprint of a text of at least five bytes is positive as a signed integer.

    LiteRT's LSH_PROJECTION computes the fingerprint of a four-byte seed followed by an item, and returns this bit.
    """
    seed, item = np.frombuffer(text[:4], np.float32).reshape(1, 1), np.frombuffer(text[4:], np.uint8)[None]
    options = ("LSHProjectionOptions", {0: ("byte", 2)})
    return bool(run_litert("LSH_PROJECTION", [seed.copy(), item.copy()], ("int32",), options=options)[0][0])


def _bucket(text: bytes) -> int:
    """Returns the fingerprint modulo a million: from TensorFlow if it is installed, else mslite's, with the sign checked by LiteRT."""
    if importlib.util.find_spec("tensorflow") is not None:
        import tensorflow as tf

        return int(tf.strings.to_hash_bucket_fast(tf.constant(text), 1000000))
    value = fingerprint(text)
    assert len(text) < 5 or _is_positive(text) == (0 < value < 2**63)
    return value % 1000000


@compared("CustomExtractFeatures", strategy=sentences)
def extract_features(op: Operator, inputs: Sequence[Array]) -> Sequence[Array]:
    texts = unpacked(inputs[0])
    marks = [text in (b"<S>", b"<E>", b"<S> <E>") for text in texts]
    buckets = [0 if mark else _bucket(text) for text, mark in zip(texts, marks, strict=True)]
    counts = [0 if mark else len(text.split(b" ")) for text, mark in zip(texts, marks, strict=True)]
    return [np.array(buckets, np.int32), np.array(counts, np.float32)]


@st.composite
def predictions(draw: Draw, name: str) -> Call:
    rows, width = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    keys = ints(*range(0, 4 * rows, 4))
    hashes = ints(*(draw(st.sampled_from((*keys.tolist(), 1))) for _ in range(draw(st.integers(1, 6)))))
    generator = np.random.default_rng(draw(st.integers(0, 99)))
    labels = generator.integers(0, 6, (rows, width)).astype(np.int32)
    weights = generator.uniform(0.1, 1, (rows, width)).astype(np.float32)
    op = OPERATORS[name](output_num=draw(st.integers(1, 5)), weight_threshold=draw(st.sampled_from((0.01, 0.153))))
    return Call(op, (hashes, keys, labels, weights))


@compared("CustomPredict", strategy=predictions)
def custom_predict(op: Any, inputs: Sequence[Array]) -> Sequence[Array]:
    """Counts each key, multiplies by the weights, sums per label, and applies TopK."""
    graph, (hashes, keys, labels, weights) = Graph(), inputs
    met = graph("Cast", graph("Equal", hashes.reshape(-1, 1), keys.reshape(1, -1)), to=1)
    share = graph("Div", graph("ReduceSum", met, np.array([0]), keepdims=0), float(hashes.size))
    each = graph("Mul", weights, graph("Unsqueeze", share, np.array([1])))
    names = np.unique(labels)
    places = np.searchsorted(names, labels).astype(np.int64)
    sums = graph("ScatterND", np.zeros(len(names), np.float32), places[..., None], each, reduction="add")
    kept = graph("Where", graph("GreaterOrEqual", sums, float(op.weight_threshold)), sums, 0.0)
    filled = graph("Concat", kept, np.zeros(op.output_num, np.float32), axis=0)
    values, order = graph("TopK", filled, np.array([op.output_num]), outputs=2)
    found = graph("Greater", values, 0.0)
    named = graph("Concat", names.astype(np.int32), np.full(op.output_num, -1, np.int32), axis=0)
    return graph.run(graph("Where", found, graph("Gather", named, order), np.int32(-1)), values)
