"""References of strings and hashing. Strings are packed: count, offsets [count + 1], bytes."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Sequence

import numpy as np

from ..ops import text as ops
from ..ops.enums import LshProjectionType
from ._declare import Array, Inputs, case, int32, integers, normal, reference

_WORD = (1 << 64) - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F


def _given(inputs: Inputs) -> list[Array]:
    return [np.asarray(array) for array in inputs if array is not None]


@reference("HashtableLookup")
def hashtable_lookup(op: ops.HashtableLookup, inputs: Inputs) -> list[Array]:
    """The row of each id; zeros for unknown ids."""
    ids, keys, values = _given(inputs)
    hits = np.isin(ids, keys)
    rows = values[np.searchsorted(keys, ids).clip(0, len(keys) - 1)]
    rows[~hits] = 0
    return [rows, hits.astype(np.uint8)]


def _turn(value: int, right: int) -> int:
    return (value >> right | value << (64 - right)) & _WORD


def _join(u: int, v: int, factor: int) -> int:
    a = (u ^ v) * factor & _WORD
    a ^= a >> 47
    b = (v ^ a) * factor & _WORD
    return (b ^ b >> 47) * factor & _WORD


def fingerprint(key: bytes) -> int:
    """FarmHash's 64-bit fingerprint."""
    size = len(key)
    factor = _K2 + 2 * size & _WORD

    def word(at: int) -> int:
        return int(struct.unpack_from("<Q", key, at)[0])

    if size > 64:
        return _long_fingerprint(key)
    if size < 4:
        if size == 0:
            return _K2
        y, z = key[0] + (key[size >> 1] << 8), size + (key[-1] << 2)
        mixed = (y * _K2 ^ z * _K0) & _WORD
        return (mixed ^ mixed >> 47) * _K2 & _WORD
    if size < 8:
        first, last = struct.unpack_from("<I", key)[0], struct.unpack_from("<I", key, size - 4)[0]
        return _join(size + (first << 3), last, factor)
    if size <= 16:
        a, b = word(0) + _K2, word(size - 8)
        return _join(_turn(b, 37) * factor + a & _WORD, (_turn(a & _WORD, 25) + b) * factor & _WORD, factor)
    a, b = word(0) * (_K1 if size <= 32 else _K2) & _WORD, word(8)
    c, d = word(size - 8) * factor & _WORD, word(size - 16) * _K2 & _WORD
    y = _turn(a + b & _WORD, 43) + _turn(c, 30) + d & _WORD
    z = _join(y, a + _turn(b + _K2 & _WORD, 18) + c & _WORD, factor)
    if size <= 32:
        return z
    e, f = word(16) * factor & _WORD, word(24)
    g, h = (y + word(size - 32)) * factor & _WORD, (z + word(size - 24)) * factor & _WORD
    left = _turn(e + f & _WORD, 43) + _turn(g, 30) + h & _WORD
    return _join(left, e + _turn(f + a & _WORD, 18) + g & _WORD, factor)


def _absorb(words: Sequence[int], a: int, b: int) -> tuple[int, int]:
    """Mixes four words into a pair."""
    a = a + words[0] & _WORD
    b = _turn(b + a + words[3] & _WORD, 21)
    c = a
    a = a + words[1] + words[2] & _WORD
    return a + words[3] & _WORD, _turn(a, 44) + b + c & _WORD


