"""Variables: tensors that keep their value from run to run."""

from __future__ import annotations

from ._declare import Operator, operator, text


@operator(1132, inputs="initial", tflite="READ_VARIABLE VAR_HANDLE", custom_type="mslite.ReadVariable")
class ReadVariable(Operator):
    """The value of a variable at the beginning of a run.

    In the first run, and after a resize of the inputs, it is the constant `initial`.
    """

    variable: str | None = text(0)
    """name of the variable"""


@operator(1133, inputs="value", tflite="ASSIGN_VARIABLE", custom_type="mslite.AssignVariable")
class AssignVariable(Operator):
    """Sets the value of a variable for the next run.

    A failed run does not change variables. The output is `value`; it exists only because each node needs an output.
    """

    variable: str | None = text(0)
