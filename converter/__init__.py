"""The offline half of mslite: source models in, optimized `.ms` files out."""
