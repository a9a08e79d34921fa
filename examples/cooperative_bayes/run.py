#!/usr/bin/env python3
"""Teaching by Sequential Cooperative Bayesian Inference, with `plait sinkhorn` as the step that teacher and learner share.

A joint matrix has a row for each datum and a column for each hypothesis. In each round both scale it so that the columns
sum up to what the learner believes and the rows to 1/rows; the teacher, who knows which hypothesis holds, draws a datum
by that column, and the learner takes that row, divided by its sum, for the new belief. A plain Bayesian learner, to
compare with, is shown data that are drawn by the column as it was given.

    ./run.py [PLAIT [DATA [HYPOTHESES [ROUNDS]]]]

Source: Wang, Wang, Shafto, "Sequential cooperative Bayesian inference", ICML 2020.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np


def scaled(plait: str, folder: Path, joint: np.ndarray, belief: np.ndarray) -> np.ndarray:
    np.save(folder / "K.npy", joint)
    np.save(folder / "r.npy", np.full(len(joint), 1 / len(joint)))
    np.save(folder / "c.npy", belief)
    words = ["sinkhorn", "K.npy", "--rows", "r.npy", "--columns", "c.npy", "-o", "P.npy", "--tolerance", "1e-10", "--quiet"]
    subprocess.run([plait, *words], cwd=folder, check=True)
    return np.load(folder / "P.npy")


def main() -> None:
    plait = sys.argv[1] if len(sys.argv) > 1 else "plait"
    data, hypotheses, rounds = (int(sys.argv[i]) if len(sys.argv) > i else usual for i, usual in ((2, 60), (3, 40), (4, 12)))
    random = np.random.default_rng(7)
    likelihood = random.random((data, hypotheses)) ** 4 + 0.01
    likelihood /= likelihood.sum(axis=0)
    truth, lessons = 0, 10
    beliefs = np.zeros((rounds + 1, 2))
    with tempfile.TemporaryDirectory() as name:
        for _ in range(lessons):
            cooperative = plain = np.full(hypotheses, 1 / hypotheses)
            beliefs[0] += cooperative[truth], plain[truth]
            for turn in range(1, rounds + 1):
                # What is all but excluded keeps a belief that can be scaled to.
                belief = np.maximum(cooperative, 1e-9)
                plan = scaled(plait, Path(name), likelihood, belief / belief.sum())
                datum = random.choice(data, p=plan[:, truth] / plan[:, truth].sum())
                cooperative = plan[datum] / plan[datum].sum()
                shown = random.choice(data, p=likelihood[:, truth])
                plain = plain * likelihood[shown] / (plain * likelihood[shown]).sum()
                beliefs[turn] += cooperative[truth], plain[truth]
    print(f"round  belief in the truth, on the average of {lessons} lessons: cooperative, plain")
    for turn, (by_teaching, by_chance) in enumerate(beliefs / lessons):
        print(f"{turn:5}  {by_teaching:.4f}  {by_chance:.4f}")


if __name__ == "__main__":
    main()
