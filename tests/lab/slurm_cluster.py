"""A Slurm of its own on this host, for tests: a controller and several nodes without root's daemons.

munged, slurmctld and one `slurmd -N` for each node run in the foreground of a scratch folder, with
proctrack/linuxproc and without cgroups, accounting and systemd.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")


def missing():
    """What is not installed, or why a cluster cannot be started here; '' if it can."""
    absent = [name for name in NEEDED if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
    if absent:
        return "not installed: " + ", ".join(absent)
    return "" if os.geteuid() == 0 else "needs root"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    def __init__(self, folder, nodes=3, max_array=1001):
        self.folder, self.count = pathlib.Path(folder), nodes
        self.environment = dict(os.environ, SLURM_CONF=str(self.folder / "slurm.conf"),
                                PATH=os.environ["PATH"] + ":/usr/sbin:/sbin")
        self.processes = {}
        self.ports = [free_port() for _ in range(nodes + 1)]
        self.write(max_array)

    def write(self, max_array):
        host = socket.gethostname()
        for name in ("state", "spool", "log", "munge"):
            (self.folder / name).mkdir()
        os.chmod(self.folder / "munge", 0o755)
        key = self.folder / "munge/key"
        key.write_bytes(os.urandom(1024))
        os.chmod(key, 0o600)
        lines = ["ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={self.ports[0]}",
                 "SlurmUser=root", "SlurmdUser=root", "AuthType=auth/munge", f"AuthInfo=socket={self.folder}/munge/socket",
                 "CredType=cred/munge", "MpiDefault=none", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none",
                 "ReturnToService=2", "SlurmdTimeout=10", "InactiveLimit=0", "KillWait=2", "MinJobAge=300",
                 "SchedulerType=sched/builtin", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
                 "JobAcctGatherType=jobacct_gather/none", "AccountingStorageType=accounting_storage/none",
                 f"MaxArraySize={max_array}", f"StateSaveLocation={self.folder}/state",
                 f"SlurmdSpoolDir={self.folder}/spool/%n", f"SlurmctldPidFile={self.folder}/slurmctld.pid",
                 f"SlurmdPidFile={self.folder}/slurmd.%n.pid", f"SlurmctldLogFile={self.folder}/log/slurmctld",
                 f"SlurmdLogFile={self.folder}/log/%n", "SchedulerParameters=sched_interval=1,batch_sched_delay=0"]
        for i in range(self.count):
            lines.append(f"NodeName=node{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={self.ports[i + 1]} CPUs=2 "
                         "State=UNKNOWN")
        lines.append(f"PartitionName=all Nodes=node[0-{self.count - 1}] Default=YES MaxTime=INFINITE State=UP")
        (self.folder / "slurm.conf").write_text("\n".join(lines) + "\n")

    def spawn(self, name, *words):
        out = open(self.folder / "log" / f"{name}.out", "ab")
        self.processes[name] = subprocess.Popen(words, env=self.environment, stdout=out, stderr=out,
                                                stdin=subprocess.DEVNULL, start_new_session=True)

    def start_node(self, i):
        self.spawn(f"node{i}", "slurmd", "-D", "-N", f"node{i}")

    def start(self):
        munge = self.folder / "munge"
        self.spawn("munged", "munged", "--foreground", "--force", f"--key-file={munge}/key", f"--socket={munge}/socket",
                   f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed")
        self.wait_until(lambda: (munge / "socket").exists(), 20, "munged")
        self.spawn("slurmctld", "slurmctld", "-D", "-i")
        for i in range(self.count):
            self.start_node(i)
        self.wait_until(lambda: self.idle() == self.count, 60, "the nodes")

    def idle(self):
        done = subprocess.run(["sinfo", "-h", "-N", "-o", "%T"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, check=False)
        return done.stdout.split().count("idle")

    def queue(self, form="%i %T"):
        done = subprocess.run(["squeue", "-h", "-r", "-o", form], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False)
        return done.stdout.splitlines()

    def wait_until(self, ready, seconds, what):
        end = time.time() + seconds
        while time.time() < end:
            if ready():
                return
            time.sleep(0.2)
        logs = "".join(path.read_text(errors="replace")[-1500:] for path in (self.folder / "log").iterdir())
        raise AssertionError(f"{what}: not ready after {seconds} s\n{logs}")

    def kill_node(self, i):
        """kill -9 of a slurmd and of everything that it runs, as a power failure would."""
        spool = f"node{i}".encode()
        self.processes[f"node{i}"].send_signal(signal.SIGKILL)
        self.processes[f"node{i}"].wait()
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                environment = path.read_bytes().split(b"\0")
                if b"SLURMD_NODENAME=" + spool in environment and \
                        f"SLURM_CONF={self.folder}/slurm.conf".encode() in environment:
                    os.kill(int(path.parent.name), signal.SIGKILL)
            except (OSError, ValueError):
                pass  # it has ended

    def stop(self):
        for name in reversed(list(self.processes)):
            process = self.processes[name]
            if process.poll() is None:
                process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
