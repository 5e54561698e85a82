"""One module per place an inventory comes from; each defines SOURCE."""
