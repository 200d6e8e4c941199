"""Plans of several steps as data: what each step needs, where it comes from, and what may run when."""
