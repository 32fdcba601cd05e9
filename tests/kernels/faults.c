/*
 * Kernels that go wrong: the outcome, and what its explanation must name. Source lines are found by
 * their "// line: NAME" marks in cuda/faults.cu.
 */
#include "kernels.h"

/* -1 when there is no such mark, which no explanation names. */
static int marked_line(const struct test *t, const char *name)
{
    char path[1024], mark[64], text[512];
    snprintf(path, sizeof path, "%s/cuda/faults.cu", t->source);
    snprintf(mark, sizeof mark, "// line: %s\n", name);
    FILE *file = fopen(path, "r");
    int found = -1;
    for (int line = 1; file && fgets(text, sizeof text, file); line++)
        if (strstr(text, mark))
            found = line;
    if (file)
        fclose(file);
    return found;
}

static void expect(struct test *t, enum hd_outcome outcome, const char *line,
                   const char *const *parts)
{
    char place[64];
    if (t->failed)
        return;
    if (t->result.outcome != outcome) {
        fail(t, "ended with %s, not %s:\n%s", hd_outcome_name(t->result.outcome),
             hd_outcome_name(outcome), t->result.explanation);
        return;
    }
    snprintf(place, sizeof place, "faults.cu:%d", line ? marked_line(t, line) : 0);
    if (line && !strstr(t->result.explanation, place))
        fail(t, "the explanation does not name %s:\n%s", place, t->result.explanation);
    for (; *parts; parts++)
        if (!strstr(t->result.explanation, *parts))
            fail(t, "the explanation does not say '%s':\n%s", *parts, t->result.explanation);
}
#define EXPECT(t, outcome, line, ...) \
    expect(t, outcome, line, (const char *const[]){__VA_ARGS__, NULL})

static hd_address named(struct test *t, size_t bytes, const char *name)
{
    struct hd_error error;
    hd_address address = hd_alloc_named(t->device, bytes, name, &error);
    if (address == 0)
        fail(t, "hd_alloc_named: %s", error.message);
    return address;
}

static void past_end(struct test *t)
{
    char address[32];
    i32 want[100];
    t->fault = true;
    hd_address out = named(t, sizeof want, "results");
    LAUNCH(t, "past_end", D1(2), D1(64), 0, PTR(out), I32(100));
    snprintf(address, sizeof address, "%llx", (unsigned long long)out + 400);
    EXPECT(t, HD_OUT_OF_BOUNDS, "past_end", "past_end", "results", "36", address);
    if (t->timed)
        return; /* the other block may not have progressed so far */
    /* Memory keeps what was written by the block before the fault. */
    for (i32 i = 0; i < 64; i++)
        want[i] = i;
    SAME(t, "out", (i32 *)take(t, out, 256), want, 64);
}

static void before_start(struct test *t)
{
    t->fault = true;
    hd_address in = named(t, 256, "inputs");
    LAUNCH(t, "before_start", D1(1), D1(64), 0, PTR(in), PTR(room(t, 256)));
    EXPECT(t, HD_OUT_OF_BOUNDS, "before_start", "before_start", "inputs", "5");
}

static void freed(struct test *t)
{
    struct hd_error error;
    t->fault = true;
    hd_address out = named(t, 512, "gone");
    if (!hd_release(t->device, out, &error))
        fail(t, "hd_release: %s", error.message);
    LAUNCH(t, "past_end", D1(1), D1(64), 0, PTR(out), I32(100));
    EXPECT(t, HD_USE_AFTER_FREE, "past_end", "gone", "past_end");
}

static void misaligned(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "misaligned", D1(1), D1(32), 0, PTR(named(t, 256, "bytes")), PTR(room(t, 256)));
    EXPECT(t, HD_MISALIGNED, "misaligned", "misaligned", "9");
}

static void store_constant(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "store_constant", D1(1), D1(32), 0, PTR(zeros(t, 64)));
    EXPECT(t, HD_READ_ONLY, "store_constant", "table");
}

static void barrier_deadlock(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "barrier_deadlock", D1(1), D1(64), 0, PTR(room(t, 256)));
    EXPECT(t, HD_DEADLOCK, "barrier_deadlock", "barrier 1", "barrier 2");
}

static void endless(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "endless", D1(1), D1(32), 0, PTR(zeros(t, 8)));
    EXPECT(t, HD_LIMIT, NULL, "endless");
    if (t->result.warp_instructions == 0)
        fail(t, "no instructions counted");
}

static void overflow(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "overflow", D1(1), D1(32), 0, PTR(zeros(t, 256)));
    EXPECT(t, HD_STACK_OVERFLOW, NULL, "overflow");
}

static void failing_assert(struct test *t)
{
    i32 in[64] = {[41] = 13};
    char line[32];
    t->fault = true;
    LAUNCH(t, "failing_assert", D1(1), D1(64), 0, PTR(give(t, in, sizeof in)), PTR(room(t, 256)));
    snprintf(line, sizeof line, "%d", marked_line(t, "failing_assert"));
    EXPECT(t, HD_ASSERT, NULL, "in[i] != 13", "faults.cu", line, "41", "failing_assert");
}

static void trapped(struct test *t)
{
    i32 in[64] = {[33] = 13};
    t->fault = true;
    LAUNCH(t, "trapped", D1(1), D1(64), 0, PTR(give(t, in, sizeof in)), PTR(room(t, 256)));
    EXPECT(t, HD_TRAP, NULL, "trapped", "33");
}

static void bad_free(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "bad_free", D1(1), D1(1), 0, PTR(room(t, 256)));
    EXPECT(t, HD_HEAP, NULL, "bad_free");
}

static void shared_past_end(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "shared_past_end", D1(1), D1(32), 0, PTR(room(t, 256)), I32(1));
    EXPECT(t, HD_OUT_OF_BOUNDS, "shared_past_end", "31", "shared");
}

static void null_pointer(struct test *t)
{
    t->fault = true;
    LAUNCH(t, "null_pointer", D1(1), D1(32), 0, PTR(0));
    EXPECT(t, HD_OUT_OF_BOUNDS, "null_pointer", "null_pointer", "3");
}

const struct kernel_case fault_cases[] = {
    {"cuda/faults", "past_end", past_end, CASE_CLANG},
    {"cuda/faults", "before_start", before_start, CASE_CLANG},
    {"cuda/faults", "freed", freed, CASE_CLANG},
    {"cuda/faults", "misaligned", misaligned, CASE_CLANG},
    {"cuda/faults", "store_constant", store_constant, CASE_CLANG},
    {"cuda/faults", "barrier_deadlock", barrier_deadlock, CASE_CLANG},
    {"cuda/faults", "endless", endless, CASE_CLANG},
    {"cuda/faults", "overflow", overflow, CASE_CLANG},
    {"cuda/faults", "failing_assert", failing_assert, CASE_CLANG},
    {"cuda/faults", "trapped", trapped, CASE_CLANG},
    {"cuda/faults", "bad_free", bad_free, CASE_CLANG},
    {"cuda/faults", "shared_past_end", shared_past_end, CASE_CLANG},
    {"cuda/faults", "null_pointer", null_pointer, CASE_CLANG},
    {0},
};
