"""Converts source models to MindIR."""
