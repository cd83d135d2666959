"""The offline half of mslite: foreign models in, optimised `.ms` files out."""
