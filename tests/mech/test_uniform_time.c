/*
 * Uniform vector instructions on small programs: what time, the reuse buffer, the scalar register
 * file and copies do, against closed forms; and that values really are where they are said to be.
 */
#include "micro/rig.h"

#include "gpu/device.h"
#include "mech/uniform.h"
#include "scribble.h"

extern const struct mechanism uniform_mechanism;
static const struct mechanism *const available[] = {&uniform_mechanism, &scribble_mechanism, NULL};

enum {
    STAGES = 4, /* issue to entering the unit */
    UNIT_REGISTERS = 2,
    WARP = 32
};

#define ONE "gpu.cores=1 uniform.on=true "
#define KERNEL                                                                           \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b, %c, %d<64>;"       \
         " .reg .b32 %t, %i, %r<300>; .reg .pred %q<8>; .shared .align 4 .b8 s[4096];\n" \
         " ld.param.u64 %p, [p]; mov.u32 %t, %tid.x; mov.u32 %i, %ctaid.x;\n"
/* %r0 of each thread goes to its place. */
#define STORE                                                                                \
    " mov.u32 %r299, %ntid.x; mad.lo.u32 %r298, %i, %r299, %t; mul.wide.u32 %a, %r298, 4;\n" \
    " add.u64 %a, %a, %p; st.global.u32 [%a], %r0;\n ret;\n}\n"

static const char *const designs[] = {
    "uniform.mode=intra",
    "uniform.mode=inter",
    "uniform.mode=combined",
    "uniform.mode=observe",
    "uniform.mode=intra uniform.design=srf",
    "uniform.mode=inter uniform.design=srf",
    "uniform.design=srf",
    "uniform.design=srf uniform.srf_entries=16",
    "uniform.irb_wide=true uniform.irb_entries=2",
    "uniform.protect=true uniform.parity=true",
    "uniform.protect=true uniform.design=srf",
    "uniform.mode=inter uniform.irb_issue=true",
    "uniform.irb_issue=true uniform.irb_wide=true",
    "uniform.irb_issue=true uniform.design=srf uniform.protect=true uniform.parity=true",
};

static const char *lanes_file; /* si/lanes.so */

static struct rig *open_rig(const char *settings, const char *ptx)
{
    return rig_open_with(available, "gtx285", settings, ptx);
}

static const struct uniform_core *state_of(const struct rig *rig)
{
    return timing_core(rig->device->timing, 0)->hooks.uses[1].state; /* behind the log's */
}

/* Runs it and gives what the threads stored. */
static u32 *run(struct rig *rig, u32 blocks, u32 threads)
{
    const u64 bytes = (u64)blocks * threads * sizeof(u32);
    struct hd_error error;
    const hd_address at = rig_memory(rig, bytes + 4096);
    u32 *words = calloc(bytes, 1);
    rig_run(rig, blocks, threads, at);
    if (!hd_read(rig->device, words, at, bytes, &error))
        fail_msg("%s", error.message);
    return words;
}

typedef u32 expected_fn(u32 block, u32 thread);

/* The same under every design; the last run's counters are left to `check`. */
static void same_everywhere(const char *ptx, u32 blocks, u32 threads, expected_fn *expected)
{
    for (u32 d = 0; d < ARRAY_LEN(designs); d++) {
        char settings[256];
        snprintf(settings, sizeof settings, ONE "%s", designs[d]);
        struct rig *rig = open_rig(settings, ptx);
        u32 *words = run(rig, blocks, threads);
        for (u32 i = 0; i < blocks * threads; i++)
            if (words[i] != expected(i / threads, i % threads))
                fail_msg("%s: thread %u of block %u has %u, not %u", designs[d], i % threads,
                         i / threads, words[i], expected(i / threads, i % threads));
        free(words);
        rig_close(rig);
    }
}

/* ---- time ---- */

/* Independent instructions of many warps: one issues in every cycle, where units take `lanes`. */
static void issues_one_a_cycle(void **state)
{
    enum {
        LENGTH = 24,
        WARPS = 16 /* so many that none waits for its own results */
    };
    struct text text = {0};
    add(&text, "%s", KERNEL);
    for (u32 i = 0; i < LENGTH; i++)
        add(&text, " add.u32 %%r%u, 1, %u;\n", 10 + i, i);
    add(&text, " ret;\n}\n");
    for (u32 on = 0; on < 2; on++) {
        struct rig *rig = open_rig(on ? ONE "uniform.mode=intra units.result_buses=16"
                                      : "gpu.cores=1 units.result_buses=16",
                                   text.data);
        rig_run(rig, 1, WARPS * WARP, rig_memory(rig, 4));
        const u64 passes = on ? 1 : WARP / param(rig, "units.sp_lanes");
        u32 seen = 0;
        u64 last = 0;
        for (u32 i = 0; i < rig->issued.count; i++) {
            const struct move *m = &rig->issued.data[i];
            if (m->inst < 3 + LENGTH / 3 || m->inst >= 3 + LENGTH * 2 / 3)
                continue; /* the pipeline fills, warps end */
            if (seen++ > 2 * WARPS)
                assert_int_equal(m->cycle - last, passes);
            last = m->cycle;
        }
        assert_int_equal(seen, WARPS * LENGTH / 3);
        rig_close(rig);
    }
    free(text.data);
}

/* A chain of dependent instructions: a converted one has the latency it always has, one that the
 * reuse buffer knows has 1. */
