"""Batch rescoring: the same numbers as `score`, the same bytes however it runs, and nothing lost on the way."""

from __future__ import annotations

import json
import logging
import random
import resource
import shutil
import signal
import subprocess
import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keizerframe as kf
from keizerframe.batch import door
from keizerframe.batch.manifest import OutFolder
from keizerframe.cli import main
from keizerframe.datasets import dataset_folder
from keizerframe.errors import BatchError
from keizerframe.standings import STANDINGS_SCHEMA
from tests import batch_proofs
from tests.batch_proofs import bytes_of, make_source, stamps_of

RULES = ["knsb", "freekeizer-0.5"]
WAAGTOREN = dataset_folder() / "waagtoren"


def standings(done: kf.Rescored) -> pd.DataFrame:
    return pd.read_parquet(done.standings).sort_values(["season", "rules", "place"]).reset_index(drop=True)


def scored(season: kf.Season, rules=RULES) -> pd.DataFrame:
    return kf.score(season, rules).sort_values(["season", "rules", "place"]).reset_index(drop=True)


def write(path: Path, **columns) -> Path:
    """Write a parquet file from columns, Arrow arrays or lists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def games(*labels: str, **more) -> dict:
    """Return the columns of seasons in which a beats b and c is free."""
    rows = len(labels)
    columns = {
        "season": [label for label in labels for _ in range(2)],
        "round": pa.array([1, 1] * rows, pa.int16()),
        "white": ["a", "c"] * rows,
        "black": ["b", None] * rows,
        "result": ["1-0", "bye"] * rows,
    }
    columns |= more
    return {name: values for name, values in columns.items() if values is not None}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Five files of games and players; one season of the first is faulty."""
    return make_source(tmp_path_factory.mktemp("source"), 5, 4, players=8, rounds=4)


@pytest.fixture(scope="module")
def whole(source, tmp_path_factory) -> Path:
    """The folder of an undisturbed run over that source."""
    out = tmp_path_factory.mktemp("whole") / "scores"
    kf.rescore(source, RULES, out)
    return out


# --- the same numbers as score


def hive(folder: Path) -> Path:
    season = kf.load_dataset("waagtoren")
    for kind in ("games", "players"):
        frame = getattr(season, kind)
        for label, rows in frame.astype({"result": "str"} if kind == "games" else {}).groupby("season"):
            place = folder / kind / f"season={label}"
            place.mkdir(parents=True)
            rows.drop(columns="season").to_parquet(place / "part-0.parquet", index=False)
    return folder


def season_folders(folder: Path) -> Path:
    season = kf.load_dataset("waagtoren")
    for number, label in enumerate(season.labels):
        kf.to_parquet(season.select(label), folder / f"decade{number % 2}" / label)
    return folder


@pytest.mark.parametrize(
    ("lay", "parts"),
    [
        (lambda folder: WAAGTOREN, 1),
        (lambda folder: kf.to_parquet(kf.load_dataset("waagtoren"), folder), 1),
        (hive, 7),
        (season_folders, 7),
        (lambda folder: kf.load_dataset("waagtoren"), 1),
        (lambda folder: (kf.load_dataset("waagtoren").select(x) for x in kf.load_dataset("waagtoren").labels), 7),
    ],
    ids=["csv", "one file", "partitioned", "folders", "Season", "iterable"],
)
def test_the_numbers_are_those_of_score_whatever_the_source(tmp_path, lay, parts):
    done = kf.rescore(lay(tmp_path / "in"), RULES, tmp_path / "out")
    assert (done.seasons, done.scored, done.reported, done.rows, done.parts) == (7, 7, 0, 1102, parts)
    pd.testing.assert_frame_equal(standings(done), scored(kf.load_dataset("waagtoren")))
    assert done.problems.empty


def test_the_data_set_has_the_documented_schema_and_our_key(whole, source):
    files = sorted((whole / "standings").iterdir())
    assert [file.name for file in files] == [f"part-0000{i}.parquet" for i in range(5)]
    for file in files:
        schema = pq.read_schema(file)
        assert schema.remove_metadata().equals(STANDINGS_SCHEMA)
        own = json.loads(schema.metadata[b"keizerframe"])
        assert (own["schema_version"], own["kind"]) == (1, "standings")
        assert own["creator"].startswith("keizerframe ")
        assert list(own["rules"]) == sorted(RULES)
        assert own["rules"]["knsb"]["club_commitment_fraction"] == "2/3"
        assert len(own["source_hash"]) == 64
    assert ds.dataset(whole / "standings").schema.remove_metadata().equals(STANDINGS_SCHEMA)


def test_as_played_stands_beside_the_what_ifs(tmp_path):
    season = kf.load_dataset("waagtoren")
    played = {label: kf.get_rules(RULES[number % 2]) for number, label in enumerate(season.labels)}
    season.rules.update(played)
    source = kf.to_parquet(season, tmp_path / "in")
    assert kf.read(source).rules == played
    done = kf.rescore(source, ["as-played", "knsb"], tmp_path / "out")
    found = standings(done)
    for label in season.labels:
        expected = kf.score(season.select(label), played[label]).drop(columns="rules")
        mine = found[(found["season"] == label) & (found["rules"] == "as-played")].drop(columns="rules")
        pd.testing.assert_frame_equal(mine.reset_index(drop=True), expected)
    pd.testing.assert_frame_equal(found, scored(season, ["as-played", "knsb"]))


