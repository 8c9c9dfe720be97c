"""Files, frames and arrays as batches of facts and rows."""
