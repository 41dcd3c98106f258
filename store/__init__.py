"""Guesses and submissions in a database, and their publication on the Hub."""
