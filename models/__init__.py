"""Chat models: OpenAI-compatible, scripted, recorded and replayed."""
