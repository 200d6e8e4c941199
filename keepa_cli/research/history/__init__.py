"""The histories of a product: every series by name, as rows, thinned, and as figures over windows of time."""
