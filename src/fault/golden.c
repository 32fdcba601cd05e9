/*
 * The golden run: hashes of its state every so many cycles and at the ends of launches, and its
 * outputs. The number of samples is limited; the longer the run, the farther apart they are.
 */
#include "fault/campaign.h"
#include "gpu/time/parts.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

struct golden_sample sample_take(const struct hd_inject *inject, const struct live_moment *moment)
{
    return (struct golden_sample){
        .launch = inject->launch,
        .cycle = moment->cycle,
        .time = moment->run->timing->now,
        .rows = timing_hash(inject->device->timing, true),
        .rest = live_hash_rest(moment->run),
        .memory = live_hash_memory(moment->run),
    };
}

static void thin_out(struct ledger *ledger)
{
    for (u32 i = 0; i < MOST_SAMPLES / 2; i++)
        ledger->samples[i] = ledger->samples[2 * i];
    ledger->sample_count = MOST_SAMPLES / 2;
    ledger->every *= 2;
}

void golden_moment(struct hd_inject *inject, const struct live_moment *moment)
{
    struct ledger *ledger = inject->ledger;
    if (atomic_load_explicit(&ledger->stop, memory_order_relaxed))
        _exit(0);
    inject->now = moment->run->timing->now;
    if (moment->ended) {
        inject->next_sample = 0;
        if (inject->launch < MOST_LAUNCHES)
            ledger->ends[inject->launch] = sample_take(inject, moment);
        ledger->cycles += moment->cycle;
        inject->launch++;
        return;
    }
    if (moment->cycle < inject->next_sample)
        return;
    if (ledger->sample_count == MOST_SAMPLES)
        thin_out(ledger);
    ledger->samples[ledger->sample_count++] = sample_take(inject, moment);
    inject->next_sample = (moment->cycle / ledger->every + 1) * ledger->every;
}

/* ---- outputs: struct golden_output and the bytes of each, one after the other ---- */

static bool write_all(int file, const void *data, size_t bytes)
{
    for (const u8 *at = data; bytes;) {
        const ssize_t written = write(file, at, bytes);
        if (written < 0 && errno != EINTR)
            return false;
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

void golden_output(struct hd_inject *inject, const char *name, u64 address, const void *data,
                   size_t bytes)
{
    struct golden_output output = {.bytes = bytes, .address = address};
    snprintf(output.name, sizeof output.name, "%s", name);
    if (write_all(inject->outputs, &output, sizeof output) &&
        write_all(inject->outputs, data, bytes))
        return;
    inject->ledger->failed = true;
    snprintf(inject->ledger->message, sizeof inject->ledger->message,
             "the output '%.60s' of the run without faults cannot be kept: %s", name,
             strerror(errno));
}

bool golden_next(const struct hd_inject *inject, size_t *at, struct golden_output *output,
                 const u8 **data)
{
    if (inject->golden_bytes < *at + sizeof *output)
        return false;
    memcpy(output, inject->golden_outputs + *at, sizeof *output);
    *data = inject->golden_outputs + *at + sizeof *output;
    *at += sizeof *output + output->bytes;
    return true;
}

bool golden_map(struct hd_inject *inject, struct error *error)
{
    const off_t bytes = lseek(inject->outputs, 0, SEEK_END);
    inject->golden_bytes = bytes > 0 ? (size_t)bytes : 0;
    if (!bytes)
        return true;
    void *map = mmap(NULL, inject->golden_bytes, PROT_READ, MAP_PRIVATE, inject->outputs, 0);
    if (map == MAP_FAILED) {
        inject->golden_bytes = 0;
        return error_set(error, ERROR_SYSTEM, "", "cannot map outputs: %s", strerror(errno));
    }
    inject->golden_outputs = map;
    return true;
}
