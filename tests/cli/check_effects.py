#!/usr/bin/env python3
"""Parameters that `heddle run --set` says have no effect really have none: check_effects.py HEDDLE

For each configuration: a run sets every parameter to the value it has, and the notes name those without
effect. A second run changes all of these at once, and no result may differ. Some parameters must be named, so that
a missing rule is found, too.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

HEDDLE = str(pathlib.Path(sys.argv[1]).resolve())
KERNEL = """
.version 6.0
.target sm_60
.address_size 64
.const .align 4 .u32 table[4] = {1, 2, 3, 4};
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .shared .align 4 .b8 tile[1024];
    .local .align 4 .b8 stack[16];
    .reg .pred %p;
    .reg .b32 %i, %b, %n, %x, %y, %left, %s;
    .reg .b64 %in, %out, %at;
    .reg .f32 %f;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %s, %tid.x;
    mad.lo.u32 %i, %b, %n, %s;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mul.wide.u32 %at, %i, 4;
    add.s64 %in, %in, %at;
    add.s64 %out, %out, %at;
    mov.u32 %left, 6;
    shl.b32 %s, %s, 2;
    mov.u32 %y, tile;
    add.u32 %s, %s, %y;
loop:
    ld.global.nc.u32 %x, [%in];
    ld.global.u32 %y, [%in + 4096];
    ld.const.u32 %b, [table + 4];
    mad.lo.u32 %x, %x, %b, %y;
    st.local.u32 [stack + 4], %x;
    st.shared.u32 [%s], %x;
    bar.sync 0;
    ld.shared.u32 %y, [%s];
    ld.local.u32 %x, [stack + 4];
    add.u32 %x, %x, %y;
    cvt.rn.f32.u32 %f, %x;
    sqrt.approx.f32 %f, %f;
    cvt.rzi.u32.f32 %x, %f;
    st.global.u32 [%out], %x;
    add.s64 %in, %in, 8192;
    add.s64 %out, %out, 256;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %p, %left, 0;
    @%p bra loop;
    ret;
}
"""
PTX = ["k.ptx", "--grid", "40", "--block", "128", "--arg", "zero:128K", "--arg", "zero:128K"]
SI = ["double.s", "--si-state", "double.json"]
# A run, and parameters that must be named.
CASES = [
    (PTX, "gtx480", [], ["readonly.latency", "cluster_icache.ports", "miaow.lanes", "timing.fit", "issue.kinds",
                         "network.mesh_columns", "darsie.entries", "issue.regions",
                         "readonly.bytes"]),
    (PTX, "gtx480", ["timing.functional=true"], ["l1d.sets", "l2.bytes", "dram.tCL", "energy.volts", "fetch.width"]),
    (PTX, "gtx480", ["l1d.global=false", "l1d.local=false"], ["l1d.sets", "l1d.latency", "l1d.bytes"]),
    (PTX, "gtx480", ["l2.enabled=false"], ["l2.sets", "l2.ways"]),
    (PTX, "gtx480", ["icache.perfect=true", "constant.perfect=true"], ["icache.sets", "constant.ways"]),
    (PTX, "gtx480", ["icache.keeps=false", "constant.keeps=false"], ["icache.sets", "constant.ways"]),
    (PTX, "gtx480", ["network.kind=mesh", "collect.generic=8"], ["network.speedup", "collect.sp"]),
    (PTX, "gtx480", ["dram.bank_groups=1"], ["dram.tCCDL"]),
    (PTX, "rtx2060", [], ["readonly.latency"]),
    (SI, "miaow", [], ["l1d.sets", "fetch.width", "dram.tCL", "network.window", "miaow.cache_ways"]),
    (SI, "generic64", [], ["miaow.lanes"]),
]


def run(folder, what, machine, settings, may_fail=False):
    command = [HEDDLE, "run", *what, "--machine", machine, "--stats", "s.json"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and may_fail:
        return None, None, []
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    stats = json.loads((folder / "s.json").read_text())
    mark = "note: --set "
    named = [line.split(mark)[1].split()[0] for line in done.stderr.splitlines() if mark in line]
    return stats["config"], {key: stats[key] for key in ("launches", "totals", "profile")}, named


def text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def other(row, value):
    """Another value of the parameter: twice as much, so that powers of two and orders of values stay."""
    if row["type"] == "bool":
        return text(not value)
    if row["type"] == "choice":
        choices = row["choices"].split("|")
        return choices[(choices.index(value) + 1) % len(choices)]
    if row["type"] == "list" or row["key"] == "dram.write_low":  # it must stay below write_high
        return None
    most = row["max"]
    if value == 0:
        return text(min(most, 1 if row["type"] != "f64" else 0.5))
    return text(value * 2) if value * 2 <= most else None


def main():
    params = json.loads(subprocess.run([HEDDLE, "params", "--json"], capture_output=True, check=True).stdout)
    rows = {row["key"]: row for row in params if row["type"] != "size"}
    bad = 0
    with tempfile.TemporaryDirectory(prefix="heddle-effects-") as name:
        folder = pathlib.Path(name)
        (folder / "k.ptx").write_text(KERNEL)
        source = pathlib.Path(__file__).resolve().parents[2] / "examples" / "si"
        for file in ("double.s", "double.json"):
            (folder / file).write_bytes((source / file).read_bytes())
        for what, machine, settings, expected in CASES:
            config, results, _ = run(folder, what, machine, settings)
            values = {f"{c}.{n}": v for c, ps in config.items() if isinstance(ps, dict) for n, v in ps.items()}
            same = [f"{k}={text(v)}" for k, v in values.items() if k in rows and rows[k]["type"] != "list"]
            sizes = [key for key in expected if key not in rows]
            named = run(folder, what, machine, settings + same)[2]
            for key in sizes:
                row = next(row for row in params if row["key"] == key)
                size = values[key.split(".")[0] + "." + row["solved"]]
                for factor in row["factors"].split("|"):
                    size *= values[key.split(".")[0] + "." + factor]
                named += run(folder, what, machine, settings + [f"{key}={size}"])[2]
            changed = [f"{k}={v}" for k in named if k in rows and (v := other(rows[k], values[k])) is not None]
            missing = [key for key in expected if key not in named]
            differ = run(folder, what, machine, settings + changed)[1] != results
            if differ:  # which of them?
                for one in changed:
                    if run(folder, what, machine, settings + [one], True)[1] not in (None, results):
                        print(f"{machine} {settings}: --set {one} changes results")
            if missing:
                print(f"{machine} {settings}: not named: {missing}")
            if not changed:
                print(f"{machine} {settings}: nothing to change")
            bad += differ or bool(missing) or not changed
            print(f"{machine} {' '.join(settings)}: {len(changed)} parameters changed")
    sys.exit(bool(bad))


main()
