"""Custom operators in generated C: the user's `CustomKernel` computes them."""

from mslite.codegen.custom.calls import custom_call, problem_of

__all__ = ["custom_call", "problem_of"]
