"""The product finder: values by field name, filters, sort orders, insights."""
