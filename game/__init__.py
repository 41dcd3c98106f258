"""The game: rounds, clips and the tab in which they are played."""
