"""Axioms of OWL and shapes of SHACL as rules."""
