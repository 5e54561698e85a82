"""Pure knowledge: what a guest's CPU really has."""