static void latency_stays_and_reuse_has_one(void **state)
{
    enum {
        LINKS = 6
    };
    struct text text = {0};
    add(&text, "%s mov.u32 %%r2, 5;\n", KERNEL);
    for (u32 i = 0; i < LINKS; i++)
        add(&text, " add.u32 %%r2, %%r2, 1;\n");
    add(&text, " ret;\n}\n");
    static const char *const modes[] = {"uniform.mode=intra", "uniform.mode=combined"};
    for (u32 m = 0; m < 2; m++) { /* none is known yet */
        char settings[200];
        snprintf(settings, sizeof settings, ONE "collect.banks=64 units.result_buses=16 %s",
                 modes[m]);
        struct rig *rig = open_rig(settings, text.data);
        rig_run(rig, 1, WARP, rig_memory(rig, 4));
        const u64 passes = WARP / param(rig, "units.sp_lanes");
        const u64 latency =
            param(rig, "units.int_add") + param(rig, "units.int_add_interval") * (passes - 1);
        for (u32 i = 4; i + 1 < 4 + LINKS; i++)
            assert_int_equal(issued_at(rig, 0, 0, i + 1) - issued_at(rig, 0, 0, i),
                             STAGES + latency + UNIT_REGISTERS);
        assert_int_equal(stat(rig, "uniform.converted"), LINKS + 2);
        rig_close(rig);
    }
    free(text.data);
    text = (struct text){0};
    /* known: the same warp runs the chain twice */
    add(&text, "%s", KERNEL);
    add(&text, " mov.u32 %%r4, 0;\nagain: mov.u32 %%r2, 5;\n");
    for (u32 i = 0; i < LINKS; i++)
        add(&text, " add.u32 %%r2, %%r2, 1;\n");
    add(&text, " add.u32 %%r4, %%r4, 1; setp.lt.u32 %%q1, %%r4, 2; @%%q1 bra again;\n ret;\n}\n");
    struct rig *rig = open_rig(ONE "collect.banks=64 uniform.irb_entries=16", text.data);
    rig_run(rig, 1, WARP, rig_memory(rig, 4));
    const u32 turn = 3 + 1 + 1 + LINKS + 3; /* the first instruction of the second turn */
    for (u32 i = 1; i + 1 < LINKS; i++)
        assert_int_equal(issued_at(rig, 0, 0, turn + 1 + i + 1) -
                             issued_at(rig, 0, 0, turn + 1 + i),
                         STAGES + 1 + UNIT_REGISTERS);
    assert_int_equal(stat(rig, "uniform.irb_hits"), LINKS + 1);
    assert_int_equal(stat(rig, "uniform.irb_own_hits"), LINKS + 1);
    rig_close(rig);
    free(text.data);
}

/* What the reuse buffer knows goes no further than issue, a turn each: the next instruction, which
 * needs its result, follows in the next cycle. */
static void known_ones_stay_at_issue(void **state)
{
    enum {
        LINKS = 6
    };
    struct text text = {0};
    add(&text, "%s", KERNEL);
    add(&text, " mov.u32 %%r4, 0;\nagain: mov.u32 %%r2, 5;\n");
    for (u32 i = 0; i < LINKS; i++)
        add(&text, " add.u32 %%r2, %%r2, 1;\n");
    add(&text,
        " mov.u32 %%r3, %%tid.x; add.u32 %%r4, %%r4, 1; setp.lt.u32 %%q1, %%r4, 2; @%%q1 bra "
        "again;\n ret;\n}\n");
    u64 instructions[2];
    for (u32 on = 0; on < 2; on++) {
        struct rig *rig =
            open_rig(on ? ONE "uniform.irb_issue=true collect.banks=64 uniform.irb_entries=16"
                        : ONE "collect.banks=64 uniform.irb_entries=16",
                     text.data);
        rig_run(rig, 1, WARP, rig_memory(rig, 4));
        instructions[on] = stat(rig, "issue.instructions");
        assert_int_equal(stat(rig, "uniform.irb_hits"), LINKS + 1);
        assert_int_equal(stat(rig, "uniform.irb_removed"), on ? LINKS + 1 : 0);
        assert_int_equal(stat(rig, "uniform.instructions"), instructions[0]);
        if (on) { /* the branch, then those that are removed, then what reads the thread's number */
            const u32 branch = 3 + 1 + 1 + LINKS + 3;
            const u64 gone = issued_at(rig, 0, 0, branch + 1) - issued_at(rig, 0, 0, branch);
            const u64 refetch = 3 + param(rig, "fetch.decode_cycles"); /* after the branch */
            assert_in_range(gone, LINKS + 1, LINKS + 1 + refetch);
        }
        rig_close(rig);
    }
    assert_int_equal(instructions[1], instructions[0] - (LINKS + 1));
    free(text.data);
}

/* One more stage between fetch and issue delays the first instruction by a cycle. */
static void renaming_takes_a_stage(void **state)
{
    u64 first[2];
    for (u32 stage = 0; stage < 2; stage++) {
        struct rig *rig = open_rig(stage ? ONE "uniform.rename_stage=true" : ONE, KERNEL STORE);
        rig_run(rig, 1, WARP, rig_memory(rig, 4096));
        first[stage] = issued_at(rig, 0, 0, 0);
        rig_close(rig);
    }
    assert_int_equal(first[1], first[0] + 1);
}

/* ---- copies before partial writes ---- */

/* r1, r2 and the pair d2 are uniform; odd threads change them: by a guard, and behind a branch. */
static const char divergent[] =
    KERNEL " mov.u32 %r1, 100; mov.u32 %r2, 7; mov.u64 %d2, 5; and.b32 %r3, %t, 1;"
           " setp.ne.u32 %q1, %r3, 0;\n"
           " @%q1 add.u32 %r1, %r1, 2;\n" /* a source */
           " @%q1 mov.u32 %r2, %t;\n"     /* not one */
           " @!%q1 bra over;\n"
           " add.u64 %d2, %d2, 1;\n" /* a pair that is a source */
           "over: cvt.u32.u64 %r4, %d2; shl.b32 %r4, %r4, 16; add.u32 %r0, %r1, %r2;"
           " add.u32 %r0, %r0, %r4;\n" STORE;

static u32 divergent_value(u32 block, u32 t)
{
    return t & 1 ? 102 + t + (6u << 16) : 107 + (5u << 16);
}

