"""Trains a reward model with TRL's RewardTrainer and prints one line of JSON.

    python trl_train.py JOB.json

The job: {"model": folder, "pairs": file, "out": folder, "batch": pairs of a step, "defaults": true | false}. A line of the pairs
is {"chosen_ids": […], "rejected_ids": […]}: both programs read the same tokens. With "defaults" everything but the batch and
the number of steps is as TRL has it. Without, what changes the numbers is as the job says ("learning_rate") and as Stash computes: fp32, in
the order of the file, nothing computed twice. "epochs" are 1 where the job does not say; "save" names a folder for the model.

Printed: {"seconds": of train(), "losses": of each step, "pairs": trained on, "peak_mb": most resident memory}.
"""

import json
import sys
import time

import torch
from datasets import Dataset
from transformers import PreTrainedTokenizerFast
from trl import RewardConfig, RewardTrainer


class Recorded(RewardTrainer):
    """Keeps each step's loss: the log rounds it."""

    losses = []

    def compute_loss(self, *args, **kwargs):
        result = super().compute_loss(*args, **kwargs)
        loss = result[0] if isinstance(result, tuple) else result
        self.losses.append(loss.item())
        return result


def peak_mb():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 / 1e6
    return None


def main():
    job = json.load(open(sys.argv[1]))
    torch.set_num_threads(job["threads"])
    pairs = [json.loads(line) for line in open(job["pairs"])]
    options = {
        "output_dir": job["out"],
        "use_cpu": True,
        "report_to": [],
        "save_strategy": "no",
        "disable_tqdm": True,
        "num_train_epochs": job.get("epochs", 1),
        "per_device_train_batch_size": job["batch"],
    }
    if not job["defaults"]:
        options |= {
            "bf16": False,
            "gradient_checkpointing": False,
            "train_sampling_strategy": "sequential",
            "learning_rate": job["learning_rate"],
            "logging_steps": 1,
        }
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=job["model"] + "/tokenizer.json", pad_token=job["pad"], eos_token=job["eos"]
    )
    trainer = Recorded(
        model=job["model"],
        args=RewardConfig(**options),
        train_dataset=Dataset.from_list(pairs),
        processing_class=tokenizer,
    )
    begin = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - begin
    if "save" in job:
        trainer.save_model(job["save"])
    print(json.dumps({"seconds": seconds, "losses": Recorded.losses, "pairs": len(pairs), "peak_mb": peak_mb()}))


main()
