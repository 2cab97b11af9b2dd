"""`truant tell --csv`: a verdict on every line, or the whole file is refused before anything is told."""

import csv

import pytest

from tests.live.commands import CREATE, in_a_folder, printed, refused, run, settled_experiment  # noqa: F401
from truant.cli.live import outcomes_file
from truant.errors import Unavailable
from truant.live.experiment import Experiment

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.fixture
def mail(in_a_folder):  # noqa: F811
    """Ids of ten decisions, the last of which have the keys a and b."""
    run(*CREATE, "--mediator-levels", "closed,opened", "--assume", "mar")
    ids = [one["id"] for one in printed("ask", "mail", "--n", "8")["decisions"]]
    return ids + [printed("ask", "mail", "--key", key)["decisions"][0]["id"] for key in ("a", "b")]


def told(folder, text, *options, code=0):
    (folder / "outcomes.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return printed("tell", "mail", "--csv", "outcomes.csv", *options, code=code)


def rows():
    run("export", "mail", "--out", "rows.csv", "--all")
    with open("rows.csv") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def test_every_line_has_a_verdict(mail, in_a_folder):  # noqa: F811
    run("tell", "mail", mail[3], "--outcome", "1")
    text = (
        "id,mediator,outcome,at\n"
        f"{mail[0]},opened,1,\n"
        f"{mail[1]},closed,,\n"
        f"{mail[2]},,missing,\n"
        f"{mail[3]},,1,\n"
        f"{mail[4]},,,\n"
        f"{mail[5]},,2,\n"
        f"{mail[6]},,yes,\n"
        f"{mail[7]},,1,1999-01-01\n"
        "nosuch,,1,\n"
        f"{mail[0]},,0,\n"
    )
    found = told(in_a_folder, text, "--verdicts", "verdicts.csv", code=1)
    verdicts = [(one["line"], one["verdict"]) for one in found["verdicts"]]
    expected = ["accepted", "accepted", "accepted", "repeated", "blank", *["refused"] * 5]
    assert verdicts == list(enumerate(expected, start=2))
    assert found["counts"] == {"accepted": 3, "repeated": 1, "late": 0, "blank": 1, "refused": 5}
    assert found["lines"] == 10
    refusals = [one["refusal"] for one in found["verdicts"][5:]]
    for refusal, words in zip(
        refusals,
        [
            "one of the levels 0, 1",
            "or the word missing, got 'yes'",
            "before the decision",
            "no decision",
            "already",
        ],
        strict=True,
    ):
        assert words in refusal
    with open("verdicts.csv", newline="") as file:
        written = list(csv.DictReader(file))
    as_written = [{name: "" if v is None else str(v) for name, v in one.items()} for one in found["verdicts"]]
    assert written == as_written
    kept = rows()
    assert (kept[mail[0]]["mediator"].strip('"'), kept[mail[0]]["outcome"]) == ("opened", "1.0")
    assert kept[mail[1]]["outcome"] == kept[mail[2]]["outcome"] == ""
    assert kept[mail[5]]["outcome"] == ""


def test_for_people(mail, in_a_folder):  # noqa: F811
    (in_a_folder / "outcomes.csv").write_text(f"id,outcome\n{mail[0]},1\nnosuch,1\n")
    result = run("tell", "mail", "--csv", "outcomes.csv", "--verdicts", "v.csv", code=1)
    assert result.stdout.splitlines() == [
        f"line 2  {mail[0]}  accepted",
        "line 3  nosuch  refused: There is no decision with the id 'nosuch'; ids are what ask gave.",
        "2 lines: 1 accepted, 1 refused.",
        "Wrote v.csv",
    ]
    (in_a_folder / "outcomes.csv").write_text(f"id,outcome\n{mail[0]},1\n")
    assert run("tell", "mail", "--csv", "outcomes.csv").stdout.splitlines()[-1] == "1 line: 1 repeated."


def test_of_a_long_file_only_refusals_are_shown(mail, in_a_folder):  # noqa: F811
    lines = [f"{mail[0]},1"] * 100 + ["nosuch,1"] * 60
    (in_a_folder / "outcomes.csv").write_text("\n".join(["id,outcome", *lines]))
    shown = run("tell", "mail", "--csv", "outcomes.csv", code=1).stdout.splitlines()
    assert len(shown) == 52
    assert shown[0].startswith("line 102  nosuch  refused")
    assert shown[-2] == "10 more lines were refused; --verdicts and --json have all."
    assert shown[-1] == "160 lines: 1 accepted, 99 repeated, 60 refused."


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_spellings_of_a_file(mail, in_a_folder, end, delimiter, encoding):  # noqa: F811
    lines = [
        ["ID", ' "outcome"'.strip(), "Key", "followed_up"],
        ["", '"1"', '" a "', "No"],
        [],
        [mail[0], "0", "", ""],
    ]
    text = end.join(delimiter.join(line) for line in lines) + end
    found = told(in_a_folder, text.encode(encoding))
    assert [(one["line"], one["id"], one["verdict"]) for one in found["verdicts"]] == [
        (2, mail[8], "accepted"),
        (4, mail[0], "accepted"),
    ]


def test_lines_are_counted_as_an_editor_counts_them(mail, in_a_folder):  # noqa: F811
    found = told(in_a_folder, f'id,outcome\n"{mail[0]}\n",1\n\nnosuch,1\n', code=1)
    assert [(one["line"], one["verdict"]) for one in found["verdicts"]] == [(2, "accepted"), (5, "refused")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"", "is empty; expected are id or key"),
        (b"\n\n", "is empty; expected are id or key"),
        (b"id,outcom\n%s,1\n", "Unknown column in 'outcomes.csv': 'outcom'; did you mean 'outcome'?"),
        (b"id,outcome,name\n%s,1,x\n", "--ignore-columns leaves out others"),
        (b"id,outcome,outcome\n%s,1,1\n", "has the column 'outcome' twice"),
        (b"outcome\n1\n", "expected are id or key, mediator or outcome or both"),
        (b"id,at\n%s,\n", "expected are id or key, mediator or outcome or both"),
        (
            b"id,outcome\n%s,1\n%s\n",
            "line 3: 2 fields are expected, as in the header, got 1; nothing was told.",
        ),
        (
            b"id,outcome\n%s,1\n%s,0,5\n",
            "line 3: 2 fields are expected, as in the header, got 3; nothing was told.",
        ),
        (b'id,outcome\n%s,1\n"%s,0\n', "line 3: unexpected end of data; nothing was told."),
        (b"id,outcome\n%s,\xff\n", "it is not UTF-8"),
        ("id,outcome\n%s,1\n".encode("utf-16"), "it is not UTF-8"),
    ],
)
def test_a_file_that_is_not_what_was_expected_is_refused_whole(mail, in_a_folder, text, sentence):  # noqa: F811
    (in_a_folder / "outcomes.csv").write_bytes(text.replace(b"%s", mail[0].encode()))
    assert sentence in refused("tell", "mail", "--csv", "outcomes.csv")
    assert rows()[mail[0]]["outcome"] == ""  # line 2 was not told either