static void copies_come_before_partial_writes(void **state)
{
    same_everywhere(divergent, 3, 2 * WARP, divergent_value);
    static const char *const real[] = {"uniform.design=token", "uniform.design=srf"};
    for (u32 d = 0; d < 2; d++) {
        char settings[100];
        snprintf(settings, sizeof settings, ONE "%s", real[d]);
        struct rig *rig = open_rig(settings, divergent);
        rig_run(rig, 1, 2 * WARP, rig_memory(rig, 4096));
        assert_int_equal(stat(rig, "uniform.copies_source"), 2 * 3); /* r1 and both of d2 */
        assert_int_equal(stat(rig, "uniform.copies_other"), 2);
        rig_close(rig);
    }
    /* counted as they are, they cost turns of the scheduler */
    struct rig *none = open_rig(ONE "uniform.mode=observe", divergent);
    rig_run(none, 1, 2 * WARP, rig_memory(none, 4096));
    assert_int_equal(stat(none, "uniform.copies_source") + stat(none, "uniform.copies_other"), 0);
    rig_close(none);
}

/* A guard that is true for all lanes is no divergence; one that is true for none writes nothing. */
static u32 guarded_value(u32 block, u32 t)
{
    return 13 + (t == 3 ? 1 : 0);
}

static void guards_count_by_their_lanes(void **state)
{
    static const char ptx[] =
        KERNEL " setp.lt.u32 %q1, %t, 10000; setp.gt.u32 %q2, %t, 10000; setp.eq.u32 %q3, %t, 3;\n"
               " mov.u32 %r0, 1;\n"
               " @%q1 add.u32 %r0, %r0, 12;\n"
               " @%q2 mov.u32 %r0, %t;\n"
               " @%q3 add.u32 %r0, %r0, 1;\n" STORE;
    same_everywhere(ptx, 2, 3 * WARP, guarded_value);
    struct rig *rig = open_rig(ONE, ptx);
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    assert_int_equal(stat(rig, "uniform.copies_source"), 1); /* only where lane 3 is alone */
    assert_int_equal(stat(rig, "uniform.copies_other"), 0);
    rig_close(rig);
}

/* A warp without all its lanes is never uniform. */
static u32 constant_value(u32 block, u32 t)
{
    return 42;
}

static void partial_warps_are_not_uniform(void **state)
{
    static const char ptx[] = KERNEL " mov.u32 %r1, 40; add.u32 %r0, %r1, 2;\n" STORE;
    same_everywhere(ptx, 2, WARP + 8, constant_value);
    struct rig *rig = open_rig(ONE, ptx);
    rig_run(rig, 1, WARP + 8, rig_memory(rig, 4096));
    const u64 more = stat(rig, "uniform.uniform"), loads = stat(rig, "uniform.broadcast_loads");
    rig_run(rig, 1, WARP, rig_memory(rig, 4096));
    assert_int_equal(stat(rig, "uniform.uniform"), more);
    assert_int_equal(stat(rig, "uniform.broadcast_loads"), loads);
    assert_int_equal(loads, 1); /* the parameter */
    rig_close(rig);
}

/* ---- loads ---- */

static u32 load_value(u32 block, u32 t)
{
    return 3 * 11 + (t < 16 ? 11 : 0);
}

static void loads_of_one_address_are_uniform(void **state)
{
    static const char ptx[] =
        KERNEL " mov.u32 %r1, s; mov.u32 %r2, 11; st.shared.u32 [%r1], %r2; st.global.u32 "
               "[%p+4000], %r2;\n"
               " bar.sync 0;\n"
               " ld.shared.u32 %r3, [%r1]; ld.global.u32 %r4, [%p+4000];\n"
               " and.b32 %r5, %t, 1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r1;\n"
               " st.shared.u32 [%r5+8], %r2; bar.sync 0;\n"
               " ld.shared.u32 %r6, [%r5+8];\n" /* two addresses */
               " and.b32 %r9, %t, 31; setp.lt.u32 %q1, %r9, 16; mov.u32 %r7, 0;\n"
               " @%q1 ld.shared.u32 %r7, [%r1];\n" /* half of the lanes */
               " add.u32 %r0, %r3, %r4; add.u32 %r0, %r0, %r6; add.u32 %r0, %r0, %r7;\n" STORE;
    same_everywhere(ptx, 1, WARP, load_value);
    struct rig *rig = open_rig(ONE, ptx);
    rig_run(rig, 1, WARP, rig_memory(rig, 8192));
    assert_int_equal(stat(rig, "uniform.broadcast_loads"), 3); /* the parameter and two */
    rig_close(rig);
    rig = open_rig(ONE "uniform.params_uniform=false", ptx);
    rig_run(rig, 1, WARP, rig_memory(rig, 8192));
    assert_int_equal(stat(rig, "uniform.broadcast_loads"), 2);
    rig_close(rig);
}

/* ---- whatever reads registers ---- */

static u32 reader_value(u32 block, u32 t)
{
    return 9 + 9 + 32 + 9 + block + 1;
}

/* Shuffles, votes, barriers with a register, indirect branches, atomics, stores and addresses. */
static void everything_reads_through_the_view(void **state)
{
    static const char ptx[] = KERNEL
        " mov.u32 %r1, 9; mov.u32 %r2, 0; mov.u32 %r3, 31; mov.u32 %r4, -1; mov.u32 %r5, 2;\n"
        " shfl.sync.idx.b32 %r6, %r1, %r5, %r3, %r4;\n"
        " shfl.sync.down.b32 %r7, %r1, 4, 31, -1;\n"
        " setp.eq.u32 %q1, %r1, 9; vote.sync.ballot.b32 %r8, %q1, -1; popc.b32 %r8, %r8;\n"
        " bar.sync %r5;\n"
        " mov.u32 %r9, s; st.shared.u32 [%r9], %r1; bar.sync 0; ld.shared.u32 %r10, [%r9];\n"
        " mov.u32 %r11, 1; brx.idx %r11, ts;\n"
        "ts: .branchtargets one, two;\n"
        "one: mov.u32 %r10, 1000;\n"
        "two: add.u32 %r0, %r6, %r7; add.u32 %r0, %r0, %r8; add.u32 %r0, %r0, %r10;\n"
        " add.u32 %r12, %i, 1; add.u32 %r0, %r0, %r12;\n" STORE;
    same_everywhere(ptx, 3, 2 * WARP, reader_value);
}

