"""Context: the devices and threads that run models."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mslite import _runtime
from mslite.devices import CPU, GPU, Ascend
from mslite.settings import Settings, checked, integer, integers, sections


class Parallel(Settings):
    """Settings of ModelParallelRunner. Wrong types raise TypeError, wrong values ValueError."""

    _names = ("workers_num", "config_info", "config_path", "device_ids")

    def __init__(self) -> None:
        self._workers_num = 0
        self._config_info: dict[str, dict[str, str]] = {}
        self._config_path = ""
        self._device_ids: list[int] = []

    @property
    def workers_num(self) -> int:
        """Number of workers: the requests that run at the same time. 0: available cores / threads of one worker."""
        return self._workers_num

    @workers_num.setter
    def workers_num(self, number: int) -> None:
        self._workers_num = integer("workers_num", number)

    @property
    def config_info(self) -> dict[str, dict[str, str]]:
        """Configuration by section and key. It takes precedence over the file `config_path`."""
        return self._config_info

    @config_info.setter
    def config_info(self, settings: dict[str, dict[str, str]]) -> None:
        self._config_info = sections("config_info", settings)

    @property
    def config_path(self) -> str:
        """Path of a configuration file; "": none."""
        return self._config_path

    @config_path.setter
    def config_path(self, path: str) -> None:
        if checked("config_path", path, str) and not os.path.isfile(path):
            raise ValueError(f"config_path: file '{path}' does not exist")
        self._config_path = path

    @property
    def device_ids(self) -> list[int]:
        """Devices of the workers. It has no effect: all workers use the CPU."""
        return list(self._device_ids)

    @device_ids.setter
    def device_ids(self, numbers: Sequence[int]) -> None:
        self._device_ids = integers("device_ids", numbers)


class RunLimits(Settings):
    """Limits of one run of a model; 0: no limit. They protect a program from model files with endless loops.

    A run that reaches a limit raises RuntimeError between two operators. The model can run again."""

    _names = ("steps", "milliseconds", "bytes")

    def __init__(self) -> None:
        self._steps = 0
        self._milliseconds = 0
        self._bytes = 0

    @property
    def steps(self) -> int:
        """Number of operators and calls of subgraphs."""
        return self._steps

    @steps.setter
    def steps(self, number: int) -> None:
        self._steps = integer("steps", number, most=2**63 - 1)

    @property
    def milliseconds(self) -> int:
        """Wall time in milliseconds."""
        return self._milliseconds

    @milliseconds.setter
    def milliseconds(self, number: int) -> None:
        self._milliseconds = integer("milliseconds", number, most=2**63 - 1)

    @property
    def bytes(self) -> int:
        """Memory of activations and outputs in bytes; 0: the memory of the machine."""
        return self._bytes

    @bytes.setter
    def bytes(self, number: int) -> None:
        self._bytes = integer("bytes", number, most=2**63 - 1)


class Context(Settings):
    """Settings that a model is built with: `target`, `cpu`, `gpu`, `parallel`, `run_limits`, `fallback`. Changes have no
    effect on models that are already built.

    `ascend` and `group_info_file` have no effect."""

    _names = ("target", "cpu", "gpu", "ascend", "parallel", "run_limits", "fallback", "group_info_file")

    def __init__(self) -> None:
        self._target = ["cpu"]
        self._fallback = True
        self._group_info_file = ""
        self.cpu = CPU()
        self.gpu = GPU()
        self.ascend = Ascend()
        self.parallel = Parallel()
        self.run_limits = RunLimits()

    @property
    def target(self) -> list[str]:
        """The devices in the order of preference: "cpu", "gpu", "ascend". If "gpu" is first, the GPU runs the nodes that it
        supports and the CPU runs the rest. "ascend" is not supported: building a model fails."""
        return list(self._target)

    @target.setter
    def target(self, devices: Sequence[str]) -> None:
        if not isinstance(devices, list | tuple):
            raise TypeError(f"target must be a list of str, not {type(devices).__name__}")
        names = [checked("target", device, str).lower() for device in devices]
        for name in names:
            if name not in ("cpu", "gpu", "ascend"):
                raise ValueError(f"target must contain 'cpu', 'gpu' or 'ascend', not {name!r}")
        self._target = names or ["cpu"]

    @property
    def fallback(self) -> bool:
        """Whether the CPU runs the model if the GPU, its driver or its memory is missing, or if a call fails. If True, a
        warning is logged; if False, RuntimeError is raised. mslite extension."""
        return self._fallback

    @fallback.setter
    def fallback(self, is_allowed: bool) -> None:
        self._fallback = checked("fallback", is_allowed, bool)

    @property
    def group_info_file(self) -> str:
        """Path of a file that describes groups of devices. It has no effect."""
        return self._group_info_file

    @group_info_file.setter
    def group_info_file(self, path: str) -> None:
        self._group_info_file = checked("group_info_file", path, str)


def native_settings(context: Context | None) -> _runtime.ContextSettings:
    """Converts a context to the type of the native module. Raises TypeError for anything but a Context or None,
    RuntimeError for an unsupported target."""
    if context is None:
        context = Context()
    if not isinstance(context, Context):
        raise TypeError(f"context must be a Context, not {type(context).__name__}")
    if "ascend" in context.target:
        raise RuntimeError("target 'ascend' is not supported: this library runs models on the CPU and on GPUs")
    settings = _runtime.ContextSettings()
    settings.gpu = context.gpu.device_id if context.target[0] == "gpu" else None
    settings.gpu_fp16 = context.gpu.precision_mode == "preferred_fp16"
    settings.fallback = context.fallback
    settings.thread_num = context.cpu.thread_num
    settings.inter_op_parallel_num = context.cpu.inter_op_parallel_num
    settings.affinity_mode = context.cpu.thread_affinity_mode
    settings.affinity_cores = context.cpu.thread_affinity_core_list
    settings.provider = context.cpu.provider
    settings.fp16 = context.cpu.precision_mode == "preferred_fp16"
    settings.step_limit = context.run_limits.steps
    settings.time_limit = context.run_limits.milliseconds
    settings.memory_limit = context.run_limits.bytes
    return settings


__all__ = ["Context", "Parallel", "RunLimits"]
