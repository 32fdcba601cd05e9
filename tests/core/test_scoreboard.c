/*
 * Which bits of the scoreboard instructions look at, and what a warp waits for: results being
 * computed, writes, memory, registers far from the first words, and free regions.
 */
#include "rig.h"

#include "core/common/slots.h"
#include "ir/scalars.h"

#include <stdio.h>

enum {
    SLOT = 5,
    BASE = RIG_REGISTERS, /* of scalars and masks: behind all vector registers */
};

/* Bits of a word that an instruction looks at: those it writes, or those it reads. */
static u64 bits_of(const struct inst_time *time, u32 word, bool written)
{
    u64 bits = 0;
    for (u32 i = written ? 0 : time->write_count;
         i < (written ? time->write_count : time->dependence_count); i++)
        bits |= time->dependences[i].word == word ? time->dependences[i].bits : 0;
    return bits;
}
static bool writes(const struct inst_time *time, u32 at)
{
    return bits_of(time, at / 64, true) >> at % 64 & 1;
}
static bool reads(const struct inst_time *time, u32 at)
{
    return bits_of(time, at / 64, false) >> at % 64 & 1;
}
static u32 bits_in_all(const struct inst_time *time, bool written)
{
    u32 count = 0;
    for (u32 i = written ? 0 : time->write_count;
         i < (written ? time->write_count : time->dependence_count); i++)
        count += (u32)__builtin_popcountll(time->dependences[i].bits);
    return count;
}

/* ---- what instructions look at ---- */

static void operands(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", "");
    rig.insts[0] = (struct inst){.op = OP_fma_f32,
                                 .dst = {vector(3, 1)},
                                 .src = {vector(63, 1), vector(64, 1), vector(3, 1)},
                                 .guard = mask(2)};
    rig.insts[1] = (struct inst){
        .op = OP_add_f64, .dst = {vector(62, 2)}, .src = {vector(126, 2), vector(0, 2)}};
    rig_begin(&rig, false);
    const struct inst_time *fma = &rig.times[0], *add = &rig.times[1];
    assert_int_equal(bits_in_all(fma, true), 1);
    assert_true(writes(fma, 3));
    assert_int_equal(bits_in_all(fma, false), 4);
    assert_true(reads(fma, 63) && reads(fma, 64) && reads(fma, 3) && reads(fma, BASE + 2));
    assert_true(fma->plain && !fma->far_writes);
    assert_int_equal(fma->region_count, 1);
    /* the same in the form that is quick to check */
    for (u32 w = 0; w < NEAR_WORDS; w++) {
        assert_int_equal(fma->near_writes[w], bits_of(fma, w, true));
        assert_int_equal(fma->near_reads[w], bits_of(fma, w, false));
        assert_int_equal(fma->near[w], fma->near_reads[w] | fma->near_writes[w]);
    }
    assert_int_equal(bits_in_all(add, true), 2);
    assert_true(writes(add, 62) && writes(add, 63));
    assert_int_equal(bits_in_all(add, false), 4);
    assert_true(reads(add, 126) && reads(add, 127) && reads(add, 0) && reads(add, 1));
    rig_close(&rig);
}

/* Code with EXEC: it is read by every instruction, masks are pairs of scalars, and the flags that
 * are made when read stand for what they are made of. */
