"""How a guest's CPU is changed: every write of this program, journaled before it is begun."""
