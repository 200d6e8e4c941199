"""The view of one product: one module per section."""
