"""Tests of cropped runtimes: kept symbols, rejected models, and equal results."""
