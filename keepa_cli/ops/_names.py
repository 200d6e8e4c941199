"""Names of operations that are spelled in more than one place of the package: other code takes them from here."""

from __future__ import annotations

CATEGORIES_SEARCH = "categories.search"
EVALS_RUN = "evals.run"
PRODUCTS_GET = "products.get"
PROMOTE_AND_VERIFY = "cassettes.promote-and-verify"
REQUEST_GET = "request.get"
