/*
 * Experiment files of any bytes: what is read has all its parts, what is refused says why and
 * where. The first line, behind a '#', also goes through the parsers of formulas alone.
 */
#include "lab/experiment.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static bool lookup(void *user, const char *name, f64 *value)
{
    *value = (f64)strlen(name) - 3;
    return name[0] != 'z';
}

static void formulas(struct arena *arena, const char *text)
{
    const struct text_place place = {"fuzz", 1, 1};
    struct error error = {0};
    f64 value, values[COMPARISON_MAX_SIDES] = {0};
    struct formula *formula = formula_parse(arena, text, place, &error);
    require(formula || (error.message[0] && error.place[0]));
    if (formula && formula_value(formula, lookup, NULL, &value))
        require(isfinite(value));
    struct comparison *comparison = comparison_parse(arena, text, place, &error);
    if (comparison) {
        require(comparison->count >= 2 && comparison->count <= COMPARISON_MAX_SIDES);
        comparison_holds(comparison, values);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const struct builtin_file workloads[] = {{"vecadd", "", 0}, {"matmul", "", 0}, {0}};
    static const char suite[] = "workloads: [{id: A, workload: vecadd}]\ngroups: {g: [A]}\n";
    static const struct builtin_file experiments[] = {{"suite-s", suite, sizeof suite - 1}, {0}};
    const struct lab_files files = {experiments, workloads};
    struct arena *arena = arena_create();
    struct error error = {0};
    const struct experiment *one =
        experiment_parse(arena, &files, (const char *)data, size, "fuzz.yaml", false, &error);
    if (one) {
        const struct space *space = &one->space;
        require(one->name && one->title && space->axis_count && space->size);
        if (one->tabular)
            require(one->suite.count && one->column_count && one->configuration_count);
        u32 values[SPACE_MAX_AXES];
        space_values(space, space->size - 1, values);
        require(space_point(space, values) == space->size - 1);
        space_excludes(space, space->size - 1);
        for (u32 i = 0; i < one->ordering_count; i++)
            require(one->orderings[i].comparison);
    } else {
        require(error.code != ERROR_NONE && error.message[0]);
    }
    const u8 *end = size ? memchr(data, '\n', size) : NULL;
    if (size > 1 && data[0] == '#')
        formulas(arena, arena_strndup(arena, (const char *)data + 1,
                                      (size_t)((end ? end : data + size) - data) - 1));
    arena_destroy(arena);
    return 0;
}
