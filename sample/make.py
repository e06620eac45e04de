#!/usr/bin/env python3
"""Writes traces.jsonl and ratings.jsonl beside this file: the sample that `stash up` imports at its first start.

    python3 sample/make.py

A support agent of a made-up shop handles 40 conversations. What a model can learn from the ratings:
  - look the order up before doing anything to it: a call that changes something without a look-up is bad;
  - say what was done, with its reference; brushing the customer off, or claiming what no tool did, is bad.
The same seed gives the same files. Ratings are of 32 traces; the other 8 are left for the model to judge.
"""

import json
import pathlib
import random

SEED = 20260801
TRACES = 40
RATED = 32
HERE = pathlib.Path(__file__).parent

SYSTEM = "You are the support agent of Harbour & Pine, a furniture shop. Look an order up before you change anything about it."
NAMES = ["Ada", "Bilal", "Chen", "Dorothea", "Emeka", "Fatima", "Gus", "Hana", "Ivo", "Jamila", "Kofi", "Lena", "Mateo", "Noor"]
ITEMS = ["oak desk", "reading lamp", "linen sofa", "bookshelf", "dining chair", "wool rug", "bed frame", "mirror"]

# opening words of the customer, the tool that solves it, its result, and what a good agent says at the end
CASES = [
    ("My {item} arrived with a broken leg. I want my money back.", "issue_refund", "refund {ref} issued",
     "I am sorry about the broken {item}, {name}. I checked order {order} and issued refund {ref}; the money is with you in three days."),
    ("Where is my {item}? Order {order} should have been here last week.", "open_claim", "claim {ref} opened with the carrier",
     "I checked order {order}, {name}: the carrier lost track of it on Monday. I opened claim {ref} and will write to you by Friday."),
    ("Please send order {order} to my office instead.", "change_address", "address changed, confirmation {ref}",
     "Done, {name}: I checked that order {order} has not left yet and changed its address. The confirmation is {ref}."),
    ("I ordered the {item} twice by mistake, please cancel one. It is order {order}.", "cancel_order", "order cancelled, note {ref}",
     "I checked order {order} and cancelled it, {name}; your other {item} is still on its way. The note is {ref}."),
    ("You charged me twice for the {item}.", "issue_refund", "refund {ref} issued",
     "You are right, {name}, I checked order {order} and there were two charges. I issued refund {ref} for the second one."),
    ("Can I have the invoice for order {order} again?", "send_invoice", "invoice {ref} sent",
     "Of course, {name}: I checked order {order} and sent invoice {ref} to the address on it."),
]

BRUSH_OFF = [
    "That is not our problem. Read the terms.",
    "I cannot help you with that. Ask someone else.",
    "You probably did something wrong yourself. There is nothing to do here.",
    "We are very busy. Try again some other day.",
]
CLAIMS = [
    "All done, everything is solved, do not worry about it any more!",
    "It is fixed now, trust me. No need to check.",
    "I am sure somebody has taken care of it already. Bye!",
]
THANKS = ["Thank you, that was quick.", "Great, thanks for checking.", "Thanks!"]
ANGER = ["That does not help me at all.", "Are you serious?", "You did not even look at my order!"]


def call(tool, call_id, **arguments):
    return {"role": "assistant", "content": "", "tool_name": tool, "tool_input": arguments, "tool_call_id": call_id}


def result(call_id, tool, content):
    return {"role": "tool", "content": content, "tool_name": tool, "tool_call_id": call_id}


def conversation(number, rng):
    """One trace, and the rating of each of its actions: (index of the step, rating, comment)."""
    opening, tool, done, closing = CASES[number % len(CASES)]
    facts = {
        "name": rng.choice(NAMES),
        "item": rng.choice(ITEMS),
        "order": f"HP-{rng.randrange(1000, 9999)}",
        "ref": f"{rng.choice('ABCDEFGH')}{rng.randrange(100, 999)}",
    }
    look_up = rng.random() < 0.75
    finish = rng.choices(["good", "brush-off", "claim"], [6, 2, 2])[0]
    steps = [{"role": "system", "content": SYSTEM},
             {"role": "user", "content": opening.format(**facts)}]
    ratings = []

    def action(step, rating, comment=None):
        ratings.append((len(steps), rating, comment))
        steps.append(step)

    if rng.random() < 0.25:
        action({"role": "assistant", "content": "I will look into it at once. May I have the order's number?"}, 1)
        steps.append({"role": "user", "content": f"It is {facts['order']}."})
    if look_up:
        action(call("find_order", "c1", order=facts["order"]), 1)
        steps.append(result("c1", "find_order", f"{facts['order']}: {facts['item']}, {facts['name']}, paid"))
    if finish == "good" or (finish == "claim" and not look_up) or rng.random() < 0.2:
        comment = None if look_up else "Changed something without looking the order up"
        action(call(tool, "c2", order=facts["order"]), 1 if look_up else -1, comment)
        steps.append(result("c2", tool, done.format(**facts)))
    if finish == "good":
        if look_up:
            action({"role": "assistant", "content": closing.format(**facts)}, 1, rng.choice([None, "Says what was done, with its reference"]))
            steps.append({"role": "user", "content": rng.choice(THANKS)})
        else:
            action({"role": "assistant", "content": rng.choice(CLAIMS)}, -1, "Claims more than it knows")
            steps.append({"role": "user", "content": rng.choice(ANGER)})
    else:
        words = BRUSH_OFF if finish == "brush-off" else CLAIMS
        action({"role": "assistant", "content": rng.choice(words)}, -1, rng.choice([None, "No help to the customer"]))
        steps.append({"role": "user", "content": rng.choice(ANGER)})
    trace = {
        "id": f"sample-{number + 1:02}",
        "metadata": {"agent": "harbour-support", "session": f"s{number // 4 + 1}", "tags": ["sample"]},
        "steps": steps,
    }
    return trace, ratings, finish == "good" and look_up


def main():
    rng = random.Random(SEED)
    made = [conversation(number, rng) for number in range(TRACES)]
    rated = set(rng.sample(range(TRACES), RATED))
    with open(HERE / "traces.jsonl", "w", encoding="utf-8") as file:
        for trace, _, _ in made:
            file.write(json.dumps(trace, ensure_ascii=False) + "\n")
    with open(HERE / "ratings.jsonl", "w", encoding="utf-8") as file:
        for number in sorted(rated):
            trace, ratings, solved = made[number]
            lines = [{"trace": trace["id"], "rating": 1 if solved else -1}]
            for step, rating, comment in ratings:
                lines.append({"trace": trace["id"], "step": step, "rating": rating, **({"comment": comment} if comment else {})})
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