@pytest.mark.parametrize("name", kf.presets()["name"])
def test_rules_travel_whole(tmp_path, name):
    rules = kf.get_rules(f"{name},absence_limit=2")
    season = next(one_by_one(1)).with_parts({"1": (1, 9)})
    season.rules["S0"] = rules
    back = kf.read(kf.to_parquet(season, tmp_path / "in")).rules["S0"]
    assert (back, back.label, back.source) == (rules, rules.label, rules.source)
    for _ in range(2):
        assert kf.rescore(season, ["as-played", rules], tmp_path / "out").scored == 1


def test_a_season_without_rules_as_played_is_reported_and_refused_by_score(tmp_path):
    season = kf.load_dataset("waagtoren").select(["2018-19", "2019-20"])
    season.rules["2018-19"] = kf.get_rules("knsb")
    done = kf.rescore(season, ["knsb", "as-played"], tmp_path / "out")
    assert (done.scored, done.reported) == (1, 1)
    assert done.problems[["season", "what"]].to_numpy().tolist() == [
        ["2019-20", "came without rules, so there are none as played"]
    ]
    with pytest.raises(kf.RulesError, match="no rules came with season '2019-20'"):
        kf.score(season, "as-played")
    with pytest.raises(kf.RulesError, match="for score and rescore"):
        kf.compare(season, ["knsb", "as-played"])


# --- the same bytes however it runs


class Backwards(Executor):
    """Does what it is given only when asked for, the last first."""

    def __init__(self) -> None:
        self.given = []

    def submit(self, function, /, *arguments):
        self.given.append((Future(), function, arguments))
        if len(self.given) == 5:
            for future, call, values in reversed(self.given):
                future.set_result(call(*values))
        return self.given[-1][0]


@pytest.mark.parametrize("make", [Backwards, lambda: ThreadPoolExecutor(3)], ids=["backwards", "threads"])
def test_the_bytes_do_not_depend_on_the_executor(source, whole, tmp_path, make):
    kf.rescore(source, RULES, tmp_path / "out", executor=make())
    assert bytes_of(tmp_path / "out") == bytes_of(whole)


def test_the_bytes_do_not_depend_on_the_workers(source, whole, tmp_path):
    seen = []
    done = kf.rescore(source, RULES, tmp_path / "out", workers=2, progress=seen.append)
    assert bytes_of(tmp_path / "out") == bytes_of(whole)
    assert (done.seasons, done.scored, done.reported) == (20, 19, 1)
    assert [state.seasons for state in seen] == [4, 8, 12, 16, 20]
    assert {state.total for state in seen} == {20}


# --- stopping and going on


class Stop(Exception):
    """What ends a run in these tests."""


def stopping_after(parts: int):
    """Return a progress function that ends the run after so many parts."""
    seen = []

    def tell(state: kf.Progress) -> None:
        seen.append(state)
        if len(seen) == parts:
            raise Stop

    return tell


@pytest.mark.parametrize("parts", [1, 3, 5])
def test_a_run_that_was_ended_goes_on_with_what_is_left(source, whole, tmp_path, parts):
    out = tmp_path / "out"
    with pytest.raises(Stop):
        kf.rescore(source, RULES, out, progress=stopping_after(parts))
    before = stamps_of(out)
    assert len(before) == 2 * parts
    kf.rescore(source, RULES, out)
    assert {name: stamp for name, stamp in stamps_of(out).items() if name in before} == before
    assert bytes_of(out) == bytes_of(whole)


def test_killed_runs_end_with_the_bytes_of_an_undisturbed_one():
    """Two of the moments of `python -m tests.proof kill`: with one worker and with two."""
    assert batch_proofs.kill(moments=2, files=6, seed=1)


def test_a_part_whose_file_is_gone_or_torn_is_done_again(source, whole, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    (out / "standings" / "part-00001.parquet").unlink()
    (out / "standings" / "part-00002.parquet").write_bytes(b"PAR1")
    (out / "manifest" / "part-00003.json").unlink()
    (out / "problems.parquet").unlink()
    (out / ".work-left").mkdir()
    kf.rescore(source, RULES, out)
    assert bytes_of(out) == bytes_of(whole)
    assert not (out / ".work-left").exists()


def test_a_second_run_on_the_same_folder_is_refused(source, tmp_path):
    held = OutFolder(tmp_path / "out", {"knsb": kf.get_rules("knsb")})
    with held, pytest.raises(BatchError, match="another run is writing to"):
        kf.rescore(source, RULES, tmp_path / "out")
    assert kf.rescore(source, RULES, tmp_path / "out").seasons == 20


def test_a_worker_that_outlives_its_run_cannot_write(tmp_path):
    first = OutFolder(tmp_path / "out", {})
    with first:
        first.begin([], True)
    with OutFolder(tmp_path / "out", {}) as second:
        second.begin([], True)
        with pytest.raises(BatchError, match="cannot write"):
            first.target.commit(b"late", "standings/part-00000.parquet")
    assert list((tmp_path / "out" / "standings").iterdir()) == []


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (["knsb"], "without 'freekeizer-0.5'"),
        ([*RULES, "esg"], "with 'esg'"),
        (RULES[::-1], "another order"),
        ({"knsb": "knsb,absence_limit=3", "freekeizer-0.5": "freekeizer-0.5"}, "changed 'knsb'"),
    ],
)
def test_another_rule_set_is_noticed(source, whole, rules, said):
    before = bytes_of(whole)
    with pytest.raises(BatchError, match=said) as caught:
        kf.rescore(source, rules, whole)
    assert "resume=False" in str(caught.value)
    assert bytes_of(whole) == before


