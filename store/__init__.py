"""What must survive: guesses and submissions in a database, and their way to the Hub."""
