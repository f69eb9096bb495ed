"""A runtime whose library takes the process with it as soon as it is loaded."""

import os

os.write(2, b"libfake.so: cannot open\n")
os.abort()
