"""Everything that is done to a MindIR module between the parser and the file."""
