/*
 * Random programs against a slow interpreter.
 *
 *   random FIRST COUNT                  seeds FIRST, FIRST + 1... on every configuration
 *   random --alike FIRST COUNT SET...   programs whose warps are alike, with mechanisms
 *   random --ptx|--ptx-alike SEED       prints a program
 *
 * A set is words with '+' between them, "NAME[:PARAMETER=VALUE,...]", "KEY=VALUE" or "chip": the device is
 * a chip whose registers differ; what is
 * skipped and what is issued must together be what a run without mechanisms issues, and nobody may
 * count a lie. On a difference the program is made smaller, then printed with its seed and the
 * first differing thread.
 */
#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "../mech/redundant/witness.h"
#include "../semantics/harness.h"
#include "make.h"
#include "program.h"

/* What must not change a result. */
static const char *const configurations[][6] = {
    {NULL},
    {"exec.simd=portable", "ptx.optimize=false", NULL},
    {"core.warp_size=64", NULL},
    {"ptx.max_registers=16", "exec.simd=portable", NULL},
    {"core.warp_size=64", "ptx.optimize=false", "ptx.max_registers=24", NULL},
};
enum {
    CONFIGURATIONS = sizeof configurations / sizeof *configurations,
    MOST_SETS = 32
};

struct trial {
    struct hd_device *device[CONFIGURATIONS];
    const char *sets[MOST_SETS]; /* of mechanisms; each program has a device of its own then */
    unsigned count;              /* of configurations or sets */
    u64 instructions, threads;   /* of the last run without mechanisms */
    u64 skipped, issued;         /* in all */
    u64 compared;                /* by the witness */
    u64 formed;                  /* warps, by mechanisms that re-form them */
    u32 input[INPUT_WORDS], counters[COUNTERS];
};

struct difference {
    bool failed; /* did not load or launch, or counted what cannot be */
    u32 thread, word, got, want;
    bool in_counters;
    bool say; /* what was counted wrong */
};

static void fill_memory(struct trial *t, u64 seed)
{
    for (u32 i = 0; i < INPUT_WORDS; i++)
        t->input[i] = (u32)((seed + i) * 2654435761u) >> (i % 3 * 8);
    for (u32 i = 0; i < COUNTERS; i++)
        t->counters[i] = i * 1000003u;
}

static bool set_variable(struct hd_device *device, struct hd_module *module, const char *name,
                         const void *data, size_t bytes)
{
    struct hd_error error = {0};
    hd_address address;
    uint64_t size;
    if (!hd_module_variable(module, name, &address, &size, &error) || size != bytes) {
        printf("variable %s: %s\n", name, error.message);
        return false;
    }
    buffer_write(device, address, data, bytes);
    return true;
}

/* Runs on a device; `out` and `counters` receive what memory holds afterwards. */
static bool simulate(struct trial *t, struct hd_device *device, const struct program *program,
                     const char *ptx, u32 *out, u32 *counters)
{
    struct text text = {(char *)ptx, strlen(ptx), 0};
    struct hd_error error = {0};
    hd_address at;
    uint64_t size;
    size_t bytes = (size_t)program->grid * program_threads(program) * OUT_WORDS * 4;
    struct hd_module *module = module_load(device, &text, "random.ptx");
    if (!module)
        return false;
    memset(out, 0, bytes);
    u64 args[] = {buffer_new(device, out, bytes)};
    bool good =
        set_variable(device, module, "input", t->input, sizeof t->input) &&
        set_variable(device, module, "counters", t->counters, sizeof t->counters) &&
        launch(module, "random", (struct hd_dim){program->grid, 1, 1},
               (struct hd_dim){program->block[0], program->block[1], program->block[2]}, args, 1);
    buffer_read(device, args[0], out, bytes);
    if (hd_module_variable(module, "counters", &at, &size, &error))
        buffer_read(device, at, counters, sizeof t->counters);
    hd_release(device, args[0], &error);
    hd_module_unload(module);
    return good;
}

/* ---- mechanisms ---- */

