/*
 * ACE analysis of small programs whose vulnerable time is known: for each value, which
 * instruction writes it, which reads it last, and how many bits of it count. The cycles are those in which the rig saw these
 * instructions retire and issue; register reads count at issue here.
 */
#include "avf/programs.h"

#define EXPECT(rig, ...)                                                                \
    do {                                                                                \
        const struct value list[] = {__VA_ARGS__};                                      \
        assert_int_equal(stat(rig, "avf.vector_ace"), sum(rig, list, ARRAY_LEN(list))); \
        assert_int_equal(stat(rig, "avf.vector_undecided"), 0);                         \
        assert_true(stat(rig, "avf.vector_ace") <= stat(rig, "avf.vector_live"));       \
        assert_true(stat(rig, "avf.vector_live") <= stat(rig, "avf.vector_allocated")); \
        assert_true(stat(rig, "avf.vector_allocated") <= stat(rig, "avf.vector_bits")); \
    } while (0)

static void logic_masks_bits(void **state)
{
    struct rig *rig = run(" and.b32 %r1, %t, 255; st.global.u32 [%p], %r1;");
    EXPECT(rig, {0, 3, 2 * WORD}, {1, 2, 8 * WARP}, {2, 3, WORD});
    assert_int_equal(stat(rig, "avf.instructions"), 5);
    assert_int_equal(stat(rig, "avf.dead_instructions"), 0);
    /* lifetimes in instructions: both registers of %p 3, the others 1 */
    assert_int_equal(stat(rig, "avf.values"), 4);
    assert_int_equal(stat(rig, "avf.values_5"), 2);
    assert_int_equal(stat(rig, "avf.values_1"), 2);
    const struct value p = {0, 3, 2 * WORD};
    assert_int_equal(stat(rig, "avf.ace_5"), sum(rig, &p, 1));
    rig_close(rig);
    rig = run(" mov.u32 %r0, 12; or.b32 %r1, %t, %r0; st.global.u32 [%p], %r1;");
    /* Under OR a 1 frees the other source's bit. Where both have one, the first is needed. */
    u64 first = 0, second = 0;
    for (u32 t = 0; t < WARP; t++) {
        first += 32 - (u32)__builtin_popcount(12 & ~t);
        second += 32 - (u32)__builtin_popcount(t);
    }
    EXPECT(rig, {0, 4, 2 * WORD}, {1, 3, first}, {2, 3, second}, {3, 4, WORD});
    rig_close(rig);
}

/* Bits that two instructions need, and words of a pair that are needed in different lanes. */
static void needed_in_parts(void **state)
{
    struct rig *rig = run(" and.b32 %r1, %t, 4080; and.b32 %r2, %t, 255; st.global.u32 [%p], %r1; "
                          "st.global.u32 [%p+128], %r2;");
    EXPECT(rig, {0, 5, 2 * WORD}, {1, 3, 8 * WARP}, {1, 2, 4 * WARP}, {2, 4, WORD}, {3, 5, WORD});
    rig_close(rig);
    rig = run(" setp.lt.u32 %q0, %t, 8; mul.wide.u32 %a, %t, 8; mov.b64 {%r1, %r2}, %a; "
              "st.global.u32 [%p], %r2; @%q0 st.global.u32 [%p+4], %r1;");
    EXPECT(rig, {0, 6, 2 * WORD / 4}, {0, 5, 2 * WORD * 3 / 4}, {1, 3, WORD}, {3, 4, WORD / 4},
           {3, 4, WORD}, {4, 6, WORD / 4}, {4, 5, WORD});
    rig_close(rig);
}

static void shifts_and_narrow_stores(void **state)
{
    struct rig *rig = run(" shl.b32 %r1, %t, 4; st.global.u8 [%p], %r1;");
    EXPECT(rig, {0, 3, 2 * WORD}, {1, 2, 4 * WARP}, {2, 3, 8 * WARP});
    rig_close(rig);
    /* between them something that takes time */
    rig = run(" mul.lo.u32 %r5, %t, %t; mul.lo.u32 %r5, %r5, %r5; st.global.u16 [%p], %t;");
    EXPECT(rig, {0, 4, 2 * WORD}, {1, 4, 16 * WARP});
    const struct value stored = {1, 4, 16 * WARP};
    assert_true(time_between(rig, &stored));
    rig_close(rig);
    rig = run(" cvt.u16.u32 %h0, %t; cvt.u32.u16 %r1, %h0; st.global.u32 [%p], %r1;");
    EXPECT(rig, {0, 4, 2 * WORD}, {1, 2, 16 * WARP}, {2, 3, 16 * WARP}, {3, 4, WORD});
    rig_close(rig);
}

static void dead_values(void **state)
{
    /* 3 is never read; 2 is read by 3 only */
    struct rig *rig = run(" add.u32 %r1, %t, 7; mul.lo.u32 %r2, %r1, %r1; st.global.u32 [%p], %t;");
    EXPECT(rig, {0, 4, 2 * WORD}, {1, 4, WORD});
    assert_int_equal(stat(rig, "avf.dead_instructions"), 2);
    assert_int_equal(stat(rig, "avf.values_unread"), 1);
    /* lanes: the thread's number and the end */
    assert_int_equal(stat(rig, "avf.sp_ace"), 2 * WARP);
    assert_int_equal(stat(rig, "avf.sp_active"), (3 + param(rig, "units.int_mul_interval")) * WARP);
    assert_int_equal(stat(rig, "avf.sp_lanes"), 2 * WARP * stat(rig, "timing.cycles"));
    rig_close(rig);
}

