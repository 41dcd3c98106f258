"""What tests share: servers that misbehave, recordings, small games and boards."""
