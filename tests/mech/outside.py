#!/usr/bin/env python3
"""A mechanism from outside: docs/write-a-mechanism.md, against what is installed and nothing else.

Installs into an empty folder, writes the document's files, runs its sessions as run_docs.py would,
and then does what a document does not show: the driver alone, a program of the C API, a kernel's
bytes with and without, and everything that has to be refused.

    outside.py BUILD SOURCE
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "tests" / "docs"))
import run_docs  # noqa: E402

DOCUMENT = SOURCE / "docs" / "write-a-mechanism.md"
COMPILE = "cc -shared $(pkg-config --cflags --libs heddle-mechanism)"
LAUNCH = (f"heddle run {SOURCE}/tests/cli/data/kernels.ptx --kernel copy --grid 4 --block 256 "
          "--quiet")
failures = []


def check(right, what, seen=""):
    if not right:
        failures.append(what)
        print(f"FAILED: {what}\n{seen}")


def install(folder):
    """The environment of somebody who has this Heddle and no sources."""
    environment = dict(os.environ, DESTDIR=str(folder))
    subprocess.run(["meson", "install", "-C", str(BUILD), "--no-rebuild", "--quiet"], check=True,
                   env=environment, stdout=subprocess.DEVNULL)
    heddle = next(folder.rglob("bin/heddle"))
    pc = next(folder.rglob("heddle-mechanism.pc"))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")}
    environment.update(PATH=f"{heddle.parent}:{os.environ['PATH']}", LC_ALL="C",
                       PREFIX=str(heddle.parent.parent), PKG_CONFIG_PATH=str(pc.parent),
                       PKG_CONFIG_SYSROOT_DIR=str(folder),
                       HEDDLE_CACHE_DIR=str(BUILD / "tests" / "cache"))
    return environment, heddle.parent.parent


def own_prefix(environment, prefix):
    """What the document and `make install` say about a prefix of one's own leads pkg-config to it."""
    line = re.search(r"^\$ (export PATH=.*)$", DOCUMENT.read_text(), re.M)
    bare = {k: v for k, v in environment.items() if k != "PKG_CONFIG_PATH"}
    bare.update(PREFIX=str(prefix), PATH=os.environ["PATH"])
    asked = "pkg-config --variable=pcfiledir heddle-mechanism && command -v heddle"
    said = subprocess.run([str(SOURCE / "scripts" / "after-install"), str(prefix)], text=True,
                          env=bare, stdout=subprocess.PIPE, check=True).stdout
    exports = "; ".join(re.findall(r"export .*", said))
    for how in (line.group(1) if line else "true", exports):
        done = subprocess.run(["sh", "-c", f"{how}; {asked}"], env=bare, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        check(done.returncode == 0 and str(prefix / "bin/heddle") in done.stdout,
              f"a prefix of one's own: {how}", done.stdout)


def documents(environment, prefix):
    """Documents and examples are installed, links between them work, and examples compile where they are."""
    folder = prefix / "share" / "doc" / "heddle"
    pages = sorted(folder.rglob("*.md"))
    check(len(pages) > 30 and folder / "docs" / "tutorial.md" in pages, "the documents are not installed")
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)[)#]", page.read_text(encoding="utf-8")):
            inside = os.path.relpath(page.parent / target, folder).split("/")[0]
            if inside not in ("src", "tests", "include"):  # the sources
                check((page.parent / target).exists(), f"{page}: the link to {target} leads nowhere")
    check(not list(folder.rglob("meson.build")), "a build file is among the examples")
    for name in ("bash-completion/completions/heddle.bash", "zsh/site-functions/_heddle",
                 "fish/vendor_completions.d/heddle.fish", "man/man1/heddle.1"):
        check((prefix / "share" / name).stat().st_size > 1000, f"{name} is not installed")
    for command in ("cc examples/saxpy.c -o saxpy $(pkg-config --cflags --libs heddle) && LD_LIBRARY_PATH=$(dirname "
                    "$PKG_CONFIG_PATH) ./saxpy", f"cd examples/mechanisms && {COMPILE} victim.c -o victim.so"):
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        check(done.returncode == 0, f"$ {command}", done.stdout)


