"""ModelParallelRunner: runs several requests at the same time. The workers share the packed weights."""

from __future__ import annotations

import os

from mslite import _runtime
from mslite.context import Context, native_settings
from mslite.predictor import Path, Predictor, model_file
from mslite.settings import sections
from mslite.types import ModelType
from mslite.workers import Workers

_WORKERS_PER_CORE = 5
_MANY_CORES = 16
_THREADS_OF_MANY = 8


def usable_cores() -> int:
    """Returns the number of cores that this process may use: its affinity mask, limited by the quota of its cgroup."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    for path in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.cfs_period_us"):
        try:
            quota, period = (int(number) for file in path.split() for number in _words(file))
        except (OSError, ValueError):  # the file does not exist, or contains "max"
            continue
        if quota > 0 and period > 0:
            cores = min(cores, -(-quota // period))
        break
    return max(cores, 1)


def _words(file: str) -> list[str]:
    with open(file, encoding="ascii") as stream:
        return stream.read().split()


class ModelParallelRunner(Predictor):
    """Runs several requests at the same time, each on one worker. All workers share the packed weights."""

    _what = "runner"

    def build_from_file(self, model_path: Path, context: Context | None = None) -> None:
        """Builds `context.parallel.workers_num` workers for a model file.

        Raises the errors of Model.build_from_file, and RuntimeError if the runner is already built."""
        if self._path:
            raise RuntimeError("the runner is already built")
        settings = native_settings(context)
        parallel = (context or Context()).parallel
        cores = usable_cores()
        if settings.thread_num == 0:
            settings.thread_num = max(cores // 2, 1) if cores <= _MANY_CORES else _THREADS_OF_MANY
        count = parallel.workers_num or max(cores // settings.thread_num, 1)
        if count > _WORKERS_PER_CORE * cores:
            raise ValueError(f"workers_num {count} exceeds the limit of {_WORKERS_PER_CORE} for each of {cores} cores")
        config = sections("config_info", parallel.config_info)
        path = model_file(model_path)
        models = [_runtime.Model() for _ in range(count)]
        for model in models:
            model.build(path, ModelType.MINDIR_LITE.value, settings, parallel.config_path, config)
        self._describe(models[0])
        max_waiting = self.max_waiting
        self._workers = Workers(models)
        self._workers.max_waiting = max_waiting
        self._path = os.fspath(model_path)

    @property
    def workers_num(self) -> int:
        """Number of workers; 0 before the runner is built."""
        return self._workers.count


__all__ = ["ModelParallelRunner"]