/* Lanes that come to a shuffle one after another, with uniform registers as value and result. */
static u32 meeting_value(u32 block, u32 t)
{
    return t & 1 ? 70 : 75;
}

static void lanes_that_wait_find_their_registers(void **state)
{
    static const char ptx[] = KERNEL " mov.u32 %r1, 35; mov.u32 %r4, 40; mov.u32 %r2, 1; and.b32 "
                                     "%r3, %t, 1; setp.ne.u32 %q1, %r3, 0;\n"
                                     " @%q1 bra odd;\n"
                                     " shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"
                                     " bra.uni done;\n"
                                     "odd: shfl.sync.bfly.b32 %r2, %r4, 1, 31, -1;\n"
                                     "done: add.u32 %r0, %r2, 35;\n" STORE;
    same_everywhere(ptx, 2, 2 * WARP, meeting_value);
}

/* ---- values are where they are said to be ---- */

#define VALUES                                                                                    \
    KERNEL " mov.u32 %r1, 5; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r1, %r2, 3; mov.u32 %r5, 0;" \
           " mov.u32 %r6, 0;\n"                                                                   \
           "again: add.u32 %r5, %r5, %r3; add.u32 %r6, %r6, 1; setp.lt.u32 %q1, %r6, 10;"         \
           " @%q1 bra again;\n add.u32 %r0, %r5, %t;\n" STORE

static u32 *values_with(const char *settings, u64 *scribbles, u64 *stale, u64 *mismatches)
{
    char all[400];
    /* addresses stay right; all warps loop while the reuse buffer is scribbled on, and follow each
     * other closely enough to find what was scribbled: hence the units, whatever the machine's */
    snprintf(all, sizeof all,
             ONE "issue.interval=1 fetch.decode_cycles=1 collect.banks=16 units.int_simple=1 "
                 "units.int_add=4 units.int_mad=5 units.int_mul_unit=integer "
                 "units.int_mad_interval=1 uniform.params_uniform=false %s",
             settings);
    struct rig *rig = open_rig(all, VALUES);
    u32 *words = run(rig, 4, 2 * WARP);
    const bool on = param(rig, "scribble.on");
    *scribbles = on ? stat(rig, "scribble.scribbles") : 0;
    *stale = on ? stat(rig, "scribble.stale") : 0;
    *mismatches = stat(rig, "uniform.protect_mismatches");
    rig_close(rig);
    return words;
}

static void values_are_where_they_are_said_to_be(void **state)
{
    static const struct {
        const char *settings;
        bool right, differ; /* results; copies */
    } cases[] = {
        {"uniform.mode=intra scribble.on=true scribble.where=others", true, false},
        {"uniform.design=srf scribble.on=true scribble.where=others", true, false},
        {"uniform.protect=true scribble.on=true scribble.where=others", true, false},
        {"uniform.mode=intra scribble.on=true scribble.where=lane", false, false},
        {"uniform.mode=inter scribble.on=true scribble.where=lane", false, false},
        {"uniform.design=srf scribble.on=true scribble.where=lane", true, false},
        {"uniform.design=srf scribble.on=true scribble.where=srf", false, false},
        {"scribble.on=true scribble.where=irb", false, false},
        {"uniform.parity=true scribble.on=true scribble.where=irb", true, false},
        {"uniform.protect=true uniform.parity=true scribble.on=true scribble.where=lane", true,
         true},
        {"uniform.protect=true scribble.on=true scribble.where=lane", false, true},
        {"uniform.protect=true uniform.parity=true uniform.design=srf scribble.on=true "
         "scribble.where=srf",
         true, true},
    };
    u64 scribbles, stale, mismatches;
    u32 *right = values_with("", &scribbles, &stale, &mismatches);
    for (u32 i = 0; i < 4 * 2 * WARP; i++)
        assert_int_equal(right[i], 10 * (5 * (i / (2 * WARP)) + 3) + i % (2 * WARP));
    for (u32 c = 0; c < ARRAY_LEN(cases); c++) {
        u32 *words = values_with(cases[c].settings, &scribbles, &stale, &mismatches);
        if ((memcmp(words, right, 4 * 2 * WARP * sizeof *words) == 0) != cases[c].right)
            fail_msg("%s: values are %s", cases[c].settings, cases[c].right ? "wrong" : "right");
        if ((mismatches > 0) != cases[c].differ)
            fail_msg("%s: %u copies differ", cases[c].settings, (u32)mismatches);
        assert_true(scribbles > 10);
        if (strstr(cases[c].settings, "others"))
            assert_true(stale > 10); /* not written */
        free(words);
    }
    free(right);
}

/* The lane is among those that the units take last. */
static void the_lane_is_of_the_last_pass(void **state)
{
    static const struct {
        const char *machine;
        u32 lanes, lane;
    } machines[] = {{"gtx285", 8, 24}, {"gtx285-w16", 16, 16}, {"gtx480", 32, 0}};
    for (u32 i = 0; i < ARRAY_LEN(machines); i++) {
        struct rig *rig = rig_open_with(available, machines[i].machine, ONE, VALUES);
        free(run(rig, 1, WARP));
        assert_int_equal(param(rig, "units.sp_lanes"), machines[i].lanes);
        assert_int_equal(state_of(rig)->lane, machines[i].lane);
        rig_close(rig);
    }
}

