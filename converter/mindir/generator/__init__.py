"""Generates the schema, C headers, C++ tables and documentation from the operator declarations. Standard library
only."""
