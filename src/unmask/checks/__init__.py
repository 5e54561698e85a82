"""What can stand in the way of an audit on this machine, one module per place to look at."""
