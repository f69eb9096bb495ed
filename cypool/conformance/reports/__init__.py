"""The forms that a run's results take: Markdown, JUnit XML, a page, and what changed from one run
to the next.

``summary`` works out what the results say, the others show it. All are pure functions of records.
"""
