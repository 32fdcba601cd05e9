"""ACE analysis of Southern Islands code against the trace of the run.

    check_si.py HEDDLE

A raw program runs on machines with each pipeline. From the trace come the cycles in which instructions
issue and write; which instruction needs which bits is written down here.
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
# Two loads of the same words; the first one is dead, of the second one byte is needed.
LOADS = """
    v_lshlrev_b32 v1, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    buffer_load_dword v2, v1, s[0:3], 0 offen // 20
    s_waitcnt vmcnt(0)               // 28
    buffer_load_dword v3, v1, s[0:3], 0 offen // 32
    s_waitcnt vmcnt(0)               // 40
    v_and_b32 v3, 255, v3            // 44
    buffer_store_dword v3, v1, s[0:3], 0 offen offset:128 // 52
    s_endpgm
"""
# A write to v6 through M0 overwrites no register for certain.
INDEXED = """
    v_lshlrev_b32 v4, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    v_mov_b32 v6, v0                 // 20
    s_mov_b32 m0, 1                  // 24
    v_movreld_b32 v5, v0             // 28
    buffer_store_dword v6, v4, s[0:3], 0 offen // 32
    s_endpgm
"""
# SCC, which says whether the result is 0, needs all bits of s8; in STATUS_DEAD nothing reads it.
STATUS = """
    v_lshlrev_b32 v4, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    s_mov_b32 s8, 0xf0               // 20
    s_and_b32 s9, s8, 0xff           // 28
    s_cselect_b32 s10, 7, 9          // 36
    v_mov_b32 v5, s10                // 40
    buffer_store_dword v5, v4, s[0:3], 0 offen // 44
    s_endpgm
"""
STATUS_DEAD = STATUS.replace("s_cselect_b32 s10, 7, 9", "s_mov_b32 s10, 7")
# As LOADS, but 16 bytes for each lane, 32 apart, from byte 56 on, so that some are in two lines. Lanes 6 and
# 7 are out of range.
WIDE = """
    v_lshlrev_b32 v1, 5, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    buffer_load_dwordx4 v[4:7], v1, s[0:3], 0 offen offset:56 // 20
    s_waitcnt vmcnt(0)               // 28
    buffer_load_dwordx4 v[8:11], v1, s[0:3], 0 offen offset:56 // 32
    s_waitcnt vmcnt(0)               // 40
    buffer_store_dwordx4 v[8:11], v1, s[0:3], 0 offen offset:56 // 44
    s_endpgm
"""
# A scalar load whose result nothing reads.
SCALAR_DEAD = """
    v_lshlrev_b32 v1, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    s_load_dword s8, s[0:1], 0x0     // 20
    s_waitcnt lgkmcnt(0)             // 24
    buffer_store_dword v0, v1, s[0:3], 0 offen // 28
    s_endpgm
"""
# The first write to VCC is dead: a comparison clears it in lanes that EXEC has not. Half of VCC is needed.
MASK = """
    v_lshlrev_b32 v4, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    s_mov_b32 s5, 3                  // 20
    s_mov_b64 vcc, 5                 // 24
    s_mov_b64 exec, 15               // 28
    v_cmp_gt_u32 vcc, s5, v0         // 32
    s_mov_b64 s[10:11], vcc          // 36
    v_mov_b32 v5, s10                // 40
    buffer_store_dword v5, v4, s[0:3], 0 offen // 44
    s_endpgm
"""
MASK_DEAD = MASK.replace("v_mov_b32 v5, s10", "v_mov_b32 v5, 7")
# The first store is overwritten; of the second one, a byte is needed.
LDS = """
    v_lshlrev_b32 v4, 2, v0          // 0
    s_mov_b32 s2, 256                // 4
    s_mov_b32 s3, 0xf000             // 12
    s_mov_b32 m0, -1                 // 20
    ds_write_b32 v4, v0              // 24
    s_waitcnt lgkmcnt(0)             // 32
    ds_write_b32 v4, v4              // 36
    s_waitcnt lgkmcnt(0)             // 44
    ds_read_u8 v5, v4                // 48
    s_waitcnt lgkmcnt(0)             // 56
    buffer_store_dword v5, v4, s[0:3], 0 offen // 60
    s_endpgm
"""
LDS_DEAD = LDS.replace("buffer_store_dword v5", "buffer_store_dword v0")
# Each turn needs the one before, and nothing the last.
LOOP = """
    v_lshlrev_b32 v4, 2, v0
    s_mov_b32 s2, 256
    s_mov_b32 s3, 0xf000
    s_mov_b32 s8, 0
    v_mov_b32 v5, v0
turn:
    v_add_i32 v5, vcc, v5, v0
    s_add_u32 s8, s8, 1
    s_cmp_lt_u32 s8, 8
    s_cbranch_scc1 turn
    buffer_store_dword v0, v4, s[0:3], 0 offen
    s_endpgm
