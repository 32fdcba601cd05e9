/*
 * Fault campaigns: planted faults whose fate is known, on hand-written kernels and a machine with one
 * core; intervals against closed forms; lists that are wrong.
 *
 * A kernel's registers are where the register allocator puts them. So every register of a warp is
 * struck, and the test looks for the fates that must be among them, computing what they must be.
 */
#include "base/arena.h"
#include "heddle/inject.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum {
    THREADS = 32,
    REGISTERS = 12 /* of a warp that are struck */
};

#define HEAD ".version 6.0\n.target sm_60\n.address_size 64\n"

/* out[t] = 3 * t + 1, after a while. */
static const char simple[] = HEAD ".visible .entry k(.param .u64 out)\n"
                                  "{\n"
                                  "    .reg .b32 %t, %v, %i; .reg .b64 %a, %o; .reg .pred %p;\n"
                                  "    ld.param.u64 %a, [out];\n"
                                  "    mov.u32 %t, %tid.x;\n"
                                  "    mad.lo.u32 %v, %t, 3, 1;\n"
                                  "    mul.wide.u32 %o, %t, 4;\n"
                                  "    add.u64 %a, %a, %o;\n"
                                  "    mov.u32 %i, 40;\n"
                                  "LOOP: sub.u32 %i, %i, 1;\n"
                                  "    setp.ne.u32 %p, %i, 0;\n"
                                  "    @%p bra LOOP;\n"
                                  "    st.global.u32 [%a], %v;\n"
                                  "    ret;\n"
                                  "}\n";

/* The same, and then nothing for a long time. */
static const char early[] = HEAD ".visible .entry k(.param .u64 out)\n"
                                 "{\n"
                                 "    .reg .b32 %t, %v, %i; .reg .b64 %a, %o; .reg .pred %p;\n"
                                 "    ld.param.u64 %a, [out];\n"
                                 "    mov.u32 %t, %tid.x;\n"
                                 "    mad.lo.u32 %v, %t, 3, 1;\n"
                                 "    mul.wide.u32 %o, %t, 4;\n"
                                 "    add.u64 %a, %a, %o;\n"
                                 "    mov.u32 %i, 40;\n"
                                 "LOOP: sub.u32 %i, %i, 1;\n"
                                 "    setp.ne.u32 %p, %i, 0;\n"
                                 "    @%p bra LOOP;\n"
                                 "    st.global.u32 [%a], %v;\n"
                                 "    mov.u32 %v, 0; mov.u64 %a, 0; mov.u64 %o, 0; mov.u32 %t, 0;\n"
                                 "    mov.u32 %i, 400;\n"
                                 "LATE: sub.u32 %i, %i, 1;\n"
                                 "    setp.ne.u32 %p, %i, 0;\n"
                                 "    @%p bra LATE;\n"
                                 "    ret;\n"
                                 "}\n";

struct bed {
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address out;
    struct hd_inject *inject;
    u32 launches;
    bool lies; /* outputs of processes with a fault are wrong, whatever the fault */
};

static void must(bool ok, const struct hd_error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

static struct bed *open_bed(const char *source, const char *setting)
{
    struct hd_error error = {0};
    struct bed *bed = calloc(1, sizeof *bed);
    struct hd_config *config = hd_config_create();
    static const char *const settings[] = {"gpu.cores=1", "l2.channels=1", "timing.live_state=true",
                                           "ptx.optimize=false"};
    must(hd_config_load(config, "gtx480", &error), &error);
    for (u32 i = 0; i < ARRAY_LEN(settings); i++)
        must(hd_config_set(config, settings[i], &error), &error);
    if (setting)
        must(hd_config_set(config, setting, &error), &error);
    bed->device = hd_device_open(config, &error);
    must(bed->device, &error);
    hd_config_destroy(config);
    struct hd_module *module =
        hd_module_load(bed->device, source, strlen(source), "test.ptx", &error);
    must(module, &error);
    bed->kernel = hd_kernel_find(module, "k", &error);
    must(bed->kernel, &error);
    bed->out = hd_alloc(bed->device, 2 * THREADS * 4, &error);
    must(bed->out, &error);
    bed->launches = 1;
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
    u32 words[2 * THREADS];
    const pid_t began = getpid();
    const struct hd_arg arg = {&bed->out, 8};
    for (u32 i = 0; i < bed->launches; i++) {
        if (!hd_launch(bed->kernel, (struct hd_dim){1, 1, 1}, (struct hd_dim){THREADS, 1, 1}, 0,
                       &arg, 1, result, error))
            return false;
        if (result->outcome != HD_DONE)
            return true;
    }
    if (!hd_read(bed->device, words, bed->out, sizeof words, error))
        return false;
    words[0] ^= bed->lies && getpid() != began;
    hd_inject_output(inject, "out", bed->out, words, sizeof words);
    return true;
}

static void inject(struct bed *bed, struct hd_inject_plan plan)
{
    struct hd_error error = {0};
    const struct hd_inject_host host = {run, NULL, bed};
    hd_inject_destroy(bed->inject);
    bed->inject = hd_inject_create(bed->device, &plan, &error);
    must(bed->inject, &error);
    must(hd_inject_run(bed->inject, &host, &error), &error);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
}

/* A list with a bit of each register of a lane, at a cycle. */
static void strike_registers(struct bed *bed, u32 lane, u32 bit, u32 cycle)
{
    char list[4096];
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 r = 0; r < REGISTERS; r++)
        length +=
            sprintf(list + length, "collect.registers,%u,%u,%u\n", r * THREADS + lane, bit, cycle);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2});
}