/* Twice the same: the same statistics, byte for byte. */
static void it_is_reproducible(void **state)
{
    for (u32 d = 0; d < ARRAY_LEN(designs); d++) {
        char settings[256], *text[2];
        snprintf(settings, sizeof settings, "uniform.on=true %s", designs[d]);
        for (u32 i = 0; i < 2; i++) {
            struct rig *rig = open_rig(settings, divergent);
            free(run(rig, 40, 2 * WARP));
            const json_t *launch = json_array_get(json_object_get(rig->stats, "launches"), 0);
            text[i] = json_dumps(json_object_get(launch, "stats"), JSON_SORT_KEYS);
            rig_close(rig);
        }
        assert_string_equal(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
}

/* Watching changes nothing: all other statistics are those of a run without. */
static void observing_changes_nothing(void **state)
{
    char *text[2];
    for (u32 on = 0; on < 2; on++) {
        struct rig *rig = open_rig(on ? "uniform.on=true uniform.mode=observe" : "", divergent);
        free(run(rig, 40, 2 * WARP));
        const json_t *launch = json_array_get(json_object_get(rig->stats, "launches"), 0);
        json_t *stats = json_copy(json_object_get(launch, "stats"));
        const char *key;
        json_t *value;
        void *next;
        u32 own = 0;
        json_object_foreach_safe(stats, next, key, value)
        {
            const bool mine = !strncmp(key, "uniform.", 8);
            own += mine;
            if (mine || (!strncmp(key, "energy.parts.", 13) && json_number_value(value) == 0))
                json_object_del(stats, key);
        }
        assert_true(on ? own > 20 : own == 0);
        text[on] = json_dumps(stats, JSON_SORT_KEYS);
        json_decref(stats);
        rig_close(rig);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

/* ---- the reuse buffer ---- */

static struct irb_key key_of(const struct inst *code, u32 tag, u64 value)
{
    return (struct irb_key){.code = code, .tag = tag, .source = {value}};
}

static void reuse_buffer_keeps_the_last_used(void **state)
{
    const struct inst add = {.op = OP_add_b32}, sub = {.op = OP_sub_b32};
    struct irb irb = {.count = 2};
    const struct irb_entry *found;
    struct irb_key a = key_of(&add, 1, 10), b = key_of(&add, 2, 20), c = key_of(&add, 3, 30);
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_MISS);
    irb_store(&irb, &a, 100, 0, 0);
    irb_store(&irb, &b, 200, 0, 0);
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_HIT);
    assert_int_equal(found->result, 100);
    irb_store(&irb, &c, 300, 0, 0); /* in place of b */
    assert_int_equal(irb_probe(&irb, &b, true, &found), IRB_MISS);
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_HIT);
    assert_int_equal(irb_probe(&irb, &c, true, &found), IRB_HIT);
    /* other values of a tag, or another operation: that entry is written, no other */
    a.source[0] = 11;
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_MISMATCH);
    irb_store(&irb, &a, 110, 0, 0);
    assert_int_equal(irb_probe(&irb, &c, true, &found), IRB_HIT);
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_HIT);
    assert_int_equal(found->result, 110);
    a.code = &sub;
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_MISMATCH);
    /* a bit has flipped */
    a.code = &add;
    irb.entries[0].result ^= 8;
    assert_int_equal(irb_probe(&irb, &a, true, &found), IRB_ERROR);
    assert_int_equal(irb_probe(&irb, &a, false, &found), IRB_HIT);
}

/* A warp goes around a loop of `length` instructions on the same values. */
static void reuse_buffer_holds_as_many_as_it_says(void **state)
{
    enum {
        TURNS = 5
    };
    for (u32 entries = 2; entries <= 16; entries *= 2)
        for (u32 length = entries - 1; length <= entries + 1; length++) {
            struct text text = {0};
            char settings[100];
            add(&text, "%s mov.u32 %%r2, 0;\nagain:\n", KERNEL);
            for (u32 i = 0; i < length; i++)
                add(&text, " mov.u32 %%r%u, %u;\n", 10 + i, i);
            /* the counter is not uniform: it has a lane's number in it */
            add(&text,
                " add.u32 %%r2, %%r2, %%t; sub.u32 %%r2, %%r2, %%t; add.u32 %%r2, %%r2, 1;\n"
                " setp.lt.u32 %%q1, %%r2, %u; @%%q1 bra again;\n ret;\n}\n",
                TURNS);
            snprintf(settings, sizeof settings, ONE "uniform.irb_entries=%u", entries);
            struct rig *rig = open_rig(settings, text.data);
            rig_run(rig, 1, WARP, rig_memory(rig, 4));
            /* least recently used: one too many, and none is left when it is wanted */
            assert_int_equal(stat(rig, "uniform.irb_own_hits"),
                             length <= entries ? (TURNS - 1) * length : 0);
            rig_close(rig);
            free(text.data);
        }
}

/* 64-bit operands fit into the wide one only. */
static void pairs_fit_the_wide_buffer(void **state)
{
    static const char ptx[] =
        KERNEL " mov.u64 %d1, 5; add.u64 %d2, %d1, 3; cvt.u32.u64 %r0, %d2;\n" STORE;
    u64 unfit[2], hits[2];
    for (u32 wide = 0; wide < 2; wide++) {
        struct rig *rig = open_rig(wide ? ONE "uniform.irb_wide=true" : ONE, ptx);
        free(run(rig, 4, 8 * WARP));
        unfit[wide] = stat(rig, "uniform.irb_unfit");
        hits[wide] = stat(rig, "uniform.irb_hits");
        rig_close(rig);
    }
    assert_int_equal(unfit[0], 3 * 4 * 8);
    assert_int_equal(unfit[1], 0);
    assert_true(hits[1] > hits[0]);
}

