"""Networks of MindSpore's own model collection, mindcv, beside MindSpore."""