def test_a_changed_source_is_noticed_and_mended(source, whole, tmp_path):
    changed, out = tmp_path / "source", tmp_path / "out"
    shutil.copytree(source, changed)
    shutil.copytree(whole, out)
    assert kf.rescore(changed, RULES, out).seasons == 20
    frame = pd.read_parquet(changed / "players" / "part-003.parquet")
    frame.loc[0, "rating"] += 400
    frame.to_parquet(changed / "players" / "part-003.parquet", index=False)
    with pytest.raises(BatchError, match=r"the source has changed \(changed games/part-003.parquet\)"):
        kf.rescore(changed, RULES, out)
    shutil.rmtree(changed / "games" / "part-004.parquet", ignore_errors=True)
    (changed / "games" / "part-004.parquet").unlink()
    (changed / "players" / "part-004.parquet").unlink()
    with pytest.raises(BatchError, match=r"gone games/part-004\.parquet"):
        kf.rescore(changed, RULES, out)
    kf.rescore(changed, RULES, out, resume=False)
    kf.rescore(changed, RULES, tmp_path / "fresh")
    assert bytes_of(out) == bytes_of(tmp_path / "fresh")


def test_another_version_is_noticed(source, whole, monkeypatch):
    monkeypatch.setattr("keizerframe.batch.manifest.creator", lambda: "keizerframe 99")
    with pytest.raises(BatchError, match=r"the version was keizerframe .*, now it is keizerframe 99"):
        kf.rescore(source, RULES, whole)


def test_files_of_something_else_are_left_alone(source, tmp_path):
    mine = tmp_path / "out" / "standings" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("keep")
    for resume in (True, False):
        with pytest.raises(BatchError, match="holds files of something else"):
            kf.rescore(source, RULES, tmp_path / "out", resume=resume)
    assert mine.read_text() == "keep"


def one_by_one(count: int, rating: int = 1800):
    for number in range(count):
        label = f"S{number}"
        frame = pd.DataFrame({"season": [label], "round": [1], "white": ["a"], "black": ["b"], "result": ["1-0"]})
        people = pd.DataFrame({"season": [label] * 2, "player": ["a", "b"], "rating": [1900, rating]})
        yield kf.Season(frame, people)


def test_an_iterable_is_taken_as_it_is_worked_on_and_goes_on_too(tmp_path):
    out, taken = tmp_path / "out", []

    def watched():
        for season in one_by_one(6):
            taken.append(len(list((out / "standings").glob("*.parquet"))))
            yield season

    with pytest.raises(Stop):
        kf.rescore(watched(), RULES, out, progress=stopping_after(4))
    assert taken == [0, 1, 2, 3]
    before = stamps_of(out)
    done = kf.rescore(one_by_one(6), RULES, out)
    assert (done.seasons, done.parts) == (6, 6)
    assert {name: stamp for name, stamp in stamps_of(out).items() if name in before} == before
    for other, said in ((one_by_one(6, rating=1801), "has changed"), (one_by_one(5), "had 6 parts and has 5")):
        with pytest.raises(BatchError, match=said):
            kf.rescore(other, RULES, out)
    assert kf.rescore(one_by_one(5), RULES, out, resume=False).parts == 5
    assert len(list((out / "standings").iterdir())) == 5


def test_an_iterable_is_not_read_far_ahead_of_the_workers(tmp_path):
    done, ahead = [], []

    def watched():
        for number, season in enumerate(one_by_one(12)):
            ahead.append(number - len(done))
            yield season

    with ThreadPoolExecutor(1) as pool:
        kf.rescore(watched(), RULES, tmp_path / "out", executor=pool, progress=done.append)
    assert len(done) == 12
    # Two are handed out ahead, and one is in the hand.
    assert max(ahead) <= 3


