"""Draws the example set of `agl1k wander`: invented streets at real coordinates."""