static u32 count(const struct bed *bed, enum hd_effect effect, struct hd_fault *last)
{
    struct hd_fault fault;
    u32 found = 0;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        assert_false(fault.crashed || fault.disagrees);
        if (fault.effect != effect)
            continue;
        found++;
        *last = fault;
    }
    return found;
}

/* ---- fates ---- */

/* In the loop, one register holds what is stored: one wrong word, by exactly the flipped bit. */
static void stored_value(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    for (u32 lane = 3; lane < THREADS; lane += 14) {
        strike_registers(bed, lane, 9, 700);
        bool exact = false;
        for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
            if (fault.effect != HD_EFFECT_SDC)
                continue;
            const f64 right = 3 * lane + 1;
            exact |= fault.wrong == 1 && fault.first == lane && fault.error == 512 / right &&
                     !strcmp(fault.output, "out") && !strcmp(fault.decided, "end");
        }
        assert_true(exact);
    }
    close_bed(bed);
}

/* A wrong word in memory that nothing touches any more is decided long before the end, and an audit
 * agrees; also if a second launch writes it again, which makes it right. */
static void written(void **state)
{
    struct bed *bed = open_bed(early, NULL);
    const f64 audits[] = {1e-9, 1};
    for (u32 i = 0; i < ARRAY_LEN(audits); i++) {
        struct hd_fault fault;
        char list[4096];
        int length = sprintf(list, "structure,entry,bit,cycle\n");
        for (u32 r = 0; r < REGISTERS; r++)
            length += sprintf(list + length, "collect.registers,%u,9,700\n", r * THREADS + 11);
        inject(bed,
               (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2, .audit = audits[i]});
        assert_in_range(count(bed, HD_EFFECT_SDC, &fault), 1, 2);
        assert_string_equal(fault.decided, "written");
        assert_true(fault.wrong == 1 && fault.first == 11 && fault.error == 512 / 34.0);
        assert_int_equal(fault.audited, audits[i] == 1);
        assert_in_range(fault.cycles, 8000, 100000);
    }
    bed->launches = 2;
    struct hd_fault fault;
    strike_registers(bed, 11, 9, 700);
    assert_int_equal(count(bed, HD_EFFECT_SDC, &fault), 0);
    close_bed(bed);
}

/* A wrong word that is read much later: both words are wrong, and nothing is decided before. */
static void read_again(void **state)
{
    static char source[4096];
    struct hd_fault fault;
    char list[4096];
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    strcpy(source, early);
    strcpy(strstr(source, "    mov.u32 %v, 0;"),
           "    mov.u32 %v, 0; mov.u32 %t, 0; mov.u64 %o, 0;\n"
           "    mov.u32 %i, 400;\n"
           "LATE: sub.u32 %i, %i, 1;\n"
           "    setp.ne.u32 %p, %i, 0;\n"
           "    @%p bra LATE;\n"
           "    ld.global.u32 %v, [%a];\n"
           "    st.global.u32 [%a+128], %v;\n"
           "    ret;\n"
           "}\n");
    struct bed *bed = open_bed(source, NULL);
    for (u32 r = 0; r < REGISTERS; r++)
        length += sprintf(list + length, "collect.registers,%u,9,700\n", r * THREADS + 11);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2, .audit = 1});
    bool both = false;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        assert_false(fault.disagrees);
        both |= fault.effect == HD_EFFECT_SDC && fault.wrong == 2 && fault.first == 11 &&
                fault.error == 512 / 34.0;
    }
    assert_true(both);
    close_bed(bed);
}

/* Faults in registers whose wrong values are followed beside the run without faults have the fates of
 * those that run from their flip to the end, in company as alone. */
static void followed(void **state)
{
    enum {
        MOST = 400
    };
    static char list[MOST * 40];
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault found[MOST], fault;
    u32 vanished = 0, faults = 0;
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 r = 0; r < 5; r++)
        for (u32 bit = 0; bit < 32; bit += 9)
            for (u32 cycle = 700; cycle < 730; cycle += 3, faults++)
                length += sprintf(list + length, "collect.registers,%u,%u,%u\n", r * THREADS + bit,
                                  bit, cycle);
    struct hd_inject_plan plan = {.list = list, .only = -1, .jobs = 2, .audit = 1e-9};
    inject(bed, plan);
    for (u32 i = 0; i < faults; i++) {
        assert_true(hd_inject_fault(bed->inject, i, &found[i]));
        vanished += !strcmp(found[i].decided, "vanished");
    }
    assert_in_range(vanished, faults / 5, faults);
    plan.audit = 1; /* these are not moved */
    inject(bed, plan);
    for (u32 i = 0; i < faults; i++) {
        assert_true(hd_inject_fault(bed->inject, i, &fault));
        assert_false(fault.disagrees);
        if (fault.effect != found[i].effect || fault.wrong != found[i].wrong)
            fail_msg("fault %u: %s, followed %s", i, hd_effect_name(fault.effect),
                     hd_effect_name(found[i].effect));
    }
    close_bed(bed);
}

