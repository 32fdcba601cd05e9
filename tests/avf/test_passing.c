/*
 * Lines that pass through the L2: a mechanism lets it take none, so that every request goes to DRAM and comes
 * back. There is nothing in the L2 to be vulnerable; the requests are as needed as their loads.
 */
#include "avf/programs.h"

#include "core/mechanism.h"

#define COMPONENT passing
#define COMPONENT_DEF "avf/passing.def"
#define COMPONENT_HELP "an L2 that takes no lines, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

struct passing {
    MECHANISM_STATE(passing);
};

static bool allocates(void *user, u64 line)
{
    struct passing *memory = user;
    memory->stats->refused++;
    return false;
}

static bool l2(void *memory, u32 slice, struct cache_hooks *hooks)
{
    *hooks = (struct cache_hooks){.user = memory, .allocates = allocates};
    return true;
}

static const struct mechanism passing_mechanism = {
    MECHANISM_NAMED(passing, "an L2 that takes no lines, for tests"),
    .state_size = sizeof(struct passing),
    .memory_size = sizeof(struct passing),
    .l2 = l2,
};

static const struct mechanism *const with_passing[] = {&avf_mechanism, &passing_mechanism, NULL};

static struct rig *run_passing(const char *body)
{
    struct rig *rig = run_with(with_passing, "gtx480", DATA_ONLY " passing.on=true", body, 1, WARP);
    assert_true(stat(rig, "passing.refused"));
    assert_int_equal(stat(rig, "avf.l2_lines_held"), 0);
    assert_int_equal(stat(rig, "avf.l2_bits_held"), 0);
    assert_int_equal(stat(rig, "avf.l2_bits_ace"), 0);
    assert_int_equal(stat(rig, "avf.l2_lines_ace"), 0);
    return rig;
}

/* All requests to DRAM count as needed, whatever becomes of what they bring. */
static void check_dram(const struct rig *rig)
{
    assert_true(stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_held"), stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_ace"), stat(rig, "dram.queue_cycles"));
    assert_int_equal(stat(rig, "avf.dram_undecided"), 0);
}

/* A load that misses (4), and one that hits in the L1 (8) and shows how long an access is on its way to the
 * tags. `bits` of the line are needed. */
static void check_load(const char *body, u64 bits)
{
    enum {
        HEADER = 64,
        QUEUE = 16 /* most cycles in the queue of the load/store unit */
    };
    struct rig *rig = run_passing(body);
    const u64 to_tags = retired_at(rig, 0, 0, 8) - issued_at(rig, 0, 0, 8);
    const u64 filled = retired_at(rig, 0, 0, 4) - FILL_TO_WRITE_BACK;
    const u64 mshr = filled - (issued_at(rig, 0, 0, 4) + to_tags);
    const u64 requests = stat(rig, "avf.requests_held") / HEADER;
    const u64 replies = stat(rig, "avf.replies_held") / (HEADER + LINE_BITS);
    const u64 waits = stat(rig, "avf.l2_waits_held");
    assert_int_equal(stat(rig, "avf.mshr_held"), mshr);
    assert_int_equal(stat(rig, "avf.mshr_ace"), bits ? mshr : 0);
    assert_int_equal(stat(rig, "avf.requests_held"), HEADER * requests);
    assert_int_equal(stat(rig, "avf.requests_ace"), bits ? HEADER * requests : 0);
    assert_int_equal(stat(rig, "avf.replies_held"), (HEADER + LINE_BITS) * replies);
    assert_int_equal(stat(rig, "avf.replies_ace"), bits ? (HEADER + bits) * replies : 0);
    assert_int_equal(stat(rig, "avf.l2_waits_ace"), bits ? waits : 0);
    assert_true(requests && replies && waits && requests + replies + waits <= mshr);
    assert_true(mshr - (requests + replies + waits) < QUEUE);
    check_dram(rig);
    rig_close(rig);
}

static void loads(void **state)
{
    /* needed in the first byte of each word; by the second load only, or by the first; not at all */
    check_load(WORDS LATER(LOAD("%r1")) LOAD("%r2") BRANCH("%r2"), LINE_BITS / 4);
    check_load(WORDS LATER(LOAD("%r1")) LOAD("%r2") BRANCH("%r1"), LINE_BITS / 4);
    check_load(WORDS LATER(LOAD("%r1")) LOAD("%r2") "add.u32 %r2, %r2, %r1;", 0);
}

/* Past the L1, three loads, of which the last is needed: each is a request to DRAM of its own. */
static void loads_again(void **state)
{
    struct rig *rig =
        run_passing(WORDS LATER(FAR("%r1")) LATER(FAR("%r1")) FAR("%r2") BRANCH("%r2"));
    const u64 requests = stat(rig, "avf.requests_held"), waits = stat(rig, "avf.l2_waits_held");
    assert_int_equal(stat(rig, "dram.reads"), 3 * LINE_BITS / 8 / SECTOR_BYTES);
    assert_int_equal(3 * stat(rig, "avf.requests_ace"), requests);
    assert_true(waits && 2 * stat(rig, "avf.l2_waits_ace") < waits);
    assert_true(4 * stat(rig, "avf.l2_waits_ace") > waits);
    check_dram(rig);
    rig_close(rig);
}

/* Stores are needed, on their way and in DRAM. */
static void stores(void **state)
{
    struct rig *rig = run_passing(WORDS " st.global.u32 [%a], %t;");
    assert_int_equal(stat(rig, "avf.requests_held") % (64 + LINE_BITS), 0);
    assert_int_equal(stat(rig, "avf.requests_ace"), stat(rig, "avf.requests_held"));
    assert_int_equal(stat(rig, "avf.l2_waits_held"), 0);
    assert_true(stat(rig, "dram.writes"));
    check_dram(rig);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads),
        cmocka_unit_test(loads_again),
        cmocka_unit_test(stores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
