"""Detectors."""