"""
# A scalar load whose result is needed; or may be, behind the end of a short log.
SCALAR = SCALAR_DEAD.replace("buffer_store_dword v0", "v_mov_b32 v0, s8\n    buffer_store_dword v0")
SCALAR_LATE = SCALAR_DEAD.replace("buffer_store", ".rept 90\n    v_mov_b32 v5, v0\n    .endr\n    buffer_store")
WIDE_BYTES = (8, 8 + 16 + 8, 8 + 16 + 8, 8 + 16)  # of each line
FILL_TO_WRITE_BACK = 2  # cycles
LANES, STORES = 8, 3
STATE = {
    "waves": [{"sgpr": {"0": "0x1000", "1": 0, "4": STORES}, "vgpr": {"0": list(range(LANES))},
               "exec": "0xff", "lds_bytes": 256}],
    "memory": [{"address": "0x1000", "hex": "00" * 256}],
}


def run(heddle, machine, program="p.s", *settings):
    subprocess.run([heddle, "run", program, "--si-state", "p.json", "--machine", machine, "--si-trace",
                    "t.jsonl", "--avf", "--set", "avf.read=issue", *settings, "--stats", "s.json", "--quiet"],
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
    # of a dead instruction of 32 bits, those of operation and destination are needed
    dead, rest = divmod(stats["avf.buffer_held"] - stats["avf.buffer_ace"], 32 - 15)
    assert rest == 0 and (dead > 0 or machine == "miaow"), (machine, dead, rest)
    assert stats["avf.mask_held"] == 0, machine
    assert stats["avf.ace_long"] == sum(stats["avf.ace_" + name] for name in ("initial", "20", "50", "more")), machine
    assert stats["avf.vector_undecided"] == 0 and stats["avf.scalar_ace"] > 0, machine
    vector = sum(stats["avf.%s_ace" % unit] for unit in ("sp", "int"))
    assert vector == STORES + STORES + LANES, (machine, vector)


def check_lines(heddle, machine):
    """The line of the L1, from its fill to the second load."""
    stats, _, written = run(heddle, machine, "loads.s")
    cycles = written[32] - (written[20] - FILL_TO_WRITE_BACK)
    assert stats["l1d.read_hits"] == 1, machine
    assert stats["avf.l1d_lines_ace"] == cycles, (machine, stats["avf.l1d_lines_ace"], cycles)
    assert stats["avf.l1d_bits_ace"] == 8 * LANES * cycles, (machine, stats["avf.l1d_bits_ace"])
    assert stats["avf.l1d_bits_undecided"] == 0, machine


def check_wide(heddle, machine):
    """Bytes of lines of 64 bytes, which are in the L1 for about as long."""
    stats, _, _ = run(heddle, machine, "wide.s")
    cycles = stats["avf.l1d_lines_ace"] / len(WIDE_BYTES)
    got = stats["avf.l1d_bits_ace"] / 8 / sum(WIDE_BYTES)
    assert cycles > 20 and abs(got / cycles - 1) < 0.07, (machine, cycles, got)


def check_indexed(heddle, machine):
    stats, issued, written = run(heddle, machine, "indexed.s")
    got = stats["avf.vector_ace"] - stats["avf.ace_initial"]
    ace = 32 * LANES * (issued[32] - written[0] + issued[32] - written[20])
    assert got == ace, (machine, got, ace)


def check_status(heddle, machine):
    """What SCC adds, on a machine where both programs take the same cycles: s8, and SCC itself."""
    dead, at_dead, _ = run(heddle, machine, "dead.s")
    stats, issued, _ = run(heddle, machine, "status.s")
    assert issued == at_dead, machine
    events = [json.loads(line) for line in open("t.jsonl", encoding="utf-8")]
    written = {event["pc"]: event["cycle"] for event in events if event.get("event") == "write"}
    ace = 32 * (issued[28] - written[20] + issued[36] - written[28])
    got = stats["avf.scalar_ace"] - dead["avf.scalar_ace"]
    assert got == ace, (machine, got, ace)
    assert dead["avf.dead_instructions"] == 2 and stats["avf.dead_instructions"] == 0, machine


def check_dead_scalar(heddle, machine):
    stats, _, _ = run(heddle, machine, "scalar.s")
    assert stats["avf.dead_instructions"] == 1, machine
    assert 0 < stats["avf.lsu_held"] - stats["avf.lsu_ace"] < LANES, machine  # one access for all lanes


def check_scalar(heddle, machine):
    """A scalar load is one access in the load/store unit, dead, needed or undecided."""
    stats, _, _ = run(heddle, machine, "scalar.s")
    cycles = stats["avf.lsu_held"] - stats["avf.lsu_ace"]
    stats, _, _ = run(heddle, machine, "needed.s")
    assert stats["avf.lsu_ace"] == stats["avf.lsu_held"] and stats["avf.lsu_held"] % LANES == cycles, machine
    stats, _, _ = run(heddle, machine, "late.s", "--set", "avf.window=64")
    assert stats["avf.lsu_undecided"] == cycles, (machine, stats["avf.lsu_undecided"], cycles)


def times(event):
    """Cycle of an event by the address of its instruction."""
    events = (json.loads(line) for line in open("t.jsonl", encoding="utf-8"))
    return {one["pc"]: one["cycle"] for one in events if one.get("event") == event}


def check_mask(heddle, machine):
    """What VCC adds where both programs take the same cycles: its lower half, s10 and s5."""
    dead, at_dead, _ = run(heddle, machine, "maskdead.s")
    stats, issued, _ = run(heddle, machine, "mask.s")
    written = times("write")
    assert stats["avf.dead_instructions"] == 1 and dead["avf.dead_instructions"] == 4, machine
    if issued != at_dead:
        assert machine != "miaow"
        return
    ace = 32 * (issued[32] - written[20] + issued[36] - written[32] + issued[40] - written[36])
    got = stats["avf.scalar_ace"] - dead["avf.scalar_ace"]
    assert got == ace, (machine, got, ace)


def check_lds(heddle, machine):
    """A byte of each word, from the second store to the load. A store acts when it is done. A load acts before the
    latency of shared memory, on tahiti when it is done; on miaow, both act as long after their issue."""
    latency = 20
    stats, issued, written = run(heddle, machine, "lds.s", "--set", f"lsu.shared_latency={latency}")
    if machine == "miaow":
        cycles = issued[48] - issued[36]
    else:
        cycles = written[48] - times("done")[36] - (latency + 1 if machine == "generic64" else 0)
    assert cycles > 0 and stats["avf.shared_ace"] == 8 * LANES * cycles, (machine, stats["avf.shared_ace"], cycles)
    assert stats["avf.shared_undecided"] == 0, machine


def check_dead(heddle, machine):
    """Values that die in shared memory, and in a loop."""
    stats, _, _ = run(heddle, machine, "ldsdead.s")
    assert stats["avf.shared_ace"] == 0 and stats["avf.dead_instructions"] == 1, machine
    stats, _, _ = run(heddle, machine, "loop.s")
    assert stats["avf.dead_instructions"] == 1 + 8, (machine, stats["avf.dead_instructions"])


def check_buffers(heddle, machine):
    """Words of 32 and 64 bits, from decoding to issue. One instruction is dead."""
    stats, issued, _ = run(heddle, machine, "mask.s")
    decoded = times("decode")
    ends = sorted(issued)[1:] + [max(issued) + 4]
    held = sum(8 * (end - pc) * (issued[pc] - decoded[pc]) for pc, end in zip(sorted(issued), ends))
    assert stats["avf.buffer_held"] == held, (machine, stats["avf.buffer_held"], held)
    dead = (32 - 15) * (issued[24] - decoded[24])
    assert dead > 0 and stats["avf.buffer_ace"] == held - dead, (machine, stats["avf.buffer_ace"], held, dead)


def check_no_caches(heddle, machine):
    """MIAOW's memory is none of the model's: it has no caches."""
    stats, _, _ = run(heddle, machine, "loads.s")
    assert stats["avf.dead_instructions"] == 1, machine
    assert all(value == 0 for name, value in stats.items()
               if name.startswith(("avf.l1d_", "avf.l2_", "avf.icache_", "avf.constant_"))
               and not name.endswith("avf")), machine


def main():
    heddle = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        open("p.s", "w", encoding="utf-8").write(CODE)
        json.dump(STATE, open("p.json", "w", encoding="utf-8"))
        for name, code in (("loads", LOADS), ("wide", WIDE), ("indexed", INDEXED), ("status", STATUS),
                           ("dead", STATUS_DEAD), ("scalar", SCALAR_DEAD), ("needed", SCALAR), ("late", SCALAR_LATE),
                           ("mask", MASK), ("maskdead", MASK_DEAD), ("lds", LDS),
                           ("ldsdead", LDS_DEAD), ("loop", LOOP)):
            open(name + ".s", "w", encoding="utf-8").write(code)
        for machine in ("generic64", "tahiti", "miaow"):
            check(heddle, machine)
            check_indexed(heddle, machine)
            check_lds(heddle, machine)
        for machine in ("generic64", "tahiti"):
            check_lines(heddle, machine)
            check_dead_scalar(heddle, machine)
            check_buffers(heddle, machine)
            check_wide(heddle, machine)
        check_scalar(heddle, "generic64")
        for machine in ("generic64", "miaow"):
            check_mask(heddle, machine)
            check_dead(heddle, machine)
        check_status(heddle, "miaow")
        check_no_caches(heddle, "miaow")


if __name__ == "__main__":
    main()
