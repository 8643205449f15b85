"""`clew demo`: a plan on real data, killed in the middle and resumed."""