static void a_loop_that_is_dead(void **state)
{
    static const char body[] = " mov.u32 %r1, 0; mov.u32 %r2, 0;\nL: mad.lo.u32 %r2, %r2, %r2, %t; "
                               "add.u32 %r1, %r1, 1; setp.lt.u32 %q0, %r1, 8; @%q0 bra L;\n "
                               "st.global.u32 [%p], %t;";
    struct rig *rig = run(body);
    assert_int_equal(stat(rig, "avf.instructions"), 4 + 8 * 4 + 2);
    assert_int_equal(stat(rig, "avf.dead_instructions"), 1 + 8);
    assert_int_equal(stat(rig, "avf.vector_undecided"), 0);
    const u64 exact = stat(rig, "avf.vector_ace"), live = stat(rig, "avf.vector_live");
    rig_close(rig);
    /* A short log does not see the end: more counts, and says that it is not decided. */
    static const char *const windows[] = {"avf.window=64", "avf.window=128", "avf.window=8192"};
    char longer[512];
    snprintf(longer, sizeof longer, "%s", body);
    memcpy(strstr(longer, " 8;"), "99;", 3);
    u64 ace[3], undecided[3], values[3];
    for (u32 i = 0; i < 3; i++) {
        rig = run_on("gtx480", windows[i], longer, 1, WARP);
        assert_int_equal(stat(rig, "avf.instructions"), 4 + 99 * 4 + 2);
        ace[i] = stat(rig, "avf.vector_ace");
        undecided[i] = stat(rig, "avf.vector_undecided");
        values[i] = stat(rig, "avf.values");
        rig_close(rig);
    }
    assert_true(ace[0] > ace[2] && ace[1] > ace[2]);
    assert_true(undecided[0] && undecided[1] && !undecided[2]);
    assert_true(ace[0] - undecided[0] <= ace[2] && ace[1] - undecided[1] <= ace[2]);
    assert_true(values[0] == values[1] && values[0] == values[2]);
    assert_true(exact && exact < live);
}

/* The highest bit in which the sides differ, and all above it; all, if they are equal. */
static u32 compared(u32 t, u32 limit)
{
    return t == limit ? 32 : 1 + (u32)__builtin_clz(t ^ limit);
}

static void comparisons_and_guards(void **state)
{
    /* between the comparison and the guard something that takes time */
    struct rig *rig =
        run(" mov.u32 %r1, 5; setp.lt.u32 %q0, %t, 16; mul.lo.u32 %r5, %t, %t; mul.lo.u32 "
            "%r5, %r5, %r5; mul.lo.u32 %r5, %r5, %r5; @%q0 mov.u32 %r1, %t; "
            "st.global.u32 [%p], %r1;");
    u64 late = 0; /* bits of %t in lanes whose guard is false */
    for (u32 t = 16; t < WARP; t++)
        late += compared(t, 16);
    EXPECT(rig, {0, 8, 2 * WORD}, {1, 7, WORD / 2}, {1, 3, late}, {2, 8, WORD / 2},
           {7, 8, WORD / 2});
    const struct value q = {3, 7, WARP};
    assert_true(time_between(rig, &q));
    assert_int_equal(stat(rig, "avf.scalar_ace"), sum(rig, &q, 1));
    rig_close(rig);
    /* a predicate that is written in some lanes: the others keep what they have */
    rig = run(" setp.lt.u32 %q0, %t, 16; setp.lt.u32 %q1, %t, 8; @%q1 setp.lt.u32 %q0, %t, 4; "
              "mul.lo.u32 %r5, %t, %t; mul.lo.u32 %r5, %r5, %r5; @%q0 st.global.u32 [%p], %t;");
    const struct value predicates[] = {{2, 7, WARP - 8}, {4, 7, 8}, {3, 4, WARP}};
    assert_int_equal(stat(rig, "avf.scalar_ace"), sum(rig, predicates, ARRAY_LEN(predicates)));
    rig_close(rig);
    /* nothing needs what the guard decides */
    rig = run(" setp.lt.u32 %q0, %t, 16; @%q0 add.u32 %r1, %t, 1; st.global.u32 [%p], %t;");
    EXPECT(rig, {0, 4, 2 * WORD}, {1, 4, WORD});
    assert_int_equal(stat(rig, "avf.scalar_ace"), 0);
    assert_int_equal(stat(rig, "avf.dead_instructions"), 2);
    rig_close(rig);
}

