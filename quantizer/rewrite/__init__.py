"""Float graph → graph on stored integers, and back: records of activations, constants of products and cells."""