/* After the loop, half of the lanes get another value. */
static const char parted[] = HEAD ".visible .entry k(.param .u64 out)\n"
                                  "{\n"
                                  "    .reg .b32 %t, %v, %i; .reg .b64 %a, %o; .reg .pred %p, %q;\n"
                                  "    ld.param.u64 %a, [out];\n"
                                  "    mov.u32 %t, %tid.x;\n"
                                  "    setp.lt.u32 %q, %t, 16;\n"
                                  "    mad.lo.u32 %v, %t, 3, 1;\n"
                                  "    mul.wide.u32 %o, %t, 4;\n"
                                  "    add.u64 %a, %a, %o;\n"
                                  "    mov.u32 %i, 40;\n"
                                  "LOOP: sub.u32 %i, %i, 1;\n"
                                  "    setp.ne.u32 %p, %i, 0;\n"
                                  "    @%p bra LOOP;\n"
                                  "    @%q mov.u32 %v, 7;\n"
                                  "    st.global.u32 [%a], %v;\n"
                                  "    ret;\n"
                                  "}\n";

/* A write takes a wrong value away in the lanes that it writes only. */
static void partial_writes(void **state)
{
    struct bed *bed = open_bed(parted, NULL);
    struct hd_fault fault;
    u32 wrong[2];
    for (u32 i = 0; i < 2; i++) { /* a lane that is written, and one that is not */
        strike_registers(bed, i ? 20 : 3, 9, 700);
        wrong[i] = 0;
        for (u64 f = 0; hd_inject_fault(bed->inject, f, &fault); f++)
            wrong[i] += fault.effect == HD_EFFECT_SDC && fault.wrong == 1;
    }
    assert_int_equal(wrong[1], wrong[0] + 1);
    close_bed(bed);
}

/* Registers that nothing reads any more are masked: the number of the thread, the offset. */
static void dead_registers(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    strike_registers(bed, 5, 9, 700);
    assert_in_range(count(bed, HD_EFFECT_MASKED, &fault), 2, REGISTERS - 3);
    assert_int_equal(count(bed, HD_EFFECT_GRAY, &fault) + count(bed, HD_EFFECT_TIME, &fault), 0);
    close_bed(bed);
}

/* A high bit of the address. */
static void address(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    strike_registers(bed, 7, 29, 700);
    assert_in_range(count(bed, HD_EFFECT_DUE, &fault), 1, 2);
    assert_string_equal(fault.detail, "out_of_bounds");
    assert_non_null(strstr(fault.explanation, "write of 4 bytes"));
    close_bed(bed);
}

/* A bit of all registers of a lane, at each cycle of a round of the loop: some time in it, the counter
 * is not about to be overwritten. */
static void strike_round(struct bed *bed, u32 lane, u32 bit, const char *model)
{
    enum {
        USED = 5, /* registers of the kernel */
        ROUND = 40
    };
    static char list[USED * ROUND * 40];
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 r = 0; r < USED; r++)
        for (u32 cycle = 0; cycle < ROUND; cycle++)
            length += sprintf(list + length, "collect.registers,%u,%u,%u\n", r * THREADS + lane,
                              bit, 700 + cycle);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2, .model = model});
}

/* A high bit of the loop counter: more rounds than the limit allows. A low one: some more or less. */
static void loop_counter(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault, golden = {0};
    strike_round(bed, 2, 20, NULL);
    assert_in_range(count(bed, HD_EFFECT_HANG, &fault), 5, 40);
    assert_int_equal(count(bed, HD_EFFECT_SDC, &golden), 40);
    assert_int_equal(count(bed, HD_EFFECT_TIME, &golden), 0);
    count(bed, HD_EFFECT_SDC, &golden);
    assert_in_range(fault.cycles, 2 * golden.cycles, 2 * golden.cycles + 100);
    strike_round(bed, 2, 3, NULL);
    assert_int_equal(count(bed, HD_EFFECT_HANG, &fault), 0);
    assert_in_range(count(bed, HD_EFFECT_TIME, &fault), 5, 40);
    assert_true(fault.cycles != golden.cycles);
    close_bed(bed);
}

/* A bit that is stuck for one cycle is one that is flipped. For long, the loop counter's hangs whenever
 * it begins, though most values that it flips are overwritten; what nothing reads stays masked. */
static void stuck(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault, once[200];
    strike_round(bed, 2, 20, NULL);
    for (u32 i = 0; i < ARRAY_LEN(once); i++)
        assert_true(hd_inject_fault(bed->inject, i, &once[i]));
    strike_round(bed, 2, 20, "stuck:1");
    for (u32 i = 0; i < ARRAY_LEN(once); i++) {
        assert_true(hd_inject_fault(bed->inject, i, &fault));
        assert_int_equal(fault.effect, once[i].effect);
    }
    strike_round(bed, 2, 20, "stuck:1000000");
    assert_int_equal(count(bed, HD_EFFECT_HANG, &fault), 40);
    assert_in_range(count(bed, HD_EFFECT_MASKED, &fault), 40, 80);
    close_bed(bed);
}

/* In a window, any bit that differs is gray: that of a register that no warp has, and of one that is not
 * read again; in a short one also that of a value that will be stored. What was stored is sdc. */