def test_files_that_are_none(mail, in_a_folder):  # noqa: F811
    assert (
        refused("tell", "mail", "--csv", "nosuch.csv")
        == "Cannot read 'nosuch.csv': No such file or directory."
    )
    assert refused("tell", "mail", "--csv", ".") == "Cannot read '.': Is a directory."
    (in_a_folder / "outcomes.csv").write_text(f"id,outcome\n{mail[0]},1\n")
    same = refused("tell", "mail", "--csv", "outcomes.csv", "--verdicts", "outcomes.csv")
    assert "it is an input of this command" in same or "is the input" in same
    assert "must end in .csv" in refused(
        "tell", "mail", "--csv", "outcomes.csv", "--verdicts", "verdicts.txt"
    )
    assert "did you mean 'mail'?" in refused("tell", "mial", "--csv", "outcomes.csv")
    assert rows()[mail[0]]["outcome"] == ""


def test_a_header_alone_tells_nothing(mail, in_a_folder):  # noqa: F811
    found = told(in_a_folder, "id,outcome\n")
    assert (found["lines"], found["verdicts"]) == (0, [])
    assert "no lines below its header" in run("tell", "mail", "--csv", "outcomes.csv").stdout


def test_other_columns_can_be_left_out(mail, in_a_folder):  # noqa: F811
    found = told(in_a_folder, f"id,name,outcome,name\n{mail[0]},Ann,1,Ann\n", "--ignore-columns")
    assert found["counts"]["accepted"] == 1
    assert rows()[mail[0]]["outcome"] == "1.0"


