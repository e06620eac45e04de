"""Scores token ids with transformers, as one would without Stash: bf16, sdpa, inference_mode, batches of texts sorted by length
and padded on the right.

`hf_score.py DIR THREADS make` writes a model of Qwen3-0.6B's shape with random weights to DIR and ends. `hf_score.py DIR THREADS`
opens it and answers lines on standard input, `{"texts": [[id, ...], ...], "batch": n}`, each with a line
`{"seconds": s, "scores": [...], "peak_kb": n}`; the seconds are those of scoring alone.
"""

import json
import sys
import time

import torch
from transformers import Qwen3Config, Qwen3ForSequenceClassification

PAD = 151643
LAYERS = 28


def make(folder):
    config = Qwen3Config(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=LAYERS, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, rms_norm_eps=1e-6, rope_theta=1e6, max_position_embeddings=40960,
        rope_parameters={"rope_type": "default", "rope_theta": 1e6}, tie_word_embeddings=True, num_labels=1,
        pad_token_id=PAD, eos_token_id=151645,
    )
    torch.manual_seed(1)
    torch.set_default_dtype(torch.bfloat16)
    model = Qwen3ForSequenceClassification(config)
    with torch.no_grad():
        for name, values in model.named_parameters():
            # What is added to the residual stream is divided by the square root of the number of additions, as GPT-2 begins:
            # without that, random layers multiply any rounding, which trained ones do not.
            added = name.endswith(("o_proj.weight", "down_proj.weight"))
            if "norm" in name:
                values.fill_(1.0)
            elif "embed" in name:
                values.normal_(0.0, 1.0)
            elif name == "score.weight":
                values.normal_(0.0, config.hidden_size**-0.5)
            else:
                values.normal_(0.0, 0.02 / (2 * LAYERS) ** 0.5 if added else 0.02)
    model.save_pretrained(folder)


def open_model(folder):
    model = Qwen3ForSequenceClassification.from_pretrained(
        folder, dtype=torch.bfloat16, attn_implementation="sdpa"
    ).eval()
    rotary = model.model.rotary_emb
    # In bf16 the frequencies of the rotation would be rounded, and every score with them.
    half = torch.arange(0, 128, 2, dtype=torch.float32) / 128
    rotary.inv_freq = 1.0 / 1e6**half
    return model


def score(model, texts, batch):
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    scores = [0.0] * len(texts)
    with torch.inference_mode():
        for begin in range(0, len(order), batch):
            part = order[begin : begin + batch]
            width = max(len(texts[index]) for index in part)
            ids = torch.full((len(part), width), PAD)
            mask = torch.zeros((len(part), width), dtype=torch.long)
            for row, index in enumerate(part):
                length = len(texts[index])
                ids[row, :length] = torch.tensor(texts[index])
                mask[row, :length] = 1
            logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits[:, 0].float().tolist()
            for index, value in zip(part, logits):
                scores[index] = value
    return scores


def peak_kb():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def main():
    folder, threads = sys.argv[1], int(sys.argv[2])
    torch.set_num_threads(threads)
    if sys.argv[3:] == ["make"]:
        make(folder)
        return
    model = open_model(folder)
    for line in sys.stdin:
        request = json.loads(line)
        begin = time.perf_counter()
        scores = score(model, request["texts"], request["batch"])
        seconds = time.perf_counter() - begin
        print(json.dumps({"seconds": seconds, "scores": scores, "peak_kb": peak_kb()}), flush=True)


main()
