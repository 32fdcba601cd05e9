/*
 * Verdicts in a file, so that a campaign that was killed goes on where it was.
 *
 * The file has the campaign's identity and then verdicts in the order in which they became known. The
 * caller's process appends those that are final; other processes only mark them. A campaign with another
 * identity - another plan, machine, version or golden run - begins anew.
 *
 * A file that cannot be written is given up: the campaign itself needs it no more.
 */
#include "base/hash.h"
#include "fault/campaign.h"
#include "fault/site.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct kept_verdict {
    u64 id;
    struct fault_verdict verdict;
};

void keep_settle(struct hd_inject *inject, u64 id)
{
    inject->ledger->verdicts[id].settled = true;
    atomic_fetch_add_explicit(&inject->ledger->done, 1, memory_order_relaxed);
}

/* ---- identity ---- */

#define ADD(hash, value) sha256_add(hash, &(value), sizeof(value))

static void add_text(struct sha256 *hash, const char *text)
{
    if (text)
        sha256_add(hash, text, strlen(text));
    sha256_add(hash, "", 1);
}

static void add_plan(struct sha256 *hash, const struct hd_inject_plan *plan)
{
    const char *const texts[] = {plan->structures, plan->model, plan->words, plan->list};
    ADD(hash, plan->faults);
    ADD(hash, plan->seed);
    ADD(hash, plan->stratify);
    ADD(hash, plan->hang);
    ADD(hash, plan->audit);
    ADD(hash, plan->tolerance);
    for (u32 i = 0; i < ARRAY_LEN(texts); i++)
        add_text(hash, texts[i]);
    for (u32 i = 0; i < plan->file_count; i++)
        add_text(hash, plan->files[i]);
}

static void add_sample(struct sha256 *hash, const struct golden_sample *sample)
{
    ADD(hash, sample->cycle);
    ADD(hash, sample->rows);
    ADD(hash, sample->rest);
    ADD(hash, sample->memory);
}

static void identify(const struct hd_inject *inject, char text[SHA256_TEXT])
{
    const struct ledger *ledger = inject->ledger;
    const u64 bytes = sizeof(struct kept_verdict);
    struct sha256 hash;
    sha256_start(&hash);
    add_text(&hash, HEDDLE_VERSION);
    add_text(&hash, inject->machine);
    ADD(&hash, bytes);
    add_plan(&hash, &inject->plan);
    for (u32 i = 0; i < inject->targets.count; i++) {
        add_text(&hash, inject->targets.data[i].name);
        ADD(&hash, inject->targets.data[i].live);
    }
    for (u32 i = 0; i < ledger->sample_count; i++)
        add_sample(&hash, &ledger->samples[i]);
    for (u32 i = 0; i < MIN(ledger->launch_count, (u32)MOST_LAUNCHES); i++)
        add_sample(&hash, &ledger->ends[i]);
    if (inject->golden_bytes)
        sha256_add(&hash, inject->golden_outputs, inject->golden_bytes);
    sha256_text(&hash, text);
}

/* ---- the file ---- */

/* What the file has is of no use any more. */
static void give_up(struct hd_inject *inject)
{
    if (ftruncate(inject->kept, 0) != 0)
        errno = 0; /* it ends with a part of a verdict, which is not taken over */
    close(inject->kept);
    inject->kept = -1;
}

static void append(struct hd_inject *inject, const void *data, size_t bytes)
{
    ssize_t written;
    do
        written = write(inject->kept, data, bytes);
    while (written < 0 && errno == EINTR);
    if (written != (ssize_t)bytes)
        give_up(inject);
}

/* Verdicts of the campaign that was killed; a last one may be there in part. */
static void take_kept(struct hd_inject *inject)
{
    struct kept_verdict kept;
    off_t end = SHA256_TEXT;
    while (read(inject->kept, &kept, sizeof kept) == sizeof kept && kept.id < inject->capacity) {
        inject->ledger->verdicts[kept.id] = kept.verdict;
        atomic_fetch_add(&inject->ledger->done, 1);
        end += sizeof kept;
    }
    if (ftruncate(inject->kept, end) != 0 || lseek(inject->kept, end, SEEK_SET) != end)
        give_up(inject);
}

bool keep_open(struct hd_inject *inject, struct error *error)
{
    char before[SHA256_TEXT] = "", own[SHA256_TEXT];
    const char *path = inject->plan.keep;
    if (!path || inject->plan.window || inject->plan.only >= 0)
        return true;
    inject->kept = site_lock(path, error);
    if (inject->kept < 0)
        return false;
    identify(inject, own);
    if (read(inject->kept, before, sizeof before) == sizeof before &&
        !memcmp(before, own, sizeof own)) {
        take_kept(inject);
    } else if (ftruncate(inject->kept, 0) != 0 || lseek(inject->kept, 0, SEEK_SET) != 0) {
        give_up(inject);
    } else {
        append(inject, own, sizeof own);
    }
    return true;
}

void keep_note(struct hd_inject *inject, bool all)
{
    const u64 done = atomic_load(&inject->ledger->done);
    const u64 enough = inject->noted + 1 + (all ? 0 : inject->capacity / 1000);
    if (inject->kept < 0 || done < enough)
        return;
    for (u64 id = 0; id < inject->drawn && inject->kept >= 0; id++) {
        struct fault_verdict *verdict = &inject->ledger->verdicts[id];
        if (!verdict->settled || verdict->kept || verdict->crashed || verdict->disagrees)
            continue;
        verdict->kept = true;
        struct kept_verdict kept;
        memset(&kept, 0, sizeof kept);
        kept.id = id;
        kept.verdict = *verdict;
        append(inject, &kept, sizeof kept);
    }
    inject->noted = done;
}

void keep_close(struct hd_inject *inject)
{
    if (inject->kept < 0)
        return;
    keep_note(inject, true);
    if (inject->kept >= 0)
        close(inject->kept);
    inject->kept = -1;
}
