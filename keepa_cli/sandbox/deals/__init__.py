"""The deals of the invented shop: which products are deals, and how /deal shows them."""