class Room:
    """A folder to work in."""

    def __init__(self, folder, environment):
        self.folder, self.environment = folder, environment
        folder.mkdir()

    def run(self, command, **more):
        return subprocess.run(["sh", "-c", command], cwd=self.folder, text=True, errors="replace",
                              timeout=120, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(self.environment, **more))

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def must(self, command, **more):
        done = self.run(command, **more)
        check(done.returncode == 0, f"$ {command}: exit code {done.returncode}", done.stdout)
        return done.stdout


def document(room):
    """Its files, then its sessions."""
    files = {}
    for kind, name, _, lines in run_docs.blocks(DOCUMENT):
        if name and kind != "console":
            files[name] = "\n".join(lines) + "\n"
            room.write(name, files[name])
    lines = sum(text.count("\n") for text in files.values())
    check(lines < 150, f"the example has {lines} lines")
    count = 0
    for kind, name, line, lines in run_docs.blocks(DOCUMENT):
        for command, expected in run_docs.commands(lines) if kind == "console" else []:
            done = room.run(command)
            count += 1
            check(run_docs.pattern(expected).match(done.stdout),
                  f"{DOCUMENT}:{line}: $ {command}", done.stdout)
    check(count > 5, "the document shows no commands")
    return files


def totals(room, name):
    return json.loads((room.folder / name).read_text(encoding="utf-8"))["totals"]


def kernels(room):
    """Bytes of a kernel file, and statistics that differ only in what the mechanism did."""
    words = LAUNCH + " --arg out:%s.bin:4K --arg in:in.bin --arg u32:1024 --stats %s.json %s"
    (room.folder / "in.bin").write_bytes(bytes(range(256)) * 16)
    room.must(words % ("off", "off", ""))
    room.must(words % ("on", "on", "--mech ./silent.so --set silent.bits=4"))
    room.must(words % ("off2", "off2", "--mech ./silent.so:on=false"))
    read = lambda name: (room.folder / name).read_bytes()
    check(read("off.bin") == read("on.bin") and any(read("on.bin")), "a kernel's bytes differ")
    on, off, known = (totals(room, f"{n}.json") for n in ("on", "off", "off2"))
    check(on["silent.checks"] > 0, "nothing was counted", str(on))
    check(off == known, "known but off: other statistics")
    lanes = off["collect.lane_writes"] - on["collect.lane_writes"]
    check(lanes >= 32 * on["silent.silent"], "dropped writes are still counted", str(on))


def programs(room, prefix):
    """The driver by itself, whose symbols nobody sees; from another folder."""
    library = next(prefix.rglob("libheddle-opencl.so"))
    workload = next(prefix.rglob("libexec/heddle/workloads/vecadd"))
    (room.folder / "vendors").mkdir()
    (room.folder / "session").mkdir()
    room.write("vendors/heddle.icd", f"{library}\n")
    alone = {"OCL_ICD_VENDORS": str(room.folder / "vendors"),
             "HEDDLE_SESSION": str(room.folder / "session")}
    out = room.must(f"{workload} --quick", HEDDLE_MECH="filter_cache;./silent.so:bits=5,entries=64",
                    HEDDLE_SET="silent.bits=6", **alone)
    check("passed" in out, "a program with the driver alone", out)
    records = "".join(p.read_text() for p in (room.folder / "session").iterdir())
    check('"silent.checks"' in records and '"filter_cache.hits"' in records,
          "the driver alone counts nothing", records[:2000])
    out = room.run(f"{workload} --quick", HEDDLE_MECH="./none.so", **alone).stdout
    check("heddle: HEDDLE_MECH: cannot open" in out, "the driver and a file that is not there", out)
    out = room.must("mkdir -p deep && cd deep && heddle run --mech ../silent.so --stats s.json "
                    "--quiet -- sh -c 'cd / && exec \"$0\" --quick' " + str(workload))
    check(totals(room, "deep/s.json").get("silent.checks"), "a program that changes its folder", out)


