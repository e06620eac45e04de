"""Whether a checkpoint gives transformers the scores that Stash serves, with the texts tokenised there.

    pip install torch==2.13.0 transformers==5.24.0
    stash models weights MODEL -o model.tar.gz && tar xzf model.tar.gz
    STASH_URL=http://localhost:8080 STASH_API_KEY=… python bench/peers/checkpoint.py MODEL model

Takes the pairs the model was trained and tested on (`GET /export/pairs`), scores every text with
AutoModelForSequenceClassification in fp32, each by itself, and looks for the score among those that Stash serves for the text's
trace: its own for whole traces, else those of its actions. Ends with 1 when a text has no score within 1e-4.
"""

import json
import os
import sys
import urllib.request

import torch
import transformers

NEAR = 1e-4
TEXTS_MAX = 400


def get(path):
    request = urllib.request.Request(
        os.environ["STASH_URL"].rstrip("/") + "/api/v1/rm/" + path,
        headers={"Authorization": "Bearer " + os.environ["STASH_API_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        return answer.read().decode()


def served(model, trace):
    detail = json.loads(get("traces/" + trace))
    of_model = lambda scores: [score["score"] for score in scores if score["reward_model_id"] == model]
    return {"trace": of_model(detail["scores"]), "action": of_model(detail["action_scores"])}


def main():
    model_id, folder = sys.argv[1:3]
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
    texts = {}
    for line in get("export/pairs?reward_model_id=" + model_id).splitlines():
        pair = json.loads(line)
        for text, trace in [(pair["chosen"], pair["trace_ids"][0]), (pair["rejected"], pair["trace_ids"][-1])]:
            texts[text] = (trace, pair["granularity"])
    known, farthest, cut = {}, 0.0, 0
    for text, (trace, granularity) in list(texts.items())[:TEXTS_MAX]:
        if trace not in known:
            known[trace] = served(model_id, trace)
        whole = len(tokenizer(text, add_special_tokens=False).input_ids)
        inputs = tokenizer(text, truncation=True, add_special_tokens=False, return_tensors="pt")
        cut += whole > inputs.input_ids.shape[1]
        with torch.no_grad():
            score = model(**inputs).logits[0, 0].item()
        farthest = max(farthest, min((abs(score - ours) for ours in known[trace][granularity]), default=float("inf")))
    count = min(len(texts), TEXTS_MAX)
    print(json.dumps({"texts": count, "cut_to_the_limit": cut, "largest_difference": farthest, "near": NEAR}))
    sys.exit(0 if count and farthest <= NEAR else 1)


main()
