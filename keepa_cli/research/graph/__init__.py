"""Research graphs: what a product, a category, a seller and a search have to do with each other."""