/* `plain`: only what it says of cores and code, without mechanisms and time. */
static struct hd_device *open_set(const char *set, bool plain)
{
    struct hd_error error = {0};
    struct hd_config *config = witness_config();
    char *copy = strdup(set), *rest = copy;
    bool good = hd_config_set(config, "gpu.cores=2", &error) &&
                hd_config_set(config, "timing.max_cycles=3000000", &error);
    bool chip = false;
    for (char *word; good && (word = strtok_r(NULL, "+", &rest));)
        if (!strcmp(word, "chip"))
            chip = true;
        else if (!plain || strncmp(word, "core.", 5) == 0 || strncmp(word, "ptx.", 4) == 0)
            good = word[strcspn(word, ":=")] == '=' ? hd_config_set(config, word, &error)
                                                    : hd_config_mechanism(config, word, &error);
    good = good && (!plain || hd_config_set(config, "timing.functional=true", &error));
    if (good && chip)
        make_chip(config, NULL, NULL);
    struct hd_device *device = good ? hd_device_open(config, &error) : NULL;
    if (!device) {
        fprintf(stderr, "%s: %s\n", set, error.message);
        exit(2);
    }
    hd_config_destroy(config);
    free(copy);
    return device;
}

static u64 total(const json_t *all, const char *name)
{
    return (u64)json_integer_value(json_object_get(json_object_get(all, "totals"), name));
}

/* What the only launch of a device has counted. */
static bool counts_hold(struct trial *t, struct hd_device *device, bool plain, bool say)
{
    static const char *const none[] = {"dac_ideal.untrue", "redundancy.lies", "sdmr.detected",
                                       "witness.lies"};
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL);
    hd_free(text);
    bool good = true;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (total(all, none[i])) {
            if (say)
                printf("%s is %llu\n", none[i], (unsigned long long)total(all, none[i]));
            good = false;
        }
    const u64 issued = total(all, "exec.warp_instructions");
    const u64 skipped = total(all, "darsie.skipped") + total(all, "dac_ideal.skipped") +
                        total(all, "uniform.irb_removed");
    const u64 copies = total(all, "sdmr.copies"); /* of blocks: they issue as much again, */
    const u64 again =                             /* if all have one */
        copies && copies == total(all, "timing.blocks") ? issued / 2
                                                        : total(all, "timing_speculation.again");
    t->compared += total(all, "witness.compared");
    const u64 threads = total(all, "exec.thread_instructions");
    const u64 formed = total(all, "tbc.formed") + total(all, "lwm.formed");
    t->formed += formed;
    json_decref(all);
    if (plain) {
        t->instructions = issued;
        t->threads = threads;
    }
    if (formed) { /* other warps, but the same threads */
        if (threads != t->threads && say)
            printf("%llu thread instructions, not %llu\n", (unsigned long long)threads,
                   (unsigned long long)t->threads);
        good &= threads == t->threads;
    } else if (issued - again + skipped != t->instructions && (!copies || again)) {
        if (say)
            printf("%llu issued and %llu skipped, of %llu\n", (unsigned long long)issued,
                   (unsigned long long)skipped, (unsigned long long)t->instructions);
        good = false;
    }
    t->skipped += skipped;
    t->issued += issued;
    return good;
}

static bool simulate_set(struct trial *t, const char *set, const struct program *program,
                         const char *ptx, u32 *out, u32 *counters, bool say)
{
    struct hd_device *device = open_set(set, true);
    bool good = simulate(t, device, program, ptx, out, counters);
    counts_hold(t, device, true, false);
    hd_device_close(device);
    device = open_set(set, false);
    good = good && simulate(t, device, program, ptx, out, counters) &&
           counts_hold(t, device, false, say);
    hd_device_close(device);
    return good;
}

/* True when the device and the interpreter agree. */
static bool agree(struct trial *t, unsigned on, const struct program *program,
                  struct difference *difference)
{
    size_t words = (size_t)program->grid * program_threads(program) * OUT_WORDS;
    struct memory_image memory = {.out = calloc(words, 4)};
    u32 *out = calloc(words, 4), counters[COUNTERS] = {0};
    assert(out && memory.out);
    fill_memory(t, program->seed);
    memcpy(memory.input, t->input, sizeof memory.input);
    memcpy(memory.counters, t->counters, sizeof memory.counters);
    program_interpret(program, &memory);
    char *ptx = program_print(program);
    *difference = (struct difference){.say = difference->say};
    bool same = t->sets[0]
                    ? simulate_set(t, t->sets[on], program, ptx, out, counters, difference->say)
                    : simulate(t, t->device[on], program, ptx, out, counters);
    difference->failed = !same;
    for (size_t i = 0; same && i < words; i++)
        if (out[i] != memory.out[i]) {
            *difference = (struct difference){.thread = (u32)(i / OUT_WORDS),
                                              .word = (u32)(i % OUT_WORDS),
                                              .got = out[i],
                                              .want = memory.out[i]};
            same = false;
        }
    for (u32 i = 0; same && i < COUNTERS; i++)
        if (counters[i] != memory.counters[i]) {
            *difference = (struct difference){
                .word = i, .got = counters[i], .want = memory.counters[i], .in_counters = true};
            same = false;
        }
    free(ptx);
    free(out);
    free(memory.out);
    return same;
}

