"""Fuzzes one parser with malformed files.

    python -m tests.fuzz.campaign --parser onnx --executions 100000 [--first 0] [--whole]

Prints executions, crashes (of the process, or a timeout), failures (unexpected exceptions) and stumbles (rejections with a general
reason that no parser handles specifically), each location once. `--whole` converts instead of only parsing. The exit code is 1 after a
crash or a failure. Equal numbers give equal files in every run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import resource
import sys
import time
from collections import Counter
from multiprocessing.connection import Connection

from .seeds import SEEDS
from .targets import PARSERS, Target, variant

SECONDS = 20
"""Time limit for one file in seconds."""

_MEMORY = 3 << 30
_STEP = 500


def _work(parser: str, whole: bool, first: int, end: int, pipe: Connection) -> None:
    """Runs the variants from `first` on and reports each; a crash ends this process."""
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeds, target = SEEDS[parser](), Target(parser, whole)
    for number in range(first, end):
        pipe.send(number)
        content = variant(parser, seeds[number % len(seeds)], number)
        taken = target.run(content)
        pipe.send((taken, target.failure, target.stumbled))


class Campaign:
    """The result of one file."""

    def __init__(self) -> None:
        self.executions = self.taken = 0
        self.crashes: list[int] = []
        self.failures: dict[str, list[int]] = {}
        self.stumbles: dict[str, list[int]] = {}

    def run(self, parser: str, whole: bool, first: int, end: int) -> None:
        while first < end:
            receiver, sender = multiprocessing.Pipe(duplex=False)
            worker = multiprocessing.get_context("fork").Process(
                target=_work, args=(parser, whole, first, end, sender), daemon=True
            )
            worker.start()
            sender.close()
            first = self._listen(receiver, first, end)
            worker.kill()
            worker.join()

    def _listen(self, pipe: Connection, first: int, end: int) -> int:
        """Reads the reports of one worker until it ends. Returns the next number."""
        number = first
        try:
            while number < end:
                if not pipe.poll(max(SECONDS, 60 if number == first else 0)):
                    break
                said = pipe.recv()
                if isinstance(said, int):
                    number = said
                    continue
                taken, failure, stumbled = said
                self.executions += 1
                self.taken += taken
                if failure:
                    self.failures.setdefault(_unique(failure), []).append(number)
                if stumbled:
                    self.stumbles.setdefault(_unique(stumbled), []).append(number)
                if number + 1 == end:
                    return end
        except EOFError:
            pass
        self.executions += 1
        self.crashes.append(number)
        return number + 1


def _unique(place: str) -> str:
    """Returns the location without parts that differ from file to file."""
    return (re.sub(r"\d{2,}|'[^']*'", "#", place.partition(": ")[2]) and place.partition(": ")[0]) or place


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--parser", choices=PARSERS, required=True)
    parser.add_argument("--executions", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--whole", action="store_true")
    asked = parser.parse_args()
    campaign, start = Campaign(), time.monotonic()
    campaign.run(asked.parser, asked.whole, asked.first, asked.first + asked.executions)
    what = "conversions" if asked.whole else "executions"
    print(f"{asked.parser}: {campaign.executions} {what} in {time.monotonic() - start:.0f} s, {campaign.taken} taken")
    print(f"crashes: {len(campaign.crashes)} {campaign.crashes[:20]}")
    for title, found in (("failures", campaign.failures), ("stumbles", campaign.stumbles)):
        total = sum(map(len, found.values()))
        print(f"{title}: {total}, {len(found)} places")
        for place, numbers in Counter({place: len(numbers) for place, numbers in found.items()}).most_common():
            print(f"  {numbers}x {place} (number {found[place][0]})")
    return 1 if campaign.crashes or campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
