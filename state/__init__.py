"""What flows through the graphs: specs, state, reducers, settings, errors. Imports nothing else of clew."""
