"""One module per output format; each defines FORMAT."""