def test_a_disk_that_takes_no_more_gives_a_clear_error_and_a_folder_to_go_on_with(tmp_path):
    """The limit of the size of files stands for the disk; `python -m tests.proof disk` fills a real one."""
    source = make_source(tmp_path / "in", 2, 4, players=8, rounds=4)
    last = make_source(tmp_path / "more", 1, 60, players=30, rounds=4)
    for kind in ("games", "players"):
        frame = pd.read_parquet(last / kind / "part-000.parquet")
        frame["season"] = "9" + frame["season"]
        frame.to_parquet(source / kind / "part-009.parquet", index=False)
    kf.rescore(source, RULES, tmp_path / "whole")
    sizes = [file.stat().st_size for file in sorted((tmp_path / "whole" / "standings").iterdir())]
    assert sizes[2] > 1.5 * sizes[0]

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[2] - 1, sizes[2] - 1))

    out = tmp_path / "out"
    code = "from keizerframe.cli import run; run()"
    arguments = ["rescore", str(source), "--rules", *RULES, "--out", str(out), "--quiet"]
    ended = subprocess.run(
        [sys.executable, "-c", code, *arguments], preexec_fn=limit, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert "part-00002.parquet: File too large; all finished parts are kept" in ended.stderr
    assert "Traceback" not in ended.stderr
    before = stamps_of(out)
    assert sorted(before) == [f"part-0000{i}.{kind}" for i in (0, 1) for kind in ("json", "parquet")]
    kf.rescore(source, RULES, out)
    assert {name: stamp for name, stamp in stamps_of(out).items() if name in before} == before
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


# --- what cannot be scored


def test_a_bad_season_does_not_stop_the_rest(tmp_path):
    results = ["1-0", "bye", "2-0", "bye", "1-0", "bye"]
    write(tmp_path / "in" / "games" / "x.parquet", **games("A", "B", "C", result=results))
    write(tmp_path / "in" / "games" / "y.parquet", **games("D", "E", white=["a", "c", "b", "c"]))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.seasons, done.scored, done.reported, done.parts) == (5, 3, 2, 2)
    assert done.problems[["season", "file", "row", "column", "value", "what"]].to_numpy().tolist() == [
        ["B", "games/x.parquet", 2, "result", "2-0", "unknown result"],
        ["E", "games/y.parquet", 2, "black", "b", "a player against himself"],
    ]
    assert list(done.problems) == ["season", "round", "file", "row", "column", "value", "what", "hint"]
    assert done.problems["hint"].str.len().min() > 0
    with pytest.warns(kf.KeizerWarning, match="no player"):
        sound = kf.Season(pa.table(games("A", "C", "D")).to_pandas())
    pd.testing.assert_frame_equal(standings(done), scored(sound))


def test_lines_of_text_files_are_named_from_the_source_on(tmp_path):
    for label, result in (("2019", "1-0"), ("2020", "7-0"), ("2021", "0-1")):
        folder = tmp_path / "in" / label
        folder.mkdir(parents=True)
        (folder / "games.csv").write_text(f"round,white,black,result\n\n1,a,b,{result}\n")
    (tmp_path / "in" / "2022.csv").write_text("round,white,black\n1,a,b\n")
    (tmp_path / "in" / "2023.csv").write_text("")
    (tmp_path / "in" / "notes.doc").write_text("no season")
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.seasons, done.scored, done.reported) == (5, 2, 3)
    assert done.problems[["season", "file", "row"]].astype(object).where(
        lambda x: x.notna(), None
    ).to_numpy().tolist() == [
        ["2020", "2020/games.csv", 3],
        ["2022", "2022.csv", None],
        ["", "2023.csv", None],
    ]
    assert "not read: notes.doc" in done.notes


def test_a_fault_of_the_frame_is_reported_for_each_of_its_seasons(tmp_path):
    write(tmp_path / "in" / "x.parquet", **games("A", "B", result=None, resultaat=["1-0"] * 4))
    write(tmp_path / "in" / "y.parquet", **games("C"))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.scored, done.reported) == (1, 2)
    assert done.problems[["season", "what", "hint"]].to_numpy().tolist() == [
        [label, "games lacks the column 'result'", "rename 'resultaat' to 'result'"] for label in "AB"
    ]


def test_rows_without_a_season_are_reported_and_the_rest_is_scored(tmp_path):
    write(tmp_path / "in" / "games.parquet", **games("A", "B", season=["A", "A", "B", None]))
    write(tmp_path / "in" / "players.parquet", season=["A", "A", "A", "B", "B", None], player=list("abcabz"))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.scored, done.reported) == (2, 2)
    assert done.problems[["file", "what"]].to_numpy().tolist() == [
        ["players.parquet, rows without a season", "players.parquet: rows without a season: fill in the column season"],
        ["games.parquet", "missing season"],
    ]


def test_a_season_column_that_cannot_be_read_is_no_season(tmp_path):
    write(tmp_path / "in" / "x.parquet", **games("A", season=pa.array([2018.5, 2018.5])))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.scored, done.reported) == (0, 1)
    assert done.problems[["row", "column", "value", "what"]].to_numpy().tolist() == [
        [row, "season", "2018.5", "not an id"] for row in (0, 1)
    ]


def test_an_unreadable_file_is_an_input_that_is_reported(tmp_path):
    good = write(tmp_path / "in" / "a.parquet", **games("A", "B"))
    (tmp_path / "in" / "b.parquet").write_bytes(b"")
    content = bytearray(good.read_bytes())
    content[10:200] = bytes(190)
    (tmp_path / "in" / "c.parquet").write_bytes(content)
    (tmp_path / "in" / "d.parquet").write_bytes(b"not parquet at all")
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.seasons, done.scored, done.reported) == (5, 2, 3)
    assert done.problems["file"].tolist() == ["b.parquet", "c.parquet", "d.parquet"]
    assert done.problems["what"].str.contains("cannot be read").all()


