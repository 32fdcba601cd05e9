#!/usr/bin/env python3
"""heddle reproduce from the outside: check_reproduce.py HEDDLE INPUTS

Runs a small experiment on small workloads in scratch folders: results do not depend on the number
of jobs, on a kill in the middle or on who else uses the results file; failures are rows; pages
stand alone.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HEDDLE, INPUTS = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
ENVIRONMENT = dict(os.environ, LC_ALL="C", HEDDLE_CACHE_DIR=str(HEDDLE.parent / "tests/cache"))
TINY, SLEEPING = str(INPUTS / "ok_tiny.yaml"), str(INPUTS / "ok_sleeping.yaml")
KINDS = ("csv", "json", "html")


def run(folder, *words, code=0):
    done = subprocess.run([HEDDLE, "reproduce", *words], cwd=folder, env=ENVIRONMENT, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def outputs(folder, name="tiny-quick", out="reproduced"):
    return [(folder / out / f"{name}.{kind}").read_bytes() for kind in KINDS]


def rows(folder, file="heddle-results.db"):
    """How many results there are; None while there is no file or it is being made."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder / file}?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM results").fetchone()[0]
    except sqlite3.OperationalError:
        return None


def folder_of(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder


def content(folder):
    """All that the results file holds. The list of points is written again by each run."""
    with contextlib.closing(sqlite3.connect(folder / "heddle-results.db")) as store:
        return list(store.iterdump())


def same_on_any_number_of_jobs(parent):
    """Also silent in a pipe, and nothing is run twice."""
    one, two = folder_of(parent, "one"), folder_of(parent, "two")
    first = run(one, TINY, "--quick", "--jobs", "1")
    second = run(two, TINY, "--quick", "--jobs", "2")
    assert first.stdout == second.stdout and not first.stderr and not second.stderr
    assert outputs(one) == outputs(two)
    assert rows(one) == 4, rows(one)  # two configurations are equal: their runs are shared
    before = content(one)
    assert run(one, TINY, "--quick").stdout == first.stdout
    assert content(one) == before
    run(one, TINY, "--quick", "--force", "--workloads", "VA")
    assert rows(one) == 4
    assert f"<code>heddle reproduce {TINY} --quick --workloads VA</code>" in outputs(one)[2].decode()
    return one


def another_compiler(parent, one):
    """What one compiler made is no result of another."""
    folder = folder_of(parent, "compiler")
    shutil.copy(one / "heddle-results.db", folder)
    ENVIRONMENT["HEDDLE_CLANG"] = "clang-14"
    run(folder, TINY, "--quick", "--workloads", "VA")
    assert rows(folder) == 6, rows(folder)
    del ENVIRONMENT["HEDDLE_CLANG"]
    run(folder, TINY, "--quick", "--workloads", "VA")
    assert rows(folder) == 6, rows(folder)


def tampered(one):
    """A result that somebody has changed is run again, and the command says so."""
    before = outputs(one)
    with contextlib.closing(sqlite3.connect(one / "heddle-results.db")) as database, database:
        changed = database.execute("UPDATE results SET statistics=replace(statistics, 'timing.cycles\"', "
                                   "'timing.cycle\"') WHERE arguments LIKE '%1024%'").rowcount
        assert changed == 2, changed
    done = run(one, TINY, "--quick")
    assert "heddle-results.db: 2 results were damaged or modified" in done.stderr, done.stderr
    assert outputs(one) == before and rows(one) == 4
    assert not run(one, TINY, "--quick").stderr


def numbers(parent):
    """The document's numbers are those of the runs themselves."""
    folder = folder_of(parent, "numbers")
    run(folder, TINY, "--quick", "--db", "../one/heddle-results.db", "--out", "here")
    document = json.loads(outputs(folder, out="here")[1])
    columns = {column["name"]: column for column in document["columns"]}
    cells = {row["workload"]: row["values"] for row in document["workloads"]}
    cycles = {}
    for name, words in {"VA": ["vecadd", "--", "--elements", "1024"], "MM": ["matmul", "--", "--quick"]}.items():
        for cores in (2, 8):
            subprocess.run([HEDDLE, "run", "--machine", "gtx285", "--set", f"gpu.cores={cores}", "--quiet", "--stats",
                            "s.json", "--workload", *words], cwd=folder, env=ENVIRONMENT, check=True,
                           stdout=subprocess.DEVNULL)
            cycles[name, cores] = json.loads((folder / "s.json").read_text())["totals"]["timing.cycles"]
    gains = []
    for name in ("VA", "MM"):
        gain = 100 * (cycles[name, 2] / cycles[name, 8] - 1)
        gains.append(1 + gain / 100)
        assert abs(cells[name]["gain"]["ours"] - gain) < 1e-6
        assert cells[name]["cycles"]["ours"] == cycles[name, 2]
        assert cells[name]["none"]["ours"] is None  # divides by zero
    assert cells["VA"]["gain"]["theirs"] == 8.6 and cells["MM"]["gain"]["theirs"] is None
    assert cells["NO"]["gain"] == {"theirs": 3.0, "ours": None}
    assert abs(columns["gain"]["mean"]["ours"] - 100 * ((gains[0] * gains[1]) ** 0.5 - 1)) < 1e-6
    groups = columns["gain"]["groups"]
    assert list(groups) == ["pair", "first"]
    assert groups["pair"] == {"theirs": 12.0, "ours": columns["gain"]["mean"]["ours"]}
    assert groups["first"]["theirs"] is None and abs(groups["first"]["ours"] - cells["VA"]["gain"]["ours"]) < 1e-6
    assert abs(columns["cycles"]["mean"]["ours"] - (cycles["VA", 2] + cycles["MM", 2]) / 2) < 1e-6
    assert abs(columns["gain"]["max"]["ours"] - max(cells[n]["gain"]["ours"] for n in ("VA", "MM"))) < 1e-9
    verdicts = [(o["came_out"], o["on"]) for o in document["orderings"]]
    assert verdicts == [("yes", "each"), ("no", "mean"), ("yes", "mean"), ("unknown", "NO"), ("no", "pair")], verdicts


def pages(one):
    text = outputs(one)[2].decode()
    xml.etree.ElementTree.fromstring(text)
    assert f"<code>heddle reproduce {TINY} --quick</code>" in text  # as it was called
    assert "<svg" in text and "<table" in text and "prefers-color-scheme" in text
    for word in ("http:", "https:", "src=", "<script", "@import", "url(", "<link"):
        assert word not in text, word
    assert "&lt;b&gt; &amp; co" in text and "<b>" not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d", text)
    folder = one / "reproduced"
    assert sorted(path.name for path in folder.iterdir()) == ["tiny-quick.csv", "tiny-quick.html", "tiny-quick.json"]


def children(folder):
    """Processes that were told of a file in this folder."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [path.parent.name] * (str(folder).encode() in path.read_bytes())
        except OSError:
            pass  # it has ended
    return found


def alone(parent):
    """Who starts jobs takes them along, even when killed."""
    folder = folder_of(parent, "alone")
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = subprocess.Popen([HEDDLE, "reproduce", SLEEPING, "--quick"], cwd=folder,
                                   env=dict(ENVIRONMENT, TMPDIR=str(folder)), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while not children(folder) and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        assert process.wait() == (143 if number == signal.SIGTERM else -9)
        for _ in range(500):
            if not children(folder):
                break
            time.sleep(0.02)
        assert not children(folder), number
    assert rows(folder) == 0
    late = run(folder, SLEEPING, "--quick", "--max-seconds", "0.3", code=1)
    assert "time-out: stopped at its time limit" in late.stdout


def killed(parent, one):
    """kill -9 when the first result is in: the second run goes on."""
    folder = folder_of(parent, "killed")
    process = subprocess.Popen([HEDDLE, "reproduce", TINY, "--quick", "--jobs", "1"], cwd=folder,
                               env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not rows(folder) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert rows(folder) > 0
    run(folder, TINY, "--quick")
    assert rows(folder) == 4
    assert outputs(folder) == outputs(one)


def interrupted(parent, one):
    folder = folder_of(parent, "interrupted")
    process = subprocess.Popen([HEDDLE, "reproduce", TINY, "--quick", "--jobs", "1"], cwd=folder, env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not rows(folder) and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode in (130, 0), process.returncode  # 0: it had just ended
    if process.returncode:
        assert "continues from here" in err and not out
        assert not list((folder / "reproduced").iterdir())
    run(folder, TINY, "--quick")
    assert outputs(folder) == outputs(one)


def together(parent, one):
    """Two commands with one results file and one folder."""
    folder = folder_of(parent, "together")
    processes = [subprocess.Popen([HEDDLE, "reproduce", TINY, "--quick", "--jobs", "1"], cwd=folder, env=ENVIRONMENT,
                                  stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0]
    assert rows(folder) == 4 and outputs(folder) == outputs(one)


def failures(parent):
    """Wrong, faulty, late and missing programs are rows; the rest is there; exit code 1."""
    folder = folder_of(parent, "failures")
    done = run(folder, str(INPUTS / "ok_failing.yaml"), "--quick", "--max-seconds", "20", code=1)
    document = json.loads(outputs(folder, "failing-quick")[1])
    found = {row["workload"]: row["failure"] for row in document["workloads"]}
    assert found["GOOD"] == ""
    assert found["WRONG"].startswith("base: exit: "), found
    assert found["NOTHING"].startswith("base: start: "), found
    assert document["failures"] == 2 and "2 runs failed" in done.stderr
    good = next(row for row in document["workloads"] if row["workload"] == "GOOD")
    assert good["values"]["x"]["ours"] > 0
    again = run(folder, str(INPUTS / "ok_failing.yaml"), "--quick", code=1)
    assert again.stdout == done.stdout


def mistakes(parent):
    """Exit code 2, and nothing is written."""
    folder = folder_of(parent, "mistakes")
    (folder / "notes.db").write_text("my notes\n")
    for words, message in {
            ("nothing",): "there is no experiment or suite 'nothing'",
            (): "expected the name of an experiment",
            (TINY, "--jobs", "0"): "--jobs: '0': expected 1 to 1024",
            (TINY, "--max-seconds", "x"): "--max-seconds: 'x'",
            (TINY, "--workloads", "VA,VB"): "has no workload 'VB'",
            (TINY, "--db", "notes.db"): "notes.db: not a results file of Heddle",
            (str(INPUTS / "err_mean.yaml"),): "err_mean.yaml:8:50: expected geometric",
            (str(INPUTS / "ok_all_keys.yaml"),): "ok_all_keys.yaml:20:41: unknown parameter 'uniform.entries'",
            (str(INPUTS / "ok_statistic.yaml"),): "there is no statistic 'timing.cyles': did you mean 'timing.cycles'?",
            (str(INPUTS / "ok_setting.yaml"),): "ok_setting.yaml:5:31: unknown parameter 'gpu.core'",
    }.items():
        assert message in run(folder, *words, code=2).stderr, (words, message)
    assert [path.name for path in folder.iterdir()] == ["notes.db"]
    assert (folder / "notes.db").read_text() == "my notes\n"


def built_in(parent):
    """Every experiment knows its machines, mechanisms, parameters and statistics."""
    folder = folder_of(parent, "built-in")
    names = [row["experiment"] for row in json.loads(run(folder, "--list", "--json").stdout)]
    # points are told apart by the maps of their chips; to draw those of ten chips takes half a minute
    listed = [name for name in names if not name.endswith("-ten")]
    lines = run(folder, *listed, "--quick", "--dry-run").stdout.splitlines()
    assert len(names) > 15 and len(lines) > 200 and len(set(lines)) == len(lines)
    commands = ("heddle run --workload ", "heddle inject --workload ", "heddle chip ", "heddle area ")
    assert all(line.startswith(commands) for line in lines), [line for line in lines if not line.startswith(commands)]
    alone = run(folder, "xiang-fig5", "--dry-run").stdout.splitlines()
    assert len(alone) == 4 * 13, len(alone)
    assert not list(folder.iterdir())


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-lab-test-") as name:
        parent = pathlib.Path(name)
        one = same_on_any_number_of_jobs(parent)
        run(one, TINY, "--quick")
        another_compiler(parent, one)
        tampered(one)
        numbers(parent)
        pages(one)
        alone(parent)
        killed(parent, one)
        interrupted(parent, one)
        together(parent, one)
        failures(parent)
        mistakes(parent)
        built_in(parent)


main()
