#!/usr/bin/env python3
"""Random divergent OpenCL programs, compiled for Southern Islands: with warps that are re-formed, they
store what they store without.

  divergent.py HEDDLE FIRST COUNT

A program has nested ifs and loops whose conditions differ from thread to thread, with break, continue
and return, barriers where all threads of a block meet, shared memory and atomics without a result. For
each seed, a file of kernels is compiled once; each kernel runs on each machine, without the mechanism
and under some of its parameters. Somewhere, threads must have been re-formed.
"""
import json, os, random, subprocess, sys, tempfile

KERNELS = 4
SETS = {
    'generic64': ['tbc.across=true', 'tbc.across=true tbc.wait=all tbc.when=always tbc.form_cycles=0',
                  'lwm.across=true lwm.warps=2'],
    'tahiti': ['tbc.across=true tbc.when=always', 'tbc.across=true tbc.wait=all tbc.patience=100'],
    'miaow': ['tbc.when=always', 'tbc.wait=all tbc.when=always tbc.form_cycles=0', 'tbc.shared=false tbc.patience=300'],
}


class Program:
    def __init__(self, rng):
        self.rng, self.lines, self.budget, self.counters = rng, [], rng.randint(8, 40), 0

    def value(self):
        r = self.rng
        return r.choice(['a', 'b', 'c', 't', 'i', 'n', str(r.randint(0, 70)), 's[(t * 7 + a) & 63]' if self.shared_read else 'b'])

    def expression(self):
        r = self.rng
        return f"{self.value()} {r.choice(['+', '-', '*', '^', '&', '|'])} {self.value()}"

    def condition(self):
        r = self.rng
        return r.choice([f'(({self.expression()}) & {r.choice([1, 2, 3, 4, 7])}) {r.choice(["==", "!="])} {r.randint(0, 2)}',
                         f'({self.expression()}) % {r.randint(2, 9)}u < {r.randint(1, 5)}u', f't < {r.randint(1, 250)}u', 'n > 3u'])

    def line(self, depth, text):
        self.lines.append('    ' * depth + text)

    def statement(self, depth, loops):
        r = self.rng
        self.budget -= 1
        kind = r.random()
        if depth > 5 or kind < 0.35 or self.budget < 0:
            self.line(depth, f'{r.choice("abc")} {r.choice(["=", "+=", "^=", "="])} {self.expression()};')
        elif kind < 0.6:
            self.line(depth, f'if ({self.condition()}) {{')
            self.block(depth + 1, loops)
            if r.random() < 0.5:
                self.line(depth, '} else {')
                self.block(depth + 1, loops)
            self.line(depth, '}')
        elif kind < 0.78:
            k = f'k{self.counters}'
            self.counters += 1
            limit = r.choice([str(r.randint(1, 6)), f'(({self.value()}) & 7u)', 'n'])
            self.line(depth, f'for (uint {k} = 0; {k} < {limit} && {k} < 9u; {k}++) {{')
            self.line(depth + 1, f'a += {k};')
            self.block(depth + 1, True)
            self.line(depth, '}')
        elif kind < 0.84 and loops:
            self.line(depth, f'if ({self.condition()}) {r.choice(["break", "continue"])};')
        elif kind < 0.87 and self.may_return:
            self.line(depth, f'if (({self.expression()}) % 11u == 3u) {{ out[i] = a ^ b; return; }}')
        elif kind < 0.93:
            self.line(depth, f'atomic_add(&sums[{self.value()} & 15u], {self.value()});')
        else:
            self.line(depth, f'out[i] += {self.expression()};')

    def block(self, depth, loops):
        for _ in range(self.rng.randint(1, 4)):
            self.statement(depth, loops)

    def text(self, name):
        r = self.rng
        barriers = r.random() < 0.5
        self.may_return = not barriers and r.random() < 0.6
        self.shared_read = False
        self.line(0, f'kernel void {name}(global uint *out, global uint *sums, uint n)\n{{')
        self.line(1, 'local uint s[64];\n    uint t = get_local_id(0), i = get_global_id(0), a = t * 40503u, b = i ^ (t >> 3), c = 1;')
        for _ in range(r.randint(1, 3)):
            if barriers:
                self.line(1, 'if (t < 64u) s[t] = a + b;\n    barrier(CLK_LOCAL_MEM_FENCE);')
                self.shared_read = True
            self.block(1, False)
            if barriers:
                self.line(1, 'barrier(CLK_LOCAL_MEM_FENCE);')
            self.shared_read = False
        self.line(1, 'out[i] += a * 3u + b * 5u + c;\n}')
        return '\n'.join(self.lines) + '\n'


def run(heddle, code, name, machine, settings, shape, folder):
    blocks, threads, n = shape
    out, sums, stats = (os.path.join(folder, x) for x in ('out.bin', 'sums.bin', 'stats.json'))
    words = [heddle, 'run', code, '--kernel', name, '--grid', str(blocks), '--block', str(threads), '--arg', f'out:{out}:{4 * blocks * threads}',
             '--arg', f'out:{sums}:64', '--arg', f'u32:{n}', '--machine', machine, '--quiet', '--stats', stats]
    for word in settings.split():
        words += ['--set', word]
    if settings:
        words += ['--set', settings.split('.')[0] + '.on=true']
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode:
        return ('failed', done.stderr), 0
    totals = json.load(open(stats))['totals']
    formed = sum(v for k, v in totals.items() if k in ('tbc.formed', 'lwm.formed'))
    return (open(out, 'rb').read(), open(sums, 'rb').read(), totals['issue.threads']), formed


def main():
    heddle, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    compiler = ['clang-14', '-x', 'cl', '-cl-std=CL1.2', '-target', 'amdgcn-amd-amdhsa', '-mcpu=tahiti', '-Xclang', '-finclude-default-header',
                '-O2', '-nogpulib', '-Wno-linker-warnings', '-Xclang', '-mlink-builtin-bitcode', '-Xclang', '/usr/lib/clc/amdgcn--amdhsa.bc']
    formed = runs = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            source, code = os.path.join(folder, 'k.cl'), os.path.join(folder, 'k.so')
            text = '\n'.join(Program(rng).text(f'k{i}') for i in range(KERNELS))
            open(source, 'w').write(text)
            subprocess.run(compiler + [source, '-o', code], check=True, capture_output=True)
            for i in range(KERNELS):
                shape = (rng.randint(1, 3), rng.choice([128, 192, 256, 250, 100]), rng.randint(0, 9))
                for machine, sets in SETS.items():
                    expected, _ = run(heddle, code, f'k{i}', machine, '', shape, folder)
                    for settings in sets:
                        found, more = run(heddle, code, f'k{i}', machine, settings, shape, folder)
                        formed += more
                        runs += 1
                        if found != expected:
                            print(text)
                            sys.exit(f'seed {seed}, kernel k{i}, shape {shape}, {machine} {settings}: differs\n'
                                     f'{found[1] if found[0] == "failed" else ""}')
    print(f'{runs} runs, {formed} warps formed')
    if not formed:
        sys.exit('no warp was ever formed')


main()
