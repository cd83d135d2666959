"""ModelGroup: models that share memory."""

from __future__ import annotations

from collections.abc import Sequence

from mslite.context import Context
from mslite.model import Model
from mslite.predictor import model_file
from mslite.settings import checked
from mslite.types import ModelGroupFlag, ModelType


class ModelGroup:
    """A group of models that share weights, workspace, or both.

    All models that are built from the same file share its weights, also outside a group. A group keeps its models, and
    with them the weights. Each model has its own workspace, whatever `flags` is, because models may run at the same time.

    Raises TypeError for invalid flags."""

    def __init__(self, flags: ModelGroupFlag = ModelGroupFlag.SHARE_WORKSPACE) -> None:
        self._flags: ModelGroupFlag = checked("flags", flags, ModelGroupFlag)
        self._models: list[Model] = []
        self._paths: list[str] = []

    def add_model(self, models: Sequence[str] | Sequence[Model]) -> None:
        """Adds model files, or models, which may be built or not.

        Raises TypeError for other types, RuntimeError for a missing file. On failure, nothing is added."""
        if not isinstance(models, list | tuple):
            raise TypeError(f"models must be a list of str or of Model, not {type(models).__name__}")
        kinds = {type(model) for model in models}
        if all(isinstance(model, Model) for model in models):
            self._models += [model for model in models if isinstance(model, Model)]
        elif all(isinstance(model, str) for model in models):
            self._paths += [model_file(str(model)) for model in models]
        else:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise TypeError(f"models must be a list of str or of Model, not of {names}")

    def cal_max_size_of_workspace(self, model_type: ModelType, context: Context) -> int:
        """Builds the files of the group and keeps the models. Models that are built later from the same files share their
        weights.

        Returns the size of the largest workspace in bytes: activations and scratch buffers.

        Raises TypeError for wrong arguments, RuntimeError if the group has no model files or a model cannot be built."""
        checked("model_type", model_type, ModelType)
        checked("context", context, Context)
        if not self._paths:
            raise RuntimeError("the group has no model files; add their paths with add_model")
        built = []
        for path in self._paths:
            model = Model()
            model.build_from_file(path, model_type, context)
            built.append(model)
        self._models += built
        return max(model.workspace_bytes() for model in built)

    def __repr__(self) -> str:
        names = [*self._paths, *(repr(model) for model in self._models)]
        return f"ModelGroup({self._flags.name}, [{', '.join(names)}])"
