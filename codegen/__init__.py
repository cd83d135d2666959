"""The code generator: writes a model as a C99 project.

module ── lowering ──► Program ── memory ──► Plan ── emit ──► project folder
                          │
                          └── sources: C text of the kernels that the program calls
"""
