/* Distinct points: see survey.h. */
#include "lab/survey.h"

#include "base/text.h"
#include <stdlib.h>

/* A set of points by their keys, with open addressing. */
struct key_set {
    u32 *slots; /* index + 1 into the survey's points; 0: free */
    u64 size;
};

static u64 first_bits(const struct surveyed *point)
{
    u64 bits;
    memcpy(&bits, point->key, sizeof bits);
    return bits;
}

/* The slot of a point, free or with one that has the same key. */
static u32 *slot_of(const struct key_set *set, const struct survey *survey,
                    const struct surveyed *point)
{
    u64 at = first_bits(point) & (set->size - 1);
    while (set->slots[at] &&
           memcmp(survey->points.data[set->slots[at] - 1].key, point->key, sizeof point->key) != 0)
        at = (at + 1) & (set->size - 1);
    return &set->slots[at];
}

static void grow(struct key_set *set, const struct survey *survey)
{
    if (2 * ((u64)survey->points.count + 1) <= set->size)
        return;
    free(set->slots);
    set->size = MAX(2 * set->size, 1024);
    set->slots = checked(calloc(set->size, sizeof *set->slots));
    for (u32 i = 0; i < survey->points.count; i++)
        *slot_of(set, survey, &survey->points.data[i]) = i + 1;
}

static u32 digit(char c)
{
    return (u32)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void surveyed_key(const struct surveyed *point, char key[SHA256_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (u32 i = 0; i < sizeof point->key; i++) {
        key[2 * i] = digits[point->key[i] >> 4];
        key[2 * i + 1] = digits[point->key[i] & 15];
    }
    key[SHA256_TEXT - 1] = '\0';
}

static u32 program_of(struct survey *survey, const struct plan *plan, u64 number,
                      const struct point *point)
{
    for (u32 i = survey->programs.count; i-- > 0;) {
        const struct survey_program *one = &survey->programs.data[i];
        if (!strcmp(one->workload, point->workload) && !strcmp(one->arguments, point->arguments))
            return i;
    }
    struct survey_program *one = vec_push(&survey->programs);
    *one = (struct survey_program){arena_strdup(survey->arena, point->workload),
                                   arena_strdup(survey->arena, point->arguments),
                                   plan_expected(plan, number, survey->arena)};
    return survey->programs.count - 1;
}

static void add(struct survey *survey, struct key_set *set, const struct plan *plan, u64 number,
                const struct point *point)
{
    struct surveyed one = {.number = (u32)number};
    for (u32 i = 0; i < sizeof one.key; i++)
        one.key[i] = (u8)(digit(point->key[2 * i]) << 4 | digit(point->key[2 * i + 1]));
    grow(set, survey);
    u32 *slot = slot_of(set, survey, &one);
    survey->of[number] = *slot ? *slot - 1 : survey->points.count;
    if (*slot)
        return;
    one.program = program_of(survey, plan, number, point);
    *(struct surveyed *)vec_push(&survey->points) = one;
    *slot = survey->points.count;
}

struct survey *survey_create(struct plan *plan, struct error *error)
{
    struct survey *survey = checked(calloc(1, sizeof *survey));
    struct key_set set = {0};
    bool ok = true;
    survey->arena = arena_create();
    survey->of = checked(malloc((plan->count + 1) * sizeof *survey->of));
    for (u64 number = 0; ok && number < plan->count; number++) {
        survey->of[number] = SURVEY_NONE;
        if (!plan_wants(plan, number))
            continue;
        struct arena *arena = arena_create();
        struct point point;
        survey->wanted++;
        ok = plan_point(plan, number, arena, &point, error);
        if (ok)
            add(survey, &set, plan, number, &point);
        arena_destroy(arena);
    }
    free(set.slots);
    if (ok)
        return survey;
    survey_destroy(survey);
    return NULL;
}

void survey_destroy(struct survey *survey)
{
    if (!survey)
        return;
    vec_free(&survey->points);
    free(survey->of);
    vec_free(&survey->programs);
    arena_destroy(survey->arena);
    free(survey);
}
