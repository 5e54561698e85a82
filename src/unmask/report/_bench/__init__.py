"""The report of `unmask bench`: what was measured, why it is so, and what follows from it."""
