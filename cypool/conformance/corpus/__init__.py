"""Write cases as files for harnesses in any language, read them back, and judge the outputs that a
harness wrote.
"""
