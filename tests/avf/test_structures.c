/*
 * Statistics of ACE analysis against counts by hand: sizes, what is in use, units, lifetimes, the
 * load/store unit, and DRAM.
 */
#include "avf/programs.h"

/* ---- sizes, and what is in use ---- */

/* One block of one warp: everything that belongs to either is resident for the same time. */
static void sizes(void **state)
{
    enum {
        REGISTERS = 4, /* %p, %t, %r1 */
        SHARED = 1024
    };
    struct rig *rig = run_on("gtx480", "",
                             " mov.u32 %r1, s; st.shared.u32 [%r1], %t; setp.lt.u32 %q0, %t, 7; "
                             "@%q0 st.global.u32 [%p], %t;",
                             1, WARP);
    const u64 cycles = stat(rig, "timing.cycles"), held = stat(rig, "avf.pc_held");
    assert_int_equal(held, stat(rig, "timing.warp_cycles"));
    assert_int_equal(stat(rig, "avf.vector_bits"), 32 * param(rig, "core.registers") * cycles);
    assert_int_equal(stat(rig, "avf.vector_allocated"), WORD * REGISTERS * held);
    assert_int_equal(stat(rig, "avf.shared_bits"), 8 * param(rig, "core.shared_bytes") * cycles);
    assert_int_equal(stat(rig, "avf.shared_allocated"), 8 * SHARED * held);
    assert_int_equal(stat(rig, "avf.scalar_bits") % (WARP * held), 0);
    assert_in_range(stat(rig, "avf.scalar_bits") / (WARP * held), 1, 4); /* predicates */
    assert_int_equal(stat(rig, "avf.lsu_all"), 2 * WARP * cycles);       /* latch and head */
    assert_int_equal(
        stat(rig, "avf.queue_all"),
        (param(rig, "l1d.latency") * param(rig, "l1d.banks") + param(rig, "l1d.miss_queue")) *
            cycles);
    const u64 slices = param(rig, "l2.channels") * param(rig, "l2.slices");
    assert_int_equal(stat(rig, "avf.l2_waits_all"),
                     slices * param(rig, "l2.mshrs") * param(rig, "l2.merges") * cycles);
    assert_int_equal(stat(rig, "avf.l2_lines"),
                     slices * param(rig, "l2.sets") * param(rig, "l2.ways") * cycles);
    assert_int_equal(stat(rig, "avf.l2_bits"), LINE_BITS * stat(rig, "avf.l2_lines"));
    assert_int_equal(
        stat(rig, "avf.dram_all"),
        (param(rig, "dram.queue") + param(rig, "dram.banks") + param(rig, "dram.return_queue")) *
            stat(rig, "dram.channel_cycles"));
    rig_close(rig);
}

/* A block of two warps has its shared memory once. */
static void sizes_of_two_warps(void **state)
{
    struct rig *rig =
        run_on("gtx480", "", " mov.u32 %r1, s; st.shared.u32 [%r1], %t;", 1, 2 * WARP);
    assert_int_equal(2 * stat(rig, "avf.shared_allocated"), 8 * 1024 * stat(rig, "avf.pc_held"));
    rig_close(rig);
}

/* Registers between a write and the last read, needed or not. */
static void live_registers(void **state)
{
    struct rig *rig = run(" add.u32 %r1, %t, 7; mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%p], %t;");
    const struct value live[] = {{0, 4, 2 * WORD}, {1, 4, WORD}, {2, 3, WORD}};
    assert_int_equal(stat(rig, "avf.vector_live"), sum(rig, live, ARRAY_LEN(live)));
    rig_close(rig);
    /* in lanes that read it */
    rig = run(" setp.lt.u32 %q0, %t, 8; add.u32 %r1, %t, 7; @%q0 st.global.u32 [%p], %r1;");
    const struct value some[] = {{0, 4, 2 * WORD / 4}, {1, 3, WORD}, {3, 4, WORD / 4}};
    assert_int_equal(stat(rig, "avf.vector_live"), sum(rig, some, ARRAY_LEN(some)));
    rig_close(rig);
    /* the last read is that of few lanes: %r1 (3) lives up to 5, and so does %p */
    rig = run(" setp.lt.u32 %q0, %t, 8; add.u32 %r1, %t, 7; add.u32 %r2, %r1, 1; "
              "@%q0 st.global.u32 [%p], %r1;");
    assert_int_equal(stat(rig, "avf.values_1"), 0);
    assert_int_equal(stat(rig, "avf.values_2"), 2); /* %t and %r1 */
    rig_close(rig);
}

