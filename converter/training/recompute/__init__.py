"""Training graphs that need less memory: values of the forward pass are computed again where the backward pass reads them."""
