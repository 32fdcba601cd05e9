/*
 * Register files with slow parts: which rows are slow on chips made by hand, what an access to one
 * costs to the cycle, where registers go, and counts by hand.
 */
#include "gpu/device.h"
#include "make.h"
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* after stdarg.h */
#include <cmocka.h>

enum {
    BANKS = 16, /* of fermi15, */
    ENTRIES = 64,
    MORE = 32 /* instructions of a chain */
};

/* ---- chips ---- */

/* Words that are slow: those of a range of entries and words in the banks of a set. */
struct slow_part {
    u64 banks;
    u32 first_entry, last_entry, first_word, last_word;
    u16 delay; /* 0: 24576, one and a half times the nominal one */
    u32 cores; /* only on these, bits; 0: all */
};
struct slow_parts {
    struct slow_part list[4];
};

static u16 delay_of(void *user, u32 core, u32 bank, u32 entry, u32 word)
{
    const struct slow_parts *parts = user;
    for (u32 i = 0; i < ARRAY_LEN(parts->list); i++) {
        const struct slow_part *p = &parts->list[i];
        if (p->banks >> bank & 1 && entry >= p->first_entry && entry <= p->last_entry &&
            word >= p->first_word && word <= p->last_word && (!p->cores || p->cores >> core & 1))
            return p->delay ? p->delay : 24576;
    }
    return DELAY_ONE;
}

/* A bank's left half, right half, or all of it. */
#define LEFT(set)                        \
    {                                    \
        set, 0, ENTRIES - 1, 0, 15, 0, 0 \
    }
#define RIGHT(set)                        \
    {                                     \
        set, 0, ENTRIES - 1, 16, 31, 0, 0 \
    }
#define WHOLE(set)                       \
    {                                    \
        set, 0, ENTRIES - 1, 0, 31, 0, 0 \
    }
#define ROW(bank, entry)                          \
    {                                             \
        1ull << (bank), entry, entry, 0, 31, 0, 0 \
    }

/* ---- programs ---- */

struct seen {
    json_t *totals;
    u64 picoseconds;
    u32 result[64];
};

static u64 total(const struct seen *seen, const char *name)
{
    const json_t *value = json_object_get(seen->totals, name);
    if (!value)
        fail_msg("no statistic %s", name);
    return json_is_integer(value) ? (u64)json_integer_value(value) : 0;
}
static u64 counted(const struct seen *seen, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, "variable_latency.%s", name);
    return total(seen, whole);
}

static struct hd_device *open_device(const char *mechanism, const struct slow_parts *parts,
                                     const char *const *settings)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, "fermi15", &error));
    for (; settings && *settings; settings++)
        assert_true(hd_config_set(config, *settings, &error));
    if (mechanism && !hd_config_mechanism(config, mechanism, &error))
        fail_msg("%s", error.message);
    make_chip(config, delay_of, (void *)parts);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("%s", error.message);
    hd_config_destroy(config);
    return device;
}

static void drop(struct seen *seen)
{
    json_decref(seen->totals);
}

static const char *const one_core[] = {"gpu.cores=1", "icache.perfect=true", NULL};

static struct seen run(const char *code, u32 blocks, u32 threads, const char *mechanism,
                       const struct slow_parts *parts, const char *const *settings)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct seen seen;
    struct hd_device *device = open_device(mechanism, parts, settings ? settings : one_core);
    struct hd_module *module = hd_module_load(device, code, strlen(code), "k.ptx", &error);
    if (!module)
        fail_msg("%s", error.message);
    hd_address memory = hd_alloc(device, 16384, &error);
    const u32 seven = 7;
    assert_true(hd_write(device, memory, &seven, sizeof seven, &error));
    struct hd_arg arg = {&memory, sizeof memory};
    assert_true(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){blocks, 1, 1},
                          (struct hd_dim){threads, 1, 1}, 0, &arg, 1, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    seen.picoseconds = result.picoseconds;
    assert_true(hd_read(device, seen.result, memory, sizeof seen.result, &error));
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL);
    seen.totals = json_incref(json_object_get(all, "totals"));
    json_decref(all);
    hd_free(text);
    hd_device_close(device);
    return seen;
}

