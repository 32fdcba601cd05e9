/*
 * Faults that are decided by running their block without time: all of them are run to the end as well, in
 * time, and must have the same fate; programs in which time could matter have none of them.
 */
#include "base/types.h"
#include "heddle/inject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREADS = 64,
    BLOCKS = 4,
    ROUNDS = 300,
    REGISTERS = 16,
    WORDS = THREADS * BLOCKS
};

/* In each of 300 rounds, threads add a word of the input and give the sum to the thread at the other end
 * of their block; AGAIN is the barrier behind that, EXTRA nothing. */
static const char source[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u64 in)\n"
    "{\n"
    "    .reg .b32 %t, %b, %s, %v, %w, %i, %to, %from, %z; .reg .b64 %a, %o, %x; .reg .pred %p;\n"
    "    .shared .align 4 .b8 sums[256];\n"
    "    mov.u32 %t, %tid.x;\n"
    "    mov.u32 %b, %ctaid.x;\n"
    "    ld.param.u64 %a, [in];\n"
    "    mul.wide.u32 %x, %t, 4;\n"
    "    add.u64 %a, %a, %x;\n"
    "    mov.u32 %z, sums;\n"
    "    mad.lo.u32 %to, %t, 4, %z;\n"
    "    sub.u32 %from, 63, %t;\n"
    "    mad.lo.u32 %from, %from, 4, %z;\n"
    "    mov.u32 %s, %b;\n"
    "    mov.u32 %i, 300;\n"
    "LOOP: ld.global.u32 %v, [%a];\n"
    "    add.u32 %s, %s, %v;\n"
    "    st.shared.u32 [%to], %s;\n"
    "    bar.sync 0;\n"
    "    ld.shared.u32 %w, [%from];\n"
    "    xor.b32 %s, %s, %w;\n"
    "    /*AGAIN*/ bar.sync 0;\n"
    "    /*EXTRA*/\n"
    "    sub.u32 %i, %i, 1;\n"
    "    setp.ne.u32 %p, %i, 0;\n"
    "    @%p bra LOOP;\n"
    "    ld.param.u64 %o, [out];\n"
    "    mad.lo.u32 %t, %b, 64, %t;\n"
    "    mul.wide.u32 %x, %t, 4;\n"
    "    add.u64 %o, %o, %x;\n"
    "    st.global.u32 [%o], %s;\n"
    "    ret;\n"
    "}\n";

struct bed {
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address buffers[2]; /* out, in */
    struct hd_inject *inject;
};

static void must(bool ok, const struct hd_error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

/* The program with a text of it replaced by another one of at most the same length. */
static struct bed *open_bed(const char *text, const char *by)
{
    static const char *const settings[] = {"gpu.cores=1", "l2.channels=1", "timing.live_state=true",
                                           "ptx.optimize=false"};
    static char changed[2 * sizeof source];
    struct hd_error error = {0};
    struct bed *bed = calloc(1, sizeof *bed);
    struct hd_config *config = hd_config_create();
    u32 input[THREADS];
    const char *at = strstr(source, text);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - source), source, by,
             at + strlen(text));
    must(hd_config_load(config, "gtx480", &error), &error);
    for (u32 i = 0; i < ARRAY_LEN(settings); i++)
        must(hd_config_set(config, settings[i], &error), &error);
    bed->device = hd_device_open(config, &error);
    must(bed->device, &error);
    hd_config_destroy(config);
    struct hd_module *module =
        hd_module_load(bed->device, changed, strlen(changed), "test.ptx", &error);
    must(module, &error);
    bed->kernel = hd_kernel_find(module, "k", &error);
    must(bed->kernel, &error);
    for (u32 i = 0; i < 2; i++) {
        bed->buffers[i] = hd_alloc(bed->device, i ? sizeof input : WORDS * 4, &error);
        must(bed->buffers[i], &error);
    }
    for (u32 t = 0; t < THREADS; t++)
        input[t] = 3 * t + 1;
    must(hd_write(bed->device, bed->buffers[1], input, sizeof input, &error), &error);
    return bed;
}

static void close_bed(struct bed *bed)
{
    hd_inject_destroy(bed->inject);
    hd_device_close(bed->device);
    free(bed);
}

static bool run(void *user, struct hd_inject *inject, struct hd_result *result,
                struct hd_error *error)
{
    struct bed *bed = user;
    u32 words[WORDS];
    const struct hd_arg args[] = {{&bed->buffers[0], 8}, {&bed->buffers[1], 8}};
    if (!hd_launch(bed->kernel, (struct hd_dim){BLOCKS, 1, 1}, (struct hd_dim){THREADS, 1, 1}, 0,
                   args, 2, result, error))
        return false;
    if (result->outcome != HD_DONE)
        return true;
    if (!hd_read(bed->device, words, bed->buffers[0], sizeof words, error))
        return false;
    hd_inject_output(inject, "out", bed->buffers[0], words, sizeof words);
    return true;
}