/* ---- the scalar register file ---- */

/* Each warp makes 12 registers uniform and keeps them. */
static void scalar_registers_run_out_and_come_back(void **state)
{
    struct text text = {0};
    add(&text, "%s", KERNEL);
    for (u32 i = 0; i < 12; i++)
        add(&text, " mov.u32 %%r%u, %u;\n", 10 + i, i + 1);
    add(&text, " mov.u32 %%r0, %%t;\n");
    for (u32 i = 0; i < 12; i++)
        add(&text, " add.u32 %%r0, %%r0, %%r%u;\n", 10 + i);
    add(&text, "%s", STORE);
    static const u32 sizes[] = {16, 32, 256};
    for (u32 n = 0; n < ARRAY_LEN(sizes); n++) {
        char settings[160];
        snprintf(settings, sizeof settings,
                 ONE "uniform.design=srf uniform.mode=intra uniform.srf_entries=%u "
                     "uniform.params_uniform=false",
                 sizes[n]);
        struct rig *rig = open_rig(settings, text.data);
        u32 *words = run(rig, 16, 4 * WARP); /* several times what a core holds */
        for (u32 i = 0; i < 16 * 4 * WARP; i++)
            assert_int_equal(words[i], i % (4 * WARP) + 78);
        assert_true(stat(rig, "uniform.srf_peak") <= sizes[n]);
        if (sizes[n] < 256)
            assert_int_equal(stat(rig, "uniform.srf_peak"), sizes[n]);
        assert_true(sizes[n] == 256 || stat(rig, "uniform.srf_full") > 0);
        /* entries not freed when warps exit are missing for later warps */
        assert_true(stat(rig, "uniform.srf_allocations") > 2 * sizes[n] || sizes[n] == 256);
        assert_int_equal(state_of(rig)->srf_free_count, sizes[n]);
        free(words);
        rig_close(rig);
    }
    free(text.data);
}

/* Results that are not written keep no entry, and give none back twice: dropped ones, and those of warps
 * that end before. In the first program the sums are where ctaid is, which has an entry; in the second in
 * registers that have none. */
static void results_that_are_not_written_keep_no_entry(void **state)
{
    static const char *const programs[] = {
        KERNEL " mov.u32 %r1, 7; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;\n"
               " ret;\n}\n",
        KERNEL " mov.u32 %r1, 7; add.u32 %r2, %r1, 1; add.u32 %r3, %r1, 2; add.u32 %r4, %r1, 3;\n"
               " xor.b32 %r5, %r2, %r3; xor.b32 %r5, %r5, %r4; xor.b32 %r5, %r5, %i; xor.b32 %r5, "
               "%r5, %r1;\n"
               " st.global.u32 [%p], %r5; ret;\n}\n"};
    for (u32 i = 0; i < 4; i++) {
        const bool drop = i % 2;
        struct rig *rig =
            open_rig(drop ? ONE "uniform.design=srf uniform.mode=intra scribble.on=true "
                                "scribble.where=none uniform.srf_entries=64"
                          : ONE "uniform.design=srf uniform.mode=intra "
                                "uniform.srf_entries=64",
                     programs[i / 2]);
        rig_run(rig, 2, 4 * WARP, rig_memory(rig, 4));
        if (drop)
            assert_int_equal(stat(rig, "scribble.scribbles"), 2 * 4 * 3);
        assert_int_equal(stat(rig, "uniform.srf_full"), 0);
        assert_int_equal(state_of(rig)->srf_free_count, 64);
        rig_close(rig);
    }
}

/* ---- special registers ---- */

static u32 expected_lane(u32 block, u32 thread)
{
    const u32 lane = thread % WARP;
    return lane + (1u << lane) + (lane < 31 ? (2u << lane) - 1 : ~0u) + block;
}

/* Those that differ between lanes are not uniform. */
static void lanes_differ_in_special_registers(void **state)
{
    static const char ptx[] =
        KERNEL " mov.u32 %r1, %laneid; mov.u32 %r2, %lanemask_eq; mov.u32 %r3, %lanemask_le;\n"
               " add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; add.u32 %r0, %r1, %i;\n" STORE;
    same_everywhere(ptx, 3, 2 * WARP, expected_lane);
}

/* Nor is what Southern Islands code counts from the lane's number. */
static void lanes_differ_in_counts_of_lanes(void **state)
{
    for (u32 d = 0; d < ARRAY_LEN(designs); d++) {
        char settings[256];
        snprintf(settings, sizeof settings, ONE "%s", designs[d]);
        struct rig *rig = rig_open_file_with(available, "tahiti", settings, lanes_file);
        u32 *words = run(rig, 1, 2 * 64);
        for (u32 i = 0; i < 2 * 64; i++)
            if (words[i] != i % 64)
                fail_msg("%s: thread %u has %u", designs[d], i, words[i]);
        assert_true(stat(rig, "uniform.uniform") > 0);
        free(words);
        rig_close(rig);
    }
}

/* ---- counters ---- */

struct count {
    const char *name;
    u64 value;
};

static void check_counts(const char *settings, const char *ptx, u32 blocks,
                         const struct count *counts)
{
    char all[256], name[64];
    snprintf(all, sizeof all, ONE "uniform.params_uniform=false %s", settings);
    struct rig *rig = open_rig(all, ptx);
    free(run(rig, blocks, WARP));
    for (; counts->name; counts++) {
        snprintf(name, sizeof name, "uniform.%s", counts->name);
        if (stat(rig, name) != counts->value)
            fail_msg("%s: %s is %llu, not %llu", settings, name,
                     (unsigned long long)stat(rig, name), (unsigned long long)counts->value);
    }
    rig_close(rig);
}

