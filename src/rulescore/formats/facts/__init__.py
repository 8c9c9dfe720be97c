"""Facts and predictions as other tools write them: lines in, facts or faults out. Nothing here opens a file by itself."""
