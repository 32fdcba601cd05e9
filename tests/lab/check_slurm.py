#!/usr/bin/env python3
"""heddle sweep --on slurm, on a real Slurm on this host: check_slurm.py HEDDLE INPUTS

Arrays are split and throttled; a runner, a worker and a node are killed in the middle; the sweep goes
on and gives the same bytes as one on this host alone; nothing stays in the queue.
"""
import contextlib
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import slurm_cluster

HEDDLE, INPUTS = (pathlib.Path(name).resolve() for name in sys.argv[1:3])
KINDS = ("csv", "json", "html")
SKIP = 77
# a good part of a second each: long enough to be killed in the middle
KERNEL = f"{INPUTS / 'tiny.ptx'} --grid 30 --block 512 --arg zero:4K --arg u32:300"
GRID = ["--machine", "gtx480", "--set", "l1d.sets=8..64*2", "--set", "gpu.cores=1,2", "--kernel", KERNEL, "--out", "out"]
POINTS = 8


def run(folder, environment, *words, code=0):
    done = subprocess.run([HEDDLE, "sweep", *words], cwd=folder, env=environment, timeout=300,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
    return done


def begin(folder, environment, *words):
    return subprocess.Popen([HEDDLE, "sweep", *words], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def outputs(folder):
    return [(folder / "out" / f"sweep.{kind}").read_bytes() for kind in KINDS]


def folder_of(parent, name):
    folder = parent / name
    folder.mkdir()
    return folder


def stored(folder):
    try:
        with contextlib.closing(sqlite3.connect(f"file:{folder}/out/sweep.db?mode=ro", uri=True)) as database:
            return database.execute("SELECT count(*) FROM results WHERE status='done'").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def processes(*words):
    """Processes whose command line has all these words."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if all(str(word).encode() in text for word in words):
            found.append(int(path.parent.name))
    return found


def wait_for(ready, seconds=60):
    end = time.time() + seconds
    while time.time() < end:
        value = ready()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def throttled(parent, cluster, expected):
    """At most two tasks run at a time; eight tasks do not fit into arrays of five."""
    folder = folder_of(parent, "throttled")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm:1", "--pack", "1")
    arrays, most = set(), {}
    while process.poll() is None:
        running = {}
        for line in cluster.queue("%F %T"):
            job, state = line.split()
            arrays.add(job)
            running[job] = running.get(job, 0) + (state in ("RUNNING", "COMPLETING"))
        for job, count in running.items():
            most[job] = max(most.get(job, 0), count)
        time.sleep(0.1)
    assert process.returncode == 0, process.communicate()
    assert len(arrays) == 2, arrays
    assert max(most.values()) == 1, most
    assert outputs(folder) == expected


def runner_killed(parent, cluster, expected):
    """Its jobs stay; the next runner waits for them instead of submitting them again."""
    folder = folder_of(parent, "runner")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm", "--pack", "2")
    wait_for(lambda: stored(folder) >= 1)
    process.kill()
    process.wait()
    jobs = sorted(path.read_text() for path in (folder / "out/slurm").glob("*/jobs"))
    assert jobs
    status = run(folder, cluster.environment, "status", "out").stdout
    line = next(line.split() for line in status.splitlines() if line.startswith("slurm "))
    assert int(line[1]) + int(line[7]) + int(line[10]) > 0, status
    resumed = begin(folder, cluster.environment, "resume", "out", "--on", "slurm", "--pack", "2")
    seen = set()
    while resumed.poll() is None:
        seen |= set(cluster.queue("%F"))
        time.sleep(0.1)
    assert resumed.returncode == 0, resumed.communicate()
    assert seen <= {line.split()[0] for text in jobs for line in text.splitlines()}, (seen, jobs)
    assert outputs(folder) == expected


def worker_killed(parent, cluster, expected):
    """A worker that dies leaves its points to a second submission."""
    folder = folder_of(parent, "worker")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm", "--pack", "4")
    victim = wait_for(lambda: processes(HEDDLE, "sweep", "worker", folder))[0]
    wait_for(lambda: stored(folder) >= 1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    assert process.wait(timeout=200) == 0, process.communicate()
    assert outputs(folder) == expected


def node_killed(parent, cluster, expected):
    """A node that fails in the middle of its tasks: Slurm requeues them elsewhere."""
    folder = folder_of(parent, "node")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm", "--pack", "2")
    wait_for(lambda: stored(folder) >= 1)
    busy = [line.split() for line in cluster.queue("%N %T")]
    nodes = sorted(words[0] for words in busy if len(words) == 2 and words[1] == "RUNNING")
    number = int(nodes[0][len("node"):]) if nodes else 0
    cluster.kill_node(number)
    assert process.wait(timeout=280) == 0, process.communicate()
    assert outputs(folder) == expected
    cluster.start_node(number)


def preempted(parent, cluster, expected):
    """Tasks that are requeued in the middle, as after preemption, go on where they were; nothing is submitted again."""
    folder = folder_of(parent, "preempted")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm", "--pack", "4")
    wait_for(lambda: stored(folder) >= 1)
    running = [line.split()[0] for line in cluster.queue("%i %T") if line.endswith("RUNNING")]
    assert running
    for task in running:
        subprocess.run(["scontrol", "requeue", task], env=cluster.environment, check=True)
    jobs = {path.read_text() for path in (folder / "out/slurm").glob("*/jobs")}
    seen = set()
    while process.poll() is None:
        seen |= {path.read_text() for path in (folder / "out/slurm").glob("*/jobs")}
        time.sleep(0.2)
    assert process.returncode == 0, process.communicate()
    assert seen <= jobs and len(jobs) == 1, (seen, jobs)
    assert outputs(folder) == expected


def interrupted(parent, cluster, expected):
    """Ctrl-C takes the jobs along; resume on this host finishes the sweep."""
    folder = folder_of(parent, "interrupted")
    process = begin(folder, cluster.environment, *GRID, "--on", "slurm:1", "--pack", "1")
    wait_for(lambda: stored(folder) >= 1)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130, process.communicate()
    wait_for(lambda: not cluster.queue())
    kept = stored(folder)
    assert 1 <= kept < POINTS
    done = run(folder, cluster.environment, "resume", "out")
    assert f"{kept} of {POINTS} runs were stored before" in done.stdout
    assert outputs(folder) == expected


def main():
    absent = slurm_cluster.missing()
    if absent:
        print("skipped:", absent)
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory(prefix="heddle-slurm-test-") as name:
        parent = pathlib.Path(name)
        local = folder_of(parent, "local")
        run(local, dict(os.environ), *GRID)
        expected = outputs(local)
        cluster = slurm_cluster.Cluster(folder_of(parent, "cluster"), nodes=3, max_array=6)
        try:
            cluster.start()
            for check in (throttled, runner_killed, worker_killed, node_killed, preempted, interrupted):
                check(parent, cluster, expected)
                wait_for(lambda: not cluster.queue())
                assert not processes(HEDDLE, "sweep", "worker", parent), check
                assert not list(parent.glob("*/out/slurm")), check
                print(check.__name__, "ok", flush=True)
        finally:
            cluster.stop()


main()
