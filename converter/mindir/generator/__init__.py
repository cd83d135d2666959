"""Turns the operator declarations into the schema, C headers, C++ unpacker and documentation. Standard library only."""
