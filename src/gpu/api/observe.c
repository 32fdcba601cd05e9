/* Traces and time series: the public API of observer.h. */
#include "base/text.h"
#include "base/workers.h"
#include "gpu/api/api.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers and ranges, separated by commas: "0,4-7". */
static bool are_cores(const char *text)
{
    unsigned long first, last;
    int used;
    do {
        used = 0;
        if (*text < '0' || *text > '9' || sscanf(text, "%5lu%n", &first, &used) != 1)
            return false;
        text += used;
        last = first;
        if (*text == '-' &&
            (text[1] < '0' || text[1] > '9' || sscanf(text + 1, "%5lu%n", &last, &used) != 1))
            return false;
        text += *text == '-' ? used + 1 : 0;
    } while (last >= first && *text++ == ',');
    return last >= first && !text[-1];
}

bool hd_observe(struct hd_device *device, const struct hd_observe *what, struct hd_error *error)
{
    if (!device)
        return api_null(error, "hd_observe");
    struct error inner = {0};
    if (what && what->trace_to && what->trace_to <= what->trace_from) {
        error_set(&inner, ERROR_USAGE, "", "hd_observe: trace_to must be above trace_from");
        return api_fail(error, &inner);
    }
    if (what && what->trace_longest && (!what->trace_events || what->trace_from || what->trace_to))
        error_set(&inner, ERROR_USAGE, "",
                  "hd_observe: trace_longest needs trace_events, without trace_from and trace_to");
    else if (what && what->trace_cores && !are_cores(what->trace_cores))
        error_set(&inner, ERROR_USAGE, "",
                  "hd_observe: trace_cores is '%.40s': expected numbers and ranges, as in 0,4-7",
                  what->trace_cores);
    if (inner.message[0])
        return api_fail(error, &inner);
    observer_destroy(device->observer);
    device->observer = what && (what->trace || what->series) ? observer_create(what) : NULL;
    return true;
}

bool hd_set_core_order(struct hd_device *device, const char *order, struct hd_error *error)
{
    static const char shuffle[] = "shuffle:";
    if (!device || !order)
        return api_null(error, "hd_set_core_order");
    char *end = NULL;
    const char *number = order + sizeof shuffle - 1;
    if (!strcmp(order, "forward")) {
        device->core_order = ORDER_FORWARD;
        return true;
    }
    if (!strcmp(order, "reverse")) {
        device->core_order = ORDER_REVERSE;
        return true;
    }
    if (!strncmp(order, shuffle, sizeof shuffle - 1) && *number >= '0' && *number <= '9') {
        u64 seed = strtoull(number, &end, 10);
        if (!*end) {
            device->core_order = ORDER_SHUFFLE;
            device->core_order_seed = seed;
            return true;
        }
    }
    struct error inner = {0};
    error_set(&inner, ERROR_USAGE, "",
              "'%.40s' is not an order of cores: expected forward, reverse or shuffle:N", order);
    return api_fail(error, &inner);
}

bool hd_set_threads(struct hd_device *device, const char *threads, struct hd_error *error)
{
    u64 number = 0;
    if (!device || !threads)
        return api_null(error, "hd_set_threads");
    if (!strcmp(threads, "auto"))
        number = MIN(workers_host_cores(), (u32)WORKERS_MOST);
    else if (text_u64(threads, &number) != TEXT_OK || !number || number > WORKERS_MOST) {
        struct error inner = {0};
        error_set(&inner, ERROR_USAGE, "",
                  "'%.40s' is not a number of threads: expected 1 to %d, or auto", threads,
                  WORKERS_MOST);
        return api_fail(error, &inner);
    }
    if (device->timing)
        timing_set_threads(device->timing, (u32)number);
    return true;
}

uint32_t hd_threads(const struct hd_device *device)
{
    return device && device->timing ? timing_threads(device->timing) : 1;
}

void hd_measure_windows(struct hd_device *device, hd_window_fn *take, void *user)
{
    if (device && device->timing)
        timing_measure(device->timing, take, user);
}

void hd_progress_time(const struct hd_device *device, uint64_t *cycles, uint64_t *picoseconds)
{
    if (!device)
        return;
    if (cycles)
        *cycles = atomic_load_explicit(&device->cycles, memory_order_relaxed);
    if (picoseconds)
        *picoseconds = atomic_load_explicit(&device->picoseconds, memory_order_relaxed);
}
