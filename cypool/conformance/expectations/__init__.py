"""Lists of what a runtime is expected to do other than conform: read, held against a run to the letter, and brought up to date.

Apart from the verdicts, which are about the standard alone: a list changes what a run's exit code says, and no verdict.
"""
