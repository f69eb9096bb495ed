"""Instruction counts of the inner loops, held against recorded ones:
``python -m benchmarks.guard``.

Apart from the races because counts do not depend on who else uses the machine, so they can be a
gate where times cannot.
"""