static void implied_exec(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic64", "");
    rig.insts[0] = (struct inst){.op = OP_mov_b32, .dst = {vector(0, 1)}, .src = {vector(1, 1)}};
    rig.insts[1] = (struct inst){.op = OP_addc_b32,
                                 .dst = {vector(0, 1), mask(MASK_VCC)},
                                 .src = {vector(1, 1), vector(2, 1), mask(4)}};
    rig.insts[2] = (struct inst){.op = OP_bra_if, .src = {scalar(SCALAR_VCCZ, 1)}};
    rig.insts[3] = (struct inst){.op = OP_bra_if, .src = {scalar(SCALAR_EXECZ, 1)}};
    rig.insts[4] = (struct inst){.op = OP_sand_saveexec,
                                 .mods = MOD_EXEC,
                                 .dst = {scalar(10, 2), scalar(SCALAR_SCC, 1)},
                                 .src = {scalar(20, 2), scalar(SCALAR_EXEC, 2)}};
    rig.insts[5] = (struct inst){.op = OP_mul_f32,
                                 .mods = MOD_MODE,
                                 .dst = {vector(0, 1)},
                                 .src = {vector(1, 1), vector(2, 1)}};
    rig_begin(&rig, true);
    const struct inst_time *t = rig.times;
    for (u32 i = 0; i <= 5; i++)
        assert_true(reads(&t[i], BASE + SCALAR_EXEC) && reads(&t[i], BASE + SCALAR_EXEC + 1));
    assert_int_equal(bits_in_all(&t[0], false), 3);
    assert_false(writes(&t[0], BASE + SCALAR_EXEC));
    assert_true(writes(&t[1], BASE + SCALAR_VCC) && writes(&t[1], BASE + SCALAR_VCC + 1));
    assert_true(reads(&t[1], BASE + 8) && reads(&t[1], BASE + 9));
    assert_int_equal(bits_in_all(&t[1], true), 3);
    assert_true(reads(&t[2], BASE + SCALAR_VCC) && reads(&t[2], BASE + SCALAR_VCC + 1));
    assert_int_equal(bits_in_all(&t[2], false), 4);
    assert_int_equal(bits_in_all(&t[3], false), 2);
    assert_true(writes(&t[4], BASE + SCALAR_EXEC) && writes(&t[4], BASE + SCALAR_EXEC + 1));
    assert_true(writes(&t[4], BASE + SCALAR_SCC) && writes(&t[4], BASE + 10));
    assert_int_equal(t[4].region_count, 3);
    assert_true(reads(&t[5], BASE + SCALAR_MODE));
    assert_false(reads(&t[0], BASE + SCALAR_MODE));
    rig_close(&rig);
}

/* What a pipeline may add by time_registers: SCC, and VCC and EXEC as wholes. */
static void implied_others(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic64", "");
    const struct inst half = {
        .op = OP_smov_b32, .dst = {scalar(SCALAR_VCC + 1, 1)}, .src = {scalar(SCALAR_EXEC, 1)}};
    rig.program.traits.explicit_exec = true;
    const struct timed_code code = {&rig.program, &rig.machine, BASE};
    struct inst_time time = {0};
    time_registers(&time, &code, &half, (struct implied){0});
    assert_int_equal(bits_in_all(&time, true), 1);
    assert_int_equal(bits_in_all(&time, false), 1);
    time = (struct inst_time){0};
    time_registers(&time, &code, &half, (struct implied){.reads_scc = true, .writes_scc = true});
    assert_true(reads(&time, BASE + SCALAR_SCC) && writes(&time, BASE + SCALAR_SCC));
    time = (struct inst_time){0};
    time_registers(&time, &code, &half, (struct implied){.whole_masks = true});
    assert_true(writes(&time, BASE + SCALAR_VCC) && writes(&time, BASE + SCALAR_VCC + 1));
    assert_true(reads(&time, BASE + SCALAR_EXEC) && reads(&time, BASE + SCALAR_EXEC + 1));
    assert_int_equal(bits_in_all(&time, true), 2);
    assert_int_equal(bits_in_all(&time, false), 2);
    rig_close(&rig);
}

/* A register that M0 names: all from the one named on, and the instruction runs alone. */
static void open_range(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic64", "");
    rig.insts[0] = (struct inst){
        .op = OP_movrel_dst, .dst = {vector(120, 1)}, .src = {vector(1, 1), scalar(SCALAR_M0, 1)}};
    rig_begin(&rig, true);
    const struct inst_time *time = &rig.times[0];
    assert_true(time->flags & TIME_DRAIN);
    assert_false(time->plain);
    assert_int_equal(bits_in_all(time, true), RIG_REGISTERS - 120);
    assert_true(writes(time, 120) && writes(time, RIG_REGISTERS - 1) && !writes(time, 119));
    assert_true(reads(time, BASE + SCALAR_M0) && reads(time, 1));
    rig_close(&rig);
}

/* ---- reserve, check, release ---- */

/* By the words of the scoreboard and, where these are all near, in the form that is quick to check.
 */
