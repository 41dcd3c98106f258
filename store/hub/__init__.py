"""Guesses and submissions as a public Hub dataset: the database stays the truth.

``schema`` says what is published, ``outbox`` seals rows into files, ``remote`` speaks to the Hub,
``publisher`` pushes in the background, ``reading`` brings rows back, ``rewriting`` joins files and
takes rows out, ``card`` writes the dataset's page.
"""