def test_lines_go_in_bulk(mail, in_a_folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr(outcomes_file, "CHUNK", 4)
    sizes = []
    tell_many = Experiment.tell_many

    def counted(self, tells):
        several = list(tells)
        sizes.append(len(several))
        return tell_many(self, several)

    monkeypatch.setattr(Experiment, "tell_many", counted)
    text = "id,outcome\n" + "".join(f"{id},{i % 2}\n" for i, id in enumerate(mail))
    assert told(in_a_folder, text)["counts"]["accepted"] == 10
    assert sizes == [4, 4, 2]
    kept = rows()
    assert [kept[id]["outcome"] for id in mail] == ["0.0", "1.0"] * 5


def test_a_store_that_fails_on_the_way_says_what_is_kept(mail, in_a_folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr(outcomes_file, "CHUNK", 4)
    tell_many, calls = Experiment.tell_many, []

    def failing(self, tells):
        calls.append(1)
        if len(calls) == 2:
            raise Unavailable("Cannot use the store: the disk is full.")
        return tell_many(self, tells)

    monkeypatch.setattr(Experiment, "tell_many", failing)
    (in_a_folder / "outcomes.csv").write_text("id,outcome\n" + "".join(f"{id},1\n" for id in mail))
    result = run("tell", "mail", "--csv", "outcomes.csv", code=2)
    assert result.stderr == (
        "Cannot use the store: the disk is full. Lines up to 5 were told and are kept; tell the same file again for "
        "the others.\n"
    )
    again = printed("tell", "mail", "--csv", "outcomes.csv")
    assert again["counts"] == {"accepted": 6, "repeated": 4, "late": 0, "blank": 0, "refused": 0}


def test_late_outcomes_are_kept_beside(in_a_folder):  # noqa: F811
    asked = settled_experiment()
    run("close-windows", "mail")
    found = told(in_a_folder, f"id,outcome\n{asked[0].id},1\n")
    assert found["counts"]["late"] == 1
    assert rows()[asked[0].id]["late_outcome"] == "1.0"


def test_answers_to_follow_ups_from_the_list(in_a_folder):  # noqa: F811
    settled_experiment()
    picked = printed("follow-up", "mail", "--n", "3", "--out", "list.csv")["follow_ups"]
    with open("list.csv", newline="") as file:
        listed = list(csv.DictReader(file))
    assert [one["id"] for one in listed] == [one["id"] for one in picked]
    answers = ["1", "missing", ""]
    with open("list.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [*listed[0], "outcome"])
        writer.writeheader()
        writer.writerows(row | {"outcome": answer} for row, answer in zip(listed, answers, strict=True))
    found = printed("tell", "mail", "--csv", "list.csv", "--followed-up")
    assert [one["verdict"] for one in found["verdicts"]] == ["accepted", "accepted", "blank"]
    kept = rows()
    assert [kept[one["id"]]["followed_up"] for one in picked] == ["True", "True", "False"]
    assert [kept[one["id"]]["outcome"] for one in picked] == ["1.0", "", ""]
    (in_a_folder / "outcomes.csv").write_text(f"id,mediator\n{picked[0]['id']},opened\n")
    assert "expected are id or key, outcome" in refused(
        "tell", "mail", "--csv", "outcomes.csv", "--followed-up"
    )
    found = told(
        in_a_folder, f"id,outcome,followed_up\n{picked[2]['id']},0,Yes\n{picked[1]['id']},0,perhaps\n", code=1
    )
    assert [one["verdict"] for one in found["verdicts"]] == ["accepted", "refused"]
    assert "followed_up must be true or false, got 'perhaps'" in found["verdicts"][1]["refusal"]
