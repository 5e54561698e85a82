"""How libvirt writes a guest's CPU."""