static void window(void **state)
{
    static const struct {
        u64 window;
        u32 sdc, due, gray;
    } cases[] = {{20, 0, 0, 2}, {100000, 1, 0, 2}};
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        char list[4096];
        int length = sprintf(list, "structure,entry,bit,cycle\ncollect.registers,30000,9,700\n");
        for (u32 r = 0; r < 5; r++)
            length += sprintf(list + length, "collect.registers,%u,9,700\n", r * THREADS + 11);
        inject(bed, (struct hd_inject_plan){
                        .list = list, .only = -1, .jobs = 2, .window = cases[i].window});
        assert_int_equal(count(bed, HD_EFFECT_SDC, &fault), cases[i].sdc);
        assert_in_range(count(bed, HD_EFFECT_GRAY, &fault), cases[i].gray, 6);
        assert_true(hd_inject_fault(bed->inject, 0, &fault));
        assert_int_equal(fault.effect, HD_EFFECT_GRAY);
        assert_string_equal(fault.decided, "window");
    }
    close_bed(bed);
}

/* An entry that holds nothing keeps what strikes it: to the end of the window, or until it is filled. */
static void empty_entries(void **state)
{
    static const struct {
        const char *effect, *decided, *detail;
    } fates[] = {{"masked", "dead", ""}, {"gray", "window", "empty"}, {"gray", "window", "empty"}};
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    /* the first collector takes the program's only warp, the last one none; nothing is stored before the end */
    inject(bed, (struct hd_inject_plan){.list = "structure,entry,bit,cycle\n"
                                                "collect.operands,0,5,0\n"
                                                "collect.operands,47,5,0\n"
                                                "lsu.data,3,5,700\n",
                                        .only = -1,
                                        .window = 500});
    for (u32 i = 0; i < ARRAY_LEN(fates); i++) {
        assert_true(hd_inject_fault(bed->inject, i, &fault));
        assert_string_equal(hd_effect_name(fault.effect), fates[i].effect);
        assert_string_equal(fault.decided, fates[i].decided);
        assert_string_equal(fault.detail, fates[i].detail);
    }
    char *json = hd_inject_json(bed->inject);
    assert_non_null(strstr(strstr(json, "\"total\""), "\"empty\": 2"));
    hd_free(json);
    close_bed(bed);
}

static f64 number_after(const char *json, const char *first, const char *name)
{
    const char *at = strstr(json, first);
    assert_non_null(at);
    at = strstr(at, name);
    assert_non_null(at);
    return strtod(at + strlen(name), NULL);
}

/* Failures are sdc, due and hang: a flip of the value, of the address, of the counter. */
static void failures(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    strike_round(bed, 2, 20, NULL);
    const u32 sdc = count(bed, HD_EFFECT_SDC, &fault), due = count(bed, HD_EFFECT_DUE, &fault);
    const u32 hang = count(bed, HD_EFFECT_HANG, &fault);
    assert_true(sdc && due && hang);
    char *json = hd_inject_json(bed->inject);
    assert_int_equal((u32)number_after(strstr(json, "\"total\""), "\"failures\"", "\"count\": "),
                     sdc + due + hang);
    hd_free(json);
    close_bed(bed);
}

/* As many faults for each structure; the total is the mean of their shares by bits. */
static void strata(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    u32 faults[2] = {0}, late[2] = {0};
    struct hd_fault fault;
    inject(bed, (struct hd_inject_plan){.structures = "^icache[.](tags|valid)$",
                                        .faults = 160,
                                        .seed = 3,
                                        .stratify = true,
                                        .only = -1,
                                        .jobs = 2});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        const bool valid = !strcmp(fault.structure, "icache.valid");
        faults[valid]++;
        late[valid] += fault.effect == HD_EFFECT_TIME;
    }
    assert_true(faults[0] == 80 && faults[1] == 80 && late[0] != late[1]);
    char *json = hd_inject_json(bed->inject);
    const f64 tags = number_after(json, "\"icache.tags\"", "\"live_bits\": ");
    const f64 valid = number_after(json, "\"icache.valid\"", "\"live_bits\": ");
    const f64 found = number_after(strstr(json, "\"total\""), "\"time\"", "\"share\": ");
    const f64 expected = (tags * late[0] + valid * late[1]) / 80 / (tags + valid);
    if (fabs(found - expected) > 1e-9)
        fail_msg("%g, expected %g", found, expected);
    hd_free(json);
    close_bed(bed);
}

/* Faults of one core in one window each strike in their own cycle, as they do alone. */
static void alone(void **state)
{
    enum {
        MOST = 15
    };
    static char list[MOST * 40];
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault together[MOST], fault;
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 i = 0; i < MOST; i++)
        length += sprintf(list + length, "collect.registers,%u,3,%u\n", i / 3 * THREADS + 2,
                          711 + i % 3 * 3);
    struct hd_inject_plan plan = {.list = list, .only = -1, .jobs = 2, .audit = 1};
    inject(bed, plan);
    for (u32 i = 0; i < MOST; i++)
        assert_true(hd_inject_fault(bed->inject, i, &together[i]));
    for (u32 i = 0; i < MOST; i++) {
        plan.only = i;
        inject(bed, plan);
        assert_true(hd_inject_fault(bed->inject, i, &fault));
        assert_int_equal(fault.effect, together[i].effect);
        assert_int_equal(fault.cycles, together[i].cycles);
    }
    close_bed(bed);
}

/* Tags and valid bits of the instruction cache: a line is fetched again, which only takes time. */
static void tags(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    inject(bed, (struct hd_inject_plan){.structures = "^icache[.](tags|valid)$",
                                        .faults = 120,
                                        .seed = 3,
                                        .only = -1,
                                        .jobs = 2});
    const u32 time = count(bed, HD_EFFECT_TIME, &fault);
    assert_in_range(time, 2, 60);
    /* gray: a line's tag stays wrong, and the program ends before it misses */
    assert_int_equal(count(bed, HD_EFFECT_MASKED, &fault) + count(bed, HD_EFFECT_GRAY, &fault),
                     120 - time);
    close_bed(bed);
}