#define HEADER ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n"

/* A chain: each instruction reads the result of the one before, y, and two other registers. */
static char *chain(const char *form, u32 count)
{
    char *code = NULL;
    size_t length;
    FILE *out = open_memstream(&code, &length);
    fputs(HEADER "{\n.reg .u64 %a;\n.reg .u32 %x, %y, %z;\nld.param.u64 %a, [p];\n"
                 "ld.global.u32 %x, [%a];\nld.global.u32 %z, [%a+4];\nadd.u32 %y, %x, %z;\n",
          out);
    for (u32 i = 0; i < count; i++)
        fprintf(out, "%s\n", form);
    fputs("add.u32 %y, %y, %z;\nadd.u32 %y, %y, %x;\nst.global.u32 [%a], %y;\nret;\n}\n", out);
    fclose(out);
    return code;
}

/* Cycles of one of the chain's instructions on a chip, times MORE. */
static u64 chain_cycles(const char *form, const char *mechanism, const struct slow_parts *parts)
{
    u64 cycles[2];
    for (u32 i = 0; i < 2; i++) {
        char *code = chain(form, (i + 1) * MORE);
        struct seen seen = run(code, 1, 32, mechanism, parts, NULL);
        cycles[i] = total(&seen, "timing.cycles");
        /* a read of two cycles waits for a cycle, and nothing else does */
        assert_int_equal(total(&seen, "collect.conflicts"), counted(&seen, "slow_reads"));
        drop(&seen);
        free(code);
    }
    return cycles[1] - cycles[0];
}

/* The registers of the first instruction with this op: destination and three sources. */
static void find_registers(const char *code, enum op op, u32 *regs)
{
    struct hd_error error = {0};
    struct slow_parts none = {0};
    struct hd_device *device = open_device(NULL, &none, one_core);
    struct hd_module *module = hd_module_load(device, code, strlen(code), "k.ptx", &error);
    assert_non_null(module);
    const struct program *program = module->program;
    for (u32 i = 0; i < program->inst_count; i++) {
        const struct inst *inst = &program->insts[i];
        if (inst->op != op)
            continue;
        regs[0] = inst->dst[0].index;
        for (u32 k = 0; k < 3; k++)
            regs[1 + k] = inst->src[k].index;
        hd_device_close(device);
        return;
    }
    fail_msg("no such instruction");
}

/* ---- time ---- */

static const char mad[] = "mad.lo.u32 %y, %x, %z, %y;";

/* The three registers that the chain reads, which are in three banks; it writes the last one. */
static void chain_registers(u32 *regs)
{
    char *code = chain(mad, 1);
    u32 all[4];
    find_registers(code, OP_mad_lo_b32, all);
    memcpy(regs, all + 1, 3 * sizeof *regs);
    assert_true(regs[0] != regs[1] && regs[1] != regs[2] && all[0] == regs[2]);
    assert_true(regs[0] < BANKS && regs[1] < BANKS && regs[2] < BANKS);
    free(code);
}

/* An instruction with slow operands, in different banks, collects them one cycle later, however many
 * they are; the result's slow write is over before the next instruction reads it. */
static void slow_accesses_take_two_cycles(void **state)
{
    u32 regs[3];
    struct slow_parts none = {0};
    chain_registers(regs);
    const u64 fast = chain_cycles(mad, "variable_latency:parts=file", &none);
    for (u32 set = 0; set < 8; set++) {
        u64 banks = 0;
        u32 count = 0;
        for (u32 i = 0; i < 3; i++)
            if (set >> i & 1) {
                banks |= 1ull << regs[i];
                count++;
            }
        char halves[80];
        struct slow_parts parts = {{LEFT(banks)}};
        const u64 expected = fast + MORE * (count ? 1 : 0);
        snprintf(halves, sizeof halves, "variable_latency:parts=sub_bank,reorganise=false,fast=%u",
                 100 * (32 - count) / 32 + (count > 0));
        assert_int_equal(chain_cycles(mad, halves, &parts), expected);
        assert_int_equal(chain_cycles(mad, "variable_latency:parts=register,fast=60", &parts),
                         expected);
    }
}

