"""A Proxmox VE cluster that answers like the real one: state in memory, HTTPS in front."""