/* Lanes that do not store do not need what they would store. */
static void divergence(void **state)
{
    struct rig *rig = run(" add.u32 %r1, %t, 3; setp.lt.u32 %q0, %t, 8; @!%q0 bra E;\n "
                          "st.global.u32 [%p], %r1;\nE:");
    u64 others = 0;
    for (u32 t = 8; t < WARP; t++)
        others += compared(t, 8);
    EXPECT(rig, {0, 5, 2 * WORD / 4}, {2, 5, WORD / 4}, {1, 3, others}, {1, 2, 8 * 32 - 8 * 29},
           {1, 3, 8 * 29});
    assert_int_equal(stat(rig, "avf.sp_ace"), 8 + 4 * WARP);
    rig_close(rig);
}

#define PLACE " shl.b32 %r1, %t, 2; mov.u32 %r2, s; add.u32 %r1, %r1, %r2;" /* 2 to 4 */

static void shared_memory(void **state)
{
    /* a store that is overwritten, one that is read, and one that is not */
    struct rig *rig = run(PLACE " st.shared.u32 [%r1], %t; st.shared.u32 [%r1], %r1; "
                                "ld.shared.u32 %r4, [%r1]; st.global.u32 [%p], %r4; "
                                "st.shared.u32 [%r1], %t;");
    const u64 words = stat(rig, "avf.shared_ace"); /* from 6 to 7 */
    assert_true(words >= WORD && words % WORD == 0);
    assert_true(words / WORD <= retired_at(rig, 0, 0, 7) - issued_at(rig, 0, 0, 6));
    const u64 bits = 1024 * 8, cycles = stat(rig, "timing.cycles");
    assert_true(stat(rig, "avf.shared_allocated") <= bits * cycles);
    assert_true(stat(rig, "avf.shared_allocated") >= bits * (cycles - 2));
    /* %t is needed for the address only, though it is stored twice */
    EXPECT(rig, {0, 8, 2 * WORD}, {1, 2, 30 * WARP}, {2, 4, WORD}, {3, 4, WORD}, {4, 9, WORD},
           {7, 8, WORD});
    rig_close(rig);
    /* as before, but one byte is read */
    rig = run(PLACE " st.shared.u32 [%r1], %t; st.shared.u32 [%r1], %r1; "
                    "ld.shared.u8 %r4, [%r1]; st.global.u32 [%p], %r4; st.shared.u32 [%r1], %t;");
    assert_int_equal(stat(rig, "avf.shared_ace"), words / 4);
    rig_close(rig);
    /* what is loaded is not needed: neither is what was stored */
    rig = run(PLACE " add.u32 %r5, %t, 9; st.shared.u32 [%r1], %r5; ld.shared.u32 %r4, [%r1]; "
                    "mul.lo.u32 %r4, %r4, %r4; st.global.u32 [%p], %t;");
    assert_int_equal(stat(rig, "avf.shared_ace"), 0);
    EXPECT(rig, {0, 9, 2 * WORD}, {1, 9, WORD}, {2, 4, WORD}, {3, 4, WORD}, {4, 6, WORD});
    assert_int_equal(stat(rig, "avf.dead_instructions"), 3);
    rig_close(rig);
    /* an atomic needs what is there */
    rig = run(PLACE " st.shared.u32 [%r1], %t; atom.shared.add.u32 %r4, [%r1], %t;");
    assert_true(stat(rig, "avf.shared_ace") >= WORD);
    rig_close(rig);
}

/* All of a block is dead when it ends, and the next one begins anew. */
static void blocks_and_launches(void **state)
{
    struct rig *rig = run_on("gtx480", "core.blocks=1",
                             " add.u32 %r1, %t, 1; st.global.u32 [%p], "
                             "%r1;",
                             3, 2 * WARP);
    assert_int_equal(stat(rig, "avf.instructions"), 3 * 2 * 5);
    assert_int_equal(stat(rig, "avf.values"), 3 * 2 * 4);
    assert_int_equal(stat(rig, "avf.values_unread"), 0);
    assert_int_equal(stat(rig, "avf.ace_initial"), 0);
    rig_close(rig);
}

/* The cycle in which a slot's warps have issued, or retired, an instruction for the nth time. */
static u64 nth(const struct moves *moves, u32 slot, u32 inst, u32 n)
{
    for (u32 i = 0; i < moves->count; i++)
        if (moves->data[i].slot == slot && moves->data[i].inst == inst && !n--)
            return moves->data[i].cycle;
    fail_msg("instruction %u of slot %u: too few", inst, slot);
    return 0;
}

/* Warps 1 and 4 of all run for long; warp 4 stores. */
#define TWO_LONG_WARPS(data)                                                                      \
    " mov.u32 %r6, %ctaid.x; mad.lo.u32 %r7, %r6, 64, %t; shr.u32 %r7, %r7, 5; mov.u32 %r9, 18; " \
    "shr.u32 %r8, %r9, %r7; and.b32 %r8, %r8, 1; setp.eq.u32 %q0, %r8, 0; @%q0 bra E;\n "         \
    "mov.u32 %r1, 3; setp.eq.u32 %q1, %r6, 2; mul.lo.u32 %r5, %t, %t; mul.lo.u32 %r5, %r5, %r5; " \
    "mul.lo.u32 %r5, %r5, %r5; mul.lo.u32 %r5, %r5, %r5; mul.lo.u32 %r5, %r5, %r5; mul.lo.u32 "   \
    "%r5, %r5, %r5; mul.lo.u32 %r5, %r5, %r5; mul.lo.u32 %r5, %r5, %r5; @%q1 st.global.u32 "      \
    "[%p], " data ";\nE:"

