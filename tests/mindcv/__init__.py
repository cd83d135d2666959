"""Networks of mindcv, MindSpore's model collection, compared with MindSpore."""