static void assert_stall(struct rig *rig, const struct inst_time *time, enum stall expected)
{
    const struct slot *slot = &rig->core->slots[SLOT];
    assert_int_equal(scoreboard_check(rig->core, slot, time), expected);
    if (time->flags & TIME_NEAR)
        assert_int_equal(slot_check_plain(rig->core, slot, time), expected);
}
static void reserve(struct rig *rig, const struct inst_time *time)
{
    scoreboard_reserve(rig->core, &rig->core->slots[SLOT], time);
}
static void release(struct rig *rig, const struct inst_time *time)
{
    scoreboard_release(rig->core, &rig->core->slots[SLOT], time);
}
static void assert_empty(struct rig *rig)
{
    const struct slot *slot = &rig->core->slots[SLOT];
    for (u32 w = 0; w < 2 * rig->core->issue.scoreboard_words; w++)
        assert_int_equal(slot->pending[w], 0);
    assert_int_equal(slot->region_count, 0);
}

/* A writer of `written`, readers of that and of the one behind it, another writer of each. */
static void fill(struct rig *rig, enum op writer, u32 written)
{
    rig->insts[0] = (struct inst){.op = (u16)writer,
                                  .space = SPACE_GLOBAL,
                                  .type = TYPE_B32,
                                  .vector = 1,
                                  .dst = {vector(written, 1)},
                                  .src = {vector(0, 1)}};
    rig->insts[1] =
        (struct inst){.op = OP_mov_b32, .dst = {vector(1, 1)}, .src = {vector(written, 1)}};
    rig->insts[2] =
        (struct inst){.op = OP_mov_b32, .dst = {vector(written, 1)}, .src = {vector(1, 1)}};
    rig->insts[3] = (struct inst){
        .op = OP_mov_b32, .dst = {vector(written + 1, 1)}, .src = {vector(written + 1, 1)}};
    rig->insts[4] =
        (struct inst){.op = OP_mov_b32, .dst = {vector(written, 1)}, .src = {vector(written, 1)}};
}

/* Near registers and far ones: the first and the last of a word, on both sides of the border. */
static void dependences(void **state)
{
    const u32 registers[] = {
        2, 62, 63, 64, 126, NEAR_WORDS * 64 - 2, NEAR_WORDS * 64 - 1, NEAR_WORDS * 64, 250};
    for (u32 i = 0; i < ARRAY_LEN(registers); i++) {
        struct rig rig;
        rig_open(&rig, "generic", "");
        rig.kernel.total_registers = 256;
        fill(&rig, OP_mov_b32, registers[i]);
        rig_begin(&rig, false);
        const struct inst_time *t = rig.times;
        assert_int_equal(t[0].far_writes, registers[i] >= NEAR_WORDS * 64);
        assert_int_equal(t[0].plain, registers[i] < NEAR_WORDS * 64);
        for (u32 k = 0; k <= 4; k++)
            assert_stall(&rig, &t[k], STALL_NONE);
        reserve(&rig, &t[0]);
        assert_stall(&rig, &t[1], STALL_RAW);
        assert_stall(&rig, &t[2], STALL_WAW);
        assert_stall(&rig, &t[3], STALL_NONE);
        assert_stall(&rig, &t[4], STALL_RAW); /* of both, the read is named */
        assert_int_equal(scoreboard_check(rig.core, &rig.core->slots[SLOT + 1], &t[1]), STALL_NONE);
        assert_int_equal(scoreboard_check(rig.core, &rig.core->slots[SLOT - 1], &t[1]), STALL_NONE);
        assert_false(core_registers_ready(rig.core, SLOT, 1));
        assert_true(core_registers_ready(rig.core, SLOT, 3));
        release(&rig, &t[0]);
        for (u32 k = 0; k <= 4; k++)
            assert_stall(&rig, &t[k], STALL_NONE);
        assert_empty(&rig);
        rig_close(&rig);
    }
}

/* Whoever looks at the result of a load waits for memory, until it is written. */
static void memory(void **state)
{
    const u32 registers[] = {2, 130, 200};
    for (u32 i = 0; i < ARRAY_LEN(registers); i++) {
        struct rig rig;
        rig_open(&rig, "generic", "");
        rig.kernel.total_registers = 256;
        fill(&rig, OP_ld, registers[i]);
        rig_begin(&rig, false);
        const struct inst_time *t = rig.times;
        assert_true(t[0].flags & TIME_LOAD);
        reserve(&rig, &t[0]);
        assert_stall(&rig, &t[1], STALL_MEMORY);
        assert_stall(&rig, &t[2], STALL_MEMORY);
        assert_stall(&rig, &t[3], STALL_NONE);
        reserve(&rig, &t[3]); /* another result under way changes nothing */
        assert_stall(&rig, &t[1], STALL_MEMORY);
        release(&rig, &t[3]);
        release(&rig, &t[0]);
        assert_stall(&rig, &t[1], STALL_NONE);
        assert_empty(&rig);
        rig_close(&rig);
    }
}

