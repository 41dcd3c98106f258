"""The game: rounds, clips and the tab that plays them."""
