"""The offline half of mslite: foreign models in, optimized `.ms` files out."""
