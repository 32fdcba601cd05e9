"""ACE analysis of Southern Islands code against the trace of the run.

    check_si.py HEDDLE

A raw program runs on machines with each pipeline. From the trace come the cycles in which instructions
issue and write; who needs which bits is written down here.
"""
import json
import os
import subprocess
import sys
import tempfile

CODE = """
    v_lshlrev_b32 v1, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    v_and_b32 v2, 255, v0            // 20
    v_add_i32 v3, vcc, v0, v0        // 28: not needed
    v_cmp_gt_u32 vcc, s4, v0         // 32
    s_and_saveexec_b64 s[6:7], vcc   // 36
    buffer_store_dword v2, v1, s[0:3], 0 offen // 40
    s_endpgm
"""
LANES, STORES = 8, 3
STATE = {
    "waves": [{"sgpr": {"0": "0x1000", "1": 0, "4": STORES}, "vgpr": {"0": list(range(LANES))},
               "exec": "0xff"}],
    "memory": [{"address": "0x1000", "hex": "00" * 4 * LANES}],
}


def run(heddle, machine):
    subprocess.run([heddle, "run", "p.s", "--si-state", "p.json", "--machine", machine, "--si-trace",
                    "t.jsonl", "--avf", "--set", "avf.read=issue", "--stats", "s.json", "--quiet"],
                   check=True, stderr=subprocess.DEVNULL)
    issued, written = {}, {}
    for line in open("t.jsonl", encoding="utf-8"):
        event = json.loads(line)
        if event.get("event") == "issue":
            issued[event["pc"]] = event["cycle"]
        if event.get("event") == "write" and event["unit"] == "vgpr":
            written[event["pc"]] = event["cycle"]
    return json.load(open("s.json", encoding="utf-8"))["totals"], issued, written


def last_reads(lane, issued):
    """Bits of a lane of v0, and the cycle in which each is needed last."""
    reads = {}
    if lane < STORES:  # lanes that store
        reads.update({bit: issued[0] for bit in range(30)})
        reads.update({bit: issued[20] for bit in range(8)})
    highest = 0 if lane == STORES else (lane ^ STORES).bit_length() - 1
    reads.update({bit: issued[32] for bit in range(highest, 32)})
    return reads


def check(heddle, machine):
    stats, issued, written = run(heddle, machine)
    store = issued[40]
    ace = 32 * STORES * (store - written[0] + store - written[20])
    got = stats["avf.vector_ace"] - stats["avf.ace_initial"]
    assert got == ace, (machine, got, ace)
    reads = [cycle for lane in range(LANES) for cycle in last_reads(lane, issued).values()]
    start, rest = divmod(sum(reads) - stats["avf.ace_initial"], len(reads))
    assert rest == 0 and 0 <= start <= issued[0], (machine, start, rest)
    assert stats["avf.dead_instructions"] == 1, machine
    assert stats["avf.values_unread"] == 1 and stats["avf.values"] == 3, machine
    assert stats["avf.vector_undecided"] == 0 and stats["avf.scalar_ace"] > 0, machine
    vector = sum(stats["avf.%s_ace" % unit] for unit in ("sp", "int"))
    assert vector == STORES + STORES + LANES, (machine, vector)


def main():
    heddle = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        open("p.s", "w", encoding="utf-8").write(CODE)
        json.dump(STATE, open("p.json", "w", encoding="utf-8"))
        for machine in ("generic64", "tahiti", "miaow"):
            check(heddle, machine)


if __name__ == "__main__":
    main()
