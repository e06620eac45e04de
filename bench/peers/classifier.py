"""Reward models as transformers opens them: gives a language model a head, or scores pairs.

`classifier.py head BASE OUT PAD SEED` writes BASE with a new score head, as transformers initialises it, and the id of its pad token
to OUT. `classifier.py margins MODEL PAIRS THREADS` reads lines `{"chosen_ids": […], "rejected_ids": […]}` and prints one line of JSON,
the score of the chosen side minus that of the rejected one for each pair, in fp32, each text by itself.
"""

import json
import pathlib
import shutil
import sys

import torch
from transformers import AutoModelForSequenceClassification


def head(base, out, pad, seed):
    torch.manual_seed(int(seed))
    model = AutoModelForSequenceClassification.from_pretrained(base, num_labels=1, dtype=torch.float32)
    model.config.pad_token_id = int(pad)
    model.save_pretrained(out)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(pathlib.Path(base) / name, pathlib.Path(out) / name)


def margins(folder, pairs, threads):
    torch.set_num_threads(int(threads))
    model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    scores = {}

    def score(ids):
        # A text may stand in many pairs.
        if (key := tuple(ids)) not in scores:
            with torch.inference_mode():
                scores[key] = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, 0].item()
        return scores[key]

    lines = [json.loads(line) for line in open(pairs)]
    print(json.dumps([score(pair["chosen_ids"]) - score(pair["rejected_ids"]) for pair in lines]))


{"head": head, "margins": margins}[sys.argv[1]](*sys.argv[2:])
