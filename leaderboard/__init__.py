"""The leaderboard: rows, ranks, figures and the tabs that show and fill it."""
