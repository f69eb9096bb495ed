"""Read lists of expected deviations, hold them against a run to the letter, bring them up to date.

Verdicts are about the standard alone: a list changes what a run's exit code says, and no verdict.
"""
