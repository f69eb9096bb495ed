"""One small adapter a runtime; each module here but ``base`` and ``table`` is one, with a function
``connect(target)``.
"""