/* 12 instructions, 9 of which are arithmetic. Uniform are ctaid, r1, r2 and ntid; read by others: r2
 * once, ctaid and ntid in the product. Registers: 2 for p; t, ctaid and r1; 3 + 3 of the additions;
 * ntid; 4 of the product and 3 and 6 for the address; 3 of the store. r1, r2 and ntid are in one register,
 * one after the other; an address takes it, and the product that of ctaid: two uniform registers are
 * overwritten. */
#define SUMS KERNEL " mov.u32 %r1, 40; add.u32 %r2, %r1, %r1; add.u32 %r0, %r2, %t;\n" STORE
#define SUMS_REGISTERS (2 + 3 + 3 + 3 + 1 + 4 + 3 + 6 + 3)

static void every_count_of_a_small_program(void **state)
{
    check_counts("uniform.mode=intra", SUMS, 1,
                 (struct count[]){{"instructions", 12},
                                  {"vector_instructions", 12},
                                  {"uniform", 4},
                                  {"converted", 4},
                                  {"broadcast_loads", 0},
                                  {"irb_probes", 0},
                                  {"tokens_set", 4},
                                  {"tokens_cleared", 2},
                                  {"broadcasts", 3},
                                  {"token_reads", SUMS_REGISTERS},
                                  {"token_writes", 4 + 2},
                                  {"rename_reads", 0},
                                  {"rename_writes", 0},
                                  {"copies_source", 0},
                                  {"copies_other", 0},
                                  {"made_whole", 0},
                                  {"scalar_ops", 12 * WARP},
                                  {"alu_ops", 9 * WARP},
                                  {"redundant_intra", 4 * (WARP - 1)},
                                  {"redundant_inter", 0},
                                  {"redundant_combined", 4 * (WARP - 1)},
                                  {NULL, 0}});
    check_counts("uniform.mode=intra uniform.design=srf", SUMS, 1,
                 (struct count[]){{"token_reads", 0},
                                  {"token_writes", 0},
                                  {"rename_reads", SUMS_REGISTERS},
                                  {"rename_writes", 4 + 2},
                                  {"srf_allocations", 2},
                                  {"srf_peak", 2},
                                  {"srf_full", 0},
                                  {"srf_reads", 2 + 3}, /* r1 twice; broadcasts */
                                  {"srf_writes", 4},
                                  {NULL, 0}});
    /* r0 is copied before the write to some lanes; two broadcasts, and the copy reads it */
    check_counts("uniform.mode=intra uniform.design=srf",
                 KERNEL " mov.u32 %r0, 40; setp.lt.u32 %q1, %t, 5; @%q1 mov.u32 %r0, %t;\n" STORE,
                 1,
                 (struct count[]){{"uniform", 3},
                                  {"copies_source", 0},
                                  {"copies_other", 1},
                                  {"tokens_set", 3},
                                  {"tokens_cleared", 1 + 2}, /* r0; as above */
                                  {"rename_writes", 3 + 3},
                                  {"srf_reads", 2 + 1},
                                  {"srf_writes", 3},
                                  {NULL, 0}});
}

/* Of 20 loads of one address each, 15 find a free entry beside ctaid's. The last one is read first, so that
 * no register is overwritten before. */
static void loads_find_no_entry(void **state)
{
    struct text text = {0};
    add(&text, "%s", KERNEL);
    for (u32 i = 0; i < 20; i++)
        add(&text, " ld.global.u32 %%r%u, [%%p+%u];\n", 10 + i, 4 * i);
    add(&text, " mov.u32 %%r0, %%t;\n");
    for (u32 i = 20; i-- > 0;)
        add(&text, " add.u32 %%r0, %%r0, %%r%u;\n", 10 + i);
    add(&text, "%s", STORE);
    check_counts(
        "uniform.mode=intra uniform.design=srf uniform.srf_entries=16", text.data, 1,
        (struct count[]){{"broadcast_loads", 20}, {"srf_full", 5}, {"srf_peak", 16}, {NULL, 0}});
    free(text.data);
}

/* The token of a predicate is written, too. */
static void predicates_have_tokens(void **state)
{
    struct rig *rig = open_rig(ONE "uniform.mode=intra uniform.params_uniform=false", KERNEL
                               " mov.u32 %r1, 40; setp.lt.u32 %q1, %r1, 50; selp.u32 %r0, 1, 2, "
                               "%q1;\n" STORE);
    free(run(rig, 1, WARP));
    assert_int_equal(stat(rig, "uniform.uniform"), 5); /* ctaid, r1, q1, r0, ntid */
    assert_int_equal(stat(rig, "uniform.tokens_set"), 4);
    assert_int_equal(stat(rig, "uniform.token_writes"),
                     4 + 1 + stat(rig, "uniform.tokens_cleared"));
    rig_close(rig);
}

static u64 bank_reads(const char *settings)
{
    char all[160];
    snprintf(all, sizeof all, ONE "uniform.params_uniform=false uniform.mode=intra %s", settings);
    struct rig *rig = open_rig(all, SUMS);
    free(run(rig, 1, WARP));
    const u64 reads = stat(rig, "collect.reads");
    rig_close(rig);
    return reads;
}

/* What is read from the scalar register file is not read from the banks: r1 twice; r2, ctaid and ntid by
 * instructions that are not uniform. With two copies, r1 is read from its lanes as well. */
static void scalar_registers_are_in_no_bank(void **state)
{
    const u64 reads = bank_reads("");
    assert_int_equal(reads - bank_reads("uniform.design=srf"), 2 + 3);
    assert_int_equal(reads - bank_reads("uniform.design=srf uniform.protect=true"), 3);
}

/* The second block comes to the place of the first and finds r1, r2 and ntid in the reuse buffer, written
 * by a warp that has left; ctaid is another one. */
