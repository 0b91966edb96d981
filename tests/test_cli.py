"""The command line: what it prints, where, and with which exit status."""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from keizerframe.cli import main
from keizerframe.datasets import dataset_folder

WAAGTOREN = str(dataset_folder() / "waagtoren")


def test_compare_prints_a_line_a_season_and_writes_parquet(tmp_path, capsys):
    assert main(["compare", WAAGTOREN, "--rules", "knsb", "freekeizer", "--out", str(tmp_path)]) == 0
    out, err = capsys.readouterr()
    assert [line.split("\t")[:3] for line in out.splitlines()[1:3]] == [
        ["2018-19", "W134", "W134"],
        ["2019-20", "W178", "W178"],
    ]
    assert "standings.parquet" in err
    assert len(pd.read_parquet(tmp_path / "standings.parquet")) == 2 * 551
    assert len(pd.read_parquet(tmp_path / "comparison.parquet")) == 7


def test_quiet_says_nothing_beside_the_result(tmp_path, capsys):
    arguments = ["compare", WAAGTOREN, "--rules", "knsb", "freekeizer", "--out", str(tmp_path), "--quiet"]
    assert main(arguments) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 8
    assert err == ""


def test_json_is_json(capsys):
    assert main(["compare", WAAGTOREN, "--rules", "knsb", "freekeizer", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 7
    assert all(row["same_champion"] for row in rows)


def test_score_of_one_season(capsys):
    assert main(["score", WAAGTOREN, "--rules", "keizerforclubs", "--season", "2018-19", "--top", "1"]) == 0
    # The champion and his score are the golden ones.
    assert capsys.readouterr().out.splitlines()[1].split("\t")[2:6] == ["1", "W134", "67", "1089"]


def test_presets_and_check(capsys):
    assert main(["presets"]) == 0
    assert "decaying-absences" in capsys.readouterr().out
    assert main(["check", WAAGTOREN]) == 0
    assert "7 seasons" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", WAAGTOREN, "--rules", "kbsn", "freekeizer"], "did you mean knsb"),
        (["compare", WAAGTOREN, "--rules", "knsb"], "two rule sets"),
        (["score", WAAGTOREN, "--rules", "knsb,los_fraction=1"], "did you mean loss_fraction"),
        (["score", WAAGTOREN, "--rules", "knsb", "--season", "2018-20"], "2018-19"),
        (["score", WAAGTOREN, "--ruls", "knsb"], "--rules"),
        (["scor"], "score"),
        (["presets", "--kind", "clubs"], "club"),
    ],
)
def test_a_wrong_command_is_2_and_names_the_nearest(arguments, said, capsys):
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


def test_faulty_data_is_1_check_tells_all_and_others_the_first_ten(tmp_path, capsys):
    rows = "".join(f"{r},a,b,2-0\n" for r in range(1, 13))
    (tmp_path / "games.csv").write_text("round,white,black,result\n" + rows)
    (tmp_path / "players.csv").write_text("player,rating\na,1800\nb,1700\n")
    assert main(["check", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert said.out.count("unknown result") == 12
    assert "games.csv:2" in said.out
    assert "12 problems" in said.err
    assert main(["score", str(tmp_path), "--rules", "knsb"]) == 1
    err = capsys.readouterr().err
    assert err.count("unknown result") == 10
    assert "and 2 more" in err


def test_what_reads_the_output_may_stop_reading():
    command = f"{sys.executable} -m keizerframe replay {WAAGTOREN} --rules knsb"
    done = subprocess.run(f"{command} | head -1", shell=True, capture_output=True, text=True)
    assert done.stdout.startswith("season\trules\tround")
    assert done.stderr == ""


def test_people_are_known_by_name_too(tmp_path, capsys):
    (tmp_path / "games.csv").write_text("round,white,black,result\n1,1,2,1-0\n", encoding="utf-8")
    (tmp_path / "players.csv").write_text("player,name,rating\n1,Ann A,1900\n2,Bo B,1800\n", encoding="utf-8")
    assert main(["explain", str(tmp_path), "--rules", "classic", "--player", "Bo B", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["player"] for row in rows} == {"2"}
    assert [row["colour"] for row in rows] == [None, "black"]
    table = tmp_path / "published.csv"
    table.write_text("player,score\nAnn A,3\nBo B,1\n", encoding="utf-8")
    assert main(["identify", str(tmp_path), "--table", str(table), "--candidates", "classic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["scores_equal"] == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["score", WAAGTOREN, "--rules", "knsb", "--top", "0"], "--top 0: must be 1 or more"),
        (["score", WAAGTOREN, "--rules", "knsb", "--through", "-1"], "--through -1"),
        (["explain", WAAGTOREN, "--rules", "knsb", "--season", "2018-19", "--since", "99"], "no later round"),
        (["score", WAAGTOREN, "--rules", "knsb", "--parts", "1-15", "15-30"], "round 15 belongs to part '1' already"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(command, said, capsys):
    assert main(command) == 2
    assert said in capsys.readouterr().err


def test_nothing_there_is_1(tmp_path, capsys):
    assert main(["check", str(tmp_path / "none")]) == 1
    assert "no such file" in capsys.readouterr().err


def test_a_table_for_each_part_with_a_minimum_of_games(tmp_path, capsys):
    (tmp_path / "games.csv").write_text("round,white,black,result\n1,a,b,1-0\n2,c,a,1-0\n", encoding="utf-8")
    (tmp_path / "players.csv").write_text("player,rating\na,1900\nb,1800\nc,1700\n", encoding="utf-8")
    (tmp_path / "rounds.csv").write_text("round,part\n1,autumn\n2,spring\n", encoding="utf-8")
    options = ["--rules", "classic", "--json", "--by", "part", "--min-games", "1"]
    assert main(["score", str(tmp_path), *options]) == 0
    rows = json.loads(capsys.readouterr().out)
    # Nobody without a game stands before somebody with one; c started spring from the third place.
    assert [(row["part"], row["player"], row["played"]) for row in rows] == [
        ("autumn", "a", 1),
        ("autumn", "b", 1),
        ("autumn", "c", 0),
        ("spring", "c", 1),
        ("spring", "a", 1),
        ("spring", "b", 0),
    ]


def test_describe_tells_the_rules_on_stdout_and_what_proves_them_on_stderr(capsys):
    assert main(["describe", "esg-emmen", "--lang", "nl"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Reglement: esg-emmen.\n")
    assert {line.partition(":")[0] for line in said.err.splitlines()} >= {"kind", "proof", "assumptions", "unsaid"}
    assert main(["describe", "esg-emmen", "--lang", "es"]) == 2
    assert "unknown language 'es'" in capsys.readouterr().err
