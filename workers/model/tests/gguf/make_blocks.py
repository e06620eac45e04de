"""Blocks of each encoding and their values by ggml's own Python package, which the Rust tests compare with.

    pip install gguf==0.19.0
    python workers/model/tests/gguf/make_blocks.py

writes blocks.json beside this file. The bytes are random, but for the scales, which are halves of ordinary size.
"""

import json
import pathlib

import gguf
import numpy as np

# Where halves stand in a block.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "BF16": [], "F16": [],
}


def main():
    random = np.random.default_rng(7)
    blocks = {}
    for name, halves in HALVES.items():
        kind = gguf.GGMLQuantizationType[name]
        values, size = gguf.GGML_QUANT_SIZES[kind]
        if halves:
            data = random.integers(0, 256, (2, size), dtype=np.uint8)
            for row in data:
                for at in halves:
                    row[at:at + 2] = np.frombuffer(np.float16(random.normal()).tobytes(), dtype=np.uint8)
            data = data.reshape(1, -1)
        else:
            data = gguf.quants.quantize(random.normal(size=(1, 16)).astype(np.float32), kind)
        floats = gguf.quants.dequantize(data, kind).reshape(-1)
        # As text that names each float exactly.
        blocks[name] = {"bytes": data.tobytes().hex(), "values": [float(x) for x in floats]}
    path = pathlib.Path(__file__).with_name("blocks.json")
    path.write_text("{\n" + ",\n".join(f' "{k}": {json.dumps(v)}' for k, v in blocks.items()) + "\n}\n")


main()
