"""Serving: limits, quotas, login, uploads, static files, settings of the server."""
