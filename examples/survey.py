"""Make survey.csv: satisfied customers do not answer; and survey-followed.csv: those of the plan were called.

The score is what the customer thinks of the support, from 0 to 100. On the phone, those who were helped at once
(again = no) and are satisfied hardly ever answer the survey: missingness depends on mediator and outcome together.
"""

from pathlib import Path

import numpy as np

import truant

HERE = Path(__file__).parent
rng = np.random.default_rng(4)
rows = 1500
phone = rng.integers(0, 2, rows) == 1
again = rng.random(rows) < np.where(phone, 0.3, 0.4)
score = np.where(again, 42.0, np.where(phone, 73.0, 68.0)) + 16 * rng.standard_normal(rows)
score = np.clip(np.round(score), 0, 100).astype(int)
answers = np.where(phone & ~again, np.where(score > 62, 0.08, 0.9), 0.6)
answered = rng.random(rows) < answers


def write(name, known, called=None):
    """A line for each customer, with the score where it is known."""
    lines = ["customer,support,again,score" + ("" if called is None else ",called")]
    for i in range(rows):
        words = [f"C{i + 1:05}", "phone" if phone[i] else "chat", "yes" if again[i] else "no"]
        words.append(str(score[i]) if known[i] else "")
        lines.append(",".join(words + ([] if called is None else ["yes" if called[i] else "no"])))
    (HERE / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


write("survey.csv", answered)
plan = truant.plan(
    HERE / "survey.csv",
    arm="support",
    mediator="again",
    outcome="score",
    range=(0, 100),
    id="customer",
    seed=1,
)
listed = set(plan.rows()["id"].to_pylist())
called = np.array([f"C{i + 1:05}" in listed for i in range(rows)])
write("survey-followed.csv", answered | called, called)
