#!/usr/bin/env python3
"""heddle compare of sweeps from the outside: check_sweeps.py HEDDLE KERNEL

Two small sweeps are compared whole, in halves and point by point; every number is checked against the
tables of the sweeps. Files that cannot be compared are refused.
"""
import csv
import json
import math
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HEDDLE, KERNEL = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
PLAN = """
sweep: %s
machine: gtx480
set: {l1d.latency: %s}
axes:
  - {set: l1d.sets, values: [8, %s]}
  - {set: gpu.cores, values: %s}
  - mechanism: [none, filter_cache]
  - kernel: ['%s --grid 2 --block 32 --arg zero:4K --arg u32:3']
baseline: {mechanism: none}
columns:
  - timing.cycles
  - {name: gain, formula: 100 * (baseline.timing.cycles / timing.cycles - 1), unit: "%%"}
"""


def heddle(folder, *words, code=0):
    done = subprocess.run([HEDDLE, *words], cwd=folder, env=dict(os.environ, LC_ALL="C"), timeout=300, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def compared(folder, *words, code=0):
    """The comparison as JSON, with its sections by name."""
    document = json.loads(heddle(folder, "compare", *words, "--json", "-", code=code).stdout)
    document["tables"] = {section["name"]: section["rows"] for section in document["sections"]}
    return document


def points(folder, name):
    """The points of a sweep from its table: cycles and gain by the values of the axes."""
    with open(folder / name / "sweep.csv", encoding="utf-8") as file:
        return {(int(row["l1d.sets"], 0), int(row["gpu.cores"]), row["mechanism"]):
                (float(row["timing.cycles"]), float(row["gain"])) for row in csv.DictReader(file)}


def whole(folder):
    """Two sweeps: all common points, largest change first, and those that only one of them has."""
    a, b = points(folder, "a"), points(folder, "b")
    common = [key for key in a if key in b]
    assert len(common) == 4 and len(b) == 12
    document = compared(folder, "a", "b/sweep.db", "--exit-code", code=1)
    mean = math.exp(sum(math.log(a[key][0] / b[key][0]) for key in common) / len(common))
    assert abs(document["runs"][1]["speedup"] - mean) < 1e-5 * mean
    assert [run["label"] for run in document["runs"]] == ["a", "b"]
    assert [run["points"] for run in document["runs"]] == [8, 12] and document["differ"]
    verdict = document["runs"][1]["verdict"]
    assert "geometric mean of 4 points: 0 faster, 4 slower, 0 the same" in verdict, verdict
    assert "12 points have a result in only one of them" in verdict, verdict
    tables = document["tables"]
    assert {row["name"]: row["values"] for row in tables["configuration"]} == {"l1d.latency": ["35", "80"]}
    changes = [row["values"][1] / row["values"][0] for row in tables["time"]]
    assert changes == sorted(changes, reverse=True) and len(changes) == 4
    for table, index in (("time", 0), ("column_1", 0), ("column_2", 1)):
        for row in tables[table]:
            sets, cores, mechanism = (part.split("=")[1] for part in row["name"].split(", "))
            key = (int(sets, 0), int(cores), mechanism)
            assert row["values"] == [a[key][index], b[key][index]], (table, row)
    alone = [row for row in tables["unpaired"] if row["values"] == ["-", "done"]]
    assert len(alone) == 8 and len(tables["unpaired"]) == 12
    assert {row["name"] for row in tables["axes"]} == {"gpu.cores=1", "gpu.cores=2", "mechanism=none",
                                                       "mechanism=filter_cache"}
    text = heddle(folder, "compare", "a", "b", "--top", "1", "--html", "c.html").stdout
    assert verdict in text and "... and 3 more" in text and "Column gain, %" in text
    page = (folder / "c.html").read_text()
    xml.etree.ElementTree.fromstring(page)
    assert "gpu.cores=2" in page and "<script" not in page and "http" not in page


def selected(folder):
    """Halves of one sweep, single points, and points beside statistics files."""
    document = compared(folder, "b#mechanism=none", "b#mechanism=filter_cache")
    b = points(folder, "b")
    assert [run["label"] for run in document["runs"]] == ["mechanism=none", "mechanism=filter_cache"]
    assert len(document["tables"]["time"]) == 6
    for row in document["tables"]["time"]:
        sets, cores = (int(part.split("=")[1], 0) for part in row["name"].split(", "))
        assert row["values"] == [b[sets, cores, "none"][0], b[sets, cores, "filter_cache"][0]]
    kernel = f"{KERNEL} --grid 2 --block 32 --arg zero:4K --arg u32:3"
    heddle(folder, "run", *kernel.split(), "--machine", "gtx480", "--set", "l1d.latency=80", "--set", "l1d.sets=8", "--set",
           "gpu.cores=2", "--quiet", "--stats", "one.json")
    point = "b/sweep.db#l1d.sets=0x8,gpu.cores=2,mechanism=none"
    text = heddle(folder, "compare", "one.json", point, "--exit-code").stdout
    assert "identical in everything but 'host'" in text or "statistics of" in text, text
    assert "Source lines" in heddle(folder, "compare", point, "b#l1d.sets=8,gpu.cores=2,mechanism=filter_cache").stdout
    same = heddle(folder, "compare", "a", "a/sweep.db", "--exit-code").stdout
    assert "the statistics of a and a/sweep.db are identical in 8 points" in same, same
    many = compared(folder, *["one.json"] * 40)
    assert len(many["runs"]) == 40


def refused(folder):
    """What cannot be compared, and how it is said."""
    good = (folder / "a/sweep.db").read_bytes()
    (folder / "damaged.db").write_bytes(good[:4096] + b"\xa5" * 4096 + good[8192:])
    (folder / "empty.db").write_bytes(b"")
    for name, change in {"newer.db": "PRAGMA user_version=99", "foreign.db": "PRAGMA application_id=1",
                         "older.db": "PRAGMA user_version=3; DROP TABLE plans; DROP TABLE points"}.items():
        shutil.copy(folder / "a/sweep.db", folder / name)
        with sqlite3.connect(folder / name) as database:
            database.executescript(change)
        database.close()
    before = {path: path.read_bytes() for path in folder.glob("*.db")}
    for words, message in {
            ("a", "damaged.db"): "damaged.db: the results file is damaged",
            ("a", "newer.db"): "newer.db: results of another version of Heddle (schema 99, expected 4)",
            ("a", "foreign.db"): "foreign.db: this database does not hold Heddle's results",
            ("a", "older.db"): "older.db: this results file does not say which points it has",
            ("a", "empty.db"): "empty.db: line 1: not JSON",
            ("a", "nowhere.db"): "nowhere.db: cannot open",
            ("a#l1d.setz=8", "a"): "'l1d.setz=8': expected AXIS=VALUE[,AXIS=VALUE...] after '#'; its axes are l1d.sets,",
            ("a#l1d.sets=9", "a"): "axis 'l1d.sets' has no value '9'; it has 8, 16",
            ("a#mechanism=none", "a"): "its points differ in 'mechanism'",
            ("a", "one.json"): "one.json is one run, but a has 8 points: choose one, as in 'a/sweep.db#l1d.sets=8",
            ("one.json#x", "one.json"): "only points of a results file",
            ("a",): "expected at least two",
    }.items():
        error = heddle(folder, "compare", *words, code=2).stderr
        assert message in error, (words, error)
    assert {path: path.read_bytes() for path in folder.glob("*.db")} == before
    error = heddle(folder, "compare", "a", "b", "--json", "a/sweep.db", code=2).stderr
    assert "is one of the files to compare" in error and (folder / "a/sweep.db").read_bytes() == good


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-compare-test-") as name:
        folder = pathlib.Path(name)
        (folder / "a.yaml").write_text(PLAN % ("a", 35, 16, "[1, 2]", KERNEL))
        (folder / "b.yaml").write_text(PLAN % ("b", 80, 32, "[1, 2, 4]", KERNEL))
        for plan in "ab":
            heddle(folder, "sweep", f"{plan}.yaml")
        whole(folder)
        selected(folder)
        refused(folder)


main()
