"""Run rules over an inventory."""
