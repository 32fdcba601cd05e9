/* Fuzzing of lists of faults: what is accepted names bits that exist. */
#include "fault/campaign.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const struct state_row rows[] = {
        {.unit = "a", .name = "b", .entries = 100, .bits = 40, .backed = 32},
        {.unit = "c", .name = "d", .entries = 1, .bits = 1, .backed = 1},
    };
    struct hd_inject inject = {.machine = "m"};
    struct injection_list list = {0};
    struct error error = {0};
    char *text = strndup((const char *)data, size);
    *vec_push(&inject.targets) = (struct fault_target){&rows[0], "a.b", 3, 9600, 2400};
    *vec_push(&inject.targets) = (struct fault_target){&rows[1], "c.d", 1, 1, 0};
    *vec_push(&inject.targets) = (struct fault_target){&rows[1], "e.f", 0, 0, 1};
    const bool ok = list_read(&inject, text, "list", &list, &error);
    require(ok || (error.place[0] && error.message[0]));
    for (u32 i = 0; i < list.rows.count; i++) {
        const struct injection *fault = &list.rows.data[i];
        const struct fault_target *target = &inject.targets.data[fault->target];
        require(target->live && fault->owner < target->owners);
        require(fault->entry < target->row->entries && fault->bit < target->row->backed);
        require(fault->pattern && fault->launch < MOST_LAUNCHES);
        require(fault->bit + 63 - (u32)__builtin_clzll(fault->pattern) < target->row->backed);
    }
    vec_free(&list.rows);
    vec_free(&inject.targets);
    free(text);
    return 0;
}
