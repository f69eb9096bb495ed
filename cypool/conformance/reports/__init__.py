"""The forms that a run's results take: Markdown, JUnit XML, a page, and what changed from one run to the next.

Apart from ``report``, which works out what the results say: here is how it is shown. All are pure functions of records.
"""