def _long_fingerprint(key: bytes) -> int:
    """Returns the fingerprint of more than 64 bytes: whole blocks, then the last 64 bytes with another factor."""
    x, y = 81 * _K2 & _WORD, 81 * _K1 + 113 & _WORD
    z = y * _K2 + 113 & _WORD
    z = (z ^ z >> 47) * _K2 & _WORD
    v, w = (0, 0), (0, 0)
    x = x + struct.unpack_from("<Q", key)[0] & _WORD
    blocks = [*range(0, (len(key) - 1) // 64 * 64, 64), len(key) - 64]
    for number, at in enumerate(blocks):
        words = struct.unpack_from("<8Q", key, at)
        factor, nine = _K1, 1
        if number == len(blocks) - 1:
            factor, nine = _K1 + ((z & 0xFF) << 1) & _WORD, 9
            added = w[0] + (len(key) - 1) % 64
            v = (v[0] + added & _WORD, v[1])
            w = (added + v[0] & _WORD, w[1])
        x = _turn(x + y + v[0] + words[1] & _WORD, 37) * factor & _WORD
        y = _turn(y + v[1] + words[6] & _WORD, 42) * factor & _WORD
        x ^= w[1] * nine & _WORD
        y = y + v[0] * nine + words[5] & _WORD
        z = _turn(z + w[0] & _WORD, 33) * factor & _WORD
        v = _absorb(words[:4], v[1] * factor & _WORD, x + w[0] & _WORD)
        w = _absorb(words[4:], z + w[1] & _WORD, y + words[2] & _WORD)
        x, z = z, x
    mixed = (y ^ y >> 47) * _K0 & _WORD
    left = _join(v[0], w[0], factor) + mixed + z & _WORD
    return _join(left, _join(v[1], w[1], factor) + x & _WORD, factor)


@reference("LshProjection")
def lsh_projection(op: ops.LshProjection, inputs: Inputs) -> list[Array]:
    """Signs of weighted sums of fingerprints of seed and item."""
    seeds, items, *weights = _given(inputs)
    weight = weights[0].astype(np.float64) if weights else np.ones(len(items))
    bits = np.zeros(seeds.shape, np.int32)
    for place, seed in np.ndenumerate(seeds):
        hashes = [fingerprint(seed.tobytes() + item.tobytes()) for item in items]
        signed = np.array(hashes, np.uint64).astype(np.int64).astype(np.float64)
        bits[place] = float(np.sum(weight * signed)) > 0
    if op.type is LshProjectionType.DENSE:
        return [bits.reshape(-1)]
    packed = bits @ (1 << np.arange(seeds.shape[1])[::-1])
    return [(packed + (np.arange(len(seeds)) << seeds.shape[1])).astype(np.int32)]


def packed(texts: Sequence[bytes]) -> Array:
    """Returns strings as a tensor of bytes."""
    offsets = np.cumsum([4 * (len(texts) + 2), *map(len, texts)]).astype("<i4")
    return np.frombuffer(struct.pack("<i", len(texts)) + offsets.tobytes() + b"".join(texts), np.uint8).copy()


def unpacked(tensor: Array) -> list[bytes]:
    """Returns the strings of a tensor of bytes."""
    data = tensor.tobytes()
    numbers = np.frombuffer(data[: len(data) // 4 * 4], "<i4")
    count = int(numbers[0])
    return [data[begin:end] for begin, end in itertools.pairwise(numbers[1 : count + 2].tolist())]


@reference("SkipGram")
def skip_gram(op: ops.SkipGram, inputs: Inputs) -> list[Array]:
    """n-grams, longer ones before their prefixes; empty for a text that is too short, as in LiteRT."""
    (tensor,) = _given(inputs)
    words = (unpacked(tensor)[:1] or [b""])[0].split()

    def grams(chosen: list[int]) -> list[list[int]]:
        found = []
        if len(chosen) < op.ngram_size:
            for following in range(chosen[-1] + 1, min(chosen[-1] + op.max_skip_size + 2, len(words))):
                found += grams([*chosen, following])
        return [*found, chosen] if op.include_all_grams or len(chosen) == op.ngram_size else found

    found = [gram for start in range(len(words) * (len(words) >= op.ngram_size)) for gram in grams([start])]
    return [packed([b" ".join(words[i] for i in gram) for gram in found])]


_ENDINGS = rb"('t|'nt|n't|'d|'ll|'s|'m|'ve|'re)"
_STEPS = (
    (rb"[.*()\"]", rb""),
    (rb"\s" + _ENDINGS + rb"([\s,;:/])", rb"\1\2"),
    (rb"\s" + _ENDINGS + rb"\Z", rb"\1"),
    (rb"(\S+)'ll", rb"\1 will"),
    (rb"(\S+)'nt", rb"\1 not"),
    (rb"(\S+)'re", rb"\1 are"),
    (rb"(\S+)'ve", rb"\1 have"),
    (rb"(\S+)n't", rb"\1 not"),
    (rb"i'm", rb"i am"),
    (rb"\?+", rb"?"),
    (rb"!+", rb"!"),
    (rb"([^?!]+)([?!])", rb"\1 \2 "),
    (rb"([?!])([?!])", rb"\1 \2"),
    (rb"[\s,:;\-&'\"]+\Z", rb""),
    (rb"\A[\s,:;\-&'\"]+", rb""),
)


@reference("CustomNormalize")
def custom_normalize(op: ops.CustomNormalize, inputs: Inputs) -> list[Array]:
    """MindSpore Lite's replacements, in order, then cut to 300 bytes."""
    (tensor,) = _given(inputs)
    texts = []
    for text in unpacked(tensor):
        text = text.lower().strip()
        for pattern, replacement in _STEPS:
            text = re.sub(pattern, replacement, text)
        texts.append(b"<S> " + text.strip()[:300] + b" <E>")
    return [packed(texts or [b"\0"])]


@reference("CustomExtractFeatures")
def custom_extract_features(op: ops.CustomExtractFeatures, inputs: Inputs) -> list[Array]:
    """Fingerprints modulo a million, and words; 0 for punctuation."""
    (tensor,) = _given(inputs)
    rows = [
        (0, 0) if text in (b"<S>", b"<E>", b"<S> <E>") else (fingerprint(text) % 1000000, text.count(b" ") + 1)
        for text in unpacked(tensor)
    ]
    labels, words = zip(*(rows or [(0, 0)]), strict=True)
    return [np.array(labels, np.int32), np.array(words, np.float32)]


@reference("CustomPredict")
def custom_predict(op: ops.CustomPredict, inputs: Inputs) -> list[Array]:
    """The labels with the largest mean weights over the hashes, padded with -1 and 0."""
    hashes, keys, labels, weights = _given(inputs)
    totals: dict[int, float] = {}
    for value in hashes.ravel():
        for row in np.flatnonzero(keys == value)[:1]:
            for label, weight in zip(labels[row], weights[row], strict=True):
                totals[int(label)] = totals.get(int(label), 0.0) + float(weight) / hashes.size
    best = sorted(totals.items(), key=lambda item: -item[1])
    best = [item for item in best if item[1] >= op.weight_threshold] + [(-1, 0.0)] * op.output_num
    chosen, sums = zip(*best[: op.output_num], strict=True)
    return [np.array(chosen, np.int32), np.array(sums, np.float32)]


_KEYS = int32([-3, 0, 4, 9, 11])
case("rows", ops.HashtableLookup(), [int32([4, 5, -3, 11, 12, -9]), _KEYS, normal(5, 3)])
case("numbers", ops.HashtableLookup(), [int32([0, 9]), _KEYS, integers(1, 99, 5)])
for kind in (LshProjectionType.SPARSE, LshProjectionType.DENSE):
    name = kind.name.lower()
    case(f"{name}-int32", ops.LshProjection(type=kind), [normal(3, 4), integers(-99, 99, 5)])
    case(f"{name}-weighted", ops.LshProjection(type=kind), [normal(2, 5), integers(-9, 99, 4, 3), normal(4)])
    case(f"{name}-bytes", ops.LshProjection(type=kind), [normal(2, 3), integers(0, 255, 6, 2, dtype=np.uint8)])


_SENTENCES = (
    b"  The quick brown fox  jumps\tover the lazy dog ",
    b"",
    b"I'm sure (we'll see) it isn 't over, don't you?? Yes!!! They've been; \"you're\" a*b.c 'll",
    b"what?!?! no ?ok! 'tis Ain't we 've",
    b"x" * 500,
    b"'ll 'llama she'll'll ; -&- ",
)
for grams, skip, everything in ((2, 0, False), (3, 2, True), (1, 5, False), (4, 1, False), (9, 9, False)):
    _op = ops.SkipGram(include_all_grams=everything, max_skip_size=skip, ngram_size=grams)
    case(f"{grams}-{skip}", _op, [packed(_SENTENCES)])
case("nothing", ops.SkipGram(include_all_grams=True, max_skip_size=1, ngram_size=2), [packed([b" "])])
case("sentences", ops.CustomNormalize(), [packed(_SENTENCES)])
case("nothing", ops.CustomNormalize(), [packed([])])
_LENGTHS = (1, 3, 4, 7, 8, 16, 17, 32, 33, 64, 65, 128, 129, 200)
_TEXTS = [bytes(range(32, 127)) * 3, *(bytes(range(33, 33 + 90))[:1] * size for size in _LENGTHS)]
case("lengths", ops.CustomExtractFeatures(), [packed([b"", b"<S>", b"<S> <E>", b"two words", *_TEXTS])])
case("nothing", ops.CustomExtractFeatures(), [packed([])])
case(
    "labels",
    ops.CustomPredict(output_num=4, weight_threshold=0.05),
    [
        int32([7, 3, 12, 3]),
        int32([1, 3, 7, 9]),
        integers(0, 6, 4, 3),
        (np.arange(1, 13).reshape(4, 3) / 17).astype(np.float32),
    ],
)
