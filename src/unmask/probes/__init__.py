"""What can be read inside a guest: one module per thing, a read-only command and a pure parser."""
