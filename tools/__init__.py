"""Tools: one file per tool, each a LangChain `BaseTool`."""
