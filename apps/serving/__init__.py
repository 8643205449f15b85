"""What every server of clew has around it: who may call, from where, and how much."""