/* A warp that ends before its block leaves its slot to another block: block 0 is in slots 0 and 1, block 1
 * in 2 and 3, and block 2 in 0 and 2. Block 0 ends in the middle of it. */
static void slots_that_change_hands(void **state)
{
    enum {
        VALUE = 10,
        STORE = 20,
        END_OF_WARP
    };
    struct rig *rig = run_on("gtx480", "core.warps=4", TWO_LONG_WARPS("%r1"), 3, 2 * WARP);
    struct rig *other = run_on("gtx480", "core.warps=4", TWO_LONG_WARPS("%r6"), 3, 2 * WARP);
    const u64 written = nth(&rig->retired, 0, VALUE, 0), store = nth(&rig->issued, 0, STORE, 0);
    const u64 ended = nth(&rig->retired, 1, END_OF_WARP, 0);
    assert_true(nth(&rig->issued, 0, 0, 1) < ended && written < ended && ended + 10 < store);
    assert_int_equal(stat(rig, "timing.cycles"), stat(other, "timing.cycles"));
    /* 11 is the last that reads %r6, if the store does not */
    assert_int_equal(stat(rig, "avf.vector_ace") - stat(other, "avf.vector_ace") +
                         WORD * (store - nth(&rig->issued, 0, VALUE + 1, 0)),
                     WORD * (store - written));
    assert_true(stat(rig, "avf.pc_ace") <= stat(rig, "avf.pc_held"));
    assert_int_equal(stat(rig, "avf.vector_undecided"), 0);
    rig_close(other);
    /* a log that is analysed in parts: it begins while the first blocks are there */
    other = run_on("gtx480", "core.warps=4 avf.window=64", TWO_LONG_WARPS("%r1"), 3, 2 * WARP);
    assert_true(stat(other, "avf.vector_ace") >= stat(rig, "avf.vector_ace"));
    assert_true(stat(other, "avf.vector_ace") - stat(other, "avf.vector_undecided") <=
                stat(rig, "avf.vector_ace"));
    rig_close(rig);
    rig_close(other);
}

/* Reads from the banks are later than issue: values are vulnerable for longer. */
static void reads_count_at_the_banks(void **state)
{
    static const char body[] = " and.b32 %r1, %t, 255; st.global.u32 [%p], %r1;";
    struct rig *issue = run(body), *collect = run_on("gtx480", "avf.read=collect", body, 1, WARP);
    assert_true(stat(collect, "avf.vector_ace") > stat(issue, "avf.vector_ace"));
    assert_int_equal(stat(collect, "timing.cycles"), stat(issue, "timing.cycles"));
    rig_close(issue);
    rig_close(collect);
}

/* ---- caches ---- */

/* From the fill by one load to the hit of another. */
static u64 in_cache(const struct rig *rig, u32 filled, u32 hit)
{
    return retired_at(rig, 0, 0, hit) - (retired_at(rig, 0, 0, filled) - FILL_TO_WRITE_BACK);
}

static void check_l1(const char *body, u64 bits, u32 hit)
{
    struct rig *rig = run(body);
    assert_int_equal(stat(rig, "l1d.read_misses"), 1);
    const u64 cycles = hit ? in_cache(rig, 4, hit) : 0;
    assert_int_equal(stat(rig, "avf.l1d_bits_ace"), bits * cycles);
    assert_int_equal(stat(rig, "avf.l1d_lines_ace"), cycles);
    assert_int_equal(stat(rig, "avf.l1d_lines_refetched"), cycles);
    assert_int_equal(stat(rig, "avf.l1d_bits_undecided"), 0);
    assert_int_equal(stat(rig, "avf.l1d_lines_undecided"), 0);
    assert_int_equal(stat(rig, "avf.l1d_bits_held"), LINE_BITS * stat(rig, "avf.l1d_lines_held"));
    assert_true(stat(rig, "avf.l1d_lines_held") >= cycles);
    const u64 lines = param(rig, "l1d.sets") * param(rig, "l1d.ways");
    assert_int_equal(stat(rig, "avf.l1d_lines"), lines * stat(rig, "timing.cycles"));
    assert_int_equal(stat(rig, "avf.l1d_bits"), LINE_BITS * stat(rig, "avf.l1d_lines"));
    rig_close(rig);
}