/* The chain's registers are in entry 0 of their banks. */
static void a_single_slow_row(void **state)
{
    static const char mechanism[] = "variable_latency:parts=register,fast=90";
    u32 regs[3];
    chain_registers(regs);
    struct slow_parts none = {0};
    const u64 fast = chain_cycles(mad, mechanism, &none);
    const struct {
        u32 bank, entry;
        bool slow;
    } rows[] = {
        {regs[0], 0, true},
        {regs[1], 0, true},
        {regs[2], 0, true},
        {regs[0], 1, false},
        {regs[2], 1, false},
        {regs[2], 63, false},
        {(regs[2] + 5) % BANKS, 0, false},
    };
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct slow_parts parts = {{ROW(rows[i].bank, rows[i].entry)}};
        assert_int_equal(chain_cycles(mad, mechanism, &parts), fast + (rows[i].slow ? MORE : 0));
        /* a single word of it is enough */
        parts.list[0].first_word = parts.list[0].last_word = 31;
        assert_int_equal(chain_cycles(mad, mechanism, &parts), fast + (rows[i].slow ? MORE : 0));
    }
}

/* ---- places ---- */

/* A kernel in which `count` values are live at once. */
static char *wide(u32 count)
{
    char *code = NULL;
    size_t length;
    FILE *out = open_memstream(&code, &length);
    fprintf(out, HEADER "{\n.reg .u64 %%a;\n.reg .u32 %%r<%u>;\nld.param.u64 %%a, [p];\n", count);
    for (u32 i = 0; i < count; i++)
        fprintf(out, "ld.global.u32 %%r%u, [%%a+%u];\n", i, 4 * i);
    for (u32 i = 1; i < count; i++)
        fprintf(out, "add.u32 %%r0, %%r0, %%r%u;\n", i);
    fputs("st.global.u32 [%a+512], %r0;\nret;\n}\n", out);
    fclose(out);
    return code;
}

/* Rows of 4 warps, in slots 0 to 3, whose bank is in a set. */
static u64 expected_slow(u32 registers, u64 banks)
{
    u64 count = 0;
    for (u32 slot = 0; slot < 4; slot++)
        for (u32 reg = 0; reg < registers; reg++)
            count += banks >> (slot + reg) % BANKS & 1;
    return count;
}

/* Ten banks with a slow half: without the table these are slow, with it the last five. Of four
 * sub-banks each, the same halves are twenty of 64, which make five banks again. */
static void banks_by_hand(void **state)
{
    static const struct {
        const char *mechanism;
        u64 slow;
    } rows[] = {
        {"variable_latency:reorganise=false", 0x3ff},
        {"variable_latency", 0xf800},
        {"variable_latency:sub_banks=4,fast=69", 0xf800},
        {"variable_latency:sub_banks=1,fast=38", 0xffc0}, /* whole banks: 6 are fast, the first */
        {"variable_latency:parts=file", 0},
        {"variable_latency:parts=register,fast=60", 0x3ff},
        {"variable_latency:parts=array,reorganise=false,fast=38", 0x3ff},
        {"variable_latency:parts=array,fast=38", 0xffc0},
    };
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = wide(20);
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct seen seen = run(code, 1, 128, rows[i].mechanism, &parts, NULL);
        const u32 registers = (u32)counted(&seen, "allocated") / 4;
        assert_true(registers >= 20);
        assert_int_equal(counted(&seen, "slow_allocated"), expected_slow(registers, rows[i].slow));
        assert_int_equal(counted(&seen, "displaced"), 0);
        if (!rows[i].slow)
            assert_int_equal(counted(&seen, "slow_reads") + counted(&seen, "slow_writes"), 0);
        drop(&seen);
    }
    free(code);
}

