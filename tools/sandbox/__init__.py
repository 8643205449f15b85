"""Where commands run: one small protocol, and the backends that keep it."""
