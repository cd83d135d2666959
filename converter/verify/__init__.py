"""Comparing a conversion's result with its source."""