/* Fast banks hold 11 x 64 registers: so many warps fit, and one more does not. */
static void registers_go_to_fast_banks(void **state)
{
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = wide(26);
    struct seen seen = run(code, 1, 32, "variable_latency", &parts, NULL);
    const u32 registers = (u32)counted(&seen, "allocated"), warps = 11 * ENTRIES / registers;
    drop(&seen);
    assert_true(warps < 32);
    for (u32 more = 0; more < 2; more++) {
        seen =
            run(code, 1, 32 * (warps + more), "variable_latency:mapping=fast_first", &parts, NULL);
        const u32 near = 11 * ENTRIES / (warps + more);
        assert_int_equal(counted(&seen, "slow_allocated"),
                         more ? (warps + 1) * (registers - near) : 0);
        drop(&seen);
    }
    free(code);
}

/* 16 threads use only the fast halves, 17 do not. */
static void small_blocks_have_no_slow_banks(void **state)
{
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = wide(30);
    for (u32 threads = 16; threads < 18; threads++) {
        struct seen seen = run(code, 3, threads, "variable_latency:hybrid=true", &parts, NULL);
        const bool small = threads == 16;
        assert_int_equal(counted(&seen, "hybrid_banks"), small ? 10 : 0);
        assert_true(small == !counted(&seen, "slow_reads"));
        assert_true(small == !counted(&seen, "slow_writes"));
        assert_int_equal(counted(&seen, "read_overflows") + counted(&seen, "write_overflows"), 0);
        assert_int_equal(counted(&seen, "special"), small ? counted(&seen, "allocated") : 0);
        drop(&seen);
    }
    free(code);
}

/* ---- branches that depend on thread numbers ---- */

/* Threads go to the side if `condition`, which sets q, is false: three registers are used only there. With
 * `other`, the others have a shorter side of their own, with one more register. */
static char *sided_with(const char *condition, bool other, u32 more)
{
    char *code = NULL;
    size_t length;
    FILE *out = open_memstream(&code, &length);
    fprintf(out,
            HEADER "{\n.reg .pred %%q;\n.reg .u64 %%a, %%b;\n.reg .u32 %%t, %%c, %%x, %%y, %%z, "
                   "%%w, %%s, %%v, %%m<9>;\nld.param.u64 %%a, [p];\nmov.u32 %%t, %%tid.x;\n"
                   "mov.u32 %%c, %%ctaid.x;\nmul.wide.u32 %%b, %%t, 4;\nadd.u64 %%b, %%b, %%a;\n"
                   "ld.global.u32 %%s, [%%b+4096];\n");
    for (u32 i = 0; i < more; i++)
        fprintf(out, "ld.global.u32 %%m%u, [%%b+%u];\n", i, 4100 + 4 * i);
    fprintf(out,
            "%s\n@%%q bra other;\n"
            "ld.global.u32 %%y, [%%b+4096];\nld.global.u32 %%z, [%%b+4096];\n"
            "ld.global.u32 %%w, [%%b+4096];\nmad.lo.u32 %%y, %%z, %%w, %%y;\n"
            "mad.lo.u32 %%y, %%y, %%w, %%z;\nmad.lo.u32 %%y, %%y, %%z, %%z;\n"
            "add.u32 %%y, %%y, 5;\nst.global.u32 [%%b], %%y;\nbra join;\nother:\n%sjoin:\n",
            condition,
            other ? "ld.global.u32 %v, [%b+4096];\nadd.u32 %v, %v, 3;\nst.global.u32 [%b], %v;\n"
                  : "");
    for (u32 i = 0; i < more; i++)
        fprintf(out, "add.u32 %%s, %%s, %%m%u;\n", i);
    fprintf(out, "add.u32 %%s, %%s, %%t;\nst.global.u32 [%%b+8192], %%s;\nret;\n}\n");
    fclose(out);
    return code;
}

