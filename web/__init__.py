"""Serving: settings, limits, quotas, login, uploads, static files, and Gradio's pages."""