/* Flips of one bit of a barrier, of a pending bit, of a PC: the program does not end well. */
static void control(void **state)
{
    static const struct {
        const char *list;
        u32 effects; /* bits */
    } cases[] = {
        {"structure,entry,bit,cycle\nissue.barrier,0,0,700\n", 1u << HD_EFFECT_DUE},
        {"structure,entry,bit,cycle\nfetch.pc,0,30,700\n", 1u << HD_EFFECT_DUE},
    };
    struct bed *bed = open_bed(simple, NULL);
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct hd_fault fault;
        inject(bed, (struct hd_inject_plan){.list = cases[i].list, .only = -1});
        assert_true(hd_inject_fault(bed->inject, 0, &fault));
        if (!(cases[i].effects >> fault.effect & 1))
            fail_msg("%s: %s", cases[i].list, hd_effect_name(fault.effect));
    }
    close_bed(bed);
}

/* A pending bit of a register that the loop reads, and nothing writes, is never cleared: the warp waits
 * for ever. Registers that the kernel does not have cannot wait. */
static void scoreboard(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    char list[4096];
    u32 stuck = 0;
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 r = 0; r < REGISTERS; r++)
        length += sprintf(list + length, "issue.scoreboard,%u,0,700\n", r);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        const bool due = fault.effect == HD_EFFECT_DUE;
        stuck += due;
        assert_true(due ? !strcmp(fault.detail, "deadlock") : fault.effect <= HD_EFFECT_TIME);
    }
    assert_in_range(stuck, 1, 4); /* the address and the value, at least one; not the counter */
    assert_string_equal(fault.decided, "unused");
    close_bed(bed);
}

/* The store's packet in the network: bit 6 of its data, behind a header of 64 bits, and a bit of its
 * address, which takes the words elsewhere. */
static void packet(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    char list[8192];
    u32 data = 0, moved = 0;
    int length = sprintf(list, "structure,entry,bit,cycle\n");
    for (u32 cycle = 1360; cycle < 1460; cycle += 4)
        length += sprintf(list + length, "network.outlets,80,70,%u\nnetwork.outlets,80,7,%u\n",
                          cycle, cycle);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        if (fault.effect == HD_EFFECT_MASKED)
            continue;
        data += fault.bit == 70 && fault.effect == HD_EFFECT_SDC && fault.wrong == 1 &&
                !fault.first && fault.error == 64; /* 65 in place of 1 */
        moved += fault.bit == 7 && fault.effect >= HD_EFFECT_SDC;
    }
    assert_in_range(data, 1, 4);
    assert_int_equal(moved, data);
    close_bed(bed);
}

/* A fault of the second launch strikes there, and one behind the end of a launch nowhere. */
static void launches(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    char list[512];
    bed->launches = 2;
    strike_registers(bed, 3, 9, 700); /* the second launch writes the output again */
    assert_int_equal(count(bed, HD_EFFECT_SDC, &fault), 0);
    snprintf(list, sizeof list,
             "structure,entry,bit,cycle,launch\ncollect.registers,3,9,100000000,1\n"
             "collect.registers,3,9,100000000,2\n");
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1});
    assert_int_equal(count(bed, HD_EFFECT_MASKED, &fault), 2);
    assert_string_equal(fault.decided, "late");
    close_bed(bed);
}

/* ---- drawing, repeating ---- */

static void same_twice(void **state)
{
    struct bed *bed = open_bed(simple, NULL), *again = open_bed(simple, NULL);
    const struct hd_inject_plan plan = {.faults = 60, .seed = 9, .only = -1};
    struct hd_inject_plan one = plan, three = plan;
    one.jobs = 1;
    three.jobs = 3;
    inject(bed, one);
    inject(again, three);
    char *a = hd_inject_json(bed->inject), *b = hd_inject_json(again->inject);
    assert_string_equal(a, b);
    hd_free(a);
    hd_free(b);
    /* each alone, too */
    for (i64 id = 0; id < 60; id += 13) {
        struct hd_fault x, y;
        one.only = id;
        inject(again, one);
        assert_true(hd_inject_fault(bed->inject, (u64)id, &x));
        assert_true(hd_inject_fault(again->inject, (u64)id, &y));
        assert_int_equal(x.effect, y.effect);
        assert_int_equal(x.entry, y.entry);
        assert_int_equal(x.cycles, y.cycles);
    }
    close_bed(bed);
    close_bed(again);
}

/* Shares of structures among faults are those of their bits. */
static void evenly(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    u32 shared = 0, late = 0, back = 0, registers = 0;
    inject(bed, (struct hd_inject_plan){.structures = "^collect[.]registers|^lsu[.]shared$",
                                        .faults = 300,
                                        .seed = 2,
                                        .only = -1,
                                        .jobs = 2});
    u64 cycles = 0;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++)
        cycles = fault.cycle > cycles ? fault.cycle : cycles;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        shared += fault.structure[0] == 'l';
        registers += fault.structure[0] == 'c';
        back += fault.structure[0] == 'c' && fault.entry >= 32768 / 2;
        late += fault.cycle > cycles / 2;
    }
    assert_int_equal(shared + registers, 300);
    assert_in_range(back, registers / 2 - 30, registers / 2 + 30);
    /* 48 KB of 176 KB, and half: within four standard deviations of 300 draws */
    assert_in_range(shared, 82 - 31, 82 + 31);
    assert_in_range(late, 150 - 35, 150 + 35);
    close_bed(bed);
}