/* From the store that is read to the load: a store acts when it retires, a load before its latency. */
static void shared_time(void **state)
{
    struct rig *rig = run(" shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; "
                          "st.shared.u32 [%r1], %r1; ld.shared.u32 %r4, [%r1]; "
                          "st.global.u32 [%p], %r4;");
    const u64 acted = retired_at(rig, 0, 0, 6) - param(rig, "lsu.shared_latency") - 1;
    assert_int_equal(stat(rig, "avf.shared_ace"), WORD * (acted - retired_at(rig, 0, 0, 5)));
    rig_close(rig);
    /* bytes 1 and 2 are read; the second store (6) overwrites bytes 0 and 1 */
    rig = run(" shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; "
              "st.shared.u32 [%r1], %t; st.shared.u16 [%r1], %t; ld.shared.u8 %r4, [%r1+1]; "
              "ld.shared.u8 %r5, [%r1+2]; st.global.u32 [%p], %r4; st.global.u32 [%p], %r5;");
    const u64 later = param(rig, "lsu.shared_latency") + 1;
    const u64 second = retired_at(rig, 0, 0, 7) - later - retired_at(rig, 0, 0, 6);
    const u64 first = retired_at(rig, 0, 0, 8) - later - retired_at(rig, 0, 0, 5);
    assert_int_equal(stat(rig, "avf.shared_ace"), 8 * WARP * (first + second));
    rig_close(rig);
    /* of a byte, only its sign is needed */
    rig = run(" shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; "
              "st.shared.u32 [%r1], %t; ld.shared.s8 %r4, [%r1]; shr.u32 %r4, %r4, 16; "
              "st.global.u32 [%p], %r4;");
    const u64 sign = retired_at(rig, 0, 0, 6) - later - retired_at(rig, 0, 0, 5);
    assert_int_equal(stat(rig, "avf.shared_ace"), WARP * sign);
    rig_close(rig);
    /* and it is bit 7: of what is stored (5 to 6), and of %t before (1 to 5) */
    rig = run(" shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2; and.b32 %r5, %t, 128; "
              "st.shared.u8 [%r1], %r5; ld.shared.s8 %r4, [%r1]; shr.u32 %r4, %r4, 16; "
              "st.global.u32 [%p], %r4;");
    const struct value bits[] = {{0, 9, 2 * WORD}, {1, 2, 29 * WARP}, {1, 5, WARP},
                                 {2, 4, WORD},     {3, 4, WORD},      {4, 7, WORD},
                                 {5, 6, WARP},     {7, 8, 16 * WARP}, {8, 9, WORD}};
    assert_int_equal(stat(rig, "avf.vector_ace"), sum(rig, bits, ARRAY_LEN(bits)));
    rig_close(rig);
}

/* ---- units ---- */

/* Instruction 7 runs in 12 lanes of a unit, and is needed in 8. Before and behind it the unit executes
 * `others`, simple ones of whole warps, of which `needed` lanes are needed. */
static void check_unit(const char *unit, const char *settings, const char *inst, u32 interval,
                       u32 others, u32 needed)
{
    char body[512], name[64];
    const u32 width = 16, passes = WARP / width;
    snprintf(body, sizeof body,
             " setp.lt.u32 %%q0, %%t, 12; setp.lt.u32 %%q1, %%t, 8; mov.b32 %%r1, 5; "
             "mov.b64 %%a, 5; mov.b64 %%b, 7; @%%q0 %s @%%q1 st.global.u32 [%%p], %%r3; "
             "@%%q1 st.global.u64 [%%p+256], %%a;",
             inst);
    struct rig *rig = run_on("gtx480", settings, body, 1, WARP);
    const u64 busy = (u64)MAX(interval, passes) * width;
    const struct {
        const char *name;
        u64 value;
    } wanted[] = {
        {"busy", busy + others * WARP},
        {"active", busy * 12 / WARP + others * WARP},
        {"ace", busy / 4 + needed},
        {"unchecked", busy / 4 + needed}, /* nothing is executed twice */
        {"lanes", width * stat(rig, "timing.cycles")},
    };
    snprintf(name, sizeof name, "units.%s_instructions", unit);
    assert_int_equal(stat(rig, name), 1 + others);
    for (u32 i = 0; i < ARRAY_LEN(wanted); i++) {
        snprintf(name, sizeof name, "avf.%s_%s", unit, wanted[i].name);
        assert_int_equal(stat(rig, name), wanted[i].value);
    }
    rig_close(rig);
}

