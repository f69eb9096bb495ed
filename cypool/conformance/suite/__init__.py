"""The conformance cases as pytest items: ``pytest --pyargs cypool.conformance.suite
--cypool-runtime NAME``.

``cypool check`` does the same with its own report. This is for teams whose CI is pytest, with its
selection, plugins and JUnit.
"""
