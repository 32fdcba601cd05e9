"""Microbenchmarks to compare with GPGPU-Sim, whose numbers are still to be recorded; no command runs them yet.

Each instruction is measured in loops whose bodies have it 8 and 24 times, with 2 and 6 turns each. What
the 64 instructions between cost beyond the loop itself is the difference of two differences: launch
and loop cancel out. A launch before each pair fills the instruction cache. One warp gives the latency of a chain of dependent
instructions, or the interval of those that depend on nothing; 32 warps of one block, the throughput of a core.
"""
TURNS, LENGTHS = (2, 6), (8, 24)
WARPS = (1, 32)

# Registers: %x, %y integers; %f, %g floats; %d a double; %c a predicate that every other lane has. Addresses:
# %p the buffer, %q the thread's own element in it, %w a line of its own; %s its word in shared memory,
# %z one word there for all; %l a local word; %m a constant.
INSTRUCTIONS = {
    "int add": "add.u32 %x, %x, %y;",
    "int logic": "xor.b32 %x, %x, %y;",
    "int multiply": "mul.lo.u32 %x, %x, %y;",
    "int mad": "mad.lo.u32 %x, %x, %y, %y;",
    "int maximum": "max.u32 %x, %x, %y;",
    "int division": "div.u32 %x, %x, %y;",
    "float add": "add.f32 %f, %f, %g;",
    "float multiply": "mul.f32 %f, %f, %g;",
    "float fma": "fma.rn.f32 %f, %f, %g, %g;",
    "float maximum": "max.f32 %f, %f, %g;",
    "float division": "div.rn.f32 %f, %f, %g;",
    "float sine": "sin.approx.f32 %f, %f;",
    "float sqrt": "sqrt.approx.f32 %f, %f;",
    "double add": "add.f64 %d, %d, %d;",
    "double fma": "fma.rn.f64 %d, %d, %d, %d;",
    "convert": "cvt.rn.f32.u32 %f, %x; cvt.rzi.u32.f32 %x, %f;",
    "predicate": "setp.eq.u32 %c, %x, %y; @%c add.u32 %x, %x, 1;",
    "branch": "bra NEXT; NEXT:",
    "divergence": "@%c bra NEXT; xor.b32 %x, %x, %y; NEXT:",
    "barrier": "bar.sync 0;",
    "shared load": "ld.shared.u32 %s, [%s];",
    "shared store": "st.shared.u32 [%s], %x;",
    "shared atomic": "atom.shared.add.u32 %x, [%s], 1;",
    "shared atomic, one word": "atom.shared.add.u32 %x, [%z], 1;",
    "constant load": "ld.const.u32 %x, [%m];",
    "parameter load": "ld.param.u32 %x, [unused];",
    "local load": "ld.local.u32 %x, [%l];",
    "local store": "st.local.u32 [%l], %x;",
    "global load, L1": "ld.global.u64 %q, [%q];",
    "global load, L2": "ld.global.cg.u64 %q, [%q];",
    "global load, 32 lines": "ld.global.cg.u32 %x, [%w];",
    "global store": "st.global.u32 [%q], %x;",
    "global store, 32 lines": "st.global.u32 [%w], %x;",
    "global atomic": "atom.global.add.u32 %x, [%q], 0;",
    "global atomic, one word": "atom.global.add.u32 %x, [%p], 0;",
}

HEAD = """.version 6.0
.target sm_60
.address_size 64
.const .align 4 .u32 zero[4] = {0, 0, 0, 0};
"""

KERNEL = """.visible .entry %s(.param .u64 buffer, .param .u32 turns, .param .u32 unused)
{
    .shared .align 4 .b8 words[4096];
    .local .align 4 .b8 mine[16];
    .reg .b32 %%x, %%y, %%s, %%z, %%t, %%n;
    .reg .b64 %%p, %%q, %%w, %%o, %%l, %%m;
    .reg .f32 %%f, %%g;
    .reg .f64 %%d;
    .reg .pred %%c, %%e;
    ld.param.u64 %%p, [buffer];
    ld.param.u32 %%n, [turns];
    cvta.to.global.u64 %%p, %%p;
    mov.u32 %%t, %%tid.x;
    mul.wide.u32 %%o, %%t, 8;
    add.u64 %%q, %%p, %%o;
    st.global.u64 [%%q], %%q;
    mul.wide.u32 %%o, %%t, 128;
    add.u64 %%w, %%p, %%o;
    mov.u32 %%z, words;
    shl.b32 %%s, %%t, 2;
    add.u32 %%s, %%s, %%z;
    st.shared.u32 [%%s], %%s;
    mov.u64 %%l, mine;
    mov.u64 %%m, zero;
    mov.u32 %%y, 1;
    mov.u32 %%x, 0;
    st.local.u32 [%%l], %%x;
    mov.f32 %%f, 0f3f800000;
    mov.f32 %%g, 0f3f800000;
    mov.f64 %%d, 0d3ff0000000000000;
    and.b32 %%x, %%t, 1;
    setp.eq.u32 %%c, %%x, 0;
    mov.u32 %%x, 0;
    bar.sync 0;
LOOP_%s:
%s    add.u32 %%n, %%n, -1;
    setp.ne.u32 %%e, %%n, 0;
    @%%e bra LOOP_%s;
    ret;
}
"""


def kernel_name(index, length):
    return f"k{index}_{length}"


def body(text, length, name):
    return "".join("    " + text.replace("NEXT", f"L{k}_{name}") + "\n" for k in range(length))


def source():
    """The PTX module with a short and a long kernel for each instruction."""
    parts = [HEAD]
    for index, text in enumerate(INSTRUCTIONS.values()):
        for length in LENGTHS:
            name = kernel_name(index, length)
            parts.append(KERNEL % (name, name, body(text, length, name), name))
    return "".join(parts)


def launches():
    """All launches of the module, in order, as (kernel, threads, turns)."""
    return [(kernel_name(index, length), 32 * warps, turns) for index in range(len(INSTRUCTIONS))
            for warps in WARPS for length in LENGTHS for turns in TURNS[:1] + TURNS]


def costs(cycles):
    """Cycles for one instruction of each warp, by (instruction, warps), from those of all launches."""
    cases = [(name, warps) for name in INSTRUCTIONS for warps in WARPS]
    more = (TURNS[1] - TURNS[0]) * (LENGTHS[1] - LENGTHS[0])
    return {case: ((c[5] - c[4]) - (c[2] - c[1])) / more
            for case, c in zip(cases, zip(*[iter(cycles)] * 6))}
