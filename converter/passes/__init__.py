"""The passes, which rewrite a MindIR module between the parser and the writer."""
