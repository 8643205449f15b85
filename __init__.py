"""clew: LLM agents and plans as explicit LangGraph state graphs, where every step is a checkpoint on a thread."""
