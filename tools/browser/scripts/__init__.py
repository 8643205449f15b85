"""The scripts that run inside pages; `library` joins them from their files."""
