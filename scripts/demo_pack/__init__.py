"""The demo pack's workshop: synthesis, the 24 scenes, encoding and the check of the result."""
