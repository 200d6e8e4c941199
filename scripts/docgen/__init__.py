"""Generated documentation: the reference from the registry and tables, and real output of commands."""