static void lines_of_the_l1(void **state)
{
    /* read once, by the load that fetches it: no time in the cache */
    check_l1(WORDS LOAD("%r1") "st.global.u32 [%p+4096], %r1;", 0, 0);
    /* 4 fetches it, 8 needs it */
    check_l1(WORDS LATER(LOAD("%r1")) LOAD("%r2") "st.global.u32 [%p+4096], %r2;", LINE_BITS, 8);
    /* one byte of each word */
    check_l1(WORDS LATER(LOAD("%r1")) LOAD("%r2") "st.global.u8 [%p+4096], %r2;", LINE_BITS / 4, 8);
    check_l1(WORDS LATER(LOAD("%r1")) " ld.global.u8 %r2, [%a+3]; st.global.u32 [%p+4096], %r2;",
             LINE_BITS / 4, 8);
    /* what 8 loads is dead, through another register */
    check_l1(WORDS LATER(LOAD("%r1")) LOAD("%r2") "mul.lo.u32 %r2, %r2, %r2; "
                                                  "st.global.u32 [%p+4096], %t;",
             0, 0);
    /* 8 is needed, 12 is not */
    check_l1(WORDS LATER(LOAD("%r1")) LATER(LOAD("%r1"))
                 LOAD("%r2") "st.global.u32 [%p+4096], %r1; add.u32 %r2, %r2, 1;",
             LINE_BITS, 8);
    /* in half of the lanes */
    check_l1(WORDS LATER(LOAD("%r1")) " setp.lt.u32 %q0, %t, 16; @%q0 ld.global.u32 %r2, [%a]; "
                                      "@%q0 st.global.u32 [%p+4096], %r2;",
             LINE_BITS / 2, 9);
    /* one word for all lanes; a word that lies across what two lanes read */
    check_l1(WORDS LATER(LOAD("%r1")) " ld.global.u32 %r2, [%p+64]; st.global.u32 [%p+4096], %r2;",
             32, 8);
}

/* Local memory: lanes' words lie side by side, and loads need the sectors that they read. */
static void local_memory(void **state)
{
    static const char *const ends[] = {"add.u32 %r2, %r2, 1;",
                                       "setp.ne.u32 %q1, %r2, 9; @%q1 bra E;\n add.u32 %r5, %t, "
                                       "1;\nE:"};
    for (u32 needed = 0; needed < 2; needed++) {
        char body[512];
        snprintf(body, sizeof body, " .local .align 4 .b8 l[16];\n mov.u64 %%a, l; %s%s%s",
                 LATER("ld.local.u32 %r1, [%a];"), "ld.local.u32 %r2, [%a]; ", ends[needed]);
        struct rig *rig = run(body);
        assert_int_equal(stat(rig, "l1d.read_hits"), 1);
        assert_int_equal(stat(rig, "avf.l1d_bits_ace"), needed * LINE_BITS * in_cache(rig, 3, 7));
        rig_close(rig);
    }
}

/* A store to the line drops it. */
static void stores_evict(void **state)
{
    struct rig *rig = run(WORDS LATER(LOAD("%r1")) LATER(LOAD("%r1")) " st.global.u32 [%a], %r1;");
    assert_int_equal(stat(rig, "avf.l1d_bits_ace"), LINE_BITS * in_cache(rig, 4, 8));
    assert_true(stat(rig, "avf.l1d_lines_held") <
                stat(rig, "timing.cycles") - retired_at(rig, 0, 0, 4));
    rig_close(rig);
}

/* The same loads past the L1: the L2's lines are needed as the loads are. */
static u64 l2_ace(const char *body, const char *name, u64 *late)
{
    struct rig *rig = run_on("gtx480", "icache.perfect=true constant.perfect=true", body, 1, WARP);
    const u64 ace = stat(rig, name);
    assert_int_equal(stat(rig, "avf.l1d_bits_held"), 0);
    assert_int_equal(stat(rig, "avf.l2_bits_undecided"), 0);
    for (u32 i = 0; late && i < 2; i++) /* from each load to the next */
        late[i] = retired_at(rig, 0, 0, 8 + 4 * i) - retired_at(rig, 0, 0, 4 + 4 * i);
    rig_close(rig);
    return ace;
}

#define THREE WORDS LATER(FAR("%r1")) LATER(FAR("%r1")) FAR("%r2")

static void lines_of_the_l2(void **state)
{
    enum {
        NEAR = 30 /* cycles by which the ways of a miss and a hit back to the core may differ */
    };
    u64 later[2];
    /* needed at 12; at 8 only; not at all */
    const char *const bits = "avf.l2_bits_ace", *const tags = "avf.l2_lines_ace";
    const u64 last = l2_ace(
        THREE " setp.ne.u32 %q1, %r2, 9; @%q1 bra E;\n add.u32 %r5, %t, 1;\nE:", bits, later);
    const u64 second =
        l2_ace(THREE " setp.ne.u32 %q1, %r1, 9; @%q1 bra E;\n add.u32 %r5, %t, 1;\nE:", bits, NULL);
    const u64 none = l2_ace(THREE " add.u32 %r2, %r2, %r1;", bits, NULL);
    assert_int_equal(none, 0);
    assert_true(second);
    assert_int_equal(l2_ace(THREE " add.u32 %r2, %r2, %r1;", tags, NULL), 0);
    /* the lowest differing bit decides: it is in the first byte of each word */
    assert_int_equal(last - second, LINE_BITS / 4 * later[1]);
    assert_int_equal(
        l2_ace(THREE " setp.ne.u32 %q1, %r2, 9; @%q1 bra E;\n add.u32 %r5, %t, 1;\nE:", tags,
               NULL) -
            l2_ace(THREE " setp.ne.u32 %q1, %r1, 9; @%q1 bra E;\n add.u32 %r5, %t, 1;\nE:", tags,
                   NULL),
        later[1]);
    assert_true(second / (LINE_BITS / 4) < later[0] + NEAR &&
                second / (LINE_BITS / 4) + NEAR > later[0]);
}