def test_scores_out_of_range_are_reported_season_by_season(tmp_path):
    rules = {"wide": kf.Rules(value_number_base=10**13)}
    frame = pd.concat([season.games for season in one_by_one(5)])
    long = pd.DataFrame({"season": "S2", "round": range(1, 400), "white": "a", "black": "b", "result": "1-0"})
    players = pd.concat([season.players for season in one_by_one(5)])
    with pytest.raises(kf.ScoreRangeError):
        kf.score(kf.Season(long, players), rules)
    kf.score(kf.Season(frame, players), rules)
    both = kf.Season(pd.concat([frame[frame["season"] != "S2"], long]), players)
    done = kf.rescore(both, rules, tmp_path / "out")
    assert (done.scored, done.reported) == (4, 1)
    assert done.problems["season"].tolist() == ["S2"]
    assert standings(done)["season"].unique().tolist() == ["S0", "S1", "S3", "S4"]


def test_warnings_become_notes(tmp_path):
    write(tmp_path / "in" / "games.parquet", **games("A", "B"))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert [note for note in done.notes if "has a rating" in note]


# --- the pitfalls of parquet


def test_season_keys_keep_their_zeros(tmp_path):
    write(tmp_path / "in" / "season=0910" / "x.parquet", **games("?", season=None))
    write(tmp_path / "in" / "season=1011" / "x.parquet", **games("?", season=None))
    write(tmp_path / "in" / "season=11%2F12" / "x.parquet", **games("?", season=None))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert standings(done)["season"].unique().tolist() == ["0910", "1011", "11/12"]


@pytest.mark.parametrize(
    ("path", "columns", "said"),
    [
        ("loose.parquet", games("?", season=None), "loose.parquet: no column season, and no folder season=NAME"),
        ("loose.parquet", games("?", season=pa.nulls(2, pa.string())), "loose.parquet: no column season"),
        ("season=__HIVE_DEFAULT_PARTITION__/x.parquet", games("?", season=None), "its folder names no season"),
        ("season=1011/x.parquet", games("1112"), "its folder says season '1011', its column '1112'"),
    ],
)
def test_a_missing_or_contradicting_key_is_refused(tmp_path, path, columns, said):
    write(tmp_path / "in" / "season=0910" / "x.parquet", **games("?", season=None))
    write(tmp_path / "in" / path, **columns)
    with pytest.raises(BatchError, match=said):
        kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_are_one_season_each_are_called_by_their_name(tmp_path):
    for name in ("0910", "1011"):
        write(tmp_path / "in" / f"{name}.parquet", **games("?", season=None))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert standings(done)["season"].unique().tolist() == ["0910", "1011"]


def test_an_all_missing_first_file_does_not_fix_the_types(tmp_path):
    nothing = {"board": pa.nulls(2), "black": pa.nulls(2), "result": ["bye", "bye"]}
    write(tmp_path / "in" / "games" / "0.parquet", **games("A", **nothing))
    write(tmp_path / "in" / "games" / "1.parquet", **games("B", board=[1, None]))
    write(tmp_path / "in" / "players" / "0.parquet", season=["A"] * 2, player=["a", "c"], rating=pa.nulls(2))
    write(
        tmp_path / "in" / "players" / "1.parquet",
        season=["B"] * 3,
        player=["a", "b", "c"],
        rating=[1, 2, 3],
        name=["NA", "x", "y"],
    )
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    found = standings(done)
    assert pq.read_schema(done.standings / "part-00000.parquet").field("rating").type == pa.int32()
    assert found.loc[found["season"] == "A", "rating"].isna().all()
    assert sorted(found.loc[found["season"] == "B", "name"].unique()) == ["NA", "x", "y"]
    assert found["rating"].dtype == "Int32"


def test_a_first_file_of_faults_alone_does_not_fix_the_types(tmp_path):
    write(tmp_path / "in" / "0.parquet", **games("A", result=["?!", "bye"]))
    write(tmp_path / "in" / "1.parquet", **games("B"))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    first, second = (pd.read_parquet(done.standings / f"part-0000{i}.parquet") for i in (0, 1))
    assert len(first) == 0
    pd.testing.assert_series_equal(first.dtypes, second.dtypes)
    assert pd.read_parquet(done.standings).dtypes.equals(second.dtypes)


def test_ids_that_are_whole_numbers_then_floats_stay_the_same_ids(tmp_path):
    numbers = {"white": pa.array([7, 9], pa.int64()), "black": pa.array([8, None], pa.int64())}
    floats = {"white": pa.array([7.0, 9.0]), "black": pa.array([8.0, None])}
    write(tmp_path / "in" / "games" / "0.parquet", **games("A", **numbers))
    write(tmp_path / "in" / "games" / "1.parquet", **games("B", **floats))
    people = pa.array(["7", "8", "9"] * 2)
    write(tmp_path / "in" / "players.parquet", season=["A"] * 3 + ["B"] * 3, player=people)
    found = standings(kf.rescore(tmp_path / "in", "knsb", tmp_path / "out"))
    tables = [found[found["season"] == label][["place", "player", "score"]].to_numpy().tolist() for label in "AB"]
    assert tables[0] == tables[1]
    assert sorted(row[1] for row in tables[0]) == ["7", "8", "9"]