static void every_count_of_the_reuse_buffer(void **state)
{
    static const struct {
        const char *settings;
        u64 alu_protected;
    } cases[] = {
        {"", 0},
        {"uniform.parity=true", 3 * WARP},                      /* hits */
        {"uniform.protect=true", 5 * WARP},                     /* what runs on two lanes */
        {"uniform.protect=true uniform.parity=true", 8 * WARP}, /* both */
        {"uniform.irb_issue=true", 0},
        {"uniform.irb_issue=true uniform.parity=true", 3 * WARP}, /* hits that end at issue */
    };
    for (u32 c = 0; c < ARRAY_LEN(cases); c++) {
        char settings[160];
        const bool issue = strstr(cases[c].settings, "irb_issue") != NULL;
        snprintf(settings, sizeof settings, "core.blocks=1 %s", cases[c].settings);
        check_counts(settings, SUMS, 2,
                     (struct count[]){{"uniform", 8},
                                      {"converted", 5},
                                      {"irb_probes", 8},
                                      {"irb_hits", 3},
                                      {"irb_removed", issue ? 3 : 0},
                                      {"irb_own_hits", 0},
                                      {"irb_mismatches", 1},
                                      {"irb_unfit", 0},
                                      {"irb_writes", 5},
                                      {"irb_parity_errors", 0},
                                      {"redundant_intra", 8 * (WARP - 1)},
                                      {"redundant_inter", 3 * WARP},
                                      {"redundant_combined", 8 * (WARP - 1) + 3},
                                      {"alu_protected", cases[c].alu_protected},
                                      {NULL, 0}});
    }
}

/* Lanes: a converted instruction reads, computes and writes one; protected, two. */
static void lanes_are_counted(void **state)
{
    static const char ptx[] =
        KERNEL " mov.u32 %r1, 40; add.u32 %r2, %r1, %r1; add.u32 %r0, %r2, %t;\n" STORE;
    struct rig *rig = open_rig(ONE "uniform.mode=intra uniform.params_uniform=false", ptx);
    free(run(rig, 1, WARP));
    /* ctaid, 40, r1 + r1, ntid */
    assert_int_equal(stat(rig, "uniform.converted"), 4);
    assert_int_equal(stat(rig, "uniform.redundant_intra"), 4 * (WARP - 1));
    assert_int_equal(stat(rig, "uniform.scalar_ops"), stat(rig, "issue.threads"));
    assert_int_equal(stat(rig, "uniform.broadcasts"),
                     1 + 2); /* r2; ctaid and ntid in the product */
    assert_int_equal(stat(rig, "uniform.alu_protected"), 0);
    rig_close(rig);
    rig = open_rig(ONE "uniform.mode=intra uniform.params_uniform=false uniform.protect=true", ptx);
    free(run(rig, 1, WARP));
    assert_int_equal(stat(rig, "uniform.alu_protected"), 4 * WARP);
    assert_int_equal(stat(rig, "uniform.protect_compares"), 4);
    assert_int_equal(stat(rig, "uniform.protect_mismatches"), 0);
    assert_true(stat(rig, "uniform.live_protected") > 0);
    assert_true(stat(rig, "uniform.live_cycles") > stat(rig, "uniform.live_protected"));
    rig_close(rig);
}

/* A chain of dependent additions of n cycles each, with one uniform register kept for the end. */
static void live_registers_are_counted_over_time(void **state)
{
    static const char ptx[] = KERNEL
        " mov.u32 %r1, 7; mov.u32 %r2, %t;\n"
        " add.u32 %r2, %r2, %t; add.u32 %r2, %r2, %t; add.u32 %r2, %r2, %t; add.u32 %r2, %r2, %t;\n"
        " add.u32 %r0, %r2, %r1;\n ret;\n}\n";
    struct rig *rig = open_rig(ONE "uniform.protect=true uniform.mode=intra "
                                   "uniform.params_uniform=false",
                               ptx);
    rig_run(rig, 1, WARP, rig_memory(rig, 4));
    /* r1 is protected from its write-back to the issue of the last addition */
    assert_int_equal(stat(rig, "uniform.live_protected"),
                     issued_at(rig, 0, 0, 9) - retired_at(rig, 0, 0, 3));
    rig_close(rig);
}

int main(int argc, char **argv)
{
    assert(argc == 2);
    lanes_file = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(issues_one_a_cycle),
        cmocka_unit_test(latency_stays_and_reuse_has_one),
        cmocka_unit_test(known_ones_stay_at_issue),
        cmocka_unit_test(renaming_takes_a_stage),
        cmocka_unit_test(copies_come_before_partial_writes),
        cmocka_unit_test(guards_count_by_their_lanes),
        cmocka_unit_test(partial_warps_are_not_uniform),
        cmocka_unit_test(loads_of_one_address_are_uniform),
        cmocka_unit_test(everything_reads_through_the_view),
        cmocka_unit_test(lanes_that_wait_find_their_registers),
        cmocka_unit_test(values_are_where_they_are_said_to_be),
        cmocka_unit_test(the_lane_is_of_the_last_pass),
        cmocka_unit_test(it_is_reproducible),
        cmocka_unit_test(observing_changes_nothing),
        cmocka_unit_test(reuse_buffer_keeps_the_last_used),
        cmocka_unit_test(reuse_buffer_holds_as_many_as_it_says),
        cmocka_unit_test(pairs_fit_the_wide_buffer),
        cmocka_unit_test(scalar_registers_run_out_and_come_back),
        cmocka_unit_test(results_that_are_not_written_keep_no_entry),
        cmocka_unit_test(lanes_differ_in_special_registers),
        cmocka_unit_test(lanes_differ_in_counts_of_lanes),
        cmocka_unit_test(every_count_of_a_small_program),
        cmocka_unit_test(loads_find_no_entry),
        cmocka_unit_test(predicates_have_tokens),
        cmocka_unit_test(scalar_registers_are_in_no_bank),
        cmocka_unit_test(every_count_of_the_reuse_buffer),
        cmocka_unit_test(lanes_are_counted),
        cmocka_unit_test(live_registers_are_counted_over_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