static char *sided(const char *condition, bool other)
{
    return sided_with(condition, other, 0);
}

static const char every_16th[] = "and.b32 %x, %t, 15;\nsetp.ne.u32 %q, %x, 0;";

static void sides_go_to_hybrid_banks(void **state)
{
    static const char *const settings[] = {"gpu.cores=1", "ptx.sides=true", NULL};
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = sided(every_16th, false);
    struct seen plain = run(code, 2, 512, "variable_latency", &parts, settings);
    struct seen seen = run(code, 2, 512, "variable_latency:hybrid=true", &parts, settings);
    const u32 registers = (u32)counted(&seen, "allocated") / 32;
    assert_int_equal(counted(&seen, "special"), 32 * 3);
    assert_int_equal(counted(&seen, "hybrid_banks"), BANKS * 3 / registers / 2 * 2);
    assert_int_equal(counted(&seen, "compacted"), 32);
    assert_int_equal(counted(&seen, "read_overflows") + counted(&seen, "write_overflows"), 0);
    assert_true(counted(&seen, "slow_reads") < counted(&plain, "slow_reads"));
    for (u32 t = 0; t < 64; t++) {
        assert_int_equal(plain.result[t], t == 0 ? 5 : t % 16 ? 0 : 5);
        assert_int_equal(seen.result[t], plain.result[t]);
    }
    drop(&plain);
    drop(&seen);
    free(code);
}

/* Halves are exchanged by a fast and a slow bank, so that an odd share is rounded down. */
static void hybrid_banks_come_in_pairs(void **state)
{
    static const char *const settings[] = {"gpu.cores=1", "ptx.sides=true", NULL};
    struct slow_parts parts = {{LEFT(0x3ff)}};
    u32 odd = 0;
    for (u32 more = 0; more < 4; more++) {
        char *code = sided_with(every_16th, false, more);
        struct seen seen = run(code, 1, 512, "variable_latency:hybrid=true", &parts, settings);
        const u32 registers = (u32)counted(&seen, "allocated") / 16;
        const u32 share = BANKS * 3 / registers;
        assert_int_equal(counted(&seen, "special"), 16 * 3);
        assert_int_equal(counted(&seen, "hybrid_banks"), share - share % 2);
        odd += share % 2;
        drop(&seen);
        free(code);
    }
    assert_true(odd > 0);
}

/* Sides of 16 lanes count, of 17 not; nor those whose condition needs the block or data. */
static void which_sides_count(void **state)
{
    static const char *const settings[] = {"gpu.cores=1", "ptx.sides=true", NULL};
    static const struct {
        const char *condition;
        bool counts;
    } rows[] = {
        {"and.b32 %x, %t, 31;\nsetp.gt.u32 %q, %x, 15;", true},
        {"and.b32 %x, %t, 31;\nsetp.gt.u32 %q, %x, 16;", false},
        {"and.b32 %x, %t, 31;\nsetp.lt.u32 %q, %x, 16;", true},
        {"and.b32 %x, %t, 31;\nsetp.lt.u32 %q, %x, 15;", false},
        {"add.u32 %x, %t, %c;\nsetp.ne.u32 %q, %x, 1;", false},
        {"setp.ne.u32 %q, %s, 1;", false},
        {"add.u32 %x, %s, %t;\nsetp.ne.u32 %q, %x, 1;", false},
        {"setp.gt.u32 %q, %c, 5;", false}, /* all threads of a block take the same side */
    };
    struct slow_parts parts = {{LEFT(0x3ff)}};
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        char *code = sided(rows[i].condition, false);
        struct seen seen = run(code, 1, 64, "variable_latency:hybrid=true", &parts, settings);
        assert_int_equal(counted(&seen, "special"), rows[i].counts ? 2 * 3 : 0);
        assert_int_equal(counted(&seen, "hybrid_banks") > 0, rows[i].counts);
        drop(&seen);
        free(code);
    }
}