static void units(void **state)
{
    check_unit("sfu", "units.sfu_lanes=16 units.sfu_interval=3", "rcp.approx.f32 %r3, %r1;", 6, 0,
               0);
    check_unit("fp64", "units.fp64=1 units.fp64_lanes=16 units.fp64_add_interval=5",
               "add.f64 %a, %a, %b;", 10, 0, 0);
    check_unit("sp", "units.sp=1 units.integer=1 units.sp_lanes=16 units.fp32_add_interval=3",
               "add.f32 %r3, %r1, %r1;", 6, 0, 0);
    /* %t, %q1 and ret are needed in all lanes; %q0, %r1 and %a in those that store; %b in none */
    check_unit("int", "units.sp=1 units.integer=1 units.sp_lanes=16 units.int_mul_interval=3",
               "mul.lo.u32 %r3, %r1, %r1;", 6, 7, 3 * WARP + 3 * 8);
}

/* ---- lifetimes ---- */

static const u32 lives[] = {2, 3, 5, 6, 10, 11, 20, 21, 50, 51}; /* the ends of all classes */
enum {
    STEPS = ARRAY_LEN(lives),
    CLASSES = 7
};

static u32 class_of(u32 life)
{
    return life <= 1    ? 0
           : life <= 2  ? 1
           : life <= 5  ? 2
           : life <= 10 ? 3
           : life <= 20 ? 4
           : life <= 50 ? 5
                        : 6;
}

/* A value for each of them: what makes it, instructions that write what is never read, and a store. */
static void lifetimes(void **state)
{
    static const char *const names[CLASSES] = {"1", "2", "5", "10", "20", "50", "more"};
    struct text body = {0};
    struct value made[STEPS + 2];
    u64 values[CLASSES] = {0}, ace[CLASSES] = {0}, total = 0;
    u32 at = 2, unread = 0;
    for (u32 i = 0; i < STEPS; i++) {
        made[i] = (struct value){at, at + lives[i], WORD};
        add(&body, " add.u32 %%r1, %%t, %u;", i);
        for (u32 k = 1; k < lives[i]; k++, unread++)
            add(&body, " mov.u32 %%r2, 7;");
        add(&body, " st.global.u32 [%%p], %%r1;");
        at += lives[i] + 1;
    }
    made[STEPS] = (struct value){0, made[STEPS - 1].reader, 2 * WORD}; /* %p */
    made[STEPS + 1] = (struct value){1, made[STEPS - 1].writer, WORD}; /* %t */
    struct rig *rig = run(body.data);
    free(body.data);
    for (u32 i = 0; i < STEPS + 2; i++) {
        const u32 class = class_of(made[i].reader - made[i].writer);
        values[class] += made[i].bits / WORD;
        ace[class] += sum(rig, &made[i], 1);
        total += sum(rig, &made[i], 1);
    }
    for (u32 i = 0; i < CLASSES; i++) {
        char name[32];
        snprintf(name, sizeof name, "avf.values_%s", names[i]);
        assert_int_equal(stat(rig, name), values[i]);
        snprintf(name, sizeof name, "avf.ace_%s", names[i]);
        assert_int_equal(stat(rig, name), ace[i]);
    }
    assert_int_equal(stat(rig, "avf.values_unread"), unread);
    assert_int_equal(stat(rig, "avf.values_read"), STEPS + 3);
    assert_int_equal(stat(rig, "avf.values"), STEPS + 3 + unread);
    assert_int_equal(stat(rig, "avf.values_short"), 5);
    assert_int_equal(stat(rig, "avf.vector_ace"), total);
    assert_int_equal(stat(rig, "avf.ace_long"), ace[4] + ace[5] + ace[6]);
    rig_close(rig);
}

/* ---- the load/store unit ---- */

