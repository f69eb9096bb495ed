"""Arithmetic on arrays, compiled: the same sources built for several CPU levels, one package a
build (see ``variants``).
"""
