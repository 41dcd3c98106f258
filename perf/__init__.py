"""What is measured, each against a peer or a limit, side by side in one run."""
