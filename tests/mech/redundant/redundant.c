/*
 * Runs the kernels of cases.h with mechanisms, beside the same without mechanisms and time:
 *
 *   redundant --source DIR [--machine NAME] [--only TEXT] [--orders] [--same PREFIX] [-v] SET...
 *
 * A set is words with '+' between them: NAME[:PARAMETER=VALUE,...] switches a mechanism on,
 * KEY=VALUE sets. "plain" is a set without words. Of every launch
 *  1  every byte of memory is what it is without mechanisms, and the outcome is the same;
 *  2  its statistics are as many as those of others, and obey the laws of conservation;
 *  3  what was issued and what was skipped together are what a run without mechanisms issues;
 *  4  with --orders, all statistics are the same to the byte in any order of cores;
 *  5  with --same, statistics that begin so are the same in all sets.
 * All shapes of all kernels are launched on one device, one after the other.
 */
#include "cases.h"
#include "exactness/laws.h"
#include "witness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *source, *machine, *only;
    bool orders, verbose;
    unsigned lanes;   /* of the machine */
    const char *same; /* NULL, or how statistics begin that all sets have in common */
    json_t *first;    /* launches of the first set */
};

/* What a launch has left. */
struct left {
    char name[32];
    uint8_t *bytes; /* of out, room and flags */
    size_t count;
    uint64_t instructions;
    uint64_t marked; /* with a mark that holds, in the set that runs */
    const struct redundant_case *of;
    struct hd_dim shape;
};

struct run {
    struct options *options;
    const char *set; /* NULL: the reference */
    struct hd_device *device;
    hd_address in, room, flags;
    struct left *reference; /* by case and shape, in order */
    size_t at;
    size_t statistics; /* of a launch; 0: none yet */
    unsigned launches, failures;
};

static void give_up(const char *what, const struct hd_error *error)
{
    fprintf(stderr, "%s: %s %s\n", what, error->place, error->message);
    exit(2);
}

static void apply(struct hd_config *config, const char *word)
{
    struct hd_error error = {0};
    bool good = word[strcspn(word, ":=")] == '=' ? hd_config_set(config, word, &error)
                                                 : hd_config_mechanism(config, word, &error);
    if (!good)
        give_up(word, &error);
}

/* Without a set: no mechanism and no time. */
static void open_device(struct run *run)
{
    struct hd_error error = {0};
    struct hd_config *config = witness_config();
    if (!hd_config_load(config, run->options->machine, &error))
        give_up(run->options->machine, &error);
    apply(config, "launch.max_instructions=5000000");
    apply(config, "timing.max_cycles=20000000");
    if (!run->set)
        apply(config, "timing.functional=true");
    char *copy = strdup(run->set ? run->set : "plain"), *rest = copy;
    for (char *word; (word = strtok_r(NULL, "+", &rest));)
        if (strcmp(word, "plain") != 0)
            apply(config, word);
    free(copy);
    run->device = hd_device_open(config, &error);
    if (!run->device)
        give_up("no device", &error);
    hd_config_destroy(config);
    run->in = hd_alloc(run->device, IN_BYTES, &error);
    run->room = hd_alloc(run->device, ROOM_BYTES, &error);
    run->flags = hd_alloc(run->device, FLAG_BYTES, &error);
    if (!run->in || !run->room || !run->flags)
        give_up("no memory", &error);
    uint32_t words[IN_BYTES / 4];
    for (uint32_t i = 0; i < IN_BYTES / 4; i++)
        words[i] = (i + 1) * 2654435761u >> 9;
    hd_write(run->device, run->in, words, sizeof words, &error);
}

__attribute__((format(printf, 4, 5))) static void
wrong(struct run *run, const struct redundant_case *c, struct hd_dim shape, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("FAILED %s %u,%u,%u on %s with %s: ", c->name, shape.x, shape.y, shape.z,
           run->options->machine, run->set ? run->set : "nothing");
    vprintf(format, list);
    printf("\n");
    va_end(list);
    run->failures++;
}

