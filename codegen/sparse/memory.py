"""Computes the memory that training a set of candidates needs, with the memory planner of generated C."""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from mslite.codegen.sparse.candidates import UpdateCandidate, updates_of
from mslite.codegen.targets import Target
from mslite.codegen.training.programs import estimate_arena, make_programs, save_modules
from mslite.converter.mindir.graph import Module
from mslite.converter.mindir.module_copy import copy_module
from mslite.converter.training import (
    LayerUpdate,
    TrainSettings,
    dequantize_trained_part,
    has_quantized_nodes,
    training_graph,
)


@dataclass
class TrainingBytes:
    """Bytes of parameters and optimizer state, and of the whole arena, which includes them."""

    state: int
    arena: int


@dataclass
class MemoryEstimator:
    """Computes the arena of sets of candidates. Estimates are cached."""

    module: Module
    settings: TrainSettings
    target: Target
    source: str
    known: dict[tuple[tuple[str, LayerUpdate], ...], int] = field(default_factory=dict)

    def about(self, chosen: Collection[UpdateCandidate]) -> int:
        """Returns an estimate of the arena in bytes: the maximum of inference and a training step of these
        candidates."""
        key = tuple(sorted(updates_of(chosen), key=lambda one: one[0]))
        if key not in self.known:
            graph = training_graph(copy_module(self.module), replace(self.settings, sparse=key), self.source)
            with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
                self.known[key] = estimate_arena(save_modules(graph, Path(work), self.target), self.target, self.source)
        return self.known[key]

    def of(self, chosen: Collection[UpdateCandidate]) -> TrainingBytes:
        """Returns the exact sizes, from the memory plan of the generated code."""
        return self._planned(copy_module(self.module), replace(self.settings, sparse=updates_of(chosen)))

    def of_all(self) -> TrainingBytes:
        """Returns the sizes for training all layers, with float weights."""
        module = copy_module(self.module)
        if has_quantized_nodes(module):
            dequantize_trained_part(module, None)
        return self._planned(module, replace(self.settings, sparse=()))

    def _planned(self, module: Module, settings: TrainSettings) -> TrainingBytes:
        graph = training_graph(module, settings, self.source)
        with tempfile.TemporaryDirectory(prefix="mslite-sparse-") as work:
            files = save_modules(graph, Path(work), self.target)
            programs = make_programs(graph, files, self.target, "model", self.source)
        return TrainingBytes(len(programs.state), max(programs.inference[1].size, programs.training[1].size))
