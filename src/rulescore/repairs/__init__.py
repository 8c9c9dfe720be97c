"""Repairs of tables, judged one by one."""
