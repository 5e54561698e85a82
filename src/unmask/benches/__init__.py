"""How unmask measures a machine's cryptography: what is run there, and how it comes to its end."""
