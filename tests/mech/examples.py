#!/usr/bin/env python3
"""examples/mechanisms as a new user would use them, and docs/example-mechanisms.md.

Installs Heddle into an empty folder, compiles each example against what is installed, and runs it:
walk.ptx, whose counts are known by hand, and workloads that check their own output.

    examples.py BUILD SOURCE
"""
import array
import json
import pathlib
import re
import shutil
import sys
import tempfile

import outside
from outside import SOURCE, Room, check, run_docs

DOCUMENT = SOURCE / "docs" / "example-mechanisms.md"
NAMES = ("next_line", "victim", "throttle")
FEW_LINES = "--set l1d.sets=1 --set l1d.ways=4"


def compile_examples(room):
    for name in NAMES:
        for kind in ("c", "def"):
            shutil.copy(SOURCE / "examples" / "mechanisms" / f"{name}.{kind}", room.folder)
        code = (room.folder / f"{name}.c").read_text(encoding="utf-8")
        lines = [line for line in re.sub(r"/\*.*?\*/", "", code, flags=re.S).splitlines() if line.strip()]
        most = 90 if ".storage" in code else 60  # half as much again to declare its costs
        check(len(lines) < most, f"{name}.c has {len(lines)} lines of code")
        headers = re.findall(r'#include "(core/.*)"', code)
        check(headers == ["core/mechanism.h"], f"{name}.c includes {headers}")
        room.must(f"{outside.COMPILE} -Wall -Wextra -Werror -Wno-unused-parameter {name}.c -o {name}.so")


def document(room):
    """Its sessions, and code that must be in the examples as it is."""
    count = 0
    for kind, name, line, lines in run_docs.blocks(DOCUMENT):
        if kind == "c":
            text = (SOURCE / "examples" / "mechanisms" / name).read_text(encoding="utf-8")
            check("\n".join(lines) in text, f"{DOCUMENT}:{line}: this is not in {name}")
        for command, expected in run_docs.commands(lines) if kind == "console" else []:
            done = room.run(command)
            count += 1
            check(run_docs.pattern(expected).match(done.stdout),
                  f"{DOCUMENT}:{line}: $ {command}", done.stdout)
    check(count > 5, "the document shows no commands")


class Walk:
    """Runs of walk.ptx: warps that walk over `lines` lines each, `steps` of them."""

    def __init__(self, room, warps, lines, steps, options=""):
        self.room, self.threads, self.lines, self.steps = room, warps * 32, lines, steps
        self.words = array.array("I", ((i * 2654435761) % 2**32 for i in range(self.threads * lines)))
        (room.folder / "words.bin").write_bytes(self.words.tobytes())
        self.command = (f"heddle run {SOURCE}/tests/mech/walk.ptx --kernel walk --quiet --grid 1 "
                        f"--block {self.threads} --arg in:words.bin --arg out:sums.bin:{self.threads * 4} "
                        f"--arg u32:{lines} --arg u32:{steps} --stats walk.json --set gpu.cores=1 "
                        f"--machine gtx480 {options}")

    def expected(self):
        for thread in range(self.threads):
            first = thread // 32 * self.lines * 32 + thread % 32
            own = [self.words[first + 32 * line] for line in range(self.lines)]
            yield sum(own[step % self.lines] for step in range(self.steps)) % 2**32

    def run(self, mechanism=""):
        self.room.must(self.command + (f" --mech ./{mechanism}" if mechanism else ""))
        sums = array.array("I", (self.room.folder / "sums.bin").read_bytes())
        check(list(sums) == list(self.expected()), f"walk with {mechanism or 'no mechanism'}: wrong sums")
        return outside.totals(self.room, "walk.json")


def counts(totals, what, **expected):
    for name, value in expected.items():
        key = name.replace("__", ".")
        check(totals[key] == value, f"{what}: {key} is {totals[key]}, expected {value}")


def next_line(room):
    """One warp reads 16 lines, each once. A miss on one of the first lines takes as long as its
    prefetches, so that the next lines are there: of 1 + degree lines, one misses."""
    walk = Walk(room, warps=1, lines=16, steps=16)
    plain = walk.run()
    counts(plain, "16 lines", l1d__read_misses=16, l1d__read_hits=0, l1d__fills=16)
    one = walk.run("next_line.so:tagged=false")
    counts(one, "degree 1", l1d__reads=16, l1d__read_misses=8, l1d__read_hits=8, l1d__fills=16,
           next_line__sent=8, next_line__used=8, next_line__outside=0)
    three = walk.run("next_line.so:tagged=false,degree=3")
    counts(three, "degree 3", l1d__read_misses=4, l1d__read_hits=12, next_line__sent=12)
    # lines 0, 5, 10 and 15 miss; behind the last one is nothing
    four = walk.run("next_line.so:tagged=false,degree=4")
    counts(four, "degree 4", l1d__read_misses=4, l1d__read_hits=12, next_line__sent=12,
           next_line__used=12, next_line__outside=4, next_line__present=0, next_line__busy=0)
    check(plain["timing.cycles"] > one["timing.cycles"] > three["timing.cycles"],
          "prefetching does not save time")
    counts(walk.run("next_line.so:on=false"), "off", **{k.replace(".", "__"): v for k, v in plain.items()})


