"""Custom operators in generated C, which the user's function `CustomKernel` computes."""

from mslite.codegen.custom.calls import custom_call, problem_of

__all__ = ["custom_call", "problem_of"]
