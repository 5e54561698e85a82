"""One file per third-party client: typed values out, our errors out."""
