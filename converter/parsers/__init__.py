"""Foreign models -> MindIR."""
