"""The conformance cases as pytest items: ``pytest --pyargs cypool.conformance.suite --cypool-runtime NAME``.

Apart from ``cypool check``, which does the same with its own report: for teams whose CI is pytest, with its selection, plugins and JUnit.
"""