def victim(room):
    """One warp walks over 5 lines again and again, in a cache of 4 that drops the oldest: each line
    has just left when it is wanted. With one line more, all stay."""
    walk = Walk(room, 1, 5, 50, FEW_LINES)
    plain = walk.run()
    counts(plain, "5 lines", l1d__read_misses=50, l1d__read_hits=0, l1d__evictions=46)
    near = walk.run("victim.so:lines=1,latency=1")
    far = walk.run("victim.so:lines=1,latency=31")
    for totals in (near, far):
        counts(totals, "victim cache", l1d__reads=50, l1d__read_misses=5, l1d__read_hits=45, l1d__fills=5,
               l1d__evictions=46, victim__lookups=50, victim__hits=45, victim__kept=46)
    check(far["timing.cycles"] - near["timing.cycles"] == 45 * 30, "30 cycles more for each of 45 hits",
          f"{near['timing.cycles']} {far['timing.cycles']}")
    check(near["timing.cycles"] < plain["timing.cycles"] / 1.5, "a victim cache does not save time")
    check(near.get("energy.parts.victim_cache.dynamic_pj", 0) > 0, "a victim cache takes no energy")
    # two lines too many for it: it has nothing but what left last
    counts(Walk(room, 1, 7, 49, FEW_LINES).run("victim.so:lines=2"), "7 lines", victim__hits=0)


def throttle(room):
    """16 warps of 12 lines, 192 together, in a cache of 128: they push each other out. 4 of each of
    two schedulers have 96."""
    walk = Walk(room, 16, 12, 240)
    plain, few = walk.run(), walk.run("throttle.so:warps=4")
    counts(plain, "16 warps", l1d__read_hits=0, l1d__read_misses=3840)
    counts(few, "4 warps of a scheduler", l1d__read_misses=192, l1d__read_hits=3648)
    check(few["timing.cycles"] < plain["timing.cycles"], "throttling does not save time")
    all_warps = walk.run("throttle.so:warps=8")
    counts(all_warps, "all warps", throttle__held=0, timing__cycles=plain["timing.cycles"])


def workloads(room):
    """Programs that check themselves; bfs has launches that end while prefetches are under way."""
    def run(name, mechanism, machine="gtx480"):
        out = room.must(f"heddle run --workload {name} --quick --quiet --machine {machine} "
                        f"--stats w.json {mechanism}")
        check(f"{name}: passed" in out, f"{name} with {mechanism}", out)
        return outside.totals(room, "w.json")
    plain, kept = run("bfs", ""), run("bfs", "--mech ./victim.so:lines=32")
    check(kept["l1d.read_hits"] > plain["l1d.read_hits"], "bfs: a victim cache does not raise hits")
    check(run("bfs", "--mech ./next_line.so:degree=4")["next_line.used"] > 1000, "bfs: no prefetch is used")
    check(run("bfs", "--mech ./throttle.so:warps=2")["l1d.read_misses"] < plain["l1d.read_misses"],
          "bfs: throttling does not lower misses")
    for machine in ("rtx2060", "tahiti"):  # sectored lines; warps of 64
        run("bfs", "--mech ./next_line.so --mech ./victim.so --mech ./throttle.so", machine)


def refusals(room):
    for name, seam in (("next_line", "l1_access"), ("victim", "l1_access"), ("throttle", "pick")):
        done = room.run(f"heddle run --workload vecadd --quick --quiet --machine miaow --mech ./{name}.so")
        check(done.returncode and f"mechanism {name} needs the seam '{seam}'" in done.stdout,
              f"{name} on miaow", done.stdout)
    # one that declares only that it prefetches
    code = (room.folder / "next_line.c").read_text(encoding="utf-8")
    room.write("only.c", re.sub(r"    \.l1_\w+ = \w+,\n", "", code))
    room.must(f"{outside.COMPILE} -w only.c -o only.so")
    done = room.run("heddle run --workload vecadd --quick --quiet --machine miaow --mech ./only.so")
    check(done.returncode and "needs the seam 'prefetches'" in done.stdout, "prefetches on miaow", done.stdout)
    out = room.must("heddle mechanisms ./victim.so")
    check("Seams: l1_access, l1_supply, l1_evicted\n" in out, "seams of victim", out)


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-examples-") as scratch:
        scratch = pathlib.Path(scratch)
        environment, _ = outside.install(scratch / "root")
        environment["HEDDLE"] = str(SOURCE)
        room = Room(scratch / "my", environment)
        compile_examples(room)
        for part in (next_line, victim, throttle, workloads, refusals):
            part(room)
        document(Room(scratch / "document", environment))
    return 1 if outside.failures else 0


if __name__ == "__main__":
    sys.exit(main())
