"""mslite: converts trained models to `.ms` files and runs them."""