/* ---- statistics ---- */

static uint64_t stat(const json_t *launch, const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(json_object_get(launch, "stats"), name));
}

/* Launch `at` may share no more than another case does in the same shape. */
static void check_as(struct run *run, size_t at)
{
    const struct left *l = &run->reference[at];
    for (size_t i = 0; i < at; i++) {
        const struct left *other = &run->reference[i];
        if (strcmp(other->of->name, l->of->as) == 0 &&
            memcmp(&other->shape, &l->shape, sizeof l->shape) == 0 && l->marked != other->marked)
            wrong(run, l->of, l->shape, "%" PRIu64 " marked instructions, not %" PRIu64 " as in %s",
                  l->marked, other->marked, l->of->as);
    }
}

/* Launch number `at` of the device. */
static void check_launch(struct run *run, const json_t *launch, size_t at)
{
    char why[256];
    const struct redundant_case *c = run->reference[at].of;
    const struct hd_dim shape = run->reference[at].shape;
    const uint64_t issued = stat(launch, "exec.warp_instructions");
    const uint64_t skipped = stat(launch, "darsie.skipped") + stat(launch, "dac_ideal.skipped"),
                   all = run->reference[at].instructions;
    const size_t count = json_object_size(json_object_get(launch, "stats"));
    const bool done = strcmp(c->outcome, "done") == 0;
    run->reference[at].marked =
        stat(launch, "darsie.marked") + skipped + stat(launch, "witness.marked");
    if (c->as[0] && !stat(launch, "dac_ideal.instructions"))
        check_as(run, at);
    if (run->statistics && count != run->statistics)
        wrong(run, c, shape, "%zu statistics, not %zu", count, run->statistics);
    run->statistics = count;
    const bool timed = json_object_get(json_object_get(launch, "stats"), "issue.instructions");
    if (timed && issued != stat(launch, "issue.instructions"))
        wrong(run, c, shape, "instructions issued and executed differ");
    static const char *const none[] = {"dac_ideal.untrue", "redundancy.lies", "witness.lies"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (stat(launch, none[i]) && !(c->races && strcmp(none[i], "witness.lies") == 0))
            wrong(run, c, shape, "%s is %" PRIu64 " (instruction %" PRIu64 ")", none[i],
                  stat(launch, none[i]), stat(launch, "witness.first") - 1);
    if (done && timed && !laws_hold(launch, why, sizeof why))
        wrong(run, c, shape, "%s", why);
    if (done && !c->spin && issued + skipped != all)
        wrong(run, c, shape, "%" PRIu64 " issued and %" PRIu64 " skipped, of %" PRIu64, issued,
              skipped, all);
    if (run->options->verbose)
        printf("%s %u,%u,%u: %" PRIu64 " cycles, %" PRIu64 " issued, %" PRIu64 " skipped, %" PRIu64
               " compared\n",
               c->name, shape.x, shape.y, shape.z, stat(launch, "timing.cycles"), issued, skipped,
               stat(launch, "witness.compared"));
}

/* Those whose names begin as options say are the same in all sets. */
static void check_same(struct run *run, const json_t *launch, size_t at)
{
    const struct redundant_case *c = run->reference[at].of;
    json_t *value, *stats = json_object_get(launch, "stats");
    json_t *first = json_object_get(json_array_get(run->options->first, at), "stats");
    const char *name, *prefix = run->options->same;
    if (c->spin || c->races || c->clock || strcmp(c->outcome, "done") != 0)
        return;
    json_object_foreach(stats, name, value)
    {
        const json_t *other = json_object_get(first, name);
        if (strncmp(name, prefix, strlen(prefix)) != 0 || json_equal(value, other))
            continue;
        wrong(run, c, run->reference[at].shape, "%s is %g, not %g as in the first set", name,
              json_number_value(value), json_number_value(other));
        return;
    }
}

static void check_statistics(struct run *run, const char *text)
{
    json_t *all = json_loads(text, 0, NULL), *launches = json_object_get(all, "launches"), *launch;
    size_t i;
    json_array_foreach(launches, i, launch)
    {
        check_launch(run, launch, i);
        if (run->options->same && run->options->first)
            check_same(run, launch, i);
    }
    if (run->options->same && !run->options->first)
        run->options->first = json_incref(launches);
    json_decref(all);
}

/* ---- a launch ---- */

static void compare(struct run *run, const struct redundant_case *c, struct hd_dim shape,
                    const struct left *got, const struct left *want)
{
    const size_t out = got->count - ROOM_BYTES - FLAG_BYTES;
    for (size_t i = 0; i < got->count; i++) {
        if (got->bytes[i] == want->bytes[i])
            continue;
        uint32_t have, expect;
        memcpy(&have, got->bytes + i / 4 * 4, 4);
        memcpy(&expect, want->bytes + i / 4 * 4, 4);
        if (i < out)
            wrong(run, c, shape, "thread %zu word %zu is %x, not %x", i / 16, i % 16 / 4, have,
                  expect);
        else
            wrong(run, c, shape, "room or flags at %zu is %x, not %x", i - out, have, expect);
        return;
    }
}

static struct left launch(struct run *run, const struct redundant_case *c, struct hd_module *module,
                          struct hd_dim shape)
{
    struct hd_error error = {0};
    struct hd_result result = {0};
    const size_t out_bytes = (size_t)c->grid * shape.x * shape.y * shape.z * 16;
    struct left o = {.count = out_bytes + ROOM_BYTES + FLAG_BYTES, .of = c, .shape = shape};
    const hd_address out = hd_alloc(run->device, out_bytes, &error);
    o.bytes = malloc(o.count);
    hd_fill(run->device, out, &(uint8_t){0xa5}, 1, out_bytes, &error);
    hd_fill(run->device, run->room, &(uint8_t){0}, 1, ROOM_BYTES, &error);
    hd_fill(run->device, run->flags, &(uint8_t){0}, 1, FLAG_BYTES, &error);
    const uint32_t n = 6;
    const struct hd_arg args[] = {
        {&out, 8}, {&run->in, 8}, {&run->room, 8}, {&run->flags, 8}, {&n, 4}};
    if (!hd_launch(hd_kernel_at(module, 0), (struct hd_dim){c->grid, 1, 1}, shape, 0, args, 5,
                   &result, &error))
        give_up(c->name, &error);
    snprintf(o.name, sizeof o.name, "%s", hd_outcome_name(result.outcome));
    if (strcmp(o.name, c->outcome) != 0)
        wrong(run, c, shape, "it ends with %s: %s", o.name, result.explanation);
    o.instructions = result.warp_instructions;
    if (!hd_read(run->device, o.bytes, out, out_bytes, &error) ||
        !hd_read(run->device, o.bytes + out_bytes, run->room, ROOM_BYTES, &error) ||
        !hd_read(run->device, o.bytes + out_bytes + ROOM_BYTES, run->flags, FLAG_BYTES, &error) ||
        !hd_release(run->device, out, &error))
        give_up("memory", &error);
    return o;
}

static void run_shape(struct run *run, const struct redundant_case *c, struct hd_module *module,
                      struct hd_dim shape)
{
    struct left got = launch(run, c, module, shape);
    struct left *want = &run->reference[run->at++];
    run->launches++;
    if (!run->set) {
        *want = got;
        return;
    }
    if (strcmp(c->outcome, "done") == 0)
        compare(run, c, shape, &got, want);
    free(got.bytes);
}

/* Whether the machine has room for such a block. */
static bool holds(const struct run *run, struct hd_module *module, struct hd_dim shape)
{
    const struct hd_arg args[] = {{NULL, 8}, {NULL, 8}, {NULL, 8}, {NULL, 8}, {NULL, 4}};
    return hd_launch_check(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1}, shape, 0, args, 5,
                           NULL);
}

