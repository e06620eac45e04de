"""Scores of the parity models by Hugging Face transformers, which the Rust tests compare with.

    cargo run -p stash-model --example parity_models -- /tmp/parity
    pip install torch==2.13.0 transformers==5.24.0
    python workers/trainer/tests/parity/make_golden.py /tmp/parity

writes qwen3.json, qwen2.json and llama.json beside this file. Each sequence is scored by itself, in fp32. The models pool at the
last token that is not the pad token, so they are told that a token no sequence has is the pad token.
"""

import json
import pathlib
import sys

import torch
import transformers

UNUSED_ID = 299


def scores(folder, sequences):
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    model.eval()
    model.config.pad_token_id = UNUSED_ID
    with torch.no_grad():
        return [model(input_ids=torch.tensor([ids])).logits[0, 0].item() for ids in sequences]


def main():
    models = pathlib.Path(sys.argv[1])
    here = pathlib.Path(__file__).parent
    sequences = json.loads((models / "sequences.json").read_text())
    for family in ["qwen3", "qwen2", "llama"]:
        values = scores(models / family, sequences)
        golden = {
            "torch": torch.__version__,
            "transformers": transformers.__version__,
            "std": torch.tensor(values).std().item(),
            "scores": values,
        }
        (here / f"{family}.json").write_text(json.dumps(golden, indent=1) + "\n")
        print(family, "std", golden["std"])


main()