/* What is stored stays in the L2, dirty, until the launch ends and after it. */
static void dirty_lines(void **state)
{
    struct rig *rig = run_on("gtx480", "icache.perfect=true constant.perfect=true",
                             WORDS " st.global.u32 [%a], %t;", 1, WARP);
    const u64 first = stat(rig, "avf.l2_lines_ace");
    assert_true(first > 0 && first < stat(rig, "timing.cycles"));
    assert_int_equal(stat(rig, "avf.l2_bits_ace"), LINE_BITS * first);
    assert_int_equal(stat(rig, "avf.l2_bits_held"), LINE_BITS * first);
    assert_int_equal(stat(rig, "avf.l2_lines_refetched"), 0);
    rig_run(rig, 1, WARP, rig_memory(rig, 1 << 16)); /* another line */
    const u64 cycles = stat(rig, "timing.cycles"), second = stat(rig, "avf.l2_lines_ace");
    assert_true(second > cycles && second < 2 * cycles);
    assert_int_equal(stat(rig, "avf.l2_bits_ace"), LINE_BITS * second);
    rig_close(rig);
}

/* Instructions stay in their cache from launch to launch: in the second one they are there from its
 * begin on. */
static void instructions_stay(void **state)
{
    struct rig *rig = run_on("gtx480", "icache.perfect=false fetch.width=1 fetch.buffer=1",
                             " st.global.u32 [%p], %t;", 1, WARP);
    assert_true(stat(rig, "icache.read_misses") && stat(rig, "avf.icache_lines_ace"));
    rig_run(rig, 1, WARP, rig_memory(rig, 1 << 16));
    assert_int_equal(stat(rig, "icache.read_misses"), 0);
    assert_int_equal(stat(rig, "avf.icache_lines_held"), stat(rig, "timing.cycles"));
    const u64 ace = stat(rig, "avf.icache_lines_ace");
    assert_true(ace && ace <= issued_at(rig, 0, 0, 3));
    assert_int_equal(stat(rig, "avf.icache_bits_ace"), LINE_BITS * ace);
    rig_close(rig);
}

/* Constants: the address of the buffer, which is 8 bytes, is read again after a branch that needs it. */
static void constants(void **state)
{
    struct rig *rig = run_on("gtx480", "constant.perfect=false",
                             " cvt.u32.u64 %r1, %p; setp.eq.u32 %q1, %r1, 9; @%q1 bra E;\n "
                             "ld.param.u64 %a, [p]; st.global.u32 [%a], %t;\nE:",
                             1, WARP);
    assert_int_equal(stat(rig, "constant.read_hits"), 1);
    const u64 lines = stat(rig, "avf.constant_lines_ace");
    assert_true(lines && lines <= stat(rig, "avf.constant_lines_held"));
    assert_true(lines <= issued_at(rig, 0, 0, 6) - issued_at(rig, 0, 0, 0));
    assert_int_equal(stat(rig, "avf.constant_bits_ace"), 64 * lines);
    rig_close(rig);
}

/* ---- requests on their way ---- */

/* A load that misses everywhere (4), and one that hits in the L1 (8) and shows how long an access is on
 * its way to the tags. `bits` of the line are needed. */
static void check_request(const char *body, u64 bits)
{
    struct rig *rig = run_on("gtx480", "icache.perfect=true constant.perfect=true", body, 1, WARP);
    const u64 to_tags = retired_at(rig, 0, 0, 8) - issued_at(rig, 0, 0, 8);
    const u64 filled = retired_at(rig, 0, 0, 4) - FILL_TO_WRITE_BACK;
    const u64 mshr = filled - (issued_at(rig, 0, 0, 4) + to_tags);
    const u64 header = 64, requests = stat(rig, "avf.requests_held") / header;
    const u64 replies = stat(rig, "avf.replies_held") / (header + LINE_BITS);
    const u64 waits = stat(rig, "avf.l2_waits_held");
    assert_int_equal(stat(rig, "avf.mshr_held"), mshr);
    assert_int_equal(stat(rig, "avf.mshr_ace"), bits ? mshr : 0);
    assert_int_equal(stat(rig, "avf.requests_held"), header * requests);
    assert_int_equal(stat(rig, "avf.requests_ace"), bits ? header * requests : 0);
    assert_int_equal(stat(rig, "avf.replies_held"), (header + LINE_BITS) * replies);
    assert_int_equal(stat(rig, "avf.replies_ace"), bits ? (header + bits) * replies : 0);
    assert_int_equal(stat(rig, "avf.l2_waits_ace"), bits ? waits : 0);
    assert_true(requests && replies && waits && requests + replies + waits <= mshr);
    assert_true(mshr - (requests + replies + waits) < 16); /* the queue of the load/store unit */
    assert_int_equal(
        stat(rig, "avf.mshr_all"),
        (param(rig, "l1d.mshrs") + param(rig, "icache.mshrs") + param(rig, "constant.mshrs")) *
            stat(rig, "timing.cycles"));
    rig_close(rig);
}

