"""Files as other tools write them: lines in, facts or faults out. Nothing here opens a file or knows what facts are for."""