static void models(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    inject(bed,
           (struct hd_inject_plan){
               .model = "burst:4", .structures = "registers", .faults = 20, .only = -1, .jobs = 2});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        assert_int_equal(fault.pattern, 15);
        assert_in_range(fault.bit, 0, 28);
    }
    inject(bed,
           (struct hd_inject_plan){
               .model = "word", .structures = "registers", .faults = 20, .only = -1, .jobs = 2});
    u64 seen = 0;
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
        assert_int_equal(fault.bit, 0);
        assert_in_range(fault.pattern, 1, UINT32_MAX);
        seen |= fault.pattern;
    }
    assert_int_equal(seen, UINT32_MAX);
    close_bed(bed);
}

/* Every early decision is right, in all structures. */
static void audits(void **state)
{
    static const char *const sources[] = {simple, early};
    static const char *const selections[] = {"^(fetch|issue|icache|l1d|units|collect[.]operands)",
                                             "registers|shared|^l2"};
    for (u32 i = 0; i < ARRAY_LEN(sources); i++) {
        struct bed *bed = open_bed(sources[i], NULL);
        for (u32 k = 0; k < ARRAY_LEN(selections); k++) {
            struct hd_fault fault;
            inject(bed, (struct hd_inject_plan){.structures = selections[k],
                                                .faults = 80,
                                                .seed = 5 + i,
                                                .only = -1,
                                                .jobs = 2,
                                                .audit = 1});
            count(bed, HD_EFFECT_NONE, &fault); /* fails if one disagrees */
            u32 audited = 0;
            for (u64 n = 0; hd_inject_fault(bed->inject, n, &fault); n++)
                audited += fault.audited;
            assert_in_range(audited, 20, 80);
        }
        close_bed(bed);
    }
}

/* A decision that is wrong, as the output is another one in the end, is noticed by its audit, and only so. */
static void wrong_decisions(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    bed->lies = true;
    for (u32 all = 0; all < 2; all++) {
        struct hd_fault fault;
        u32 audited = 0;
        inject(bed, (struct hd_inject_plan){.structures = "^collect[.]registers$",
                                            .faults = 40,
                                            .seed = 5,
                                            .only = -1,
                                            .jobs = 2,
                                            .audit = all ? 1 : 1e-9});
        for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++) {
            assert_int_equal(fault.disagrees, fault.audited);
            assert_int_equal(fault.effect, fault.audited ? HD_EFFECT_SDC : HD_EFFECT_MASKED);
            audited += fault.audited;
        }
        assert_int_equal(audited, all ? 40 : 0);
        char *json = hd_inject_json(bed->inject), text[32];
        snprintf(text, sizeof text, "\"disagree\": %u", audited);
        assert_non_null(strstr(json, text));
        hd_free(json);
    }
    close_bed(bed);
}

/* Two bits of a stored value. */
static void pattern(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    char list[4096];
    int length = sprintf(list, "structure,entry,bit,cycle,pattern\n");
    bool exact = false;
    for (u32 r = 0; r < REGISTERS; r++)
        length += sprintf(list + length, "collect.registers,%u,9,700,5\n", r * THREADS + 1);
    inject(bed, (struct hd_inject_plan){.list = list, .only = -1, .jobs = 2});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++)
        exact |=
            fault.effect == HD_EFFECT_SDC && fault.wrong == 1 && fault.error == (512 + 2048) / 4.0;
    assert_true(exact);
    close_bed(bed);
}

/* ---- intervals ---- */

static void wilson(void **state)
{
    /* Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine
     * 17, 1998, table I, method 3; 0 of 10 is 1 / (1 + n / z^2). */
    static const struct {
        u64 count, total;
        f64 low, high;
    } cases[] = {
        {0, 10, 0, 0.2775327998628892},
        {10, 10, 0.7224672001371108, 1},
        {5, 10, 0.2365930905125640, 0.7634069094874360},
        {81, 263, 0.2553, 0.3662},
        {15, 148, 0.0624, 0.1605},
        {0, 20, 0, 0.1611},
        {1, 29, 0.0061, 0.1718},
        {0, 0, 0, 1},
    };
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        f64 low, high;
        hd_wilson(cases[i].count, cases[i].total, 1.959963984540054, &low, &high);
        assert_true(fabs(low - cases[i].low) < 5e-5 && fabs(high - cases[i].high) < 5.1e-5);
        if (cases[i].total == 10)
            assert_true(fabs(low - cases[i].low) < 1e-12 && fabs(high - cases[i].high) < 1e-12);
    }
}

/* A campaign stops when the interval is narrow enough, and not before. */
static void interval(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    struct hd_fault fault;
    u64 total = 0, failures = 0;
    f64 low, high;
    inject(bed, (struct hd_inject_plan){.structures = "^fetch[.]pc$",
                                        .faults = 5000,
                                        .half_width = 0.02,
                                        .only = -1,
                                        .jobs = 2});
    for (; hd_inject_fault(bed->inject, total, &fault); total++)
        failures += fault.effect >= HD_EFFECT_SDC;
    hd_wilson(failures, total, 1.959963984540054, &low, &high);
    assert_true(total < 5000 && (high - low) / 2 <= 0.02);
    close_bed(bed);
}