/* With regions, a warp waits while fewer are free than its next instruction needs: n - 1 of n are
 * in use and one more fits, n and none does. */
static void regions(void **state)
{
    for (u32 wanted = 2; wanted <= 6; wanted += 2) {
        struct rig rig;
        char settings[80];
        snprintf(settings, sizeof settings, "issue.scoreboard=regions issue.regions=%u", wanted);
        rig_open(&rig, "generic", settings);
        const u32 n = rig.machine.issue->regions;
        for (u32 i = 0; i <= n; i++)
            rig.insts[i] =
                (struct inst){.op = OP_mov_b32, .dst = {vector(10 + i, 1)}, .src = {vector(0, 1)}};
        rig.insts[n + 1] = (struct inst){
            .op = OP_unpack_b64, .dst = {vector(40, 1), vector(41, 1)}, .src = {vector(2, 2)}};
        rig.insts[n + 2] = (struct inst){.op = OP_st,
                                         .space = SPACE_GLOBAL,
                                         .type = TYPE_B32,
                                         .vector = 1,
                                         .src = {vector(2, 2), vector(4, 1)}};
        rig_begin(&rig, false);
        const struct inst_time *t = rig.times, *two = &t[n + 1], *none = &t[n + 2];
        assert_int_equal(two->region_count, 2);
        assert_int_equal(none->region_count, 0);
        assert_false(t[0].plain);
        for (u32 i = 0; i < n; i++) {
            assert_stall(&rig, &t[n], STALL_NONE);
            assert_stall(&rig, two, i + 2 <= n ? STALL_NONE : STALL_WAW);
            reserve(&rig, &t[i]);
            assert_int_equal(rig.core->slots[SLOT].region_count, i + 1);
        }
        assert_stall(&rig, &t[n], STALL_WAW);
        assert_stall(&rig, none, STALL_NONE);
        release(&rig, &t[0]);
        assert_stall(&rig, &t[n], STALL_NONE);
        for (u32 i = 1; i < n; i++)
            release(&rig, &t[i]);
        assert_empty(&rig);
        rig_close(&rig);
    }
}

/* An instruction that writes more regions than there are issues alone, rather than never. */
static void more_than_all_regions(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic", "issue.scoreboard=regions issue.regions=1");
    rig.insts[0] = (struct inst){
        .op = OP_unpack_b64, .dst = {vector(40, 1), vector(41, 1)}, .src = {vector(2, 2)}};
    rig.insts[1] = (struct inst){.op = OP_mov_b32, .dst = {vector(10, 1)}, .src = {vector(0, 1)}};
    rig_begin(&rig, false);
    assert_stall(&rig, &rig.times[0], STALL_NONE);
    reserve(&rig, &rig.times[1]);
    assert_stall(&rig, &rig.times[0], STALL_WAW);
    rig_close(&rig);
}

/* A scoreboard of the core has room for all that instructions name: scalars begin a word, masks
 * follow the vector registers. */
static void bits(void **state)
{
    struct rig rig;
    rig_open(&rig, "generic64", "");
    rig.program.traits.explicit_exec = true;
    for (u32 registers = 1; registers <= 257; registers += 64) { /* n + 1 of 64 n */
        rig.kernel.total_registers = registers;
        assert_int_equal(time_scoreboard_bits(&rig.program, &rig.kernel),
                         (registers + 63) / 64 * 64 + SCALAR_COUNT);
    }
    rig.program.traits.explicit_exec = false;
    rig.kernel.total_registers = 63;
    rig.kernel.total_masks = 0;
    assert_int_equal(time_scoreboard_bits(&rig.program, &rig.kernel), 64);
    rig.kernel.total_registers = 256;
    rig.kernel.total_masks = 65;
    assert_int_equal(time_scoreboard_bits(&rig.program, &rig.kernel), 321);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands),       cmocka_unit_test(implied_exec),
        cmocka_unit_test(implied_others), cmocka_unit_test(open_range),
        cmocka_unit_test(dependences),    cmocka_unit_test(memory),
        cmocka_unit_test(regions),        cmocka_unit_test(more_than_all_regions),
        cmocka_unit_test(bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
