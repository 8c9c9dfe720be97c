"""Finds rules that hold in the facts, or nearly so, with the counts that an audit gives."""