def test_whole_numbers_beside_empty_cells_are_not_rounded(tmp_path):
    """As floats, 2^53 and 2^53 + 1 would be one player."""
    big = {"white": pa.array([1, 2**53], pa.int64()), "black": pa.array([2**53 + 1, None], pa.int64())}
    write(tmp_path / "in" / "games.parquet", **games("A", **big))
    found = standings(kf.rescore(tmp_path / "in", "knsb", tmp_path / "out"))
    assert sorted(found["player"]) == ["1", "9007199254740992", "9007199254740993"]
    with pytest.warns(kf.KeizerWarning, match="no player"):
        assert sorted(kf.read(tmp_path / "in").players["player"]) == sorted(found["player"])


def test_ids_of_two_files_of_one_season_stay_exact(tmp_path):
    """Whole numbers above floats are floats to pandas, and 2^53 + 1 is 2^53 there."""
    big = {"white": pa.array([1, 2**53], pa.int64()), "black": pa.array([2**53 + 1, None], pa.int64())}
    write(tmp_path / "in" / "games.parquet", **games("A", **big))
    write(tmp_path / "in" / "players" / "0.parquet", season=["A"] * 2, player=[2**53, 2**53 + 1], rating=[1, 2])
    write(tmp_path / "in" / "players" / "1.parquet", season=["A"], player=[1.0], rating=["3"])
    done = kf.rescore(tmp_path / "in", "knsb", tmp_path / "out")
    assert done.reported == 0
    assert sorted(standings(done)["player"]) == ["1", "9007199254740992", "9007199254740993"]


#: Faults a season can have: columns of games to change in its first row.
FAULTS = (
    {"result": "2-0"},
    {"white": None},
    {"round": -1},
    {"black": "a"},
    {"black": None},
    {"white": "c"},
    {"board": 99999},
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sets(st.integers(0, len(FAULTS) - 1)), min_size=1, max_size=6), st.booleans())
def test_exactly_the_faulty_seasons_are_reported(tmp_path, faults, given_players):
    frame = pa.table(games(*(f"S{i}" for i in range(len(faults))))).to_pandas().assign(board=1)
    for number, which in enumerate(faults):
        for fault in which:
            for column, value in FAULTS[fault].items():
                frame.loc[2 * number, column] = value
    (tmp_path / "in").mkdir(exist_ok=True)
    frame.astype({"round": "int64", "board": "int64"}).to_parquet(tmp_path / "in" / "games.parquet", index=False)
    people = pd.DataFrame([(f"S{i}", player, 1500) for i in range(len(faults)) for player in "abc"])
    if given_players:
        people.columns = ["season", "player", "rating"]
        people.to_parquet(tmp_path / "in" / "players.parquet", index=False)
    else:
        (tmp_path / "in" / "players.parquet").unlink(missing_ok=True)
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out", resume=False)
    sound = {f"S{number}" for number, which in enumerate(faults) if not which}
    assert set(standings(done)["season"]) == sound
    assert set(done.problems["season"]) == {f"S{number}" for number in range(len(faults))} - sound
    assert (done.scored, done.reported) == (len(sound), len(faults) - len(sound))


def test_later_columns_and_mixed_id_types_of_one_set(tmp_path):
    write(tmp_path / "in" / "games" / "0.parquet", **games("A", white=["1", "3"], black=["2", None]))
    write(
        tmp_path / "in" / "games" / "1.parquet",
        **games("B", white=[1, 3], black=[2, None], board=[1, None], venue=["x", "y"]),
    )
    write(tmp_path / "in" / "players" / "0.parquet", season=["A", "A"], player=["1", "2"])
    write(tmp_path / "in" / "players" / "1.parquet", season=["A"] + ["B"] * 3, player=[3, 1, 2, 3], rating=[4, 1, 2, 3])
    done = kf.rescore(tmp_path / "in", "knsb", tmp_path / "out")
    assert (done.scored, done.reported) == (2, 0)
    found = standings(done)
    people = {label: sorted(rows["player"]) for label, rows in found.groupby("season")}
    assert people == {"A": ["1", "2", "3"], "B": ["1", "2", "3"]}
    ratings = found.set_index(["season", "player"])["rating"]
    assert ratings.loc[("A", "3")] == 4
    assert pd.isna(ratings.loc[("A", "1")])


def test_rows_of_players_from_two_files_are_named_by_their_own_file(tmp_path):
    write(tmp_path / "in" / "games.parquet", **games("A"))
    write(tmp_path / "in" / "players" / "0.parquet", season=["A", "A"], player=["a", "b"])
    write(tmp_path / "in" / "players" / "1.parquet", season=["Z", "A"], player=["x", "c"], rating=["9", "high"])
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert done.problems[["season", "file", "row", "value"]].to_numpy().tolist() == [
        ["A", "players/1.parquet", 1, "high"]
    ]


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
    ids=str,
)
def test_other_types_of_text_score_alike(tmp_path, kind):
    plain = games("0910", "1011")
    texts = ("season", "white", "black", "result")
    other = plain | {name: pa.array(plain[name], pa.string()).cast(kind) for name in texts}
    frames = []
    for name, columns in (("plain", plain), ("other", other)):
        write(tmp_path / name / "games.parquet", **columns)
        frames.append(standings(kf.rescore(tmp_path / name, RULES, tmp_path / f"{name}-out")))
    pd.testing.assert_frame_equal(*frames)
    assert frames[0]["season"].unique().tolist() == ["0910", "1011"]


