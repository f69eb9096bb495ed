"""Hold a runtime, any runtime, to what the spec says: cases from its data, exact answers, workers,
verdicts, reports.

Apart from the library, which it never imports: cypool's own operators are judged by name, like
anybody's.
"""
