"""What the agents of the demo run in their workspace: plain programs without anything of clew."""
