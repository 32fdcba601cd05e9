#!/usr/bin/env python3
"""heddle sweep from the outside: check_sweep.py HEDDLE INPUTS KILLS [CASE...]

Sweeps of a small kernel in scratch folders: the table is right, nothing is run twice, a sweep that
is killed, interrupted or shared by processes and executors gives the same bytes, failures have their
reasons, mistakes are refused with their place, points share the cores of the host.
"""
import contextlib
import csv
import fcntl
import json
import os
import pathlib
import random
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HEDDLE, INPUTS = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
KILLS = int(sys.argv[3])
ENVIRONMENT = dict(os.environ, LC_ALL="C")
KERNEL = f"{INPUTS / 'tiny.ptx'} --grid 2 --block 32 --arg zero:4K --arg u32:"
KINDS = ("csv", "json", "html")
GRID = ["--machine", "gtx480", "--set", "l1d.sets=8..32*2", "--set", "gpu.cores=1,2", "--mech", "none", "--mech",
        "filter_cache", "--kernel", KERNEL + "3", "--baseline", "mechanism=none,l1d.sets=8"]


def run(folder, *words, code=0):
    done = subprocess.run([HEDDLE, "sweep", *words], cwd=folder, env=ENVIRONMENT, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def outputs(folder, out="out"):
    return [(folder / out / f"sweep.{kind}").read_bytes() for kind in KINDS]


def stored(folder, out="out"):
    """Keys and statistics of all results."""
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder / out / 'sweep.db'}?mode=ro", uri=True)) as database:
            return dict(database.execute("SELECT key, statistics FROM results").fetchall())
    except sqlite3.OperationalError:
        return {}


