"""Tell PyInstaller what the compiled plug-in for ONNX Runtime imports, which it can't see for
itself.
"""

hiddenimports = ["cypool.ort.bfloat", "cypool.ort.rows", "cypool.ort.settings"]
