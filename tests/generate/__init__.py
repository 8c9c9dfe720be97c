"""Settings made at random, to compare engines with the oracle on."""