/* Two sides of half a warp: the longer one gets the fast half, and accesses of the other overflow:
 * two reads (add, store) and two writes (load, add). */
static void sides_that_do_not_fit_overflow(void **state)
{
    static const char *const settings[] = {"gpu.cores=1", "ptx.sides=true", NULL};
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = sided("and.b32 %x, %t, 16;\nsetp.eq.u32 %q, %x, 0;", true);
    for (u32 threads = 32; threads >= 17; threads -= 15) { /* the last one does not fit either */
        struct seen seen = run(code, 1, threads, "variable_latency:hybrid=true", &parts, settings);
        assert_int_equal(counted(&seen, "special"), 3); /* both sides use the same ones */
        assert_int_equal(counted(&seen, "compacted"), 1);
        assert_int_equal(counted(&seen, "read_overflows"), 2);
        assert_int_equal(counted(&seen, "write_overflows"), 2);
        for (u32 t = 0; t < threads; t++)
            assert_int_equal(seen.result[t], t & 16 ? 5 : 3);
        drop(&seen);
    }
    free(code);
}

/* ---- clocks ---- */

/* 22 of 32 sub-banks are fast, and 68.75 % of the registers. */
static void clocks_by_hand(void **state)
{
    static const struct {
        const char *mechanism;
        u32 clock, fast, all;
    } rows[] = {
        {"variable_latency:parts=file", 666666, 1, 1},
        {"variable_latency:fast=68", 1000000, 21, 32},
        {"variable_latency:fast=70", 1000000, 22, 32},
        {"variable_latency:fast=72", 666666, 23, 32},
        {"variable_latency:parts=register,fast=68", 1000000, 22528, 32768},
        {"variable_latency:parts=register,fast=69", 666666, 32768, 32768},
    };
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = wide(4);
    for (u32 i = 0; i < ARRAY_LEN(rows); i++) {
        struct seen seen = run(code, 1, 32, rows[i].mechanism, &parts, NULL);
        assert_int_equal(counted(&seen, "clock"), rows[i].clock);
        assert_int_equal(counted(&seen, "clock_one"), 1000000);
        assert_int_equal(counted(&seen, "fast_parts"), rows[i].fast);
        assert_int_equal(counted(&seen, "parts_all"), rows[i].all);
        drop(&seen);
    }
    free(code);
}

/* Core 0 has ten slow sub-banks, core 1 twelve. */
static void cores_have_their_own_classes(void **state)
{
    static const char *const two[] = {"gpu.cores=2", NULL};
    struct slow_parts parts = {{LEFT(0x3ff), LEFT(0xc00)}};
    parts.list[1].cores = 2;
    char *code = wide(4);
    struct seen seen = run(code, 2, 32, "variable_latency", &parts, two);
    assert_int_equal(counted(&seen, "clock"), 1000000 + 666666);
    assert_int_equal(counted(&seen, "fast_parts"), 22 + 22);
    drop(&seen);
    seen = run(code, 2, 32, "variable_latency:equal_cores=true", &parts, two);
    assert_int_equal(counted(&seen, "clock"), 2 * 666666);
    assert_int_equal(counted(&seen, "fast_parts"), 32 + 32);
    drop(&seen);
    free(code);
}

/* With its own clock, a core takes the longer for each cycle. */
static void clock_of_a_core(void **state)
{
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = chain(mad, 1000);
    u64 time[2];
    for (u32 own = 0; own < 2; own++) {
        struct seen seen =
            run(code, 1, 32,
                own ? "variable_latency:parts=file,own_clock=true" : "variable_latency:parts=file",
                &parts, NULL);
        time[own] = seen.picoseconds;
        drop(&seen);
    }
    assert_true(time[1] > time[0] * 1.4 && time[1] < time[0] * 1.51);
    free(code);
}

/* ---- priority ---- */

