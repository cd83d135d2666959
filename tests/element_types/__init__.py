"""Tests which data types each operator supports, for all source formats, and compares the results."""