/* A bit of each register of a lane of the first warp; returns how many are decided without time. */
static u32 strike(struct bed *bed, u32 lane, u32 bit, u32 cycle, double audit)
{
    struct hd_error error = {0};
    struct hd_fault fault;
    const struct hd_inject_host host = {run, NULL, bed};
    char list[4096];
    u32 untimed = 0;
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 r = 0; r < REGISTERS; r++)
        length += sprintf(list + length, "collect.registers,%u,%u,%u\n", r * 32 + lane, bit, cycle);
    hd_inject_destroy(bed->inject);
    bed->inject = hd_inject_create(
        bed->device, &(struct hd_inject_plan){.list = list, .only = -1, .jobs = 2, .audit = audit},
        &error);
    must(bed->inject, &error);
    must(hd_inject_run(bed->inject, &host, &error), &error);
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        assert_false(fault.crashed);
        assert_false(fault.disagrees);
        untimed += !strcmp(fault.decided, "untimed");
    }
    return untimed;
}

static u32 count(const struct bed *bed, enum hd_effect effect, struct hd_fault *last)
{
    struct hd_fault fault;
    u32 found = 0;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++)
        if (fault.effect == effect && !strcmp(fault.decided, "untimed")) {
            *last = fault;
            found++;
        }
    return found;
}

/* What the program leaves if thread `lane` of a block reads the input of another one from a round on. */
static void compute(u32 block, u32 lane, u32 other, u32 from, u32 *sums)
{
    u32 given[THREADS];
    for (u32 t = 0; t < THREADS; t++)
        sums[t] = block;
    for (u32 i = 0; i < ROUNDS; i++) {
        for (u32 t = 0; t < THREADS; t++)
            given[t] = sums[t] += 3 * (t == lane && i >= from ? other : t) + 1;
        for (u32 t = 0; t < THREADS; t++)
            sums[t] ^= given[THREADS - 1 - t];
    }
}

/* A low bit of the address from which a thread loads in each round: its neighbour's input instead of its
 * own, from some round on. The number of wrong words is that of one of these rounds. */
static void neighbour(void **state)
{
    struct bed *bed = open_bed("EXTRA", "EXTRA");
    u32 right[THREADS], wrong[THREADS];
    struct hd_fault fault;
    bool found = false;
    assert_in_range(strike(bed, 9, 2, 9000, 1e-9), 3, REGISTERS);
    compute(0, 0, 0, ROUNDS, right);
    for (u64 f = 0; hd_inject_fault(bed->inject, f, &fault); f++)
        for (u32 from = 1; from < ROUNDS && !strcmp(fault.decided, "untimed"); from++) {
            u32 words = 0, first = 0;
            double error = 0;
            compute(0, 9, 8, from, wrong);
            for (u32 t = THREADS; t-- > 0;)
                if (wrong[t] != right[t]) {
                    const double off = (double)wrong[t] - (double)right[t];
                    error = error > (off < 0 ? -off : off) / right[t]
                                ? error
                                : (off < 0 ? -off : off) / right[t];
                    first = t;
                    words++;
                }
            found |= fault.effect == HD_EFFECT_SDC && words && fault.wrong == words &&
                     fault.first == first && fault.error == error;
        }
    assert_true(found);
    close_bed(bed);
}

/* All that is decided without time is the same in time. */
static void audited(void **state)
{
    static const struct {
        u32 lane, bit, cycle;
        u32 sdc, due; /* at least */
    } cases[] = {{9, 2, 9000, 2, 0}, {20, 30, 9100, 0, 2}, {31, 7, 4000, 1, 1}, {3, 0, 9050, 0, 1}};
    struct bed *bed = open_bed("EXTRA", "EXTRA");
    struct hd_fault fault;
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        strike(bed, cases[i].lane, cases[i].bit, cases[i].cycle, 1);
        assert_in_range(count(bed, HD_EFFECT_SDC, &fault), cases[i].sdc, REGISTERS);
        assert_in_range(count(bed, HD_EFFECT_DUE, &fault), cases[i].due, REGISTERS);
        assert_int_equal(count(bed, HD_EFFECT_MASKED, &fault), 0);
    }
    assert_string_equal(fault.detail, "misaligned");
    close_bed(bed);
}

/* Where time may matter, nothing is decided without it. */
static void timed(void **state)
{
    static const char *const changes[][2] = {
        {"/*AGAIN*/ bar.sync 0;", ""}, /* a race between warps */
        /* one warp reads what the other one writes, earlier and later in the order of warps */
        {"/*EXTRA*/", "setp.lt.u32 %p, %t, 32; @%p ld.shared.u32 %w, [%from];"},
        {"/*EXTRA*/", "setp.gt.u32 %p, %t, 31; @%p ld.shared.u32 %w, [%from];"},
        {"/*EXTRA*/", "mov.u32 %z, %clock;"},         /* a clock */
        {"/*EXTRA*/", "red.global.add.u32 [%a], 0;"}, /* an atomic */
        {"/*EXTRA*/", "st.global.u32 [%a], 0;"},      /* blocks write the same words */
        {"/*AGAIN*/ bar.sync 0;", "bar.sync 0, 64;"}, /* a barrier with a number of threads */
    };
    for (u32 i = 0; i < ARRAY_LEN(changes); i++) {
        struct bed *bed = open_bed(changes[i][0], changes[i][1]);
        assert_int_equal(strike(bed, 9, 30, 9000, 1e-9), 0);
        close_bed(bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbour),
        cmocka_unit_test(audited),
        cmocka_unit_test(timed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
