"""MindIR: the one intermediate representation, its operators and its `.ms` wire format."""