def api(room):
    """A program that loads the library for itself, two configurations and three devices."""
    shutil.copy(SOURCE / "tests" / "mech" / "outside.c", room.folder)
    room.must("cc -Wall -Werror -std=gnu17 $(pkg-config --cflags heddle) outside.c -o outside -ldl")
    library = room.must("pkg-config --variable=libdir heddle").strip() + "/libheddle.so"
    library = room.environment["PKG_CONFIG_SYSROOT_DIR"] + library.replace(
        room.environment["PKG_CONFIG_SYSROOT_DIR"], "")
    out = room.must(f"./outside {library} ./silent.so")
    check(out == "done\n", "the C API", out)


def refused(room, name, expected):
    """`heddle run` says so, ends with 2 and writes nothing."""
    for leftover in ("x.json", "x.bin"):
        (room.folder / leftover).unlink(missing_ok=True)
    done = room.run(f"{LAUNCH} --arg out:x.bin:4K --arg zero:4K --arg u32:1024 --stats x.json "
                    f"--mech {name}")
    check(done.returncode == 2 and expected in done.stdout, f"--mech {name}: expected '{expected}'",
          f"{done.returncode} {done.stdout}")
    check(not (room.folder / "x.json").exists() and not (room.folder / "x.bin").exists(),
          f"--mech {name}: something was written")
    done = room.run(f"heddle mechanisms {name}")
    check(done.returncode == 2 and expected in done.stdout, f"heddle mechanisms {name}", done.stdout)


def bad_files(room):
    room.write("empty.so", "")
    room.write("text.so", "int main(void) { return 0; }\n")
    (room.folder / "short.so").write_bytes((room.folder / "silent.so").read_bytes()[:3000])
    room.write("plain.c", "int nothing;\n")
    room.must("cc -shared -fPIC plain.c -o plain.so; cc -c -fPIC plain.c -o object.so")
    room.must("mkdir -p folder.so")
    refused(room, "./none.so", "cannot open: No such file or directory")
    refused(room, "none.so", "cannot open: No such file or directory")
    refused(room, "/", "irectory")
    refused(room, "folder.so", "irectory")
    refused(room, "empty.so", "the file is empty")
    refused(room, "./text.so", "not a shared object")
    refused(room, "object.so", "not a shared object")
    refused(room, "short.so", "not a shared object, or only a part of one")
    refused(room, "plain.so", "it contains no mechanism: it does not export 'heddle_mechanism'")
    refused(room, "./silent.so:bit=4", "mechanism silent has no parameter 'bit': did you mean 'bits'?")
    refused(room, "./silent.so:bits=99", "silent.bits: '99' is out of range: expected 1 to 31 bits")
    room.must("cp silent.so 'a;b.so'; cp silent.so 'a:b.so'; mkdir -p c:d && cp silent.so c:d")
    done = room.run("heddle run --mech './a;b.so' -- true")
    check(done.returncode == 125 and "the path must not contain a semicolon" in done.stdout,
          "a path with a semicolon", done.stdout)
    refused(room, "./a:b.so", "cannot open: No such file or directory")
    room.must(LAUNCH + " --arg zero:4K --arg zero:4K --arg u32:1024 --mech c:d/silent.so:bits=3")
    refused(room, "\"$(printf './\\377.so')\"", "the path is not UTF-8")
    done = room.run("cp silent.so other.so; " + LAUNCH + " --mech ./silent.so --mech ./other.so")
    check("mechanism silent exists already: it is that of ./silent.so" in done.stdout,
          "two of one name", done.stdout)


def compile_changed(room, files, changes, name="changed", flags=""):
    """The example with changes to it."""
    for file, text in files.items():
        for old, new in changes:
            text = text.replace(old, new)
        room.write(file.replace("silent", name), text.replace("silent.def", f"{name}.def"))
    room.must(f"{COMPILE} -O0 {flags} {name}.c -o {name}.so")


