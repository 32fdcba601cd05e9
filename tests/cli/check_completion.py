#!/usr/bin/env python3
"""Shells really offer what the completions say: check_completion.py HEDDLE

bash's function is called, fish is asked, and zsh gets a tab on a terminal of its own. fish and zsh are
skipped where they are not installed.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HEDDLE = pathlib.Path(sys.argv[1]).resolve()
ENVIRONMENT = dict(os.environ, LC_ALL="C", PATH=f"{HEDDLE.parent}:{os.environ['PATH']}")
# What is typed, and words that must be offered for the last one; "!" stands before one that must not be.
CASES = {
    "heddle swe": ["sweep"],
    "heddle run --workload h": ["hotspot", "heartwall", "!kmeans"],
    "heddle sweep --workload h": ["hotspot", "heartwall", "!kmeans"],
    "heddle sweep --workload hotspot,k": ["kmeans", "knn", "!heartwall"],
    "heddle sweep --machine gtx480,gtx1": ["gtx1080ti", "!gtx285"],
    "heddle run --mech da": ["darsie", "dac_ideal"],
    "heddle run --set l1d.se": ["l1d.sets", "l1d.sectored"],
    "heddle run k.ptx --arg in": ["in", "inout"],
    "heddle sweep re": ["resume", "retry", "!status"],
    "heddle sweep retry x --failed d": ["deadlock", "!fault"],
    "heddle sweep export x --format j": ["json", "!csv"],
    "heddle reproduce darsie-fig1": ["darsie-fig10", "darsie-fig1"],
    "heddle help comp": ["compare"],
}


def script(folder, shell, name):
    text = subprocess.run([HEDDLE, "completion", shell], check=True, stdout=subprocess.PIPE).stdout
    (folder / name).write_bytes(text)
    return folder / name


def check(shell, line, text):
    offered = re.split(r"[\s:=,]+", text)
    for word in CASES[line]:
        assert (word.lstrip("!") in offered) == (word[0] != "!"), (shell, line, word, text)


def bash(folder):
    path = script(folder, "bash", "heddle.bash")
    for line in CASES:
        done = subprocess.run(["bash", "-c", '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _heddle; '
                               'printf "%s\\n" "${COMPREPLY[@]}"', path, *line.split()], env=ENVIRONMENT, check=True,
                              cwd=folder, text=True, stdout=subprocess.PIPE)
        check("bash", line, done.stdout)


def fish(folder):
    path = script(folder, "fish", "heddle.fish")
    for line in CASES:
        done = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], env=ENVIRONMENT, check=True,
                              cwd=folder, text=True, stdout=subprocess.PIPE)
        check("fish", line, "\n".join(offer.split("\t")[0] for offer in done.stdout.splitlines()))


class Terminal:
    """An interactive zsh that knows the completion."""

    def __init__(self, folder):
        script(folder, "zsh", "_heddle")
        pid, self.file = pty.fork()
        if not pid:
            os.chdir(folder)
            os.execvpe("zsh", ["zsh", "-f", "-i"], dict(ENVIRONMENT, TERM="dumb", HOME=str(folder)))
        self.pid = pid
        # ^X^L lists what fits and inserts nothing
        os.write(self.file, f"PROMPT='> '; LISTMAX=10000; fpath=({folder} $fpath); autoload -U compinit; compinit -u -D; "
                 "stty cols 200 rows 200; bindkey '^X^L' list-choices; echo REA''DY\n".encode())
        self.read(lambda text: "\nREADY" in text.replace("\r", ""), 60)
        self.read(lambda text: False, 0.5)

    def read(self, enough, seconds):
        text, end = "", time.monotonic() + seconds
        while time.monotonic() < end and not enough(text):
            if select.select([self.file], [], [], 0.05)[0]:
                text += os.read(self.file, 65536).decode(errors="replace")
        return text

    def offered(self, line, wished):
        os.write(self.file, line.encode() + b"\x18\x0c")
        text = self.read(lambda text: all(word in text.split("\n", 1)[-1] for word in wished), 20)
        text += self.read(lambda text: False, 0.2)
        os.write(self.file, b"\x03")
        self.read(lambda text: ">" in text, 5)
        return text.split("\n", 1)[-1]  # without the line that was typed

    def close(self):
        os.close(self.file)  # hangs up
        os.waitpid(self.pid, 0)


def zsh(folder):
    terminal = Terminal(folder)
    for line, words in CASES.items():
        text = terminal.offered(line, [word for word in words if word[0] != "!"])
        check("zsh", line, text.split("> ")[0])
    terminal.close()


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-completion-") as name:
        folder = pathlib.Path(name)
        bash(folder)
        for shell, run in (("fish", fish), ("zsh", zsh)):
            if shutil.which(shell):
                run(folder)


main()
