"""Makes the demo pack: synthesis, the 24 scenes, encoding, and a check of the result."""
