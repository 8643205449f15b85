"""The web without a browser: search, pages as text, and the guard of every tool that takes a URL."""
