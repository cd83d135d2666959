"""Converts source models to optimized `.ms` files."""
