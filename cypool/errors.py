"""Define the errors that cypool raises when a call does not fit the standard.

The module imports nothing, so that each layer can raise them.
"""


class SpecError(Exception):
    """A call, a model or a data file that does not fit the operator's specification.

    Never raised itself: one of its two kinds is, so that ``except ValueError`` and
    ``except TypeError`` work as users expect.
    """


class SpecValueError(SpecError, ValueError):
    """A value, a shape, an attribute or an opset that the operator version does not allow."""


class SpecTypeError(SpecError, TypeError):
    """An element type, or a Python type, that the operator version does not allow."""