/* Every warp writes the clock when its chain ends. */
static char *racing(void)
{
    char *code = NULL;
    size_t length;
    FILE *out = open_memstream(&code, &length);
    fputs(HEADER "{\n.reg .u64 %a, %b;\n.reg .u32 %x, %y, %z, %t, %w;\nld.param.u64 %a, [p];\n"
                 "ld.global.u32 %x, [%a];\nld.global.u32 %z, [%a+4];\nadd.u32 %y, %x, %z;\n",
          out);
    for (u32 i = 0; i < 200; i++)
        fprintf(out, "%s\n", mad);
    fputs("mov.u32 %t, %clock;\nmov.u32 %w, %tid.x;\nshr.u32 %w, %w, 5;\nmul.wide.u32 %b, %w, 4;\n"
          "add.u64 %b, %b, %a;\nst.global.u32 [%b], %t;\nst.global.u32 [%b+128], %y;\nret;\n}\n",
          out);
    fclose(out);
    return code;
}

/* The warps whose instructions are fast end before the others, which they do not without. */
static void fast_instructions_issue_first(void **state)
{
    struct slow_parts parts = {{LEFT(0x3ff)}};
    char *code = racing();
    u32 first_slow[2], last_fast[2], regs[4];
    u64 fast[2];
    find_registers(code, OP_mad_lo_b32, regs);
    for (u32 priority = 0; priority < 2; priority++) {
        struct seen seen =
            run(code, 1, 1024, priority ? "variable_latency:priority=true" : "variable_latency",
                &parts, NULL);
        first_slow[priority] = UINT32_MAX;
        last_fast[priority] = 0;
        fast[priority] = counted(&seen, "fast_instructions");
        for (u32 warp = 0; warp < 32; warp++) {
            const bool slow = (warp + regs[0]) % BANKS >= 11; /* written, and read */
            if (slow)
                first_slow[priority] = MIN(first_slow[priority], seen.result[warp]);
            else
                last_fast[priority] = MAX(last_fast[priority], seen.result[warp]);
        }
        drop(&seen);
    }
    assert_true(first_slow[0] < last_fast[0]);
    assert_true(first_slow[1] > last_fast[1]);
    assert_true(fast[0] > 0 && fast[1] == fast[0]); /* in another order */
    free(code);
}

/* Two results for a bank, a cycle apart: only if writes take two cycles does the second one wait. */
static void slow_writes_hold_their_bank(void **state)
{
    struct slow_parts none = {0}, most = {{WHOLE(0x7fff)}};
    static const char mechanism[] = "variable_latency:parts=register,fast=5";
    char *code = racing();
    struct seen fast = run(code, 1, 544, mechanism, &none, NULL);
    struct seen slow = run(code, 1, 544, mechanism, &most, NULL);
    assert_int_equal(counted(&fast, "slow_writes"), 0);
    assert_true(counted(&slow, "slow_writes") > counted(&slow, "writes") * 9 / 10);
    assert_true(counted(&fast, "write_waits") < 5);
    assert_true(counted(&slow, "write_waits") > 25);
    drop(&fast);
    drop(&slow);
    free(code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_accesses_take_two_cycles),
        cmocka_unit_test(a_single_slow_row),
        cmocka_unit_test(banks_by_hand),
        cmocka_unit_test(registers_go_to_fast_banks),
        cmocka_unit_test(small_blocks_have_no_slow_banks),
        cmocka_unit_test(sides_go_to_hybrid_banks),
        cmocka_unit_test(hybrid_banks_come_in_pairs),
        cmocka_unit_test(which_sides_count),
        cmocka_unit_test(sides_that_do_not_fit_overflow),
        cmocka_unit_test(clocks_by_hand),
        cmocka_unit_test(cores_have_their_own_classes),
        cmocka_unit_test(clock_of_a_core),
        cmocka_unit_test(fast_instructions_issue_first),
        cmocka_unit_test(slow_writes_hold_their_bank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
