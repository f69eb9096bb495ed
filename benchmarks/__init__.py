"""cypool beside its peers: the same work, the same process, turn by turn.

``python -m benchmarks --help`` says how.

Numbers of threads are given by the races, so the environment must not give others: libraries read
it once, when they are loaded.
"""

import os

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.pop(name, None)
