# cython: boundscheck=False, wraparound=False, cdivision=True
"""Reads and writes memory and does nothing else with it, as fast as plain loops go.

Apart from Python because only compiled loops come near the memory's speed.
"""

from cython.parallel cimport prange
from libc.stdint cimport uint64_t


cdef inline uint64_t total(const uint64_t* words, Py_ssize_t n) noexcept nogil:
    cdef uint64_t a = 0, b = 0, c = 0, d = 0
    cdef Py_ssize_t i, quarter = n // 4
    for i in range(quarter):  # four streams of additions, so that latency hides nothing
        a += words[4 * i]
        b += words[4 * i + 1]
        c += words[4 * i + 2]
        d += words[4 * i + 3]
    for i in range(4 * quarter, n):
        a += words[i]
    return a + b + c + d


cdef inline void fill(uint64_t* words, Py_ssize_t n, uint64_t value) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = value


def read(const uint64_t[::1] words, int threads):
    """The sum of all words, each thread taking one stretch of them."""
    cdef Py_ssize_t n = words.shape[0], i
    cdef uint64_t result = 0
    if n == 0:
        return 0
    for i in prange(threads, nogil=True, num_threads=threads, schedule="static", use_threads_if=threads > 1):
        result += total(&words[n * i // threads], n * (i + 1) // threads - n * i // threads)
    return result


def write(uint64_t[::1] words, int threads):
    """Set all words, each thread one stretch of them."""
    cdef Py_ssize_t n = words.shape[0], i
    if n == 0:
        return
    for i in prange(threads, nogil=True, num_threads=threads, schedule="static", use_threads_if=threads > 1):
        fill(&words[n * i // threads], n * (i + 1) // threads - n * i // threads, <uint64_t>i)
