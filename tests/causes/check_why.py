#!/usr/bin/env python3
"""What `heddle why` says of programs in which the cause of a wait is known: check_why.py HEDDLE

Each program makes its warps wait for one thing. The chain must name it, with the cycles that the trace has.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HEDDLE = pathlib.Path(sys.argv[1]).resolve()
HEAD = ".version 6.0\n.target sm_60\n.address_size 64\n"
REGISTERS = ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .f32 %f<4>; .reg .b64 %d<8>;\n"

# each load gives the address of the next one
CHASE = HEAD + """.visible .entry k(.param .u64 list) {
""" + REGISTERS + """
ld.param.u64 %d1, [list];
ld.global.u64 %d2, [%d1];
add.u64 %d3, %d1, %d2;
ld.global.u64 %d4, [%d3];
st.global.u64 [%d1], %d4;
ret; }
"""
# all lanes of a warp access bank 0
BANKS = HEAD + """.visible .entry k(.param .u64 out) {
.shared .b32 s[2048];
""" + REGISTERS + """
mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 7;
mov.u32 %r3, s;
add.u32 %r3, %r3, %r2;
ld.shared.u32 %r4, [%r3];
add.u32 %r5, %r4, %r1;
ld.param.u64 %d1, [out];
st.global.u32 [%d1], %r5;
ret; }
"""
# warp 2 takes a long way to the barrier: it waits for a load
LATE = HEAD + """.visible .entry k(.param .u64 out) {
""" + REGISTERS + """
mov.u32 %r1, %tid.x;
shr.u32 %r2, %r1, 5;
setp.ne.u32 %p1, %r2, 2;
@%p1 bra meet;
ld.param.u64 %d1, [out];
ld.global.u32 %r3, [%d1];
add.u32 %r4, %r3, 1;
meet:
bar.sync 0;
ret; }
"""
# straight code that does not fit in the buffer, the first time that it is executed
STORE = "ld.param.u64 %d1, [out];\nst.global.u32 [%d1], %r1;\nret; }\n"
CODE = HEAD + ".visible .entry k(.param .u64 out) {\n" + REGISTERS + "mov.u32 %r1, %tid.x;\n" + "".join(
    f"mad.lo.u32 %r1, %r1, %r1, {i};\n" for i in range(64)) + STORE
# every lane of the warp loads another line
SPREAD = HEAD + """.visible .entry k(.param .u64 in) {
""" + REGISTERS + """
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4096;
ld.param.u64 %d1, [in];
add.u64 %d1, %d1, %d2;
ld.global.u32 %r2, [%d1];
add.u32 %r3, %r2, 1;
st.global.u32 [%d1], %r3;
ret; }
"""
# two loads one after the other; how far they lie apart decides whether they share a row of DRAM
APART = HEAD + """.visible .entry k(.param .u64 in, .param .u64 apart) {
""" + REGISTERS + """
ld.param.u64 %d1, [in];
ld.param.u64 %d2, [apart];
add.u64 %d2, %d1, %d2;
ld.global.u32 %r1, [%d1];
add.u32 %r2, %r1, 1;
ld.global.u32 %r3, [%d2];
add.u32 %r4, %r3, %r2;
st.global.u32 [%d1], %r4;
ret; }
"""
# 16 warps want the unit for reciprocals at once, which takes an instruction every 8 cycles or more
UNIT = HEAD + ".visible .entry k(.param .u64 out) {\n" + REGISTERS + "mov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f1, %r1;\n" + \
    "rcp.approx.f32 %f1, %f1;\n" * 8 + "mov.b32 %r1, %f1;\n" + STORE
ONE = ("--machine", "gtx480", "--set", "gpu.cores=1", "--grid", "1")


class Trace:
    """A run of a kernel with a trace of events."""

    def __init__(self, folder, source, *options):
        self.path = pathlib.Path(folder, "t.jsonl")
        pathlib.Path(folder, "k.ptx").write_text(source)
        subprocess.run((HEDDLE, "run", "k.ptx", *ONE, *options, "--quiet", "--trace", "t.jsonl"), check=True, cwd=folder)
        self.events = [json.loads(line) for line in self.path.read_text().splitlines()]
        self.codes = {one["inst"]: one["text"] for one in self.events if one["what"] == "code"}

    def of(self, what, **members):
        return [one for one in self.events if one["what"] == what and all(one.get(k) == v for k, v in members.items())]

    def stall(self, why, code, slot=0):
        """The first wait of a warp for this reason at an instruction whose text begins with `code`."""
        for one in self.of("stall", why=why, slot=slot):
            if self.codes.get(one.get("inst"), "").startswith(code):
                return one
        raise AssertionError((why, code, [(s, self.codes.get(s.get("inst"))) for s in self.of("stall", slot=slot)]))

    def why(self, at, slot=0, core=0):
        done = subprocess.run((HEDDLE, "why", self.path, "--at", str(at), "--warp", str(slot), "--core", str(core), "--json"),
                              check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)["causes"]


def find(causes, *words):
    """The first link that has all these words."""
    for one in causes:
        if all(word in one["text"] for word in words):
            return one
    raise AssertionError((words, causes))


def absent(causes, words):
    assert not any(words in one["text"] for one in causes), (words, causes)


def span(link):
    return link["to"] - link["from"]


def chase(folder):
    """The second load waits for the first one, which misses everywhere: all stations, one after the other."""
    trace = Trace(folder, CHASE, "--block", "32", "--arg", "zero:64K")
    stall = trace.stall("memory", "add.b64")
    causes = trace.why(stall["at"] + 5)
    assert causes[0]["from"] == stall["at"], (causes[0], stall)
    load = find(causes, "ld.global", "issued for warp slot 0")
    issue = next(one for one in trace.of("issue", slot=0) if trace.codes[one["inst"]].startswith("ld.global"))
    assert load["from"] == issue["at"]
    assert load["to"] == next(one for one in trace.of("retire", id=issue["id"]) if one["at"] > issue["at"])["at"]
    request = find(causes, "request to the L2")
    sent = trace.of("request", cache="l1", kind="read")[0]
    assert request["from"] == sent["at"] and request["to"] == trace.of("reply", address=sent["address"])[0]["at"]
    miss, network, l2 = find(causes, "L1 miss"), find(causes, "network to slice"), find(causes, "L2 miss")
    dram, back = find(causes, "first command to last data"), find(causes, "network back")
    assert miss["from"] <= request["from"] == network["from"] < network["to"] <= l2["from"] < dram["from"] < dram["to"]
    assert dram["to"] <= l2["to"] == back["from"] < back["to"] == request["to"] <= miss["to"] <= load["to"]
    find(causes, "no row was open")
    absent(causes, "not in the trace")
    absent(causes, "serves another request")


def banks(folder):
    """32 lanes in one bank take 32 cycles at the head of the load/store unit."""
    trace = Trace(folder, BANKS, "--block", "32", "--arg", "zero:4K")
    causes = trace.why(trace.stall("memory", "add.b32")["at"] + 1)
    assert span(find(causes, "bank conflicts", "takes 32 cycles")) == 31
    assert trace.of("conflict")[0]["cycles"] == 32
    absent(causes, "miss")


def waits_for_head(folder):
    """Two warps of such accesses: the second one waits for the head, which the first one holds."""
    trace = Trace(folder, BANKS, "--block", "64", "--arg", "zero:4K")
    later = max(trace.of("conflict"), key=lambda one: one["at"])["slot"]
    causes = trace.why(trace.stall("memory", "add.b32", later)["at"] + 1, later)
    assert span(find(causes, "waits for the head of the load/store unit")) >= 25
    find(causes, f"the unit works on warp slot {1 - later}'s", "ld.shared")


def late(folder):
    """Three warps wait at the barrier for the fourth, and it waits for a load from DRAM."""
    trace = Trace(folder, LATE, "--block", "128", "--arg", "zero:4K")
    stall = trace.stall("barrier", "bar", 0)
    causes = trace.why(stall["at"] + 20, 0)
    find(causes, "barrier 0 of block 0")
    assert [one["text"] for one in causes if "has not arrived" in one["text"]] == [
        "warp 2 of the block (slot 2) has not arrived yet"], causes
    find(causes, "the last to arrive is warp 2 (slot 2)")
    assert find(causes, "warp slot 2 waits for")["depth"] > causes[0]["depth"]
    find(causes, "request to the L2")


def code(folder):
    """The warp waits for a line of code that nobody has fetched."""
    trace = Trace(folder, CODE, "--block", "32", "--arg", "zero:4K")
    misses = trace.of("cache", cache="instruction", result="miss")
    assert len(misses) >= 4, len(misses)
    # the miss of the third line: the warp runs out of instructions before it comes
    filled = next(one for one in trace.of("fill", cache="instruction") if one["at"] > misses[2]["at"])
    causes = trace.why(filled["at"] - 1)
    assert find(causes, "miss in the instruction cache")["from"] == misses[2]["at"]
    find(causes, "network to slice")
    assert find(causes, "fetch, decode")["to"] == causes[0]["to"]


def spread(folder):
    """32 lines and 4 MSHRs: the load is refused until others are filled, which are named."""
    trace = Trace(folder, SPREAD, "--block", "32", "--arg", "zero:256K", "--set", "l1d.mshrs=4")
    causes = trace.why(trace.stall("memory", "add.b32")["at"] + 1)
    refused = find(causes, "no MSHR is free")
    assert refused["from"] == trace.of("refused", result="no MSHR")[0]["at"]
    holders = [one for one in causes if one["text"].startswith("MSHR ")]
    assert len(holders) == 3 and all(one["from"] < refused["from"] < one["to"] for one in holders), holders
    find(causes, "and 1 more of 4 MSHRs")
    find(causes, "the last of 32 lines to be served")
    trace = Trace(folder, SPREAD, "--block", "32", "--arg", "zero:256K", "--set", "l1d.mshrs=64")
    absent(trace.why(trace.stall("memory", "add.b32")["at"] + 1), "no MSHR")


def row_events(trace, request):
    """Row commands of the bank of a request between its arrival and its data."""
    served = next(one for one in trace.of("dram_served", address=request["address"]) if one["at"] >= request["at"])
    return [(one["open"], one["row"]) for one in trace.of("dram_row", channel=request["channel"], bank=request["bank"])
            if request["at"] <= one["at"] <= served["at"]]


def apart(folder):
    """The second load needs another row of the same bank, or the row that the first one has opened."""
    found = set()
    for distance in (128, 1 << 20, 3 << 18, 5 << 17, 1 << 21, 1 << 22):
        trace = Trace(folder, APART, "--block", "1", "--arg", "zero:8M", "--arg", f"u64:{distance}")
        stall = [one for one in trace.of("stall", why="memory", slot=0) if trace.codes.get(one.get("inst"), "").startswith("add.b32")]
        causes = trace.why(stall[-1]["at"] + 1)
        queued = find(causes, "in the queue of DRAM channel")
        request = trace.of("dram_queued", at=queued["from"], write=0)[-1]
        rows = row_events(trace, request)
        if len(rows) == 2:
            conflict = find(causes, "row conflict")
            assert f"row {rows[0][1]} was open" in conflict["text"] and f"row {rows[1][1]} is opened" in conflict["text"]
            assert [open_ for open_, _ in rows] == [0, 1] and rows[0][1] != rows[1][1]
            found.add("conflict")
        elif rows:
            find(causes, "no row was open")
            found.add("closed")
        else:
            find(causes, "is open already")
            found.add("hit")
    assert "conflict" in found and "hit" in found, found


def unit(folder):
    """Warps that find no room before the unit: what is there is named."""
    trace = Trace(folder, UNIT, "--block", "512", "--arg", "zero:4K")
    stalls = trace.of("stall", why="unit")
    assert stalls
    first = stalls[len(stalls) // 2]
    held = [one for one in trace.of("needs", need="room", slot=first["slot"]) if one["at"] == first["at"]]
    causes = trace.why(first["at"], first["slot"])
    before = [one for one in causes if one["text"].startswith("before it in the pipe")]
    assert held and len(before) == min(len(held), 4) and all("rcp" in one["text"] for one in before), (held, causes)


def same(folder):
    """Nothing changes, and the trace is the same with threads."""
    def stats(*options):
        done = subprocess.run((HEDDLE, "run", "k.ptx", "--machine", "gtx480", "--grid", "40", "--block", "64", "--arg", "zero:8M",
                               "--quiet", "--stats", "-", *options), check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)
    pathlib.Path(folder, "k.ptx").write_text(SPREAD)
    plain = stats()
    traced = stats("--trace", "a.jsonl")
    assert traced["totals"].pop("causes.instructions") == traced["totals"]["issue.instructions"]
    assert plain["totals"] == traced["totals"]
    stats("--trace", "b.jsonl", "--threads", "3", "--core-order", "reverse")
    first = pathlib.Path(folder, "a.jsonl").read_bytes()
    assert first == pathlib.Path(folder, "b.jsonl").read_bytes()
    # only some cores; and a window has the same lines as all of it
    stats("--trace", "c.jsonl", "--trace-cores", "3,5-6")
    some = [json.loads(line) for line in pathlib.Path(folder, "c.jsonl").read_text().splitlines()]
    assert {one["core"] for one in some if one["what"] == "issue"} == {3, 5, 6}
    stats("--trace", "d.jsonl", "--trace-window", "300:700")
    part = pathlib.Path(folder, "d.jsonl").read_text().splitlines()
    every = set(first.decode().splitlines())
    lines = [line for line in part if json.loads(line)["what"] in ("issue", "retire", "request", "reply", "dram_served")]
    assert lines and all(line in every and 300 <= json.loads(line)["at"] < 700 for line in lines)
    assert [one for one in part if '"warp_here"' in one]


def longest(folder):
    """The longest wait of a kernel is found by rule, and can be explained from what is kept."""
    pathlib.Path(folder, "k.ptx").write_text(LATE)
    options = (HEDDLE, "run", "k.ptx", "--machine", "gtx480", "--grid", "30", "--block", "128", "--arg", "zero:4K", "--quiet")
    subprocess.run((*options, "--trace", "all.jsonl"), check=True, cwd=folder)
    subprocess.run((*options, "--trace", "one.jsonl", "--trace-window", "longest"), check=True, cwd=folder)
    lists = []
    for name in ("all", "one"):
        done = subprocess.run((HEDDLE, "why", f"{name}.jsonl"), check=True, cwd=folder, stdout=subprocess.PIPE, text=True)
        lists.append(done.stdout.splitlines()[3].split()[:5])
    assert lists[0] == lists[1], lists
    _, at, core, slot, _ = lists[1]
    chains = [subprocess.run((HEDDLE, "why", f"{name}.jsonl", "--at", at, "--core", core, "--warp", slot), check=True, cwd=folder,
                             stdout=subprocess.PIPE, text=True).stdout for name in ("all", "one")]
    assert chains[0] == chains[1], chains
    assert pathlib.Path(folder, "one.jsonl").stat().st_size * 5 < pathlib.Path(folder, "all.jsonl").stat().st_size


def refused(folder):
    """Bad input: an error that says what and where, exit code 2."""
    whole = pathlib.Path(folder, "a.jsonl").read_bytes()
    cases = [(b"", "no launch"), (b"\x00\xff", ":1:"), (b"{}\n", "not an event"), (b'{"what":"stall","at":1}\n', "before any 'launch'"),
             (whole[:200] + b"\n" + whole[200:300], ":2:"), (whole.replace(b'"stall"', b'"stale"'), "'stale' is not the name"),
             (whole.replace(b'"format":1', b'"format":9'), "format 1"), (b"[" * 5000, ":1:")]
    for number, (data, words) in enumerate(cases):
        pathlib.Path(folder, "bad.jsonl").write_bytes(data)
        done = subprocess.run((HEDDLE, "why", "bad.jsonl"), cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert done.returncode == 2 and words in done.stderr, (number, done)
    # members that are missing, negative or of another kind do no harm
    odd = "\n".join(json.dumps({key: (-1 if key == "slot" else "x" if key == "id" else value) for key, value in
                                json.loads(line).items() if key != "inst"}) for line in whole.decode().splitlines()[:4000]
                    if '"code"' not in line)
    pathlib.Path(folder, "odd.jsonl").write_text(odd)
    done = subprocess.run((HEDDLE, "why", "odd.jsonl"), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, done
    for words, options in (("expected both", ("--at", "1")), ("expected a number", ("--at", "1x", "--warp", "0")),
                           ("it has cycles from", ("--at", "99999999", "--warp", "0")),
                           ("no warp is known", ("--at", "300", "--warp", "0", "--core", "4000")),
                           ("expected --core C", ("--at", "300", "--warp", "0"))):
        done = subprocess.run((HEDDLE, "why", "a.jsonl", *options), cwd=folder, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and words in done.stderr, done
    for words, options in (("needs a trace of events", ("--trace", "x", "--trace-window", "longest")),
                           ("as in 0,4-7", ("--trace", "x.jsonl", "--trace-cores", "4-2")),
                           ("expected --trace FILE as well", ("--trace-window", "1:2"))):
        done = subprocess.run((HEDDLE, "run", "k.ptx", "--machine", "gtx480", "--grid", "1", "--block", "32", "--arg", "zero:4K",
                               *options), cwd=folder, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and words in done.stderr, done


with tempfile.TemporaryDirectory() as place:
    for test in (chase, banks, waits_for_head, late, code, spread, apart, unit, same, longest, refused):
        test(place)