static u64 count(const char *settings, const char *body, const char *name)
{
    char all[256];
    snprintf(all, sizeof all, DATA_ONLY " %s", settings);
    struct rig *rig = run_on("gtx480", all, body, 1, WARP);
    const u64 result = stat(rig, name);
    rig_close(rig);
    return result;
}

#define SHARED_LOAD(shift, use)                                                               \
    " shl.b32 %r1, %t, " shift "; and.b32 %r1, %r1, 1023; mov.u32 %r2, s; add.u32 %r1, %r1, " \
    "%r2; ld.shared.u32 %r3, [%r1];" use

/* An access is here for as long as its banks conflict, or its transactions take. */
static void accesses(void **state)
{
    const char *const held = "avf.lsu_held", *const ace = "avf.lsu_ace";
    const char *const free = SHARED_LOAD("2", "st.global.u32 [%p], %r3;");
    const u64 least = count("", free, held); /* ld.param, ld.shared, st.global */
    assert_int_equal(least % (3 * WARP), 0);
    assert_int_equal(count("", free, ace), least);
    /* 8 words apart: 32 lanes in 4 banks, but 256 words take all: 8 lanes in each */
    const char *const eight = SHARED_LOAD("5", "st.global.u32 [%p], %r3;");
    assert_int_equal(count("", eight, "lsu.shared_conflict_cycles"), 7);
    assert_int_equal(count("", eight, held), least + 7 * WARP);
    /* it is not needed; the store does not depend on it, and waits behind it */
    const char *const dead = SHARED_LOAD("5", "st.global.u32 [%p], %t;");
    assert_int_equal(count("", dead, held), least + 2 * 7 * WARP);
    assert_int_equal(count("", dead, ace), least * 2 / 3 + 7 * WARP);
    /* it is needed in 8 lanes, and so is the address in %p */
    const char *const some =
        SHARED_LOAD("2", "setp.lt.u32 %q0, %t, 8; @%q0 st.global.u32 [%p], %r3;");
    assert_int_equal(count("", some, ace), least / 4);
    /* a load of four lines: a transaction in each cycle */
    const char *const lines = " mul.wide.u32 %a, %t, 16; add.u64 %a, %a, %p; ld.global.u32 %r3, "
                              "[%a]; st.global.u32 [%p+4096], %r3;";
    assert_int_equal(count("", lines, "lsu.transactions"), 5);
    assert_int_equal(count("", lines, held), least + 3 * WARP);
}

/* A transaction takes the latency of the L1 to the tags; misses and stores are in the queue to the
 * network for a cycle; what bypasses the L1 only is there. */
static void transactions(void **state)
{
    enum {
        LATENCY = 40
    };
    const char *const held = "avf.queue_held", *const ace = "avf.queue_ace";
    const char *const set = "l1d.latency=40";
    assert_int_equal(count(set, " st.global.u32 [%p], %t;", held), LATENCY + 1);
    assert_int_equal(count(set, " st.global.u32 [%p], %t;", ace), LATENCY + 1);
    const char *const dead = WORDS LOAD("%r1") " add.u32 %r1, %r1, 1;";
    assert_int_equal(count(set, dead, held), LATENCY + 1);
    assert_int_equal(count(set, dead, ace), 0);
    const char *const needed = WORDS LATER(LOAD("%r1")) LOAD("%r2") BRANCH("%r2");
    assert_int_equal(count(set, needed, held), 2 * LATENCY + 1);
    /* the first load's result is dead, but what it fetches is needed: so is its entry of the queue */
    assert_int_equal(count(set, needed, ace), LATENCY + 1);
    const char *const both =
        WORDS LATER(LOAD("%r1")) LOAD("%r2") " add.u32 %r2, %r2, %r1;" BRANCH("%r2");
    assert_int_equal(count(set, both, ace), 2 * LATENCY + 1);
    assert_int_equal(count(set, WORDS FAR("%r1") BRANCH("%r1"), held),
                     4); /* a request for each sector, one in each cycle */
    assert_int_equal(count(set, WORDS FAR("%r1") BRANCH("%r1"), ace), 4);
    assert_int_equal(count(set, WORDS FAR("%r1") "add.u32 %r1, %r1, 1;", ace), 0);
    assert_int_equal(count(set, needed, "avf.queue_undecided"), 0);
}

/* ---- DRAM ---- */

