"""Turn an outcome into a result: comparison with the answer, known faults and readings as
explanations, records of a run.
"""
