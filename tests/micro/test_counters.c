/*
 * Wait counters (issue.memory_order): what registers hold before and after a wait, when waits let
 * go, and what the counters can hold.
 */
#include "ir/waits.h"
#include "rig.h"

#define COUNTERS                                                                                \
    "gpu.cores=1 core.pipeline=gcn issue.sub_cores=true issue.schedulers=4 fetch.per_cycle=16 " \
    "fetch.buffer=16 fetch.width=8 fetch.branch=continue constant.perfect=false "

enum {
    WORDS = 4096
};
static const char *folder;

struct run {
    struct rig *rig;
    hd_address memory;
    u32 words[WORDS]; /* of memory, before and after: each is 1000 and its number at first */
};

static void start(struct run *run, const char *settings, const char *kernel)
{
    char path[1024], all[1024];
    struct hd_error error;
    snprintf(path, sizeof path, "%s/counters.so", folder);
    snprintf(all, sizeof all, COUNTERS "%s", settings);
    run->rig = rig_open_file("generic64", all, path);
    run->rig->kernel = kernel;
    run->memory = rig_memory(run->rig, sizeof run->words);
    for (u32 i = 0; i < WORDS; i++)
        run->words[i] = 1000 + i;
    if (!hd_write(run->rig->device, run->memory, run->words, sizeof run->words, &error))
        fail_msg("%s", error.message);
    rig_run(run->rig, 1, 64, run->memory);
    if (!hd_read(run->rig->device, run->words, run->memory, sizeof run->words, &error))
        fail_msg("%s", error.message);
}

/* The instruction `back` ones before the last. */
static u64 issued(const struct run *run, u32 back)
{
    return issued_before_end(run->rig, 0, 0, back);
}
static u64 retired(const struct run *run, u32 back)
{
    const struct moves *moves = &run->rig->issued;
    return retired_at(run->rig, 0, 0, moves->data[moves->count - 1 - back].inst);
}

/* ---- values ---- */

static void expect(const char *settings, bool old)
{
    struct run run;
    start(&run, settings, "early");
    for (u32 i = 0; i < 64; i++) {
        assert_int_equal(run.words[64 + i], old ? 7 : 1000 + i);
        assert_int_equal(run.words[128 + i], 1000 + i);
        assert_int_equal(run.words[192 + i], old ? 7 : 1001);
        assert_int_equal(run.words[256 + i], 1001);
        assert_int_equal(run.words[320 + i], old ? 7 : 9);
        assert_int_equal(run.words[384 + i], 9);
    }
    rig_close(run.rig);
}

/* A missing wait reads the old value, where nothing but counters orders memory. */
static void test_early(void **state)
{
    expect("issue.memory_order=counters", true);
    expect("issue.memory_order=counters core.pipeline=common", true);
    expect("issue.memory_order=scoreboard", false);
    expect("issue.memory_order=scoreboard core.pipeline=common", false);
}

/* What comes earlier waits for its turn, so that the last load of a register is what stays. */
static void test_same(void **state)
{
    struct run run;
    start(&run, "issue.memory_order=counters", "same");
    for (u32 i = 0; i < 64; i++)
        assert_int_equal(run.words[64 + i], 1000 + i);
    assert_int_equal(retired(&run, 3),
                     retired(&run, 4)); /* the second, which was there, and the first */
    rig_close(run.rig);
}

static void test_shared_order(void **state)
{
    struct run run;
    start(&run, "issue.memory_order=counters", "shared_order");
    for (u32 i = 0; i < 64; i++) {
        assert_int_equal(run.words[64 + i], 9);
        assert_int_equal(run.words[128 + i], 9);
    }
    /* a swizzle takes as long as a read, and follows it */
    assert_true(retired(&run, 3) > retired(&run, 4));
    rig_close(run.rig);
}

/* ---- time ---- */

/* A wait for n of four ends in the first turn in which n accesses remain. */
static void test_left(void **state)
{
    for (u32 n = 0; n <= 4; n++) {
        char kernel[16];
        struct run run;
        snprintf(kernel, sizeof kernel, "left%u", n);
        start(&run, "issue.memory_order=counters", kernel);
        const u64 wait = issued(&run, 2);
        assert_int_equal(issued(&run, 1), wait + 4);
        u64 before = 0;
        for (u32 load = 0; load < 4; load++) {
            const u64 done = retired(&run, 6 - load);
            assert_true(done >= before + 32); /* they are far apart */
            before = done;
            if (load < 4 - n)
                assert_true(wait >= done);
            else
                assert_true(wait < done);
            if (load + 1 == 4 - n)
                assert_true(wait < done + 4);
        }
        if (n == 4)
            assert_int_equal(wait, issued(&run, 3) + 4);
        rig_close(run.rig);
    }
}

static void test_most(void **state)
{
    struct run run;
    start(&run, "issue.memory_order=counters", "many");
    const u64 done =
        retired_at(run.rig, 0, 0, run.rig->issued.data[run.rig->issued.count - 17].inst);
    assert_true(issued(&run, 16 - (WAIT_VECTOR_MOST - 1)) < done);
    assert_true(issued(&run, 16 - WAIT_VECTOR_MOST) >= done);
    assert_true(issued(&run, 16 - WAIT_VECTOR_MOST) < done + 4);
    rig_close(run.rig);
}

/* The data of a store have been read long before memory has them. */
static void test_stored(void **state)
{
    struct run run;
    start(&run, "issue.memory_order=counters", "stored");
    const u64 done = retired(&run, 4), data = issued(&run, 3), wait = issued(&run, 2);
    assert_true(data > issued(&run, 4) + 1 && data < issued(&run, 4) + 16);
    assert_true(wait >= done && wait < done + 4 && done > data + 64);
    rig_close(run.rig);
}

static void test_words(void **state)
{
    struct run run;
    start(&run, "issue.memory_order=counters", "one_word");
    assert_int_equal(issued(&run, 2), issued(&run, 3) + 4); /* one access remains: the wait ends */
    rig_close(run.rig);
    start(&run, "issue.memory_order=counters", "two_words");
    assert_true(issued(&run, 2) >= retired(&run, 3));
    rig_close(run.rig);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_early),        cmocka_unit_test(test_same),
        cmocka_unit_test(test_shared_order), cmocka_unit_test(test_left),
        cmocka_unit_test(test_most),         cmocka_unit_test(test_stored),
        cmocka_unit_test(test_words),
    };
    folder = argv[1];
    return argc == 2 ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
}
