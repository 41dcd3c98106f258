"""What the game and the leaderboard share to show things: theme, map, pieces of HTML."""
