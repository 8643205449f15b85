"""Prompts: one Markdown file per prompt, and a strict loader."""
