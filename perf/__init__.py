"""Speed measurements, each against a peer or a limit, side by side in one run."""
