"""The command line ``agl1k``."""
