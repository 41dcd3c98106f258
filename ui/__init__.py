"""Components and look that the game and the leaderboard share: map, player, theme, frame."""