def bad_mechanisms(room, files):
    named = "MECHANISM_NAMED(silent, \"results that a register holds already are not written\"),"
    on = files["silent.def"].splitlines()[0] + "\n"
    for old, new, expected in (
            (on, "", "the first parameter is 'entries': expected FLAG(on, 0, ...)"),
            ("FLAG(on, 0", "FLAG(on, 1", "the first parameter is 'on': expected FLAG(on, 0, ...)"),
            ("FLAG(on, 0,", "PARAM(u32, on, 0, 0, 1, \"\",", "expected FLAG(on, 0, ...)"),
            ("bits, 8, 1, 31", "bits, 99, 1, 31", "default of parameter 'bits' is outside its range"),
            ("bits, 8, 1, 31", "bits, 8, 31, 1", "the range of parameter 'bits' is empty"),
            ("PARAM(u32, bits, 8, 1, 31, \"bits\"", "PARAM(u32, bits, 8, 1, 31, NULL",
             "parameter 'bits' has no type, unit or help"),
            ("PARAM(u32, bits", "CHOICE(pick, 3, \"a|b\", \"\")\nPARAM(u32, bits",
             "default of parameter 'pick' is not one of its choices"),
            (named, named + ".stats_size = 8,", "statistic 'matches' is outside stats_size, 8"),
            (named, named + ".name = \"Silent one\",", "needs a name of lower-case letters"),
            (named, named + ".name = \"other\",", "mechanism other has a component with another name"),
            (named, named + ".name = NULL,", "its mechanism needs a name"),
            (named, named + ".help = NULL,", "mechanism silent has no help or no component"),
            (named, named + ".component = NULL,", "mechanism silent has no help or no component"),
            ("= sizeof(struct silent)", "= 4", "does not have the size of a structure that begins with"),
            (named, named + ".device_size = 8,", "has memory for the whole device (device_size): expected one_thread"),
            ("{\"checks\"", "{\"chekcs\"", "counted by 'chekcs', which is not one of its statistics"),
            ("\"silent.signatures\"}", "NULL}", "the energy event of 'checks' names no array"),
            ("\"silent.signatures\"}", "\"silent.signature\"}",
             "names the array 'silent.signature', which neither its storage nor the machine has"),
            ("\"collect.registers\"", "\"colect.registers\"",
             "names the array 'colect.registers', which neither its storage nor the machine has"),
            ("\"signatures\", ENERGY_READ", "\"\", ENERGY_READ", "has no part or kind"),
            (".bits = 32}", ".given = \"volts\"}", "is given by 'volts', which is not a parameter"),
            ("\"signatures\", ENERGY_READ", "NULL, ENERGY_READ", "has no part or kind"),
            ("ENERGY_WRITE, \"silent.signatures\"", "ENERGY_LOGIC, NULL", "has no pJ and nm")):
        compile_changed(room, files, [(old, new)])
        refused(room, "./changed.so", expected)


def built_by_choice(room, files):
    """An array that only some configurations build, sized by an element of the machine."""
    compile_changed(room, files, [
        ("PARAM(u32, bits", "CHOICE(table, 0, \"none|some\", \"\")\nPARAM(u32, bits"),
        ("    state_add(list,", "    u64 lines = 0;\n"
         "    for (u32 i = 0; i < list->rows.count; i++)\n"
         "        if (!strcmp(list->rows.data[i].unit, \"l1d\") && "
         "!strcmp(list->rows.data[i].name, \"tags\"))\n"
         "            lines = list->rows.data[i].entries;\n"
         "    if (p->table)\n        state_add(list,"),
        ("\"signatures\", p->entries", "\"signatures\", lines")])
    out = room.must("heddle mechanisms ./changed.so")
    check("Storage" not in out, "an array that is not built", out)
    out = room.must("heddle machines gtx480 --mech ./changed.so:table=some --storage")
    check(re.search(r"^silent.signatures +core +15 +128 ", out, re.M), "an array of the size of the L1's tags", out)