def test_dictionary_columns_of_whole_numbers(tmp_path):
    ids = pa.array([7, 9]).dictionary_encode(), pa.array([8, None], pa.int64()).dictionary_encode()
    write(
        tmp_path / "in" / "games.parquet",
        **games("A", season=pa.array([910] * 2).dictionary_encode(), white=ids[0], black=ids[1]),
    )
    found = standings(kf.rescore(tmp_path / "in", "knsb", tmp_path / "out"))
    assert found["season"].unique().tolist() == ["910"]
    assert sorted(found["player"]) == ["7", "8", "9"]


def test_empty_files_are_passed_over_and_said(tmp_path):
    empty = {name: pa.array([], pa.string()) for name in ("season", "white", "black", "result")}
    write(tmp_path / "in" / "0.parquet", **empty, round=pa.array([], pa.int16()))
    write(tmp_path / "in" / "1.parquet", **games("A"))
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.seasons, done.scored) == (1, 1)
    assert "empty: 0.parquet" in done.notes
    (tmp_path / "in" / "1.parquet").unlink()
    with pytest.raises(BatchError, match="holds no season"):
        kf.rescore(tmp_path / "in", RULES, tmp_path / "other")


def test_seasons_without_a_game_are_scored_as_score_does(tmp_path):
    write(tmp_path / "in" / "games.parquet", **games("A"))
    write(
        tmp_path / "in" / "players.parquet", season=["A"] * 3 + ["B"] * 2, player=list("abcxy"), rating=[1, 2, 3, 5, 4]
    )
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    assert (done.seasons, done.scored) == (2, 2)
    pd.testing.assert_frame_equal(standings(done), scored(kf.read(tmp_path / "in")))


@pytest.mark.parametrize(
    "listed", [{"season": ["A", "A", "B"], "round": [1, 2, 1]}, {"round": [1, 2]}], ids=["own", "all"]
)
def test_listed_rounds_count(tmp_path, listed):
    write(tmp_path / "in" / "games" / "0.parquet", **games("A"))
    write(tmp_path / "in" / "games" / "1.parquet", **games("B"))
    write(tmp_path / "in" / "rounds.parquet", **listed)
    found = standings(kf.rescore(tmp_path / "in", "knsb", tmp_path / "out"))
    absences = found.groupby("season")["absences"].max().to_dict()
    assert absences == {"A": 1, "B": 1 if "season" not in listed else 0}


# --- seasons that are split, and other refusals


def test_a_split_season_is_refused_with_a_way_to_regroup_that_works(tmp_path, monkeypatch):
    write(tmp_path / "in" / "games" / "0.parquet", **games("A", "B"))
    write(tmp_path / "in" / "games" / "1.parquet", **games("B", round=pa.array([2, 2], pa.int16())))
    with pytest.raises(BatchError) as caught:
        kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    said = str(caught.value)
    assert "season 'B' lies in games/0.parquet and games/1.parquet" in said
    monkeypatch.chdir(tmp_path / "in")
    recipe = said[said.index("pq.write_to_dataset") : said.index(", put the players")]
    eval(recipe, {"pq": pq})
    done = kf.rescore("new", RULES, tmp_path / "out")
    assert (done.seasons, done.rows) == (2, 2 * 2 * 3)


def test_a_season_split_over_row_groups_is_refused(tmp_path):
    (tmp_path / "in").mkdir()
    table = pa.table(games("A", "B"))
    pq.write_table(table, tmp_path / "in" / "x.parquet", row_group_size=2)
    assert kf.rescore(tmp_path / "in", RULES, tmp_path / "fine").parts == 2
    pq.write_table(table, tmp_path / "in" / "x.parquet", row_group_size=3)
    with pytest.raises(BatchError, match=r"'B' lies in x\.parquet, row group 0 and x\.parquet, row group 1"):
        kf.rescore(tmp_path / "in", RULES, tmp_path / "out")


def test_a_season_in_two_text_files_or_two_objects_is_refused(tmp_path):
    for name in ("x", "y"):
        folder = tmp_path / "in" / name
        folder.mkdir(parents=True)
        (folder / "games.csv").write_text("season,round,white,black,result\nA,1,a,b,1-0\n")
    with pytest.raises(BatchError, match="'A' lies in x and y"):
        kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    with pytest.raises(BatchError, match="'S0' lies in season object 0 and season object 1"):
        kf.rescore([*one_by_one(1), *one_by_one(1)], RULES, tmp_path / "other")


