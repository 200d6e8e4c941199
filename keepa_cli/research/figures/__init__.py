"""Figures from products, views and graphs, as Vega-Lite specifications with their source data."""