/* ---- what is refused ---- */

static void refused_lists(void **state)
{
    static const char *const cases[][2] = {
        {"", "there are no faults"},
        {"# nothing\n\n", "there are no faults"},
        {"structure,entry,bit\ncollect.registers,0,0\n", "no column 'cycle'"},
        {"structure,entry,bit,cycle\n", "there are no faults"},
        {"structure,entry,bit,cycle\ncollect.registers,0,0\n", "ends before the column 'cycle'"},
        {"structure,entry,bit,cycle\nno.such,0,0,1\n", "'no.such' is not among"},
        {"structure,entry,bit,cycle\nfetch.buffer,0,0,1\n", "cannot be flipped"},
        {"structure,entry,bit,cycle\ncollect.registers,32768,0,1\n", "entry: '32768'"},
        {"structure,entry,bit,cycle\ncollect.registers,0,32,1\n", "bit: '32'"},
        {"structure,entry,bit,cycle\ncollect.registers,-1,0,1\n", "entry: '-1'"},
        {"structure,entry,bit,cycle\ncollect.registers,,0,1\n", "entry: ''"},
        {"structure,entry,bit,cycle\ncollect.registers,0,0,99999999999999999999\n", "cycle: "},
        {"structure,entry,bit,cycle,owner\ncollect.registers,0,0,1,1\n", "owner: '1'"},
        {"structure,entry,bit,cycle,launch\ncollect.registers,0,0,1,0\n", "count from 1"},
        {"structure,entry,bit,cycle,pattern\ncollect.registers,0,0,1,0\n", "flips no bit"},
        {"structure,entry,bit,cycle,pattern\ncollect.registers,0,31,1,2\n", "one beyond"},
    };
    struct bed *bed = open_bed(simple, NULL);
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct hd_error error = {0};
        const struct hd_inject_plan plan = {.list = cases[i][0], .list_name = "l", .only = -1};
        assert_null(hd_inject_create(bed->device, &plan, &error));
        if (!strstr(error.message, cases[i][1]) || strncmp(error.place, "l:", 2) != 0)
            fail_msg("case %u: %s: %s", i, error.place, error.message);
    }
    /* what only the golden run can tell */
    struct hd_error error = {0};
    const struct hd_inject_plan plan = {
        .list = "structure,entry,bit,cycle,launch\ncollect.registers,0,0,1,2\n",
        .list_name = "l",
        .only = -1};
    const struct hd_inject_host host = {run, NULL, bed};
    bed->inject = hd_inject_create(bed->device, &plan, &error);
    assert_non_null(bed->inject);
    assert_false(hd_inject_run(bed->inject, &host, &error));
    assert_non_null(strstr(error.message, "no launch 2"));
    close_bed(bed);
}

static void refused_plans(void **state)
{
    static const struct {
        struct hd_inject_plan plan;
        const char *message;
    } cases[] = {
        {{.faults = 0, .only = -1}, "number of faults"},
        {{.faults = 1, .structures = "(", .only = -1}, "not a regular expression"},
        {{.faults = 1, .structures = "nothing", .only = -1}, "no storage element matches"},
        {{.faults = 1, .structures = "^fetch[.]buffer$", .only = -1}, "bits that can be flipped"},
        {{.faults = 1, .model = "burst:0", .only = -1}, "no fault model"},
        {{.faults = 1, .model = "burst:65", .only = -1}, "no fault model"},
        {{.faults = 1, .model = "stuck", .only = -1}, "no fault model"},
        {{.faults = 1, .model = "stuck:0", .only = -1}, "no fault model"},
        {{.faults = 1, .model = "stuck:1000000001", .only = -1}, "no fault model"},
        {{.faults = 1, .tolerance = -1, .only = -1}, "tolerance"},
        {{.faults = 1, .model = "stuck:5", .window = 5, .only = -1}, "stuck cannot be followed"},
        {{.list = "structure\n", .stratify = true, .only = -1}, "no strata"},
        {{.faults = 1, .words = "f16", .only = -1}, "no type of output words"},
        {{.faults = 1, .hang = 1, .only = -1}, "expected more than 1"},
        {{.faults = 5, .only = 5}, "there is no fault 5"},
    };
    struct bed *bed = open_bed(simple, NULL);
    for (u32 i = 0; i < ARRAY_LEN(cases); i++) {
        struct hd_error error = {0};
        assert_null(hd_inject_create(bed->device, &cases[i].plan, &error));
        if (!strstr(error.message, cases[i].message))
            fail_msg("case %u: %s", i, error.message);
    }
    close_bed(bed);
    bed = open_bed(simple, "timing.live_state=false");
    struct hd_error error = {0};
    const struct hd_inject_plan plan = {.faults = 1, .only = -1};
    assert_null(hd_inject_create(bed->device, &plan, &error));
    assert_non_null(strstr(error.message, "timing.live_state"));
    close_bed(bed);
}

/* A program that fails without faults, and a caller that wants no more. */
static bool no_more(void *user, uint64_t done, uint64_t total)
{
    return false;
}

