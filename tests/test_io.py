"""Files: CSV as clubs write it, parquet with our schema, and errors that name file and line."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import keizerframe as kf
from keizerframe.errors import FileFormatError
from keizerframe.standings import STANDINGS_SCHEMA


def folder_of(path, games, players="player,rating\na,1800\nb,1700\nc,1600\n", encoding="utf-8"):
    path.mkdir(exist_ok=True)
    (path / "games.csv").write_bytes(games.encode(encoding))
    (path / "players.csv").write_bytes(players.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("games", "encoding"),
    [
        ("round,white,black,result\n1,a,b,1/2-1/2\n1,c,,bye\n", "utf-8"),
        ("round;white;black;result\r\n1;a;b;½-½\r\n1;c;;bye\r\n", "cp1252"),
        ("\ufeffRound\tWhite\tBlack\tResult\n\n1\ta\tb\t0,5-0,5\n1\tc\t\tvrij\n", "utf-8"),
        ('round,white,black,result,remark\n1,a,b,remise,"long, with\nbreak"\n1,c,,bye\n', "utf-8"),
    ],
)
def test_csv_as_clubs_write_it(tmp_path, games, encoding):
    season = kf.read(folder_of(tmp_path / "2024-25", games, encoding=encoding))
    assert season.labels == ["2024-25"]
    rows = season.games[["round", "white", "black", "result"]].astype(object).to_numpy().tolist()
    assert rows[0] == [1, "a", "b", "1/2-1/2"]
    assert rows[1][:2] == [1, "c"]
    assert rows[1][3] == "bye"


def test_faults_are_named_by_file_and_line(tmp_path):
    games = 'round,white,black,result,remark\n1,a,b,1-0,"two\nlines"\n\n1,c,x,1-O,\n'
    with pytest.raises(kf.SeasonError) as caught:
        kf.read(folder_of(tmp_path / "s", games))
    found = caught.value.problems[["file", "row", "column", "value"]].to_numpy().tolist()
    assert sorted(found) == [["games.csv", 5, "black", "x"], ["games.csv", 5, "result", "1-O"]]
    assert "games.csv:5" in str(caught.value)


def test_na_is_a_name_and_leading_zeros_stay(tmp_path):
    players = "season,player,name,rating\n0910,NA,NA,1800\n0910,007,nan,1700\n"
    season = kf.read(folder_of(tmp_path / "s", "season,round,white,black,result\n0910,1,NA,007,1-0\n", players))
    assert season.labels == ["0910"]
    assert season.players["name"].tolist() == ["NA", "nan"]
    assert season.games["black"].tolist() == ["007"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "empty"),
        ("round,white,black,result\n1,a,b,1-0,extra\n", "line 2 has 5 cells"),
        ("round,white,white,result\n1,a,b,1-0\n", "twice"),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path, content, said):
    with pytest.raises(FileFormatError, match=said):
        kf.read(folder_of(tmp_path / "s", content))


def test_a_folder_without_games_says_what_is_expected(tmp_path):
    with pytest.raises(FileFormatError, match=r"games\.csv"):
        kf.read(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such"):
        kf.read(tmp_path / "nowhere")


def test_a_season_survives_parquet(tmp_path):
    season = kf.load_dataset("waagtoren")
    again = kf.read(kf.to_parquet(season, tmp_path / "season"))
    for name in ("games", "players", "rounds"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(season, name))
    pd.testing.assert_frame_equal(kf.score(again, "knsb"), kf.score(season, "knsb"))


def test_standings_have_the_documented_schema_and_our_metadata(tmp_path):
    season = kf.load_dataset("waagtoren")
    path = kf.to_parquet(kf.score(season, ["knsb", "freekeizer"]), tmp_path / "deep" / "standings.parquet")
    schema = pq.read_schema(path)
    assert [(field.name, field.type) for field in schema] == [(f.name, f.type) for f in STANDINGS_SCHEMA]
    own = json.loads(schema.metadata[b"keizerframe"])
    assert (own["schema_version"], own["kind"]) == (1, "standings")
    assert list(tmp_path.joinpath("deep").iterdir()) == [path]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "frame.parquet"
    kf.to_parquet(pd.DataFrame({"a": [1]}), path)
    before = path.read_bytes()

    def fail(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(pq, "write_table", fail)
    with pytest.raises(OSError, match="no space"):
        kf.to_parquet(pd.DataFrame({"a": [2]}), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_parquet_of_a_newer_version_is_refused(tmp_path):
    table = pa.table({"round": [1], "white": ["a"], "black": ["b"], "result": ["1-0"]})
    own = json.dumps({"schema_version": 99, "creator": "keizerframe 9"}).encode()
    pq.write_table(table.replace_schema_metadata({b"keizerframe": own}), tmp_path / "games.parquet")
    with pytest.raises(FileFormatError, match="upgrade"):
        kf.read(tmp_path / "games.parquet")


def test_a_file_that_is_not_parquet_is_refused(tmp_path):
    (tmp_path / "games.parquet").write_bytes(b"nothing of the kind")
    with pytest.raises(FileFormatError, match="not a parquet file"):
        kf.read(tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_of_every_usual_encoding_is_read(tmp_path, encoding):
    text = "round\twhite\tblack\tresult\n1\tJérôme\tb\t½-½\n"
    (tmp_path / "games.csv").write_bytes(text.encode(encoding))
    (tmp_path / "players.csv").write_bytes("player\trating\nJérôme\t1800\nb\t1700\n".encode(encoding))
    games = kf.read(tmp_path).games
    assert games[["white", "result"]].iloc[0].tolist() == ["Jérôme", "1/2-1/2"]
