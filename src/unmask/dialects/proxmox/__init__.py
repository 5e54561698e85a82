"""How Proxmox VE writes a guest's CPU."""
