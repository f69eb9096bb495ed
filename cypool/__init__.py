"""The ONNX pooling operators: exact, fast, every version and type."""
