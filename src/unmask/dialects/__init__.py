"""How hypervisors and kernels write a CPU: text in, typed values out, no input or output."""
