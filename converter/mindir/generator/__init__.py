"""Turns the operator declarations into the schema, C headers and C++ unpacker. Standard library only."""
