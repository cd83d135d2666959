"""Variables: tensors that live as long as the running model, from one run to the next."""

from __future__ import annotations

from ._declare import Operator, operator, text


@operator(1132, inputs="initial", tflite="READ_VARIABLE VAR_HANDLE", custom_type="mslite.ReadVariable")
class ReadVariable(Operator):
    """The value that the variable has when the graph is entered.

    Before the first run, and after a change of the input shapes, that is the constant `initial`.
    """

    variable: str | None = text(0)
    """its name; equal names are one variable"""


@operator(1133, inputs="value", tflite="ASSIGN_VARIABLE", custom_type="mslite.AssignVariable")
class AssignVariable(Operator):
    """Gives a variable its value for the next run. It takes effect when the graph is left.

    A failed run changes no variable. The output is `value`, and is there for the form only.
    """

    variable: str | None = text(0)
