"""One module per finding code; each defines RULE and its docstring is the page."""
