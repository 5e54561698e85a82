"""The HTML report: one module a section prepares what its template lays out."""
