"""Speech in five languages: recordings of Debian's `asterisk-core-sounds-*-wav` packages (CC-BY-SA), 8 kHz.

A sample is one second as 49 frames of 10 mel-frequency cepstral coefficients, [1, 49, 10]. A prompt and its translations are either in
the training or in the held-out part. The Debian packages are downloaded with `apt-get download` and unpacked into a cache folder; nothing
is installed.
"""

from __future__ import annotations

import functools
import os
import subprocess
import wave
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .dataset import DataMissing, Dataset, divided, is_held_out

LANGUAGES = ("en", "es", "fr", "it", "ru")
RATE, FRAME, STEP, FRAMES = 8000, 320, 160, 49
MEL_FILTERS, COEFFICIENTS = 40, 10


def cache_folder() -> Path:
    """Returns the folder for downloaded data: `MSLITE_DATA`, else the user's cache."""
    home = os.environ.get("MSLITE_DATA") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mslite"
    return Path(home)


def sounds(folder: Path) -> dict[str, Path]:
    """Returns language -> folder with its recordings, downloaded if missing."""
    packages = [f"asterisk-core-sounds-{language}-wav" for language in LANGUAGES]
    root = folder / "usr/share/asterisk/sounds"
    if not root.is_dir() or len(list(root.iterdir())) < len(LANGUAGES):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            subprocess.run(["apt-get", "download", *packages], cwd=folder, check=True, capture_output=True)
            for archive in sorted(folder.glob("*.deb")):
                subprocess.run(["dpkg-deb", "-x", archive, folder], check=True, capture_output=True)
                archive.unlink()
        except (OSError, subprocess.CalledProcessError) as error:
            raise DataMissing(f"the recordings are Debian packages: apt-get download {' '.join(packages)}") from error
    return {language: next(root.glob(f"{language}_*")) for language in LANGUAGES}


def mel_filters() -> npt.NDArray[np.float64]:
    """Triangular filters, evenly spaced on the mel scale 2595 log10(1 + f / 700), [filters, FRAME / 2 + 1]."""
    top = 2595 * np.log10(1 + (RATE / 2) / 700)
    edges = 700 * (10 ** (np.linspace(0, top, MEL_FILTERS + 2) / 2595) - 1)
    frequencies = np.arange(FRAME // 2 + 1) * RATE / FRAME
    rising = (frequencies - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - frequencies) / (edges[2:] - edges[1:-1])[:, None]
    return np.asarray(np.maximum(0, np.minimum(rising, falling)))


def mfcc(signal: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Returns MFCC [49, 10]: Hann window, power spectrum, mel filters, logarithm, orthonormal cosine transform (type II)."""
    frames = np.lib.stride_tricks.sliding_window_view(signal, FRAME)[::STEP][:FRAMES]
    power = np.abs(np.fft.rfft(frames * np.hanning(FRAME))) ** 2
    energy = np.log(power @ mel_filters().T + 1e-6)
    index = np.arange(MEL_FILTERS)
    basis = np.cos(np.pi / MEL_FILTERS * (index[:, None] + 0.5) * index[:COEFFICIENTS]) * np.sqrt(2 / MEL_FILTERS)
    return np.asarray(energy @ basis / 10, np.float32)


def windows(path: Path) -> list[npt.NDArray[np.float32]]:
    """Yields the seconds of a recording with speech, overlapping by half."""
    with wave.open(str(path)) as file:
        if file.getframerate() != RATE or file.getsampwidth() != 2:
            return []
        signal = np.frombuffer(file.readframes(file.getnframes()), np.int16).astype(np.float64) / 32768
    starts = range(0, len(signal) - RATE + 1, RATE // 2)
    return [mfcc(part) for start in starts if np.std(part := signal[start : start + RATE]) > 0.02]


@functools.cache
def load() -> Dataset:
    """About 7000 seconds, at most ten per recording."""
    folders = sounds(cache_folder() / "voices")
    samples: list[npt.NDArray[Any]] = []
    labels: list[int] = []
    held_out: list[bool] = []
    for label, folder in enumerate(folders.values()):
        for path in sorted(folder.rglob("*.wav")):
            for part in windows(path)[:10]:
                samples.append(part[None])
                labels.append(label)
                held_out.append(is_held_out(path.relative_to(folder).as_posix()))
    return divided("voices", np.stack(samples), labels, held_out, LANGUAGES)