/* Takes statements out one by one while the two still disagree in the same way. */
static void minimise(struct trial *t, unsigned on, struct program *program, bool failed)
{
    size_t count = program_statements(program, NULL);
    struct statement **list = calloc(count + 1, sizeof *list);
    assert(list);
    program_statements(program, list);
    bool progress = true;
    for (unsigned round = 0; round < 3 && progress; round++) {
        progress = false;
        for (size_t i = 0; i < count; i++) {
            struct difference difference = {0};
            if (list[i]->dead)
                continue;
            list[i]->dead = true;
            if (agree(t, on, program, &difference) || difference.failed != failed)
                list[i]->dead = false;
            else
                progress = true;
        }
    }
    free(list);
}

static void report(struct trial *t, unsigned on, struct program *program)
{
    struct difference d = {0};
    bool same = agree(t, on, program, &d);
    assert(!same);
    minimise(t, on, program, d.failed);
    d.say = true;
    same = agree(t, on, program, &d);
    assert(!same);
    char *ptx = program_print(program);
    printf("seed %llu disagrees with", (unsigned long long)program->seed);
    for (unsigned i = 0; !t->sets[0] && configurations[on][i]; i++)
        printf(" %s", configurations[on][i]);
    if (t->sets[0])
        printf(" %s", t->sets[on]);
    if (d.failed)
        printf(": it does not run\n");
    else if (d.in_counters)
        printf(": counter %u is %x, expected %x\n", d.word, d.got, d.want);
    else
        printf(": thread %u word %u is %x, expected %x\n", d.thread, d.word, d.got, d.want);
    printf("%s\n", ptx);
    free(ptx);
}

static unsigned try_seed(struct trial *t, u64 seed, bool alike)
{
    struct program *program = program_generate(seed, alike);
    unsigned failures = 0;
    for (unsigned on = 0; on < t->count && !failures; on++) {
        struct difference d = {0};
        if (agree(t, on, program, &d))
            continue;
        report(t, on, program);
        failures++;
    }
    program_free(program);
    return failures;
}

static int try_seeds(u64 first, u64 count)
{
    struct trial t = {.count = CONFIGURATIONS};
    unsigned failures = 0;
    for (unsigned on = 0; on < CONFIGURATIONS; on++)
        t.device[on] = device_open(configurations[on]);
    for (u64 seed = first; seed < first + count && failures < 3; seed++)
        failures += try_seed(&t, seed, false);
    for (unsigned on = 0; on < CONFIGURATIONS; on++)
        hd_device_close(t.device[on]);
    printf("random: %llu programs from %llu, %u failures\n", (unsigned long long)count,
           (unsigned long long)first, failures);
    return failures != 0;
}

static int try_sets(u64 first, u64 count, bool alike, char **sets, unsigned set_count)
{
    struct trial t = {.count = set_count};
    unsigned failures = 0;
    assert(set_count <= MOST_SETS);
    for (unsigned i = 0; i < set_count; i++)
        t.sets[i] = sets[i];
    for (u64 seed = first; seed < first + count && failures < 3; seed++)
        failures += try_seed(&t, seed, alike);
    printf("random: %llu programs from %llu in %u sets, %u failures; %.1f %% skipped, %llu "
           "compared, %llu warps formed\n",
           (unsigned long long)count, (unsigned long long)first, set_count, failures,
           100.0 * (double)t.skipped / (double)(t.skipped + t.issued + !t.issued),
           (unsigned long long)t.compared, (unsigned long long)t.formed);
    return failures != 0;
}

static int print(const char *seed, bool alike)
{
    struct program *program = program_generate(strtoull(seed, NULL, 0), alike);
    char *ptx = program_print(program);
    fputs(ptx, stdout);
    free(ptx);
    program_free(program);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strncmp(argv[1], "--ptx", 5) == 0)
        return print(argv[2], strcmp(argv[1], "--ptx-alike") == 0);
    const bool alike = argc >= 5 && strcmp(argv[1], "--alike") == 0;
    if (alike || (argc >= 5 && strcmp(argv[1], "--any") == 0))
        return try_sets(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0), alike, argv + 4,
                        (unsigned)argc - 4);
    if (argc != 3) {
        fprintf(stderr,
                "usage: random FIRST COUNT | random --alike|--any FIRST COUNT SET... | random "
                "--ptx|--ptx-alike SEED\n");
        return 2;
    }
    return try_seeds(strtoull(argv[1], NULL, 0), strtoull(argv[2], NULL, 0));
}