/* All cases in one device; its statistics, to be freed. */
static char *run_cases(struct run *run, const struct redundant_cases *cases, const char *order)
{
    struct hd_error error = {0};
    open_device(run);
    if (order && !hd_set_core_order(run->device, order, &error))
        give_up(order, &error);
    run->at = 0;
    for (size_t i = 0; i < cases->count; i++) {
        const struct redundant_case *c = &cases->data[i];
        if ((run->options->only && !strstr(c->name, run->options->only)) ||
            (c->warp32 && run->options->lanes != 32))
            continue;
        struct hd_module *module =
            hd_module_load(run->device, c->ptx, strlen(c->ptx), c->name, &error);
        if (!module)
            give_up(c->name, &error);
        for (unsigned k = 0; k < c->shape_count; k++)
            if (holds(run, module, c->shapes[k]))
                run_shape(run, c, module, c->shapes[k]);
        hd_module_unload(module);
    }
    char *text = hd_stats_json(run->device);
    if (run->set)
        check_statistics(run, text);
    hd_device_close(run->device);
    return text;
}

static bool parse(struct options *o, int argc, char **argv, int *first)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--orders") == 0)
            o->orders = true;
        else if (strcmp(argv[i], "-v") == 0)
            o->verbose = true;
        else if (i + 1 == argc)
            return false;
        else if (strcmp(argv[i], "--source") == 0)
            o->source = argv[++i];
        else if (strcmp(argv[i], "--machine") == 0)
            o->machine = argv[++i];
        else if (strcmp(argv[i], "--only") == 0)
            o->only = argv[++i];
        else if (strcmp(argv[i], "--same") == 0)
            o->same = argv[++i];
        else
            return false;
    }
    *first = i;
    return o->source && i < argc;
}

