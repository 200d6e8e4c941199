"""A research brief: what several results say together, each sentence with its evidence."""
