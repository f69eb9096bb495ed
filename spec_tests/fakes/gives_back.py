"""A program that speaks the worker's protocol, without cypool, and whose only answer is the
absolute value of the first input.
"""

import base64
import json
import sys

SIGN_BYTES = {"float": 4, "double": 8, "float16": 2, "bfloat16": 2}


def absolute(tensor):
    size = SIGN_BYTES[tensor["type"]]
    data = bytearray(base64.b64decode(tensor["data"]))
    data[size - 1 :: size] = bytes(byte & 0x7F for byte in data[size - 1 :: size])
    return {**tensor, "name": "Y", "data": base64.b64encode(data).decode()}


for line in sys.stdin:
    request = json.loads(line)
    if request["cmd"] == "stop":
        break
    if request["cmd"] == "describe":
        answer = {"name": "gives-back", "version": "1.0", "protocol": 1}
    else:
        answer = {"id": request["id"], "status": "ok", "outputs": [absolute(request["inputs"][0])]}
    print(json.dumps(answer), flush=True)
