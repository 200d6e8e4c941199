"""Views of lists: categories, finder results, deals, sellers, rankings, in one profile."""
