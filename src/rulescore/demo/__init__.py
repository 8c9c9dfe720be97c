"""A first look at the package, on data made on the spot."""
