/* Programs without and with a mechanism: see pair.h. */
#include "pair.h"

static u32 *run(struct rig *rig, u32 blocks, u32 threads, u32 words)
{
    struct hd_error error;
    const u64 bytes = 4ull * blocks * threads * words;
    const hd_address at = rig_memory(rig, bytes);
    u32 *found = calloc(1, bytes);
    rig_run(rig, blocks, threads, at);
    if (!hd_read(rig->device, found, at, bytes, &error))
        fail_msg("%s", error.message);
    return found;
}

struct pair pair_run(struct rig *plain, struct rig *other, u32 blocks, u32 threads, u32 words)
{
    const struct pair pair = {plain, other, blocks * threads * words,
                              run(plain, blocks, threads, words),
                              run(other, blocks, threads, words)};
    assert_int_equal(stat(other, "issue.threads"), stat(plain, "issue.threads"));
    return pair;
}

bool pair_same(const struct pair *pair)
{
    return !memcmp(pair->expected, pair->found, 4ull * pair->count);
}

void pair_expect_same(const struct pair *pair, const char *text)
{
    for (u32 i = 0; i < pair->count; i++)
        if (pair->found[i] != pair->expected[i])
            fail_msg("%s\nword %u is %u, not %u", text, i, pair->found[i], pair->expected[i]);
}

void pair_close(struct pair pair)
{
    rig_close(pair.plain);
    rig_close(pair.other);
    free(pair.expected);
    free(pair.found);
}

u32 issues(const struct rig *rig, u32 inst)
{
    u32 count = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        count += rig->issued.data[i].inst == inst;
    return count;
}
