"""Computes the memory that training a set of candidates needs, with the memory planner of generated C."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from mslite.codegen.sparse.choices import Choice, updates_of
from mslite.codegen.targets import Target
from mslite.codegen.training.programs import about_needed, make_programs, save_modules
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training import LayerUpdate, TrainSettings, is_stored, real_behind, training_graph


@dataclass
class Needed:
    """Bytes of parameters and optimizer state, and of the whole arena, which includes them."""

    state: int
    arena: int


@dataclass
class MemoryOf:
    """Computes the arena of sets of candidates. Estimates are cached."""

    module: Module
    settings: TrainSettings
    target: Target
    source: str
    known: dict[tuple[tuple[str, LayerUpdate], ...], int] = field(default_factory=dict)

    def about(self, chosen: Collection[Choice]) -> int:
        """Returns an estimate of the arena in bytes: the maximum of inference and a training step of these
        candidates."""
        key = tuple(sorted(updates_of(chosen), key=lambda one: one[0]))
        if key not in self.known:
            graph = training_graph(copy_module(self.module), replace(self.settings, sparse=key), self.source)
            with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
                self.known[key] = about_needed(save_modules(graph, Path(work), self.target), self.target, self.source)
        return self.known[key]

    def of(self, chosen: Collection[Choice]) -> Needed:
        """Returns the exact sizes, from the memory plan of the generated code."""
        return self._planned(copy_module(self.module), replace(self.settings, sparse=updates_of(chosen)))

    def of_all(self) -> Needed:
        """Returns the sizes for training all layers, with float weights."""
        module = copy_module(self.module)
        if is_stored(module):
            real_behind(module, None)
        return self._planned(module, replace(self.settings, sparse=()))

    def _planned(self, module: Module, settings: TrainSettings) -> Needed:
        graph = training_graph(module, settings, self.source)
        with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
            files = save_modules(graph, Path(work), self.target)
            programs = make_programs(graph, files, self.target, "model", self.source)
        return Needed(len(programs.state), max(programs.inference[1].size, programs.training[1].size))
