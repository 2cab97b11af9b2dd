"""The mutation run: the changes that it makes, the tests that it runs, and the figures that it shows."""

import ast
import json

from research.validation import changes, mutants, mutate, mutation_report

from research import ROOT


def test_mutation_rows_add_up(tmp_path):
    assert mutants.mutation_rows(tmp_path / "none.toml") == []
    path = tmp_path / "mutants.toml"
    path.write_text(
        '[[file]]\nname = "a.py"\npossible = 40\nmutants = 10\nkilled = 9\nexplained = 1\nnot_run = 1\n'
        '[[file]]\nname = "b.py"\npossible = 5\nmutants = 5\nkilled = 3\nexplained = 1\nnot_run = 0\n'
    )
    assert mutants.mutation_rows(path) == [
        ["a.py", "40", "10", "9", "1", "0", "yes"],
        ["b.py", "5", "5", "3", "1", "1", "**no**"],
        ["all", "45", "15", "12", "2", "1", "**no**"],
    ]
    assert mutants.how_many(path).startswith("15 of the 45 possible mutants are counted")
    assert "; 1 of them were not run" in mutants.how_many(path)


def test_mutants_are_changes_that_still_are_code():
    """Every kind of change, on lines that are computed; none of a message or an annotation."""
    found = {(mutant.before, mutant.after) for mutant in changes.mutants("counts.py")}
    for change in [
        ("row[mediator, PULLS] += 1.0", "row[mediator, PULLS] -= 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[mediator, OBSERVED] += 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[PULLS, mediator] += 1.0"),
        ("row[mediator, PULLS] += 1.0", "row[mediator, PULLS] += 0.0"),
        ("row[mediator, PULLS] += 1.0", "pass"),
        ("if not math.isnan(outcome):", "if math.isnan(outcome):"),
        ("if self.levels is None:", "if self.levels is not None:"),
    ]:
        assert change in found
    assert not any("raise" in before or before.startswith(('f"', "@", '"')) for before, _ in found)
    for file in ("counts.py", "assumptions/likelihood.py"):
        source = (changes.PACKAGE / file).read_bytes()
        unchanged = ast.dump(ast.parse(source))
        for mutant in changes.mutants(file)[::7]:
            changed = source[: mutant.start] + mutant.text.encode() + source[mutant.end :]
            assert ast.dump(ast.parse(changed)) != unchanged


def test_every_file_of_the_core_has_near_tests():
    files = [
        str(path.relative_to(changes.PACKAGE)) for name in mutate.CORE for path in changes.PACKAGE.glob(name)
    ]
    assert "counts.py" in files
    for file in files:
        nearest = next(tests for start, tests in mutate.NEAR.items() if file.startswith(start))
        assert mutate.tests_in(ROOT, nearest)
    assert mutate.tests_in(ROOT, mutate.ALL)
    near_counts = "".join((ROOT / test).read_text() for test in mutate.tests_in(ROOT, mutate.NEAR["counts"]))
    assert mutate.UNCHANGED in near_counts


def test_a_file_that_changed_since_it_was_tried_is_named(tmp_path):
    path = tmp_path / "mutants.toml"
    same, gone = changes.source_hash("counts.py"), changes.source_hash("no_such_file.py")
    assert same
    assert not gone
    path.write_text(
        f'[[file]]\nname = "counts.py"\nsource = "{same}"\n[[file]]\nname = "setting.py"\nsource = "0"\n'
    )
    assert mutants.changed_since(path) == "Changed since then: `setting.py`. "


def test_a_reason_without_its_line_is_stale(tmp_path, monkeypatch):
    mutant = changes.mutants("counts.py")[0]
    entry = '[[explained]]\nfile = "counts.py"\nline = {}\nchange = {}\nreason = "None matters."\n'
    explained = tmp_path / "explained.toml"
    explained.write_text(
        entry.format(json.dumps(mutant.before), json.dumps(mutant.after))
        + entry.format('"gone"', '"gone, too"')
    )
    monkeypatch.setattr(mutation_report, "EXPLAINED", explained)
    assert mutation_report.reason(mutant) == "None matters."
    assert mutation_report.stale_reasons() == ["counts.py: gone, too"]
