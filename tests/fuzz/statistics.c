/*
 * Documents of statistics of any bytes: nothing is read beyond their end; of what is JSON, everything
 * but `host` is kept, and numbers are those of the tree.
 */
#include "lab/statistics.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Whether a tree has keys that the text may spell in another way, or several times. */
static bool is_plain(const char *text, size_t length)
{
    return !memchr(text, '\\', length);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const char *const paths[] = {"timing.cycles", "a.b", "config.a", "launches", "x"};
    f64 values[ARRAY_LEN(paths)], value;
    const char *text = (const char *)data;
    struct arena *arena = arena_create();
    char *kept = statistics_kept(text, size);
    json_t *tree = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (kept) {
        statistics_launches(arena, kept);
        statistics_values(kept, paths, ARRAY_LEN(paths), values);
    }
    if (json_is_object(tree) && is_plain(text, size) && kept) {
        json_t *rest = json_loads(kept, 0, NULL);
        json_object_del(tree, "host");
        require(rest && json_equal(rest, tree));
        for (u32 i = 0; i < ARRAY_LEN(paths); i++)
            require(statistic_value(tree, paths[i], &value) ? values[i] == value
                                                            : isnan(values[i]));
        json_decref(rest);
    }
    json_decref(tree);
    free(kept);
    arena_destroy(arena);
    return 0;
}
