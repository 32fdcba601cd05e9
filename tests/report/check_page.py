#!/usr/bin/env python3
"""Pages of heddle report from the outside: check_page.py HEDDLE KERNEL

Every number of a page is checked against the statistics file and the time series that it was made from. Findings
are provoked one by one. Files that are not what they should be are refused, and nothing is left behind.
"""
import copy
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from page import Page

HEDDLE, KERNEL = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
RUN = ("run", str(KERNEL), "--machine", "gtx480", "--grid", "24", "--block", "96", "--arg", "zero:64K", "--arg", "zero:64K",
       "--arg", "u32:1024", "--quiet")


def heddle(folder, *words, code=0):
    done = subprocess.run([HEDDLE, *words], cwd=folder, env=dict(os.environ, LC_ALL="C"), timeout=300, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def near(a, b):
    assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (a, b)


def loads_nothing(page):
    """Nothing is fetched: no address but the names of XML's vocabularies, no element that loads."""
    addresses = set(re.findall(r"https?://[^\s\"'<]+", page.text))
    assert addresses <= {"http://www.w3.org/2000/svg"}, addresses
    for name in ("link", "img", "iframe", "object", "audio", "video"):
        assert page.root.find(".//" + name) is None, name
    assert all(element.get("src") is None for element in page.root.iter())


def check_slots(page, document):
    totals = document["totals"]
    row = page.figure("slots").numbers()["all"]
    expected = {key.removeprefix("issue.idle_").removeprefix("issue."): value for key, value in totals.items()
                if (key.startswith("issue.idle_") or key == "issue.issued") and value}
    assert row == expected, (row, expected)
    assert sum(row.values()) == totals["issue.slots"]


def check_limits(page, document):
    totals, shares = document["totals"], page.figure("limits").numbers()
    near(shares["issue slots"]["busy"], totals["issue.issued"] / totals["issue.slots"])
    near(shares["single-precision units"]["busy"], totals["units.sp_busy"] / totals["units.sp_cycles"])
    near(shares["L2 data ports"]["busy"], totals["l2.port_cycles"] / totals["l2.slice_cycles"])
    near(shares["DRAM bus"]["busy"], totals["dram.bus_cycles"] / totals["dram.channel_cycles"])
    assert "double-precision units" not in shares  # not used


def check_roofline(page, document):
    """gtx480 by hand: 15 cores, 2 schedulers, 32 lanes at 700 MHz; 12 slices of 32 bytes; 177.4 GB/s of DRAM."""
    rows, totals = page.figure("roofline").numbers(), document["totals"]
    y, x = "instructions a second", "instructions a byte, or bytes a second"
    seconds = totals["timing.picoseconds"] * 1e-12
    close = lambda a, b: math.isclose(a, b, rel_tol=2e-3)
    assert close(rows["issue slots"][y], 15 * 2 * 32 * 700e6), rows
    assert close(rows["DRAM"][x], 6 * 8 * 4 * 924e6), rows
    assert close(rows["L2"][x], 12 * 32 * 700e6), rows
    point = rows["stride, DRAM"]
    near(point[x], totals["timing.thread_instructions"] / (totals["dram.read_bytes"] + totals["dram.write_bytes"]))
    near(point[y], totals["timing.thread_instructions"] / seconds)
    near(rows["stride, L2"][x], totals["timing.thread_instructions"] / (32 * totals["l2.port_cycles"]))


def check_memory(page, document):
    totals, config = document["totals"], document["config"]
    rows = page.figure("memory").numbers()
    assert rows["L1 data"]["accesses, reads"] == totals["l1d.reads"]
    near(rows["L1 data"]["hits"], totals["l1d.read_hits"] / totals["l1d.reads"])
    assert rows["L1 data"]["bytes down"] == totals["network.request_flits"] * config["network"]["flit_bytes"]
    assert rows["L1 data"]["bytes up"] == totals["network.reply_flits"] * config["network"]["flit_bytes"]
    assert rows["L2"]["bytes up"] == totals["dram.read_bytes"]
    assert rows["L2"]["bytes down"] == totals["dram.write_bytes"]
    near(rows["DRAM"]["hits"], totals["dram.row_hits"] / (totals["dram.reads"] + totals["dram.writes"]))
    latency = page.figure("latency").column("requests")
    assert sum(latency) == totals["lsu.replies"] and len(latency) == 6, latency


def check_energy(page, document):
    totals, rows = document["totals"], page.figure("energy").numbers()
    near(sum(row["dynamic"] for row in rows.values()), totals["energy.dynamic_pj"])
    near(sum(row["static"] for row in rows.values()), totals["energy.static_pj"])
    near(rows["dram"]["dynamic"], totals["energy.parts.dram.dynamic_pj"])
    sums = [row["dynamic"] + row["static"] for row in rows.values()]
    assert sums == sorted(sums, reverse=True)


def check_listing(page, document):
    """Lines and instructions have what the profile has of each, and together all of it."""
    profile = document["profile"][0]["instructions"]
    tables = page.listings()["stride"]
    slots = sum(inst["issued"] + sum(inst["stalls"].values()) for inst in profile)
    for table in tables.values():
        near(sum(cells[("share", 0)] for _, _, cells in table), 1)
        assert sum(cells[("issued", 0)] for _, _, cells in table) == sum(inst["issued"] for inst in profile)
        near(sum(cells[("energy", 0)] for _, _, cells in table), sum(inst["energy_pj"] for inst in profile))
    lines = {label: cells for label, _, cells in tables["lines"]}
    assert len(lines) < len(profile)  # a line has two
    for number, line in lines.items():
        insts = [inst for inst in profile if inst["place"].endswith(":" + number)]
        issued, lost = sum(inst["issued"] for inst in insts), sum(sum(inst["stalls"].values()) for inst in insts)
        near(line[("share", 0)], (issued + lost) / slots)
        near(line[("lost", 0)], lost)
        near(line[("lanes", 0)], sum(inst["threads"] for inst in insts) / issued)
        near(line[("energy", 0)], sum(inst["energy_pj"] for inst in insts))
    texts = {label: code for label, code, _ in tables["lines"]}
    source = KERNEL.read_text(encoding="utf-8").splitlines()
    assert all(source[int(label) - 1] == code for label, code in texts.items()), texts
    assert len(tables["code"]) == len(profile)


def check_rest(page, document):
    totals = document["totals"]
    shown = {label: row["value"] for label, row in page.figure("statistics").numbers().items() if row}
    expected = {key: float(value) for key, value in totals.items() if value is not None}
    assert shown == expected, set(shown) ^ set(expected)
    setup = page.figure("setup").texts()
    assert setup["l1d.sets"]["value"] == "32" and setup["l1d.write"]["value"] == "evict"
    assert not any(key.startswith("darsie.") for key in setup)  # it is off
    occupancy = page.figure("occupancy")
    launch = document["launches"][0]
    near(occupancy.column("warp slots taken")[0],
         launch["stats"]["timing.warp_cycles"] / launch["stats"]["timing.warp_slots"])
    assert occupancy.texts()["stride"]["limited by"] == launch["occupancy"]["limit"]
    assert occupancy.texts()["stride"]["grid"] == "24 x 1 x 1"
    summary = page.figure("summary").numbers()
    assert summary["core cycles"]["value"] == totals["timing.cycles"]
    near(summary["time"]["value"], totals["timing.picoseconds"] * 1e-12)


def check_series(page, folder, document, most, series="s.csv"):
    """The charts over time add up to the launch, however many rows of the file are in one of theirs."""
    with open(folder / series, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    totals, slots = document["totals"], page.figure("slots-time-0")
    count = len(slots.rows)
    assert count <= most and (len(rows) <= most) == (count == len(rows)), (count, len(rows))
    assert slots.column("to cycle")[-1] == totals["timing.cycles"]
    assert [int(label) for label, _ in slots.rows[1:]] == slots.column("to cycle")[:-1]
    for name in slots.names[1:]:
        key = "issue.issued" if name == "issued" else "issue.idle_" + name
        assert sum(slots.column(name)) == totals[key], name
    power = page.figure("power-time-0")
    lengths = [to - int(label) for (label, _), to in zip(power.rows, power.column("to cycle"))]
    period = totals["timing.picoseconds"] / totals["timing.cycles"]
    energy = sum(watts * cycles * period for watts, cycles in zip(power.column("dynamic, W"), lengths))
    assert math.isclose(energy, totals["energy.dynamic_pj"], rel_tol=1e-3), energy
    if len(rows) == count:
        near(page.figure("shares-time-0").column("DRAM bus busy")[1],
             int(rows[1]["dram.bus_cycles"]) / int(rows[1]["dram.channel_cycles"]))
    return len(rows), count


def whole(folder):
    """A page of a run, from the run itself and from its files."""
    heddle(folder, *RUN, "--stats", "s.json", "--interval", "100:s.csv", "--report", "direct.html")
    done = heddle(folder, "report", "s.json", "--series", "s.csv")
    assert done.stdout == "s.html\n" and not done.stderr
    page, document = Page(folder / "s.html"), json.loads((folder / "s.json").read_text())
    loads_nothing(page)
    for check in (check_slots, check_limits, check_roofline, check_memory, check_energy, check_listing, check_rest):
        check(page, document)
    check_series(page, folder, document, 400)
    assert (folder / "direct.html").read_text() == page.text
    heddle(folder, *RUN, "--set", "gpu.cores=1", "--stats", "t.json", "--interval", "2:t.csv")
    heddle(folder, "report", "t.json", "--series", "t.csv", "--out", "t.html")
    rows, count = check_series(Page(folder / "t.html"), folder, json.loads((folder / "t.json").read_text()), 400, "t.csv")
    assert rows > 400 and rows > 2 * count, (rows, count)
    return document


def several(folder):
    """Two runs in every chart; the same numbers as in the page of each."""
    heddle(folder, *RUN, "--stats", "b.json", "--set", "l1d.sets=64", "--mech", "filter_cache")
    heddle(folder, "report", "b.json")
    heddle(folder, "report", "s.json", "b.json", "--out", "both.html")
    single, other, both = (Page(folder / name) for name in ("s.html", "b.html", "both.html"))
    loads_nothing(both)
    used = {label: {name: value for name, value in row.items() if value}
            for label, row in both.figure("slots").numbers().items()}
    assert used == {"all, s": single.figure("slots").numbers()["all"],
                    "all, b": other.figure("slots").numbers()["all"]}, used
    energy = both.figure("energy").numbers()["l1d"]
    assert energy["dynamic, s"] == single.figure("energy").numbers()["l1d"]["dynamic"]
    assert energy["static, b"] == other.figure("energy").numbers()["l1d"]["static"]
    setup = both.figure("setup")
    differ = {label for (label, _), kind in zip(setup.rows, setup.classes) if kind == "differs"}
    assert differ == {"l1d.sets", "filter_cache.on"}, differ
    summary = both.figure("summary").numbers()
    near(summary["times as fast as the first"]["b"], summary["time"]["s"] / summary["time"]["b"])
    line = next(cells for label, _, cells in both.listings()["stride"]["lines"])
    assert ("share", 0) in line and ("share", 1) in line
    assert both.figure("statistics").numbers()["timing.cycles"] == {
        "s": single.figure("statistics").numbers()["timing.cycles"]["value"],
        "b": other.figure("statistics").numbers()["timing.cycles"]["value"]}


def rules_of(folder, document, **changes):
    """The rules that speak about a run whose statistics were changed."""
    changed = copy.deepcopy(document)
    for name, value in changes.items():
        changed["totals"][name.replace("__", ".")] = value
    (folder / "c.json").write_text(json.dumps(changed))
    heddle(folder, "report", "c.json")
    return Page(folder / "c.html").rules()


def slots(document, **parts):
    """Changes that give issue slots to these uses, and none to others."""
    changes = {key.replace(".", "__"): 0 for key in document["totals"] if key.startswith("issue.idle_")}
    changes["issue__issued"] = 0
    changes.update({"issue__" + ("" if name == "issued" else "idle_") + name: value for name, value in parts.items()})
    changes["issue__slots"] = sum(parts.values())
    return changes


def findings(folder, document):
    """Each rule speaks when its condition holds, quotes its number, and is silent otherwise."""
    quiet = dict(slots(document, issued=100), issue__threads=100, issue__lane_slots=100, energy__static_pj=1.0,
                 energy__total_pj=10.0, l1d__stalls_line=0, l1d__stalls_mshr=0, lsu__shared_conflict_cycles=0,
                 lsu__transactions=10, lsu__memory_accesses=10, dram__bus_cycles=1, dram__channel_cycles=10)
    assert not rules_of(folder, document, **quiet)
    for rule, reason in (("memory", "memory"), ("dependences", "raw"), ("units", "unit"), ("fetch", "fetch"),
                         ("barriers", "barrier"), ("empty", "empty")):
        said = rules_of(folder, document, **dict(quiet, **slots(document, issued=70, **{reason: 30})))
        assert set(said) == {rule} and "30.0 %" in said[rule], said
        below = rules_of(folder, document, **dict(quiet, **slots(document, issued=96, **{reason: 4})))
        assert not below, below
    for rule, number, changes in (
            ("divergence", "75.0 %", {"issue__threads": 25}),
            ("bank_conflicts", "50.0 %", {"lsu__shared_conflict_cycles": document["totals"]["issue.cycles"] / 2}),
            ("dram", "80.0 %", {"dram__bus_cycles": 8}),
            ("leakage", "70.0 %", {"energy__static_pj": 7.0}),
            ("l1_stalls", "25.0 %", {"l1d__stalls_mshr": document["totals"]["issue.cycles"] / 4})):
        said = rules_of(folder, document, **dict(quiet, **changes))
        assert set(said) == {rule} and number in said[rule], (rule, said)
    rules_of(folder, document, dram__reads=30, dram__writes=10, dram__row_hits=20)
    near(Page(folder / "c.html").figure("memory").numbers()["DRAM"]["hits"], 0.5)
    said = rules_of(folder, document, **dict(quiet, **slots(document, issued=50, memory=50), lsu__transactions=80))
    assert set(said) == {"memory", "scattered"} and "8.0 transactions" in said["scattered"], said


def without_time(folder):
    """A functional run has only what it knows; a fault is the first finding."""
    heddle(folder, *RUN, "--functional", "--report", "f.html")
    assert set(Page(folder / "f.html").sections) == {"summary", "statistics", "setup", "again"}
    words = [word if word != "u32:1024" else "u32:1000000" for word in RUN]
    heddle(folder, *words, "--report", "fault.html", code=3)
    page = Page(folder / "fault.html")
    assert "out_of_bounds" in page.rules()["stopped"]
    assert "out_of_bounds" in page.figure("summary").texts()["outcome"]["value"]


def window(folder):
    """The page of a run with a window is that of its files; what is in the window is tested in a browser."""
    heddle(folder, *RUN, "--stats", "w.json", "--interval", "100:w.csv", "--trace", "w.jsonl", "--trace-window", "300:700",
           "--report", "direct.html")
    heddle(folder, "report", "w.json", "--series", "w.csv", "--events", "w.jsonl")
    page = Page(folder / "w.html")
    assert (folder / "direct.html").read_text() == page.text
    loads_nothing(page)
    figure = page.figure("waits")
    assert figure.column("cycles") == [to - at for at, to in zip(figure.column("from cycle"), figure.column("to cycle"))]
    assert all(300 <= at < 700 for at in figure.column("from cycle"))
    chains = json.loads(next(one.text for one in page.sections["waits"].iter("script")))
    assert len(chains["chains"]) == len(figure.rows) and all(chain for chain in chains["chains"])
    size = len(page.text) - len(json.dumps(chains))
    assert size < 400_000, size
    # without a trace of its own, the window is for the page only
    heddle(folder, *RUN, "--trace-window", "300:700", "--interval", "100:w.csv", "--stats", "w.json", "--report", "alone.html")
    without = [re.sub("<pre class=.command.*?</pre>", "", (folder / name).read_text()) for name in ("w.html", "alone.html")]
    assert without[0] == without[1]
    (folder / "other.jsonl").write_text((folder / "w.jsonl").read_text().replace('"kernel":"stride"', '"kernel":"other"'))
    for words, message in (((), "none.jsonl: cannot open"), ((), "no kernel 'other'")):
        name = "none.jsonl" if "none" in message else "other.jsonl"
        done = heddle(folder, "report", "w.json", "--events", name, code=2)
        assert message in done.stderr, done.stderr


def faults(folder):
    """Outcomes of a campaign, by structure, are those of its summary."""
    kernel = [word for word in RUN[1:] if word != "--quiet"]
    heddle(folder, "inject", *kernel, "--faults", "40", "--structures", "register|shared|issue", "--out", "campaign", "--quiet")
    heddle(folder, *RUN, "--stats", "f.json")
    heddle(folder, "report", "f.json", "--faults", "campaign/summary.json")
    page, summary = Page(folder / "f.html"), json.loads((folder / "campaign/summary.json").read_text())
    hit = [row for row in summary["structures"] if row.get("faults")]
    assert hit and sum(row["faults"] for row in hit) == 40
    figure, failures = page.figure("faults"), page.figure("failures").numbers()
    assert [label for label, _ in figure.rows] == [row["structure"] for row in hit]
    for row in hit:
        assert figure.numbers()[row["structure"]] == {name: row["outcomes"][name]["count"] for name in figure.names}
        assert failures[row["structure"]]["failures"] == row["failures"]["count"]
        assert failures[row["structure"]]["share"] == row["failures"]["share"]
    assert failures["all"]["faults"] == 40 and failures["all"]["share"] == summary["total"]["failures"]["share"]
    heddle(folder, *(word if word != "gtx480" else "titanx" for word in RUN), "--stats", "g.json")
    for words, message in ((("g.json", "--faults", "campaign/summary.json"), "another program or machine"),
                           (("f.json", "--faults", "f.json"), "expected the summary.json"),
                           (("f.json", "--faults", "none.json"), "none.json: cannot open")):
        done = heddle(folder, "report", *words, code=2)
        assert message in done.stderr, done.stderr


def errors(folder):
    (folder / "bad.csv").write_text("launch,kernel\n0,k\n")
    (folder / "bad.jsonl").write_text('{"from_cycle": 0}\n')
    (folder / "empty.csv").write_text("launch,kernel\n")
    (folder / "text.json").write_text("{")
    for words, message in (
            ((), "expected at least one statistics file"),
            (("text.json",), "text.json: line 1: not JSON"),
            (("s.json", "--series", "bad.csv"), "bad.csv:2: not a row of a time series"),
            (("s.json", "--series", "bad.jsonl"), "bad.jsonl:1: not a row of a time series"),
            (("s.json", "--series", "empty.csv"), "empty.csv: the time series has no rows"),
            (("s.json", "--series", "s.csv", "--series", "s.csv"), "more --series than runs"),
            (("s.json", "--series", "t.csv"), "t.csv is of another run than s.json"),
            (("s.json", "--out", "s.json"), "is one of the files to read"),
            (("s.json", "--out", "none/x.html"), "none/x.html"),
            (("s.json",) * 9, "at most 8 on one page")):
        done = heddle(folder, "report", *words, code=2)
        assert message in done.stderr, (words, done.stderr)
    assert not (folder / "text.html").exists()
    before = sorted(os.listdir(folder))
    heddle(folder, *RUN, "--report", "none/x.html", code=2)
    heddle(folder, *RUN, "--report", "s2.json", "--stats", "s2.json", code=2)
    assert sorted(os.listdir(folder)) == before


with tempfile.TemporaryDirectory() as name:
    here = pathlib.Path(name)
    run = whole(here)
    several(here)
    findings(here, run)
    without_time(here)
    window(here)
    faults(here)
    errors(here)
