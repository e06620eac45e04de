"""Logits of SmolLM2 by transformers' own reading of the GGUF file, which the Rust test compares with. Second step, after
llama_cpp.mjs:

    pip install torch==2.13.0 transformers==5.24.0 gguf==0.19.0
    python workers/trainer/tests/smollm2/make_golden.py SmolLM2-135M-Instruct.Q4_1.gguf /tmp/llama_cpp.json

writes golden.json beside this file. For each text: its segments, llama.cpp's token ids, the logits of some tokens after the
last one (fp32, weights dequantised), and llama.cpp's log probabilities of the likeliest. For all of them: how far from these
logits transformers itself is in bfloat16, rotating in fp32.
"""

import json
import math
import pathlib
import sys

import torch
import transformers

# Tokens all over the vocabulary, beside the likeliest.
PROBES = [0, 1, 2, 17, 198, 1000, 5000, 12345, 30000, 49151]
LIKELIEST = 6


def in_bfloat16(model, texts):
    """The farthest that a logit of a text is from the golden one."""
    inv_freq = model.model.rotary_emb.inv_freq.clone()
    model = model.to(torch.bfloat16)
    # In bf16 the angles would be rounded, which no careful program does.
    model.model.rotary_emb.inv_freq = inv_freq
    farthest = 0.0
    for text in texts:
        with torch.no_grad():
            hidden = model.model(input_ids=torch.tensor([text["ids"]])).last_hidden_state[0, -1]
            logits = (model.lm_head.weight @ hidden).float()
        farthest = max([farthest, *(abs(logits[token].item() - logit) for token, logit in text["logits"])])
    return farthest


def main():
    path = pathlib.Path(sys.argv[1])
    model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    texts = []
    for text in json.loads(pathlib.Path(sys.argv[2]).read_text()):
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([text["ids"]])).logits[0, -1]
        tokens = sorted({*PROBES, *logits.topk(LIKELIEST).indices.tolist()})
        likely = [[token, math.log(p)] for token, p in text["probabilities"]]
        ours = torch.log_softmax(logits.double(), -1)
        print(len(text["ids"]), "tokens; llama.cpp differs by", max(abs(p - ours[t].item()) for t, p in likely))
        texts.append({
            "segments": text["segments"],
            "ids": text["ids"],
            "logits": [[token, logits[token].item()] for token in tokens],
            "llama_cpp_log_probabilities": likely,
        })
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    head = json.dumps(versions | {"bfloat16_farthest": in_bfloat16(model, texts)})[:-1]
    lines = ",\n".join(json.dumps(text, ensure_ascii=False) for text in texts)
    pathlib.Path(__file__).with_name("golden.json").write_text(f'{head}, "texts": [\n{lines}\n]}}\n')


main()