/* All requests are those of loads, and of lines that the L2 writes back. */
static void check_dram(const char *settings, const char *body, bool ace)
{
    char all[256];
    snprintf(all, sizeof all, DATA_ONLY " %s", settings);
    struct rig *rig = run_on("gtx480", all, body, 1, WARP);
    assert_true(stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_held"), stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_ace"), ace ? stat(rig, "dram.queue_cycles") : 0);
    assert_int_equal(stat(rig, "avf.dram_undecided"), 0);
    rig_close(rig);
}

static void dram(void **state)
{
    check_dram("", WORDS LOAD("%r1") BRANCH("%r1"), true);
    check_dram("", WORDS LOAD("%r1") "add.u32 %r1, %r1, 1;", false);
    /* a later load that hits in the L2 needs it */
    check_dram("", WORDS LATER(FAR("%r1")) FAR("%r2") BRANCH("%r2"), true);
    check_dram("", WORDS LATER(FAR("%r1")) FAR("%r2") "add.u32 %r2, %r2, 1;", false);
    /* a store to a part of what a dead load has fetched: the rest goes back to memory */
    check_dram("", WORDS LATER(LOAD("%r1")) " st.global.u8 [%a], %t;", true);
    /* two lines, one after the other; the first is dead */
    check_dram("",
               WORDS LATER(LOAD(
                   "%r1")) " ld.global.u32 %r2, [%a+4096]; add.u32 %r2, %r2, %r1;" BRANCH("%r2"),
               true);
    /* lines of the L2 are shorter than those of the L1: the second of two is needed */
    struct rig *half = run_on(
        "gtx480", DATA_ONLY " l2.line_bytes=64",
        WORDS LOAD("%r1") " setp.ge.u32 %q0, %t, 16; @!%q0 mov.u32 %r1, 5;" BRANCH("%r1"), 1, WARP);
    assert_true(stat(half, "avf.dram_ace") &&
                stat(half, "avf.dram_ace") < stat(half, "avf.dram_held"));
    assert_int_equal(stat(half, "avf.dram_held"), stat(half, "dram.queue_cycles"));
    rig_close(half);
    /* lines that are evicted: one line in each slice */
    struct rig *rig = run_on("gtx480", DATA_ONLY " l2.sets=1 l2.ways=1",
                             " mul.wide.u32 %a, %t, 128; add.u64 %a, %a, %p; "
                             "st.global.u32 [%a], %t;",
                             1, WARP);
    assert_true(stat(rig, "dram.writes") > 0);
    assert_int_equal(stat(rig, "dram.reads"), 0);
    assert_int_equal(stat(rig, "avf.dram_held"), stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_ace"), stat(rig, "dram.queue_cycles"));
    rig_close(rig);
}

/* ---- the read-only cache ---- */

static void read_only_cache(void **state)
{
    struct rig *rig =
        run_on("gtx480", "readonly.enabled=true",
               WORDS LATER(" ld.global.nc.u32 %r1, [%a];") " ld.global.nc.u32 %r2, [%a]; "
                                                           "st.global.u8 [%p+4096], %r2;",
               1, WARP);
    assert_int_equal(stat(rig, "readonly.read_hits"), 1);
    const u64 cycles = retired_at(rig, 0, 0, 8) - (retired_at(rig, 0, 0, 4) - FILL_TO_WRITE_BACK);
    assert_int_equal(stat(rig, "avf.readonly_lines_ace"), cycles);
    assert_int_equal(stat(rig, "avf.readonly_lines_refetched"), cycles);
    assert_int_equal(stat(rig, "avf.readonly_bits_ace"), LINE_BITS / 4 * cycles);
    assert_int_equal(stat(rig, "avf.readonly_bits_undecided"), 0);
    const u64 lines = param(rig, "readonly.sets") * param(rig, "readonly.ways");
    assert_int_equal(stat(rig, "avf.readonly_lines"), lines * stat(rig, "timing.cycles"));
    assert_int_equal(stat(rig, "avf.l1d_lines_held"), 0);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),          cmocka_unit_test(sizes_of_two_warps),
        cmocka_unit_test(live_registers), cmocka_unit_test(shared_time),
        cmocka_unit_test(units),          cmocka_unit_test(lifetimes),
        cmocka_unit_test(accesses),       cmocka_unit_test(transactions),
        cmocka_unit_test(dram),           cmocka_unit_test(read_only_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
