"""How unmask gets into guests and looks at their disks and ports; it changes nothing there."""