static void ends_early(void **state)
{
    static const char endless[] =
        HEAD ".visible .entry k(.param .u64 out)\n{\n    .reg .b64 %a;\n    mov.u64 %a, 0;\n"
             "    st.global.u32 [%a], 1;\n    ret;\n}\n";
    struct bed *bed = open_bed(endless, NULL);
    struct hd_error error = {0};
    const struct hd_inject_plan plan = {.faults = 5, .only = -1};
    struct hd_inject_host host = {run, NULL, bed};
    bed->inject = hd_inject_create(bed->device, &plan, &error);
    must(bed->inject, &error);
    assert_false(hd_inject_run(bed->inject, &host, &error));
    assert_non_null(strstr(error.message, "without faults"));
    close_bed(bed);

    bed = open_bed(simple, NULL);
    const struct hd_inject_plan many = {.faults = 100000, .only = -1};
    bed->inject = hd_inject_create(bed->device, &many, &error);
    host = (struct hd_inject_host){run, no_more, bed};
    must(hd_inject_run(bed->inject, &host, &error), &error);
    char *json = hd_inject_json(bed->inject);
    assert_non_null(strstr(json, "\"complete\": false"));
    assert_null(strstr(json, "\"share\""));
    hd_free(json);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    close_bed(bed);
}

/* ---- campaigns that were killed ---- */

enum {
    IDENTITY = 65 /* bytes before the first record */
};

static void strike_kept(struct bed *bed, const char *keep, u64 seed, enum hd_effect *effects)
{
    struct hd_fault fault;
    inject(bed, (struct hd_inject_plan){.structures = "^collect[.]registers$",
                                        .faults = 40,
                                        .only = -1,
                                        .jobs = 2,
                                        .seed = seed,
                                        .keep = keep});
    for (u64 i = 0; hd_inject_fault(bed->inject, i, &fault); i++)
        effects[i] = fault.effect;
}

/* A file that ends in the middle of a record: the records before it are taken over, and nothing else. One
 * of them is changed, so that it can be told. Of another campaign, none is. */
static void resumed(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    char path[] = "/tmp/heddle-kept-XXXXXX";
    enum hd_effect whole[40], again[40];
    u8 bytes[1 << 16];
    close(mkstemp(path));
    strike_kept(bed, path, 1, whole);
    FILE *file = fopen(path, "rb");
    const size_t all = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const size_t record = (all - IDENTITY) / 40;
    assert_int_equal((all - IDENTITY) % 40, 0);
    u64 id;
    memcpy(&id, bytes + IDENTITY, sizeof id);
    bytes[IDENTITY + sizeof id] = HD_EFFECT_GRAY;
    for (u64 seed = 1; seed <= 2; seed++) {
        file = fopen(path, "wb");
        fwrite(bytes, 1, IDENTITY + 10 * record + record / 2, file);
        fclose(file);
        strike_kept(bed, path, seed, again);
        for (u32 i = 0; i < 40 && seed == 1; i++)
            assert_int_equal(again[i], i == id ? HD_EFFECT_GRAY : whole[i]);
        for (u32 i = 0; i < 40 && seed == 2; i++)
            assert_int_not_equal(again[i], HD_EFFECT_GRAY);
        file = fopen(path, "rb"); /* it is whole now */
        fseek(file, 0, SEEK_END);
        assert_int_equal(ftell(file), all);
        fclose(file);
    }
    unlink(path);
    close_bed(bed);
}

/* A file that cannot be written does no harm; one that another campaign has open is refused. */
static void cannot_keep(void **state)
{
    struct bed *bed = open_bed(simple, NULL);
    char path[] = "/tmp/heddle-kept-XXXXXX";
    enum hd_effect right[40], full[40];
    struct hd_error error = {0};
    const struct hd_inject_host host = {run, NULL, bed};
    strike_kept(bed, NULL, 1, right);
    strike_kept(bed, "/dev/full", 1, full);
    assert_memory_equal(right, full, sizeof right);
    const int held = mkstemp(path);
    assert_int_equal(flock(held, LOCK_EX), 0);
    hd_inject_destroy(bed->inject);
    bed->inject = hd_inject_create(
        bed->device, &(struct hd_inject_plan){.faults = 1, .only = -1, .jobs = 1, .keep = path},
        &error);
    must(bed->inject, &error);
    assert_false(hd_inject_run(bed->inject, &host, &error));
    assert_non_null(strstr(error.message, "another campaign writes it"));
    close(held);
    unlink(path);
    close_bed(bed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_value),
        cmocka_unit_test(written),
        cmocka_unit_test(read_again),
        cmocka_unit_test(followed),
        cmocka_unit_test(failures),
        cmocka_unit_test(partial_writes),
        cmocka_unit_test(stuck),
        cmocka_unit_test(strata),
        cmocka_unit_test(alone),
        cmocka_unit_test(window),
        cmocka_unit_test(empty_entries),
        cmocka_unit_test(dead_registers),
        cmocka_unit_test(address),
        cmocka_unit_test(loop_counter),
        cmocka_unit_test(tags),
        cmocka_unit_test(control),
        cmocka_unit_test(launches),
        cmocka_unit_test(scoreboard),
        cmocka_unit_test(packet),
        cmocka_unit_test(same_twice),
        cmocka_unit_test(evenly),
        cmocka_unit_test(models),
        cmocka_unit_test(pattern),
        cmocka_unit_test(audits),
        cmocka_unit_test(wrong_decisions),
        cmocka_unit_test(wilson),
        cmocka_unit_test(interval),
        cmocka_unit_test(refused_lists),
        cmocka_unit_test(refused_plans),
        cmocka_unit_test(ends_early),
        cmocka_unit_test(resumed),
        cmocka_unit_test(cannot_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
