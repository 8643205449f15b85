"""The nodes of the graphs: one file per node, a function from state to update."""
