"""What ONNX says about the operators, as data; ``resolve`` finds the version that a model's opset means."""