def test_what_makes_no_sense_is_refused_before_any_work(source, tmp_path):
    notes = tmp_path / "notes.doc"
    notes.write_text("no season")
    with pytest.raises(BatchError, match="lies in the source"):
        kf.rescore(source, RULES, source / "scores")
    with pytest.raises(BatchError, match="a folder of this machine"):
        kf.rescore(source, RULES, "s3://bucket/scores")
    with pytest.raises(BatchError, match="is a file"):
        kf.rescore(source, RULES, source / "games" / "part-000.parquet")
    with pytest.raises(ValueError, match="workers = 0"):
        kf.rescore(source, RULES, tmp_path / "out", workers=0)
    with pytest.raises(BatchError, match=r"holds no season \(not read: notes.doc\)"):
        kf.rescore(notes, RULES, tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        kf.rescore(tmp_path / "nowhere", RULES, tmp_path / "out")
    with pytest.raises(kf.UnknownNameError, match="did you mean knsb"):
        kf.rescore(source, "kbsn", tmp_path / "out")
    with pytest.raises(TypeError, match="DataFrame"):
        kf.rescore(pd.DataFrame(games("A")), RULES, tmp_path / "out")
    with pytest.raises(TypeError, match="item 0 of the source is a str"):
        kf.rescore(["games.csv"], RULES, tmp_path / "out")
    assert sorted(path.name for path in tmp_path.rglob("*.parquet")) == []


def test_any_file_system(source, whole, tmp_path):
    tree = pafs.SubTreeFileSystem(str(source.parent), pafs.LocalFileSystem())
    kf.rescore(source.name, RULES, tmp_path / "tree", filesystem=tree)
    kf.rescore(source.as_uri(), RULES, tmp_path / "uri")
    assert bytes_of(tmp_path / "tree") == bytes_of(tmp_path / "uri") == bytes_of(whole)


def test_text_from_elsewhere_is_refused(tmp_path):
    (tmp_path / "games.csv").write_text("round,white,black,result\n1,a,b,1-0\n")
    tree = pafs.SubTreeFileSystem(str(tmp_path.parent), pafs.LocalFileSystem())
    with pytest.raises(BatchError, match="only parquet is read from elsewhere"):
        kf.rescore(tmp_path.name, RULES, tmp_path / "out", filesystem=tree)


# --- progress and the command line


def test_progress_is_logged_and_shown_only_if_asked_for(source, tmp_path, capsys, caplog):
    with caplog.at_level(logging.INFO, logger=door.__name__):
        kf.rescore(source, RULES, tmp_path / "out")
    assert capsys.readouterr() == ("", "")
    assert [record.args[1] for record in caplog.records] == [20]
    kf.rescore(source, RULES, tmp_path / "again", progress=True)
    assert capsys.readouterr().out == ""


def test_the_command_line_reports_and_goes_on(source, tmp_path, capsys):
    arguments = ["rescore", str(source), "--rules", *RULES, "--out", str(tmp_path / "out")]
    assert main([*arguments, "--quiet"]) == 1
    out, err = capsys.readouterr()
    assert [line.split("\t")[:5] for line in out.splitlines()] == [
        ["seasons", "scored", "reported", "rows", "parts"],
        ["20", "19", "1", "304", "5"],
    ]
    assert "1 of 20 seasons could not be scored" in err
    assert "games/part-000.parquet:" in err
    before = stamps_of(tmp_path / "out")
    assert main([*arguments, "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert (facts["seasons"], facts["scored"], facts["reported"], facts["parts"]) == (20, 19, 1, 5)
    assert stamps_of(tmp_path / "out") == before
    assert main(["rescore", str(source), "--rules", "knsb", "--out", str(tmp_path / "out")]) == 1
    assert "--no-resume" in capsys.readouterr().err
    assert main(["rescore", str(source), "--rules", "knsb", "--out", str(tmp_path / "out"), "--no-resume", "-q"]) == 1
    assert capsys.readouterr().out.splitlines()[1].split("\t")[3] == "152"
    assert main(["rescore", str(WAAGTOREN), "--rules", "knsb", "--out", str(tmp_path / "fine"), "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_shuffled_rows_and_files_change_no_number(source, whole, tmp_path):
    draw = random.Random(5)
    for kind in ("games", "players"):
        for number, path in enumerate(sorted((source / kind).iterdir())):
            frame = pd.read_parquet(path).sample(frac=1, random_state=draw.randrange(1000))
            place = tmp_path / "in" / kind / f"{9 - number}.parquet"
            place.parent.mkdir(parents=True, exist_ok=True)
            frame.to_parquet(place, index=False)
    done = kf.rescore(tmp_path / "in", RULES, tmp_path / "out")
    expected = pd.read_parquet(whole / "standings").sort_values(["season", "rules", "place"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(standings(done), expected)


def test_a_rule_set_that_a_season_cannot_satisfy_does_not_cost_it_the_others(tmp_path):
    season = next(one_by_one(1))
    done = kf.rescore(season, ["knsb", "caissa-2014", "classic"], tmp_path / "out")
    assert (done.scored, done.reported, done.rows) == (0, 1, 2 * len(season.players))
    assert pd.read_parquet(done.standings)["rules"].unique().tolist() == ["knsb", "classic"]
    assert "caissa-2014: limit_scope = 'part'" in done.problems["what"].item()
