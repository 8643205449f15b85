"""The browser tool: a real Chromium driven through Playwright, its page as text that a model can act on."""
