"""What a machine without a GPU cannot show, in one command: `make gpu-check`, see docs/gpu.md."""
