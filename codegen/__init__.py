"""The code generator: a model becomes a C99 program of its own.

module ── lowering ──► Program ── memory ──► Plan ── emit ──► project folder
                          │
                          └── sources: the C text of the kernels that the program calls, and of nothing else
"""