static void find_lanes(struct options *o)
{
    struct hd_error error = {0};
    struct hd_machine_info info;
    struct hd_config *config = hd_config_create();
    if (!hd_config_load(config, o->machine, &error) || !hd_config_info(config, &info, &error))
        give_up(o->machine, &error);
    o->lanes = info.lanes;
    hd_config_destroy(config);
}

int main(int argc, char **argv)
{
    struct options o = {.machine = "generic"};
    int first;
    if (!parse(&o, argc, argv, &first)) {
        fprintf(stderr, "usage: redundant --source DIR [--machine NAME] [--only TEXT] [--orders] "
                        "[--same PREFIX] [-v] SET...\n");
        return 2;
    }
    find_lanes(&o);
    struct redundant_cases cases = cases_read(o.source, o.lanes);
    struct left *reference = calloc(cases.count * MOST_SHAPES, sizeof *reference);
    struct run plain = {.options = &o, .reference = reference};
    hd_free(run_cases(&plain, &cases, NULL));
    unsigned launches = 0, failures = plain.failures;
    for (int i = first; i < argc; i++) {
        struct run run = {.options = &o, .set = argv[i], .reference = reference};
        char *text = run_cases(&run, &cases, NULL);
        static const char *const orders[] = {"reverse", "shuffle:7"};
        for (unsigned k = 0; o.orders && k < sizeof orders / sizeof *orders; k++) {
            char *other = run_cases(&run, &cases, orders[k]);
            if (strcmp(text, other) != 0) {
                printf("FAILED %s on %s: other statistics in order %s\n", argv[i], o.machine,
                       orders[k]);
                failures++;
            }
            hd_free(other);
        }
        hd_free(text);
        launches += run.launches;
        failures += run.failures;
    }
    for (size_t i = 0; i < plain.launches; i++)
        free(reference[i].bytes);
    free(reference);
    cases_free(&cases);
    json_decref(o.first);
    printf("redundant: %u launches on %s, %u failures\n", launches, o.machine, failures);
    return failures != 0 || !launches;
}
