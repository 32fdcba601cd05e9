/*
 * Small programs of one block for tests of ACE analysis. The cycles of their instructions are those in
 * which the rig saw them issue and retire; register reads count at issue.
 */
#ifndef TESTS_AVF_PROGRAMS_H
#define TESTS_AVF_PROGRAMS_H

#include "micro/rig.h"

#include "gpu/device.h"

extern const struct mechanism avf_mechanism;
static const struct mechanism *const available[] = {&avf_mechanism, NULL};

enum {
    WARP = 32
};

/* %p: where results go, instruction 0; %t: the thread, instruction 1. */
#define BEGIN                                                                                      \
    HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %p, %a, %b; .reg .b32 %t, %r<16>; .reg " \
         ".b16 %h<4>; .reg .pred %q<4>; .shared .align 4 .b8 s[1024];\n ld.param.u64 %p, [p]; "    \
         "mov.u32 %t, %tid.x;\n"
#define END "\n ret;\n}\n"

static inline struct rig *run_with(const struct mechanism *const *mechanisms, const char *machine,
                                   const char *settings, const char *body, u32 blocks, u32 threads)
{
    char all[512], *text = NULL;
    assert_true(asprintf(&text, "%s%s%s", BEGIN, body, END) > 0);
    snprintf(all, sizeof all, "gpu.cores=1 avf.on=true avf.read=issue %s", settings);
    struct rig *rig = rig_open_with(mechanisms, machine, all, text);
    free(text);
    rig_run(rig, blocks, threads, rig_memory(rig, 1 << 16));
    return rig;
}

static inline struct rig *run_on(const char *machine, const char *settings, const char *body,
                                 u32 blocks, u32 threads)
{
    return run_with(available, machine, settings, body, blocks, threads);
}

static inline struct rig *run(const char *body)
{
    return run_on("gtx480", "", body, 1, WARP);
}

/* A value: its writer, the instruction that reads these bits last; bits of all lanes together. */
struct value {
    u32 writer, reader;
    u64 bits;
};
#define WORD (32 * WARP)

static inline u64 time_between(const struct rig *rig, const struct value *v)
{
    return issued_at(rig, 0, 0, v->reader) - retired_at(rig, 0, 0, v->writer);
}

static inline u64 sum(const struct rig *rig, const struct value *values, u32 count)
{
    u64 total = 0;
    for (u32 i = 0; i < count; i++)
        total += values[i].bits * time_between(rig, &values[i]);
    return total;
}

/* Memory is read through the caches by loads and stores only. */
#define DATA_ONLY "icache.perfect=true constant.perfect=true"
/* %a: a word for each thread, in one line of the L1 and of the L2; 2 to 3. `LATER`, three
 * instructions, makes the next access wait for %r1, without needing a bit of it. */
#define WORDS " mul.wide.u32 %a, %t, 4; add.u64 %a, %a, %p;"
#define LATER(load) load " and.b32 %r9, %r1, 0; cvt.u64.u32 %b, %r9; add.u64 %a, %a, %b; "
#define LOAD(to) " ld.global.u32 " to ", [%a];"
#define FAR(to) " ld.volatile.global.u32 " to ", [%a];"
/* A branch that needs the first byte of a register of zeros: the lowest bit in which it differs. */
#define BRANCH(r) " setp.ne.u32 %q1, " r ", 9; @%q1 bra E;\n add.u32 %r5, %t, 1;\nE:"
#define LINE_BITS (8 * 128)

enum {
    FILL_TO_WRITE_BACK = 2 /* cycles from the fill of the L1 to the load's write-back */
};

#endif