static void requests(void **state)
{
    /* needed in the first byte of each word; by the second load only, or by the first; not at all */
    check_request(WORDS LATER(LOAD("%r1")) LOAD("%r2") BRANCH("%r2"), LINE_BITS / 4);
    check_request(WORDS LATER(LOAD("%r1")) LOAD("%r2") BRANCH("%r1"), LINE_BITS / 4);
    check_request(WORDS LATER(LOAD("%r1")) LOAD("%r2") "add.u32 %r2, %r2, %r1;", 0);
}

/* A load of two lines, of which only the lanes of the second one are needed. */
static void one_of_two_lines(void **state)
{
    struct rig *rig =
        run_on("gtx480", "icache.perfect=true constant.perfect=true",
               " mul.wide.u32 %a, %t, 8; add.u64 %a, %a, %p; setp.ge.u32 %q0, %t, 16; "
               "ld.global.u32 %r1, [%a]; @!%q0 mov.u32 %r1, 5; setp.eq.u32 %q1, %r1, "
               "9; @%q1 bra E;\n st.global.u32 [%p], %t;\nE:",
               1, WARP);
    assert_int_equal(stat(rig, "l1d.read_misses"), 2);
    const u64 waits = stat(rig, "avf.l2_waits_ace"), mshrs = stat(rig, "avf.mshr_ace");
    assert_true(waits && 3 * waits < 2 * stat(rig, "avf.l2_waits_held"));
    assert_true(mshrs && 3 * mshrs < 2 * stat(rig, "avf.mshr_held"));
    assert_true(stat(rig, "avf.replies_ace") < stat(rig, "avf.replies_held"));
    rig_close(rig);
}

/* Stores are needed: their data there, and that they are acknowledged. */
static void stores_on_their_way(void **state)
{
    struct rig *rig = run_on("gtx480", "icache.perfect=true constant.perfect=true",
                             WORDS " st.global.u32 [%a], %t;", 1, WARP);
    assert_int_equal(stat(rig, "avf.mshr_held"), 0);
    assert_int_equal(stat(rig, "avf.requests_ace"), stat(rig, "avf.requests_held"));
    assert_int_equal(stat(rig, "avf.requests_held") % (64 + LINE_BITS), 0);
    assert_int_equal(stat(rig, "avf.replies_ace"), stat(rig, "avf.replies_held"));
    assert_int_equal(stat(rig, "avf.replies_held") % 64, 0);
    assert_true(stat(rig, "avf.requests_held") && stat(rig, "avf.replies_held"));
    rig_close(rig);
}

/* ---- before the units ---- */

/* Operands: bits of registers that an instruction needs. Without conflicts, a collector has them for
 * one cycle: they are read in one, and it is left in the next. */
static void collectors(void **state)
{
    struct rig *rig = run(" and.b32 %r1, %t, 255; add.u32 %r2, %t, 9; st.global.u8 [%p], %r1;");
    /* and: 8 bits of %t; add is dead; st: 64 bits of the address, 8 of the data */
    const u64 used = stat(rig, "avf.collector_held"), ace = stat(rig, "avf.collector_ace");
    assert_int_equal(used % (5 * WORD), 0); /* registers: 1, 1 and 3 */
    const u64 cycles = used / (5 * WORD);
    assert_int_equal(cycles, 1);
    assert_int_equal(ace, cycles * WARP * (8 + 64 + 8));
    assert_int_equal(stat(rig, "avf.collector_undecided"), 0);
    const u64 count = param(rig, "collect.sp") + param(rig, "collect.sfu") +
                      param(rig, "collect.memory") + param(rig, "collect.fp64");
    assert_int_equal(stat(rig, "avf.collector_all"), count * 3 * WORD * stat(rig, "timing.cycles"));
    rig_close(rig);
}

/* Cycles for which dead instructions were in the buffer: 18 of 64 bits are left of them. There is one
 * entry for each warp, so an instruction arrives a fixed time after the one before it has issued;
 * `*gap` is what these instructions waited since then. */
static u64 dead_in_buffer(const char *body, u32 first, u64 *gap)
{
    struct rig *rig = run_on("gtx480", "fetch.buffer=1 fetch.width=1", body, 1, WARP);
    const u64 less = stat(rig, "avf.buffer_held") - stat(rig, "avf.buffer_ace");
    assert_int_equal(less % (64 - 18), 0);
    assert_int_equal(stat(rig, "avf.dead_instructions"), 4 - first);
    assert_int_equal(stat(rig, "avf.buffer_undecided"), 0);
    assert_int_equal(stat(rig, "avf.buffer_all"),
                     param(rig, "core.warps") * 64 * stat(rig, "timing.cycles"));
    *gap = issued_at(rig, 0, 0, 3) - issued_at(rig, 0, 0, first - 1);
    rig_close(rig);
    return less / (64 - 18);
}

static void instruction_buffers(void **state)
{
    u64 two, one, none;
    const u64 both = dead_in_buffer(" add.u32 %r1, %t, 7; mul.lo.u32 %r2, %r1, %r1; "
                                    "st.global.u32 [%p], %t;",
                                    2, &two);
    const u64 last = dead_in_buffer(" add.u32 %r1, %t, 7; mul.lo.u32 %r2, %r1, %r1; "
                                    "st.global.u32 [%p], %r1;",
                                    3, &one);
    assert_int_equal(dead_in_buffer(" add.u32 %r1, %t, 7; mul.lo.u32 %r2, %r1, %r1; "
                                    "st.global.u32 [%p], %r2;",
                                    4, &none),
                     0);
    assert_true(last && one > last);
    assert_int_equal(two - both, 2 * (one - last)); /* the time of a fetch, twice */
}

