"""MindIR: the intermediate representation of the converter, its operators, and the `.ms` file format."""
