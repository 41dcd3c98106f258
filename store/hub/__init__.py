"""Guesses and submissions as a public dataset on the Hub; the database remains authoritative.

``layout`` defines what is published, ``outbox`` seals rows into files, ``remote`` calls the Hub,
``publisher`` pushes in the background, ``reading`` restores rows and learns what is published,
``rewriting`` joins files and removes rows, ``removals`` tells other servers what was deleted,
``comparing`` verifies and mends, ``card`` writes the dataset's page.
"""