/* What is fetched behind a branch that is taken is flushed. */
static void flushed_instructions(void **state)
{
    struct rig *rig = run_on("gtx480", "fetch.buffer=4 fetch.width=4 fetch.branch=continue",
                             " setp.lt.u32 %q0, %t, 64; @%q0 bra E;\n st.global.u32 [%p], %t; "
                             "st.global.u32 [%p+128], %t;\nE:",
                             1, WARP);
    assert_true(stat(rig, "fetch.flushed") > 0);
    assert_int_equal(stat(rig, "avf.instructions"), 5);
    assert_int_equal(stat(rig, "avf.dead_instructions"), 1); /* the address */
    u64 issued = 0; /* no instruction that was flushed: those that issue were here at the begin */
    for (u32 i = 0; i < 5; i++)
        issued += issued_at(rig, 0, 0, i);
    assert_true(stat(rig, "avf.buffer_held") <= 64 * issued);
    assert_true(stat(rig, "avf.buffer_held") > stat(rig, "avf.buffer_ace"));
    rig_close(rig);
}

/* PC and active lanes, up to the last instruction: it is needed in all lanes. Returns the time from the
 * start of the warp to the first instruction. */
static u64 check_control(const char *body, u32 last)
{
    struct rig *rig = run(body);
    const u64 pc = stat(rig, "avf.pc_ace"), cycles = stat(rig, "timing.cycles");
    assert_true(pc && pc <= stat(rig, "avf.pc_held") && stat(rig, "avf.pc_held") <= cycles);
    assert_int_equal(stat(rig, "avf.mask_ace"), WARP * pc);
    assert_int_equal(stat(rig, "avf.mask_held"), WARP * stat(rig, "avf.pc_held"));
    assert_int_equal(stat(rig, "avf.stack_ace"), pc); /* the entry of all lanes */
    assert_int_equal(stat(rig, "avf.pc_all"), param(rig, "core.warps") * cycles);
    assert_int_equal(stat(rig, "avf.mask_all"), WARP * param(rig, "core.warps") * cycles);
    assert_int_equal(stat(rig, "avf.stack_all"), WARP * param(rig, "core.warps") * cycles);
    const u64 before = pc - (issued_at(rig, 0, 0, last) - issued_at(rig, 0, 0, 0));
    rig_close(rig);
    return before;
}

static void control(void **state)
{
    const u64 before = check_control(" add.u32 %r1, %t, 7; st.global.u32 [%p], %r1;", 4);
    assert_int_equal(before, check_control(" mul.lo.u32 %r1, %t, %t; mul.lo.u32 %r1, %r1, %r1; "
                                           "st.global.u32 [%p], %r1;",
                                           5));
}

/* Between a branch and the reconvergence point, the other path and the point itself wait. The lanes that
 * run have an entry all the time. */
static void divergence_stack(void **state)
{
    struct rig *rig = run(" setp.lt.u32 %q0, %t, 8; @%q0 bra A;\n add.u32 %r1, %t, 3; bra.uni E;\n"
                          "A: add.u32 %r1, %t, 4;\nE: st.global.u32 [%p], %r1;");
    /* 3: the branch; 4 and 5: one path, 6: the other, which finds the first one's entry gone; 7: the
     * store */
    assert_int_equal(stat(rig, "avf.instructions"), 9);
    const u64 first = issued_at(rig, 0, 0, 6) - issued_at(rig, 0, 0, 3);
    const u64 second = issued_at(rig, 0, 0, 7) - issued_at(rig, 0, 0, 6);
    assert_int_equal(stat(rig, "avf.stack_ace"), stat(rig, "avf.pc_ace") + 2 * first + second);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logic_masks_bits),
        cmocka_unit_test(needed_in_parts),
        cmocka_unit_test(shifts_and_narrow_stores),
        cmocka_unit_test(dead_values),
        cmocka_unit_test(a_loop_that_is_dead),
        cmocka_unit_test(comparisons_and_guards),
        cmocka_unit_test(divergence),
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(blocks_and_launches),
        cmocka_unit_test(slots_that_change_hands),
        cmocka_unit_test(reads_count_at_the_banks),
        cmocka_unit_test(lines_of_the_l1),
        cmocka_unit_test(local_memory),
        cmocka_unit_test(stores_evict),
        cmocka_unit_test(lines_of_the_l2),
        cmocka_unit_test(dirty_lines),
        cmocka_unit_test(instructions_stay),
        cmocka_unit_test(constants),
        cmocka_unit_test(requests),
        cmocka_unit_test(one_of_two_lines),
        cmocka_unit_test(stores_on_their_way),
        cmocka_unit_test(collectors),
        cmocka_unit_test(instruction_buffers),
        cmocka_unit_test(flushed_instructions),
        cmocka_unit_test(control),
        cmocka_unit_test(divergence_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