def folder_of(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder


def write_script(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def table(parent):
    """Every combination is a row, with the values of a run by hand."""
    folder = folder_of(parent, "table")
    done = run(folder, *GRID, "--out", "out/")
    assert not done.stderr and done.stdout.splitlines()[0].split()[:3] == ["l1d.sets", "gpu.cores", "mechanism"]
    with open(folder / "out/sweep.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["l1d.sets"], row["gpu.cores"], row["mechanism"]) for row in rows] == \
        [(s, c, m) for s in ("8", "16", "32") for c in ("1", "2") for m in ("none", "filter_cache")]
    assert all(row["status"] == "done" and row["workload"] == KERNEL + "3" for row in rows)
    words = [HEDDLE, "run", *(KERNEL + "3").split(), "--machine", "gtx480", "--quiet", "--stats", "s.json"]
    for row in (rows[3], rows[8]):
        mechanism = [] if row["mechanism"] == "none" else ["--mech", row["mechanism"]]
        subprocess.run([*words, "--set", f"l1d.sets={row['l1d.sets']}", "--set", f"gpu.cores={row['gpu.cores']}",
                        *mechanism], cwd=folder, check=True)
        totals = json.loads((folder / "s.json").read_text())["totals"]
        assert float(row["cycles"]) == totals["timing.cycles"]
        assert float(row["energy"]) == totals["energy.total_pj"] / 1000000
        base = next(other for other in rows if other["gpu.cores"] == row["gpu.cores"])
        assert float(row["speedup"]) == float(base["cycles"]) / float(row["cycles"])
    document = json.loads((folder / "out/sweep.json").read_text())
    units = {column["name"]: (column["type"], column["unit"]) for column in document["columns"]}
    assert units["cycles"] == ("double", "cycles") and units["mechanism"] == ("string", "")
    assert [point["cycles"] for point in document["points"]] == [float(row["cycles"]) for row in rows]
    page = (folder / "out/sweep.html").read_text()
    xml.etree.ElementTree.fromstring(page)
    assert page.count("<polyline") == 4 * 4  # columns; two numbers of cores with two mechanisms each
    rest = page.replace("http://www.w3.org/2000/svg", "")
    for word in ("http:", "https:", "src=", "@import", "url(", "<link"):
        assert word not in rest, word
    shown = [float(cell) for cell in re.findall(r'data-v="([^"]*)"', page)]
    assert shown == [point[column] for point in document["points"] for column in ("cycles", "ipc", "energy", "speedup")
                     if column in point], shown
    return folder


def nothing_twice(one):
    before, results = outputs(one), stored(one)
    assert len(results) == 12
    assert "12 of 12 runs were stored before" in run(one, *GRID, "--out", "out").stdout
    run(one, "resume", "out")
    assert outputs(one) == before and stored(one) == results
    # another plan with some of the same points, written in another way
    run(one, "--machine", "gtx480", "--set", "gpu.cores=0x1", "--set", "l1d.sets=64,16", "--kernel", KERNEL + "3",
        "--out", "out")
    assert len(stored(one)) == 13
    assert run(one, "--machine", "gtx480", "--set", "l1d.sets=8,0x8,16", "--kernel", KERNEL + "3",
               "--dry-run").stdout.startswith("sweep: 3 points, 1 equal to others\n")


def same_however(parent, one):
    """Killed at random moments; interrupted; in two processes; through a command."""
    run(one, *GRID, "--out", "out")
    expected = outputs(one)
    killed = folder_of(parent, "killed")
    chance = random.Random(20)
    for _ in range(KILLS):
        before = len(stored(killed))
        with subprocess.Popen([HEDDLE, "sweep", *GRID, "--out", "out", "--jobs", "2"], cwd=killed, env=ENVIRONMENT,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            wished = min(before + 1, 11)
            while len(stored(killed)) < wished and process.poll() is None:
                time.sleep(0.005)
            time.sleep(0.08 * chance.random())
            process.send_signal(chance.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)))
    kept = stored(killed)
    assert len(kept) >= min(KILLS, 11), len(kept)
    run(killed, "resume", "out")
    assert outputs(killed) == expected
    after = stored(killed)
    assert all(after[key] == text for key, text in kept.items()) and len(after) == 12
    shared = folder_of(parent, "shared")
    processes = [subprocess.Popen([HEDDLE, "sweep", *GRID, "--out", "out", "--jobs", "1"], cwd=shared, env=ENVIRONMENT,
                                  stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0] and outputs(shared) == expected
    # every point was run by one of them: what one ran, the other found
    found = [int(text.splitlines()[-1].split()[0]) for text in said]
    assert sum(12 - count for count in found) == 12, found
    # as ssh does, it joins its words with blanks and gives them to a shell; the folder's name needs quotes there
    remote = folder_of(parent, "it's remote")
    write_script(parent / "ssh", "shift; exec sh -c \"cd /; $*\"\n")
    run(remote, *GRID, "--out", "out", "--jobs", "2", "--on", f"command:echo slot {{slot}} >> slots; {parent}/ssh host {{}}")
    assert outputs(remote) == expected
    assert {line.split()[1] for line in (remote / "slots").read_text().splitlines()} <= {"0", "1"}
    assert not [path for path in (remote / "out").iterdir() if path.name.startswith("heddle-")]


def plans(parent):
    """Zipped axes, exclusions, formulas, seeds; a plan file gives the points that it says."""
    folder = folder_of(parent, "plans")
    (folder / "plan.yaml").write_text(f"""
sweep: zipped
machine: gtx480
axes:
  - zip:
      - {{set: l1d.sets, values: [8, 16, 32]}}
      - {{set: gpu.cores, values: 1..3}}
  - mechanism: [none, {{filter_cache: {{}}}}]
  - {{set: launch.seed, name: try, values: 1..2}}
  - kernel: ["{KERNEL}1", "{KERNEL}2"]
exclude:
  - {{l1d.sets: [8, 16], mechanism: filter_cache}}
baseline: {{mechanism: none}}
columns:
  - timing.cycles
  - {{name: doubled, formula: 2 * timing.cycles, unit: cycles}}
  - {{name: gain, formula: baseline.timing.cycles / timing.cycles - 1}}
""")
    run(folder, "plan.yaml")
    with open(folder / "zipped/sweep.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == (3 * 2 - 2) * 2 * 2
    assert {(row["l1d.sets"], row["gpu.cores"]) for row in rows} == {("8", "1"), ("16", "2"), ("32", "3")}
    assert {row["l1d.sets"] for row in rows if row["mechanism"] == "filter_cache"} == {"32"}
    for row in rows:
        assert float(row["doubled"]) == 2 * float(row["timing.cycles"])
        assert row["mechanism"] != "none" or float(row["gain"]) == 0
    run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1", "--seed", "1..3", "--set", "l1d.sets=8,16",
        "--out", "seeds")
    means = json.loads((folder / "seeds/sweep.json").read_text())["means"]
    assert len(means) == 2 and means[0]["cycles"]["samples"] == 3 and means[0]["cycles"]["interval95"] == 0
    # the seeds themselves differ: 1, 2 and 3 have the mean 2 +- t(2) sqrt(1/3)
    run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1", "--seed", "1..3", "--set", "l1d.sets=8,16",
        "--column", "seed_used=config.launch.seed", "--out", "differ")
    for mean in json.loads((folder / "differ/sweep.json").read_text())["means"]:
        assert mean["seed_used"]["mean"] == 2 and mean["seed_used"]["samples"] == 3, mean
        assert abs(mean["seed_used"]["interval95"] - 4.303 / 3 ** 0.5) < 1e-3, mean
    # the baseline of a zipped axis has the values of all its axes
    run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1", "--set", "gpu.cores=1,2", "--set", "l1d.sets=8,16", "--zip",
        "gpu.cores,l1d.sets", "--baseline", "gpu.cores=2", "--column", "sets=baseline.config.l1d.sets", "--column",
        "cores=baseline.config.gpu.cores", "--out", "zip-base")
    with open(folder / "zip-base/sweep.csv", encoding="utf-8") as file:
        assert [(row["sets"], row["cores"]) for row in csv.DictReader(file)] == [("16", "2")] * 2
    run(folder, "export", "seeds", "--format", "sqlite", "--file", "seeds.sqlite")
    with contextlib.closing(sqlite3.connect(folder / "seeds.sqlite")) as database:
        assert database.execute('SELECT count(*), min("l1d.sets") FROM points').fetchone() == (6, 8.0)
        assert database.execute("SELECT unit FROM columns WHERE name='energy'").fetchone() == ("uJ",)
    all_columns = run(folder, "export", "seeds", "--all").stdout.splitlines()
    assert len(all_columns) == 7 and "l1d.read_hits" in all_columns[0].split(",")
    dry = run(folder, "plan.yaml", "--dry-run").stdout
    assert dry.startswith("zipped: 16 points, 8 excluded\n") and "... and 11 more" in dry


def campaigns(parent):
    """Points that are campaigns of faults: their statistics are those of `heddle inject`, and none is run twice."""
    folder = folder_of(parent, "campaigns")
    many = KERNEL.replace("--grid 2 --block 32", "--grid 6 --block 256")
    plan = f"""
sweep: struck
machine: gtx480
set: {{gpu.cores: 1}}
inject: {{faults: 30, seed: 9}}
axes:
  - {{inject: structures, values: ['^collect[.]registers$', '^fetch[.]pc$']}}
  - kernel: ["{many}3"]
"""
    (folder / "plan.yaml").write_text(plan)
    run(folder, "plan.yaml")
    with open(folder / "struck/sweep.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shares = []
    for row in rows:
        words = [HEDDLE, "inject", *(many + "3").split(), "--machine", "gtx480", "--set", "gpu.cores=1", "--faults", "30", "--seed",
                 "9", "--structures", row["structures"], "--quiet", "--out", "alone"]
        subprocess.run(words, cwd=folder, env=ENVIRONMENT, check=True, timeout=300)
        total = json.loads((folder / "alone/summary.json").read_text())["total"]
        for column, share in [("failures", total["failures"]), ("sdc", total["outcomes"]["sdc"]),
                              ("due", total["outcomes"]["due"]), ("hang", total["outcomes"]["hang"])]:
            assert abs(float(row[column]) - 100 * share["share"]) < 1e-6, (row, total)
        assert float(row["low"]) <= float(row["failures"]) <= float(row["high"])
        shares.append(total["failures"]["count"])
    assert len(rows) == 2 and max(shares) > 0, rows
    assert "2 of 2 runs were stored before" in run(folder, "plan.yaml").stdout
    (folder / "plan.yaml").write_text(plan.replace("seed: 9", "seed: 10"))
    assert "0 of 2 runs were stored before" in run(folder, "plan.yaml").stdout
    (folder / "plan.yaml").write_text(plan.replace("faults: 30, ", ""))
    assert "how many faults? expected 'faults' or 'interval'" in run(folder, "plan.yaml", code=2).stderr
    # what the machine does not have is a failure of the point, and the run without faults may fail, too
    (folder / "plan.yaml").write_text(plan.replace("'^fetch[.]pc$'", "nothing"))
    run(folder, "plan.yaml", code=1)
    assert "no storage element matches 'nothing'" in run(folder, "status", "struck", code=1).stdout
    (folder / "plan.yaml").write_text(plan.replace("zero:4K", "zero:4"))
    run(folder, "plan.yaml", code=1)
    assert "the run without faults: out of bounds" in run(folder, "status", "struck", code=1).stdout


def failures(parent):
    """Each has its reason and its log; retry runs those that it is asked for."""
    folder = folder_of(parent, "failures")
    program = folder / "fails.sh"
    program.write_text("#!/bin/sh\necho from $1\n[ $1 = sleep ] && sleep 30\n[ $1 = die ] && kill -9 $$\nexit 3\n")
    program.chmod(0o755)
    words = ["--machine", "gtx480", "--kernel", KERNEL + "1", "--program", "./fails.sh exit", "--program",
             "./fails.sh sleep", "--program", "./fails.sh die", "--kernel",
             f"{INPUTS / 'tiny.ptx'} --grid 1 --block 32 --arg zero:64 --arg u32:1", "--out", "out",
             "--max-seconds", "2"]
    done = run(folder, *words, code=1)
    assert "4 points failed; 'heddle sweep status out' shows why" in done.stderr
    with open(folder / "out/sweep.csv", encoding="utf-8") as file:
        reasons = [row["status"] for row in csv.DictReader(file)]
    assert reasons == ["done", "exit", "time-out", "crash", "fault"], reasons
    # an exit code 2 of heddle itself is not one of a program
    own = run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1 --machine gtx285", "--out", "own", code=1).stdout
    assert own.splitlines()[1].split()[-1] == "start", own
    assert "start: heddle run: --machine is given twice" in (why := run(folder, "status", "own", code=1).stdout), why
    status = run(folder, "status", "out", code=1).stdout
    assert "failed          4  (exit 1, fault 1, time-out 1, crash 1)" in status, status
    assert "exit: from exit" in status
    log = next(line.split()[1] for line in status.splitlines() if line.startswith("  log: "))
    assert "from" in (folder / log).read_text()
    before = stored(folder)
    assert run(folder, "resume", "out", code=1).stdout and stored(folder) == before
    program.write_text("#!/bin/sh\nexit 4\n")  # another program: its points are new
    assert "2 of 5 runs were stored before" in run(folder, "resume", "out", code=1).stdout
    assert "running         0" in run(folder, "status", "out", code=1).stdout
    retried = run(folder, "retry", "out", "--failed", "fault", code=1)
    assert "4 of 5 runs were stored before" in retried.stdout
    assert "expected exit, fault," in run(folder, "retry", "out", "--failed", "bad", code=2).stderr
    fast = run(folder, "--machine", "gtx480", "--program", "./fails.sh a", "--kernel", KERNEL + "9", "--out", "fast",
               "--fail-fast", "--jobs", "1", code=1)
    assert "stopped at the first failure" in fast.stderr
    large = run(folder, "--machine", "gtx480", "--program",
                f"{sys.executable} -c 'import time; x=bytearray(300000000); time.sleep(20)'", "--out", "large",
                "--max-memory", "100M", code=1)
    assert ",memory," in (folder / "large/sweep.csv").read_text(), large.stdout


def mistakes(parent):
    """Exit code 2, the place, and nothing is written."""
    folder = folder_of(parent, "mistakes")
    (folder / "bad.yaml").write_text("sweep: bad\nmachine: gtx480\naxes:\n  - {set: l1d.setz, values: [8]}\n"
                                     f"  - kernel: ['{KERNEL}1']\n")
    (folder / "fit.yaml").write_text("sweep: fit\nmachine: gtx480\naxes:\n  - {set: l1d.line_bytes, values: [128, 100]}\n"
                                     f"  - kernel: ['{KERNEL}1']\n")
    names = sorted(path.name for path in folder.iterdir())
    kernel = ["--kernel", KERNEL + "1"]
    for words, message in {
            (): "there is nothing to run",
            ("--machine", "gtx480"): "there is nothing to run",
            tuple(kernel): "no machine is named",
            ("--machine", "gtx481", *kernel): "gtx481",
            ("--machine", "gtx480", "--set", "l1d.sets", *kernel): "--set l1d.sets: expected KEY=VALUE",
            ("--machine", "gtx480", "--set", "l1d.setz=1,2", *kernel): "unknown parameter 'l1d.setz': did you mean",
            ("--machine", "gtx480", "--set", "l1d.sets=9..1", *kernel): "'9..1': expected FIRST..LAST",
            ("--machine", "gtx480", "--set", "l1d.sets=8,8", *kernel): "axis 'l1d.sets' has the value '8' twice",
            ("--machine", "gtx480", "--mech", "darsi", *kernel): "darsi",
            ("--machine", "gtx480", "--workload", "hotspt"): "there is no workload 'hotspt': did you mean 'hotspot'?",
            ("--machine", "gtx480", *kernel, "--exclude", "l1d.sets=3"): "there is no axis 'l1d.sets'",
            ("--machine", "gtx480", *kernel, "--column", "x=timing.cycels"): "there is no statistic 'timing.cycels'",
            ("--machine", "gtx480", *kernel, "--column", "x=baseline.timing.cycles"): "the plan has no baseline",
            ("bad.yaml",): "bad.yaml:4:30: unknown parameter 'l1d.setz'",
            ("fit.yaml",): "l1d.line_bytes=100",
            ("bad.yaml", "--set", "l1d.sets=8"): "--set is part of a plan",
            ("--machine", "gtx480", "--set", "l1d.sets=8,,16", *kernel): "expected values separated by single commas",
            ("--machine", "gtx480", "--set", "l1d.sets=8,", *kernel): "expected values separated by single commas",
            ("--machine", "gtx480,", *kernel): "expected machines separated by single commas",
            ("--machine", "gtx480", "--seed", "1,,2", *kernel): "expected seeds separated by single commas",
            ("--machine", "gtx480", "--workload", "hotspot,,bfs"): "separated by single commas",
            ("--machine", "gtx480", "--set", "l1d.sets=8", "--set", "l1d.sets=16", *kernel): "--set l1d.sets is given twice",
            ("--machine", "gtx480", "--set", "l1d.sets=8,9", "--set", "l1d.sets=16", *kernel): "--set l1d.sets is given twice",
            ("--machine", "gtx480", "--set", "gpu.cores=1,2", *kernel, "--exclude", "gpu.cores=1,gpu.cores=2"):
                "expected one value of each axis",
            ("--machine", "gtx480", "--set", "gpu.cores=1,2", *kernel, "--exclude", "gpu.cores=1", "--exclude", "gpu.cores=2"):
                "there is nothing to run: all points are excluded",
            ("--machine", "gtx480", "--set", "gpu.cores=1,2", *kernel, "--zip", ""): "expected different axes",
            ("--machine", "gtx480", "--set", "gpu.cores=1,2", *kernel, "--zip", "gpu.cores,gpu.cores"): "expected different axes",
            ("--machine", "gtx480", "--set", "gpu.cores=1,2", "--set", "l1d.sets=4,8,16", *kernel, "--zip", "gpu.cores,l1d.sets"):
                "zipped axes have equally many values",
            ("--machine", "gtx480", *kernel, "--column", "status=timing.cycles"): "tables have a column 'status' already",
            ("--machine", "gtx480", *kernel, "--column", "workload=timing.cycles"): "tables have a column 'workload' already",
            ("--machine", "gtx480", *kernel, "--out", ""): "--out: expected a folder",
            ("--machine", "gtx480", *kernel, "--failed", "exit"): "--failed belongs to 'heddle sweep retry'",
            ("--machine", "gtx480", *kernel, "--format", "json"): "--format belongs to 'heddle sweep export'",
            ("status", "nowhere", "--set", "l1d.sets=8"): "'heddle sweep status' takes no --set",
            ("resume", "nowhere", "--out", "there"): "'heddle sweep resume' takes no --out",
            ("resume", "nowhere", "--failed", "exit"): "'heddle sweep resume' takes no --failed",
            ("status", "nowhere", "elsewhere"): "'heddle sweep status': expected one folder",
            ("status", "nowhere"): "there is no sweep in this folder",
            ("status",): "expected the folder of a sweep",
            ("bad.yaml", "worse.yaml"): "expected one plan file",
    }.items():
        assert message in run(folder, *words, code=2).stderr, (words, message, run(folder, *words, code=2).stderr)
    for words, message in {
            ("--on", "moon"): "expected local[:N]",
            ("--on", "local:0"): "expected 1 to 1024",
            ("--on", "command:"): "expected a command after the colon",
            ("--on", "slurm:none"): "slurm:N",
            ("--jobs", "none"): "--jobs",
            ("--pack", "0"): "--pack",
    }.items():
        assert message in run(folder, "--machine", "gtx480", *kernel, *words, code=2).stderr, words
    assert sorted(path.name for path in folder.iterdir()) == names


def limited(folder, *words, file_bytes):
    """A run that can write no file larger than this: a full disk, without one."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    return subprocess.run([HEDDLE, "sweep", *words], cwd=folder, env=ENVIRONMENT, timeout=300, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit,
                          restore_signals=False)


def full_disk(parent):
    """Results that cannot be stored end the sweep; those that are stored stay; nothing counts as a failure."""
    folder = folder_of(parent, "full")
    words = ["--machine", "gtx480", "--set", "l1d.sets=1..20", "--kernel", KERNEL + "1", "--out", "out"]
    done = limited(folder, *words, file_bytes=400000)
    assert done.returncode == 2 and "sweep.db: " in done.stderr, done
    kept = stored(folder)
    assert 0 < len(kept) < 20, len(kept)
    run(folder, "resume", "out")
    after = stored(folder)
    assert len(after) == 20 and all(after[key] == text for key, text in kept.items())
    assert ",done," in (folder / "out/sweep.csv").read_text().splitlines()[-1]
    # a temporary folder without room for statistics; only root can make one
    small = folder_of(folder, "small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", small], check=False,
                      stderr=subprocess.DEVNULL).returncode == 0:
        try:
            done = subprocess.run([HEDDLE, "sweep", *words[:-1], "statistics"], cwd=folder, text=True, check=False,
                                  env=dict(ENVIRONMENT, TMPDIR=str(small)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        finally:
            subprocess.run(["umount", small], check=True)
        assert done.returncode == 2 and "no room is left for the statistics of a run" in done.stderr, done
        assert not stored(folder, "statistics")
        assert "failed          0" in run(folder, "status", "statistics").stdout


def elsewhere(parent, one):
    """From another folder: --file is relative to where the command is started, logs are found. The results file is
    never overwritten, and a folder whose results cannot be used keeps its plan."""
    folder = folder_of(parent, "elsewhere")
    run(folder, "export", "../table/out", "--file", "here.csv")
    assert (folder / "here.csv").read_bytes() == outputs(one)[0]
    assert "  log: ../failures/out/logs/" in run(folder, "status", "../failures/out", code=1).stdout
    before = (one / "out/sweep.db").read_bytes()
    for form in ("csv", "sqlite"):
        error = run(folder, "export", "../table/out", "--format", form, "--file", "../table/out/sweep.db", code=2).stderr
        assert "has the results of the sweep" in error, error
    assert "expected an ordinary file" in run(folder, "export", "../table/out", "--format", "sqlite", "--file", "/dev/null",
                                              code=2).stderr
    assert (one / "out/sweep.db").read_bytes() == before
    bad = folder_of(folder, "bad")
    (bad / "sweep.db").write_text("my notes\n")
    (bad / "plan.yaml").write_text("my plan\n")
    assert "not a results file of Heddle" in run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1", "--out", "bad",
                                                 code=2).stderr
    assert (bad / "plan.yaml").read_text() == "my plan\n" and len(list(bad.iterdir())) == 2


def without_effect(parent):
    """A parameter that affects no point is named once; one that affects some is not."""
    folder = folder_of(parent, "effect")
    words = ["--machine", "gtx480", "--set", "darsie.entries=2,4", "--set", "l1d.bytes=8K,16K", "--kernel", KERNEL + "1",
             "--dry-run"]
    sizes = run(folder, "--machine", "gtx480", "--set", "l1d.bytes=8K..64K*2", "--kernel", KERNEL + "1", "--dry-run").stdout
    assert [line.split("l1d.bytes=")[1].split()[0] for line in sizes.splitlines() if "l1d.bytes=" in line] == \
        ["8192", "16384", "32768", "65536"], sizes
    error = run(folder, *words).stderr
    assert error == "heddle sweep: note: darsie.entries has no effect on any point: it needs darsie.on=true\n", error
    assert not run(folder, *words, "--mech", "none", "--mech", "darsie").stderr


def interrupted(parent):
    """SIGTERM: programs are asked to end, not killed, and a point that was stopped has no result."""
    folder = folder_of(parent, "interrupted")
    write_script(folder / "waits", f"trap 'echo asked >> {folder}/said; exit 1' TERM\necho begun > {folder}/begun\n"
                 "sleep 30 & wait\n")
    with subprocess.Popen([HEDDLE, "sweep", "--machine", "gtx480", "--program", "./waits", "--out", "out"], cwd=folder,
                          env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "begun").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.terminate()
        assert "continues from here" in process.communicate(timeout=60)[1]
    assert process.returncode == 143 and (folder / "said").read_text() == "asked\n"
    assert not stored(folder)
    status = run(folder, "status", "out").stdout
    assert "waiting         1" in status and "failed          0" in status, status


def left_over(parent):
    """A killed runner's temporary folder is removed by the next one, in TMPDIR and in the campaign's folder."""
    folder = folder_of(parent, "left")
    temporary = folder_of(folder, "temporary")
    program = folder / "sleeps.sh"
    program.write_text("#!/bin/sh\nsleep 30\n")
    program.chmod(0o755)
    environment = dict(ENVIRONMENT, TMPDIR=str(temporary))
    for on, where in (("local", temporary), ("command:sh -c {}", folder / "out")):
        with subprocess.Popen([HEDDLE, "sweep", "--machine", "gtx480", "--program", "./sleeps.sh", "--out", "out", "--on",
                               on], cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
            while not [path for path in where.glob("heddle-*/*") if path.name.endswith("log")]:
                assert process.poll() is None
                time.sleep(0.01)
            process.kill()
        assert list(where.glob("heddle-*"))
        for path in where.glob("heddle-*/heddle.lock"):
            with open(path, "rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # its points die with it; they hold the lock until then
        subprocess.run([HEDDLE, "sweep", "--machine", "gtx480", "--kernel", KERNEL + str(len(on)), "--out", "out", "--on", on],
                       cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, timeout=60)
        assert not list(where.glob("heddle-*")), list(where.glob("heddle-*"))


def compile_mechanism(folder, *flags):
    source = INPUTS.parents[2]
    subprocess.run(["cc", "-shared", "-fPIC", "-std=gnu17", "-D_GNU_SOURCE", "-DHEDDLE_PLUGIN", "-fvisibility=hidden",
                    "-w", f"-I{source}/src", f"-I{HEDDLE.parent}/src", f"-I{source}/examples/mechanisms", *flags,
                    source / "examples/mechanisms/victim.c", "-o", folder / "victim.so"], check=True)


def objects(parent):
    """Mechanisms in shared objects, found beside the plan, with parameters and statistics; a changed file is new."""
    folder = folder_of(parent, "objects")
    plans = folder_of(folder, "plans")
    (plans / "tiny.ptx").write_bytes((INPUTS / "tiny.ptx").read_bytes())
    (plans / "p.yaml").write_text("""
sweep: objects
machine: gtx480
axes:
  - mechanism: [none, './victim.so:lines=16', {victim.so: {lines: 32, latency: 3}}]
  - kernel: [tiny.ptx --grid 2 --block 32 --arg zero:4K --arg u32:3]
columns: [victim.lookups, {name: lines, formula: config.victim.lines}]
""")
    error = run(folder, "plans/p.yaml", code=2).stderr
    assert "p.yaml:5:" in error and "victim.so" in error, error
    compile_mechanism(plans)
    assert run(folder, "plans/p.yaml", "--out", "out").stdout.splitlines()[-1].startswith("0 of 3")
    with open(folder / "out/sweep.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["mechanism"] for row in rows] == ["none", "./victim.so:lines=16", "victim.so:lines=32,latency=3"]
    assert [row["lines"] for row in rows] == ["", "16", "32"], rows
    assert [row["victim.lookups"] != "" for row in rows] == [False, True, True]
    assert json.loads((folder / "out/sweep.json").read_text())["columns"][-2]["unit"] == "loads"
    # from another folder they are the same points; another file gives new ones
    assert run(plans, "p.yaml", "--out", "../out").stdout.splitlines()[-1].startswith("3 of 3")
    compile_mechanism(plans, "-O1", "-DOTHER")
    assert run(folder, "resume", "out").stdout.splitlines()[-1].startswith("1 of 3")
    # options: paths are relative to the current folder, now and when the sweep is resumed
    words = ["--machine", "gtx480", "--mech", "plans/victim.so", "--kernel", "plans/" + "tiny.ptx --grid 2 --block 32 "
             "--arg zero:4K --arg u32:3", "--out", "options"]
    run(folder, *words)
    assert run(parent, "resume", "objects/options").stdout.splitlines()[-1].startswith("1 of 1")
    (plans / "e.yaml").write_text("""
experiment: objects
title: A victim cache
machine: gtx480
workloads: [{id: tiny, kernel: tiny.ptx, arguments: [--grid, 2, --block, 32, --arg, "zero:4K", --arg, "u32:3"]}]
configurations: {base: {}, small: {mechanisms: {victim.so: {lines: 4}}}}
columns: [{name: lookups, title: Lookups, formula: small.victim.lookups + small.config.victim.lines}]
""")
    subprocess.run([HEDDLE, "reproduce", "plans/e.yaml", "--db", "e.db", "--out", "e"], cwd=folder, env=ENVIRONMENT,
                   check=True, stdout=subprocess.DEVNULL)
    with open(folder / "e/objects.csv", encoding="utf-8") as file:
        assert any("4" in row.values() for row in csv.DictReader(file)), (folder / "e/objects.csv").read_text()


def slurm_status(parent):
    """What a killed runner has left with Slurm: result files, then accounting, then the queue. Slurm is a script."""
    folder = folder_of(parent, "slurm")
    run(folder, "--machine", "gtx480", "--kernel", KERNEL + "1", "--out", "out")
    batch = folder / "out/slurm/batch-abcdef"
    (batch / "results").mkdir(parents=True)
    (batch / "jobs").write_text("12 0 9\n15 9 2\n")
    for name in "ab":
        (batch / "results" / (64 * name + ".json")).write_text("{}")
    commands = folder_of(folder, "commands")
    write_script(commands / "sacct", "[ \"$7\" = 12,15 ] || exit 3\n"
                 "printf '12_0|RUNNING\\n12_1|OUT_OF_MEMORY\\n12_2|COMPLETED\\n12_[3-6,8%%2]|PENDING\\n"
                 "15_0|CANCELLED by 0\\n15_1|REQUEUED\\n'\n")
    write_script(commands / "squeue", "echo $* | grep -q heddle-batch-abcdef || exit 3\n"
                 "printf '12_0|RUNNING\\n12_1|RUNNING\\n12_3|PENDING\\n'\n")
    environment = dict(ENVIRONMENT, PATH=f"{commands}:{os.environ['PATH']}")

    def line():
        done = subprocess.run([HEDDLE, "sweep", "status", "out"], cwd=folder, env=environment, check=True, text=True,
                              stdout=subprocess.PIPE)
        return next(text for text in done.stdout.splitlines() if text.startswith("slurm "))
    assert "2 results to be taken in, 1 tasks running, 6 in the queue, 2 failed;" in line(), line()
    write_script(commands / "sacct", "echo accounting is disabled >&2; exit 1\n")
    assert "2 results to be taken in, 2 tasks running, 1 in the queue, 0 failed;" in line(), line()


def shares_of_host(parent):
    """HEDDLE_THREADS=auto: points that run at a time share the cores of the host. A number stays."""
    cores = len(os.sched_getaffinity(0))
    for wished, at_a_time, expected in (("auto", 1, cores), ("auto", 2, max(cores // 2, 1)),
                                        ("auto", cores + 1, 1), ("3", 2, 3)):
        folder = folder_of(parent, f"share-{wished}-{at_a_time}")
        said, program = folder / "said", folder / "program"
        program.write_text(f'#!/bin/sh\necho "$HEDDLE_THREADS" >> {said}\n')
        program.chmod(0o755)
        subprocess.run([HEDDLE, "sweep", "--machine", "gtx480", "--set", "gpu.cores=4,5", "--program", str(program),
                        "--jobs", str(at_a_time), "--out", "out"], cwd=folder, timeout=300, check=False,
                       env={**ENVIRONMENT, "HEDDLE_THREADS": wished}, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert said.read_text().split() == [str(expected)] * 2, (wished, at_a_time, said.read_text())


CASES = (nothing_twice, same_however, plans, campaigns, failures, elsewhere, mistakes, full_disk, without_effect, interrupted, left_over,
         objects, slurm_status, shares_of_host)


def main():
    chosen = sys.argv[4:]
    with tempfile.TemporaryDirectory(prefix="heddle-sweep-test-") as name:
        parent = pathlib.Path(name)
        one = table(parent)
        for case in CASES:
            if chosen and case.__name__ not in chosen:
                continue
            if case in (shares_of_host, interrupted) and not (HEDDLE.parent / "libheddle-opencl.so").exists():
                continue  # there are no programs
            if case is nothing_twice:
                case(one)
            elif case in (same_however, elsewhere):
                case(parent, one)
            else:
                case(parent)


main()
