"""Where and how models run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from mslite import _runtime


def _integer(name: str, value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} must be at least {least}, not {value}")
    return value


class CPU:
    """Settings of the CPU."""

    def __init__(self) -> None:
        self._precision_mode = "enforce_fp32"
        self._thread_num = 0
        self._inter_op_parallel_num = 0
        self._thread_affinity_mode = 0
        self._thread_affinity_core_list: list[int] = []
        self._provider = ""

    @property
    def provider(self) -> str:
        """Whose registered kernels come before this library's own, for operators that it has; "": nobody's."""
        return self._provider

    @provider.setter
    def provider(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"provider must be a str, not {type(name).__name__}")
        self._provider = name

    @property
    def precision_mode(self) -> str:
        """ "enforce_fp32", or "preferred_fp16" where the processor computes in float16."""
        return self._precision_mode

    @precision_mode.setter
    def precision_mode(self, mode: str) -> None:
        if mode not in ("enforce_fp32", "preferred_fp16"):
            raise ValueError(f"precision_mode must be 'enforce_fp32' or 'preferred_fp16', not {mode!r}")
        self._precision_mode = mode

    @property
    def thread_num(self) -> int:
        """Threads of one operator; 0: chosen when the model is built."""
        return self._thread_num

    @thread_num.setter
    def thread_num(self, number: int) -> None:
        self._thread_num = _integer("thread_num", number)

    @property
    def inter_op_parallel_num(self) -> int:
        """Operators that may run at the same time; 0 counts as 1."""
        return self._inter_op_parallel_num

    @inter_op_parallel_num.setter
    def inter_op_parallel_num(self, number: int) -> None:
        self._inter_op_parallel_num = _integer("inter_op_parallel_num", number)

    @property
    def thread_affinity_mode(self) -> int:
        """0: threads are not bound, 1: to big cores first, 2: to middle cores first."""
        return self._thread_affinity_mode

    @thread_affinity_mode.setter
    def thread_affinity_mode(self, mode: int) -> None:
        if _integer("thread_affinity_mode", mode) > 2:
            raise ValueError(f"thread_affinity_mode must be 0, 1 or 2, not {mode}")
        self._thread_affinity_mode = mode

    @property
    def thread_affinity_core_list(self) -> list[int]:
        """The cores that threads may use; wins over the mode."""
        return list(self._thread_affinity_core_list)

    @thread_affinity_core_list.setter
    def thread_affinity_core_list(self, cores: Sequence[int]) -> None:
        if not isinstance(cores, list | tuple):
            raise TypeError(f"thread_affinity_core_list must be a list, not {type(cores).__name__}")
        limit = os.cpu_count() or 1
        for core in cores:
            if _integer("thread_affinity_core_list", core) >= limit:
                raise ValueError(f"thread_affinity_core_list: this machine has no core {core}")
        self._thread_affinity_core_list = list(cores)

    def __repr__(self) -> str:
        return f"CPU(thread_num={self.thread_num}, precision_mode={self.precision_mode!r})"


class Parallel:
    """Settings of ModelParallelRunner."""

    def __init__(self) -> None:
        self._workers_num = 0
        self.config_info: dict[str, dict[str, str]] = {}
        self.config_path = ""

    @property
    def workers_num(self) -> int:
        """Requests that run at the same time; 0: usable cores divided by the threads of one."""
        return self._workers_num

    @workers_num.setter
    def workers_num(self, number: int) -> None:
        self._workers_num = _integer("workers_num", number)


class Context:
    """Settings that a model is built with: `target`, `cpu`, `parallel`."""

    def __init__(self) -> None:
        self._target = ["cpu"]
        self.cpu = CPU()
        self.parallel = Parallel()

    @property
    def target(self) -> list[str]:
        """The devices, in the order of preference. Only "cpu" is there."""
        return list(self._target)

    @target.setter
    def target(self, devices: Sequence[str]) -> None:
        if not isinstance(devices, list | tuple) or not all(isinstance(device, str) for device in devices):
            raise TypeError("target must be a list of str")
        if list(devices) != ["cpu"]:
            raise ValueError(f"target must be ['cpu'], not {list(devices)}: this library runs models on the CPU")
        self._target = list(devices)

    def __repr__(self) -> str:
        return f"Context(target={self._target}, cpu={self.cpu})"


def native_settings(context: Context | None) -> _runtime.ContextSettings:
    """The settings as the native module takes them. Raises TypeError for anything but a Context or None."""
    if context is None:
        context = Context()
    if not isinstance(context, Context):
        raise TypeError(f"context must be a Context, not {type(context).__name__}")
    settings = _runtime.ContextSettings()
    settings.thread_num = context.cpu.thread_num
    settings.inter_op_parallel_num = context.cpu.inter_op_parallel_num
    settings.affinity_mode = context.cpu.thread_affinity_mode
    settings.affinity_cores = context.cpu.thread_affinity_core_list
    settings.provider = context.cpu.provider
    settings.fp16 = context.cpu.precision_mode == "preferred_fp16"
    return settings


__all__ = ["Context"]
