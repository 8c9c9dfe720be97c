"""Files of other tools: rules in, rules out, and facts in. One module a tool, found through entry points."""