def bad_builds(room, files, prefix):
    """Other headers, other options, other programs' symbols, names that are taken."""
    compile_changed(room, files, [("silent", "filter_cache")], "filter_cache")
    refused(room, "./filter_cache.so", "mechanism filter_cache exists already: it is built in")
    compile_changed(room, files, [("silent", "host")], "host")
    refused(room, "./host.so", "mechanism host has the name of a component of the machine")
    for flags, expected in (("-UHEDDLE_PLUGIN", "was it compiled with pkg-config"),
                            ("-fpack-struct=4", "its compiler uses another layout of structures")):
        compile_changed(room, files, [], flags=flags + " -Wl,-z,undefs -w")
        refused(room, "./changed.so", expected)
    compile_changed(room, files, [("s->stats->silent++", "*(volatile const char *)stall_names[0]; s->stats->silent++")],
                    flags="-Wl,-z,undefs -w")
    refused(room, "./changed.so", "undefined symbol: stall_names (mechanisms may call only what")
    room.write("other.c", "const char heddle_mechanism[256] = \"somebody else's\";\n")
    room.must("cc -shared -fPIC other.c -o other.so")
    refused(room, "./other.so", "its 'heddle_mechanism' is not one of Heddle's")
    # a header changed by one blank: the list has another hash
    headers = room.folder / "headers"
    internal = next(prefix.rglob("include/heddle/internal"))
    shutil.copytree(internal, headers)
    with open(headers / "core" / "core.h", "a", encoding="utf-8") as file:
        file.write(" \n")
    room.must(f"{SOURCE}/scripts/plugin-headers list headers headers/core/plugin_list.h list.d")
    old, new = (re.search(r'PLUGIN_HASH "(\w+)"', (f / "core" / "plugin_list.h").read_text()).group(1)
                for f in (internal, headers))
    check(old != new, "the hash does not see a change of a header")
    compile_changed(room, files, [], flags="-Iheaders")
    room.must("cc -shared -Iheaders $(pkg-config --cflags --libs heddle-mechanism) silent.c -o "
              "changed.so")
    refused(room, "./changed.so",
            f"headers of another Heddle ({new[:12]}..., this one has {old[:12]}...): compile it again")


def files_of(name):
    """The files of a mechanism of src/mech: its own, and those that it shares with others and whose headers it
    includes."""
    groups, new = set(), {name}
    while new:
        groups |= new
        text = "".join(path.read_text() for group in new for path in (SOURCE / "src/mech").glob(f"{group}*.[ch]"))
        included = set(re.findall(r'#include "(?:mech/)?(\w+)\.h"', text))
        new = {one for one in included if (SOURCE / f"src/mech/{one}.c").exists() and
               not any(one.startswith(group) for group in groups)}
    return " ".join(f"mech/{group}*.c" for group in sorted(groups))


def built_in(room):
    """All that is in src/mech could be outside: the installed headers are enough."""
    shutil.copytree(SOURCE / "src" / "mech", room.folder / "mech")
    names = re.findall(r"^MECHANISM\((\w+)\)", (SOURCE / "src/mech/list.def").read_text(), re.M)
    check(names, "no mechanism is built in")
    for name in names:
        if not (room.folder / "mech" / f"{name}.c").exists():
            continue  # an observer with a room of its own
        room.write(f"{name}_plugin.c", f"#include \"core/mechanism.h\"\nextern const struct mechanism "
                                       f"{name}_mechanism;\nMECHANISM_PLUGIN({name})\n")
        room.must(f"{COMPILE} -O0 -w {name}_plugin.c {files_of(name)} -o {name}.so")


def main():
    with tempfile.TemporaryDirectory(prefix="heddle-outside-") as scratch:
        scratch = pathlib.Path(scratch)
        environment, prefix = install(scratch / "root")
        own_prefix(environment, prefix)
        documents(environment, prefix)
        room = Room(scratch / "my", environment)
        files = document(room)
        kernels(room)
        programs(room, prefix)
        api(room)
        bad_files(room)
        bad_mechanisms(room, files)
        built_by_choice(room, files)
        bad_builds(room, files, prefix)
        built_in(room)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
