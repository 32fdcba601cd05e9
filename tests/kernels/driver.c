/*
 * Runs every kernel case, as every file it was compiled to, in every configuration, each on a fresh
 * device.
 *
 *   kernels --source DIR [--ptx DIR|--narrow DIR] [--form NAME] [--only TEXT] [--set KEY=VALUE]...
 *           [--exact|--armed|--live] [--quick]
 *           [--list] [-v]
 *
 * --armed runs each case in time twice, without and with content (timing.content; --live: with live
 * state, timing.live_state), and compares all
 * that was counted. --exact runs each case twice, in functional mode and in time, and compares what was counted; in
 * time every law of conservation must hold. --quick leaves out cases that run long in time.
 * --part K/N runs each Nth case, from the Kth on.
 *
 * --source is tests/kernels. --ptx takes the PTX of the CUDA files from another directory (made by
 * another compiler) and runs only cases that have a file there. --narrow takes all PTX, with 32-bit
 * addresses, from below a directory that scripts/compile-kernels --narrow has made. --form runs one of ptx, clang14,
 * clang19, v4, debug (scripts/compile-kernels says what they are), or si, all but the first. --set
 * replaces the standard configurations by one. --only runs cases whose file or name contains the
 * text.
 */
#include "exactness/laws.h"
#include "kernels.h"

static const struct kernel_case *const groups[] = {
    cuda_basic_cases,  cuda_number_cases,   cuda_flow_cases,     cuda_space_cases,
    cuda_warp_cases,   opencl_cases,        opencl_number_cases, opencl_program_cases,
    opencl_more_cases, opencl_memory_cases, opencl_wide_cases,   opencl_flow_cases,
    opencl_si_cases,   fault_cases,
};

/* What a kernel may be compiled to. */
struct form {
    const char *name, *extension;
    bool si;
    bool optional; /* only some kernels come in this form; others always, by their flags */
};
static const struct form forms[] = {
    {"ptx", ".ptx", false, false},           {"clang14", ".clang14.so", true, false},
    {"clang19", ".clang19.so", true, false}, {"v4", ".v4.so", true, true},
    {"debug", ".debug.so", true, true},
};

struct setup {
    const char *name;
    const char *settings[8]; /* NULL-terminated */
    u32 warp;
    const char *machine; /* NULL: the default one */
};
/* Optimisation, lane code and warp size, each against the others at least once. No kernel here
 * needs more warp instructions than LIMIT, but the one that never ends. */
#define LIMIT "launch.max_instructions=10000000"
static const struct setup setups[] = {
    {"plain", {"ptx.optimize=false", "exec.simd=auto", LIMIT}, 32},
    {"optimised", {"ptx.optimize=true", "exec.simd=auto", LIMIT}, 32},
    {"portable", {"ptx.optimize=false", "exec.simd=portable", LIMIT}, 32},
    {"portable optimised", {"ptx.optimize=true", "exec.simd=portable", LIMIT}, 32},
    {"warp 64", {"ptx.optimize=false", "exec.simd=portable", "core.warp_size=64", LIMIT}, 64},
    {"warp 64 optimised", {"ptx.optimize=true", "exec.simd=auto", "core.warp_size=64", LIMIT}, 64},
};
/* PTX with 32-bit addresses (--narrow). */
#define NARROW "gpu.address_bits=32"
static const struct setup narrow_setups[] = {
    {"plain", {"ptx.optimize=false", "exec.simd=auto", NARROW, LIMIT}, 32},
    {"optimised", {"ptx.optimize=true", "exec.simd=auto", NARROW, LIMIT}, 32},
    {"portable", {"ptx.optimize=false", "exec.simd=portable", NARROW, LIMIT}, 32},
    {"portable optimised", {"ptx.optimize=true", "exec.simd=portable", NARROW, LIMIT}, 32},
};
/* Code objects need warps of 64, and no setting of PTX concerns them. */
static const struct setup si_setups[] = {
    {"SI", {"exec.simd=auto", LIMIT}, 64, "generic64"},
    {"SI portable", {"exec.simd=portable", "core.warp_size=64", LIMIT}, 64, NULL},
};

struct options {
    const char *source, *ptx, *narrow, *form, *only;
    struct setup custom;
    unsigned custom_count;
    bool list, verbose, exact, quick;
    const char *armed;    /* a setting, or NULL */
    unsigned part, parts; /* only each case whose number modulo parts is part; 0 parts: all */
};

struct totals {
    unsigned passed, failed, skipped;
};

static char *read_text(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    *length = text ? fread(text, 1, (size_t)size, file) : 0;
    fclose(file);
    return text;
}

/* False when this case does not come in this form. */
static bool has_form(const struct options *o, const struct kernel_case *c, const struct form *form)
{
    if (o->form && strcmp(o->form, form->name) != 0 && !(form->si && strcmp(o->form, "si") == 0))
        return false;
    if (o->narrow)
        return !form->si && !(c->flags & (CASE_SI | CASE_ROCM | CASE_CLANG | CASE_LAYOUT));
    if (!form->si)
        return !(c->flags & (CASE_SI | CASE_ROCM)) &&
               (!o->ptx || (strncmp(c->file, "cuda/", 5) == 0 && !(c->flags & CASE_CLANG)));
    return !o->ptx && strncmp(c->file, "opencl/", 7) == 0 &&
           !(c->flags & CASE_ROCM && strcmp(form->name, "clang14") == 0);
}

static void path_of(const struct options *o, const struct kernel_case *c, const struct form *form,
                    char *path, size_t size)
{
    if (o->narrow)
        snprintf(path, size, "%s/%s.%s.ptx", o->narrow, c->file,
                 strncmp(c->file, "cuda/", 5) == 0 ? "cu" : "cl");
    else if (o->ptx)
        snprintf(path, size, "%s/%s.ptx", o->ptx, c->file + strlen("cuda/"));
    else
        snprintf(path, size, "%s/%s%s", o->source, c->file, form->extension);
}

static void collect(void *user, const char *text, size_t length)
{
    struct test *t = user;
    size_t left = sizeof t->output - 1 - t->output_length;
    if (length > left)
        length = left;
    memcpy(t->output + t->output_length, text, length);
    t->output_length += length;
}

static struct hd_config *make_config(const struct setup *setup, bool timed, bool quick,
                                     struct hd_error *error)
{
    struct hd_config *config = hd_config_create();
    bool ok = config && (!setup->machine || hd_config_load(config, setup->machine, error));
    if (ok) { /* a setup may say otherwise */
        hd_config_set(config, timed ? "timing.functional=false" : "timing.functional=true", error);
        hd_config_set(config, quick ? "launch.max_instructions=100000" : LIMIT, error);
    }
    for (unsigned i = 0; ok && setup->settings[i]; i++)
        ok = hd_config_set(config, setup->settings[i], error);
    if (!ok) {
        hd_config_destroy(config);
        return NULL;
    }
    return config;
}

static struct hd_device *open_device(const struct setup *setup, const struct test *t,
                                     struct hd_error *error)
{
    struct hd_config *config = make_config(setup, t->timed, t->quick, error);
    if (config && t->armed)
        hd_config_set(config, t->armed, error);
    struct hd_device *device = config ? hd_device_open(config, error) : NULL;
    hd_config_destroy(config);
    return device;
}

/* Whether the machine allows blocks of 1,024 threads. */
static bool takes_wide_blocks(const struct setup *setup, bool timed)
{
    struct hd_error error = {0};
    struct hd_machine_info info;
    struct hd_config *config = make_config(setup, timed, false, &error);
    const bool wide = !config || !hd_config_info(config, &info, &error) || /* run_on reports it */
                      info.block_threads >= 1024;
    hd_config_destroy(config);
    return wide;
}

static void run_on(struct test *t, const struct kernel_case *c, const struct setup *setup,
                   const char *path, const char *text, size_t length, json_t **stats)
{
    struct hd_error error = {0};
    t->device = open_device(setup, t, &error);
    if (!t->device) {
        fail(t, "no device: %s", error.message);
        return;
    }
    hd_set_output(t->device, collect, t);
    t->module = hd_module_load(t->device, text, length, path, &error);
    if (t->module)
        c->run(t);
    else
        fail(t, "%s: %s", error.place, error.message);
    if (stats) {
        char *json = hd_stats_json(t->device);
        *stats = json_loads(json, 0, NULL);
        hd_free(json);
    }
    hd_device_close(t->device);
}

static struct test *begin(const struct options *o, const struct form *form,
                          const struct setup *setup, bool timed)
{
    struct test *t = calloc(1, sizeof *t);
    t->random = 20240u;
    t->warp = setup->warp;
    t->si = form->si;
    t->narrow = o->narrow;
    t->source = o->source;
    t->timed = timed;
    t->quick = o->quick;
    return t;
}

static void end(struct test *t)
{
    for (size_t i = 0; i < t->memory_count; i++)
        free(t->memory[i]);
    free(t->memory);
    free(t->memory_bytes);
    free(t);
}

/* Runs the case in timing mode and compares it with functional mode. */
static void run_exact(struct test *t, const struct options *o, const struct kernel_case *c,
                      const struct form *form, const struct setup *setup, const char *path,
                      const char *text, size_t length)
{
    char why[512];
    json_t *plain = NULL, *timed = NULL, *launch;
    size_t i;
    struct test *other = begin(o, form, setup, false);
    run_on(other, c, setup, path, text, length, &plain);
    run_on(t, c, setup, path, text, length, &timed);
    json_array_foreach(json_object_get(timed, "launches"), i, launch)
    {
        const char *outcome = json_string_value(json_object_get(launch, "outcome"));
        if (strcmp(outcome, "done") == 0 && !laws_hold(launch, why, sizeof why))
            fail(t, "%s", why);
    }
    if (!t->fault && !(c->flags & CASE_ORDER) && !laws_same_work(plain, timed, why, sizeof why))
        fail(t, "%s", why);
    json_decref(plain);
    json_decref(timed);
    end(other);
}

/* The case with content, beside the same without: the same output, times and counts. */
static void run_armed(struct test *t, const struct options *o, const struct kernel_case *c,
                      const struct form *form, const struct setup *setup, const char *path,
                      const char *text, size_t length)
{
    char why[512];
    json_t *plain = NULL, *armed = NULL;
    struct test *other = begin(o, form, setup, true);
    run_on(other, c, setup, path, text, length, &plain);
    t->armed = o->armed;
    run_on(t, c, setup, path, text, length, &armed);
    if (!(c->flags & CASE_ORDER) && !laws_same_counts(plain, armed, why, sizeof why))
        fail(t, "%s", why);
    if (t->output_length != other->output_length ||
        memcmp(t->output, other->output, t->output_length) != 0)
        fail(t, "it prints something else");
    json_decref(plain);
    json_decref(armed);
    end(other);
}

static void run_case(const struct options *o, const struct kernel_case *c, const struct form *form,
                     const struct setup *setup, struct totals *totals)
{
    char path[1024];
    size_t length = 0;
    path_of(o, c, form, path, sizeof path);
    char *text = read_text(path, &length);
    if ((c->flags & CASE_WARP32 && setup->warp != 32) || (!text && form->optional) ||
        (c->flags & CASE_LONG && o->quick) ||
        (c->flags & CASE_WIDE && !takes_wide_blocks(setup, o->exact))) {
        totals->skipped++;
        free(text);
        return;
    }
    struct test *t = begin(o, form, setup, o->exact || o->armed);
    if (text && o->armed)
        run_armed(t, o, c, form, setup, path, text, length);
    else if (text && o->exact)
        run_exact(t, o, c, form, setup, path, text, length);
    else if (text)
        run_on(t, c, setup, path, text, length, NULL);
    else
        fail(t, "cannot read %s", path);
    if (t->failed) {
        totals->failed++;
        printf("FAILED %s%s %s (%s): %s\n", c->file, form->extension, c->name, setup->name,
               t->message);
    } else {
        totals->passed++;
        if (o->verbose)
            printf("passed %s%s %s (%s)\n", c->file, form->extension, c->name, setup->name);
    }
    end(t);
    free(text);
}

static void run_form(const struct options *o, const struct kernel_case *c, const struct form *form,
                     struct totals *totals)
{
    const struct setup *list = form->si ? si_setups : o->narrow ? narrow_setups : setups;
    size_t count = form->si    ? sizeof si_setups / sizeof *si_setups
                   : o->narrow ? sizeof narrow_setups / sizeof *narrow_setups
                               : sizeof setups / sizeof *setups;
    if (!has_form(o, c, form))
        return;
    bool custom = o->custom_count || o->custom.machine;
    if (custom)
        run_case(o, c, form, &o->custom, totals);
    for (size_t s = 0; s < count && !custom; s++)
        run_case(o, c, form, &list[s], totals);
}

static void run_all(const struct options *o, struct totals *totals)
{
    unsigned number = 0;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (const struct kernel_case *c = groups[g]; c->name; c++) {
            if (o->parts && number++ % o->parts != o->part)
                continue;
            if (o->only && !strstr(c->file, o->only) && !strstr(c->name, o->only))
                continue;
            if (o->list) {
                printf("%s %s\n", c->file, c->name);
                continue;
            }
            for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
                run_form(o, c, &forms[f], totals);
        }
}

static bool parse(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--list") == 0) {
            o->list = true;
        } else if (strcmp(argv[i], "--exact") == 0) {
            o->exact = true;
        } else if (strcmp(argv[i], "--armed") == 0) {
            o->armed = "timing.content=true";
        } else if (strcmp(argv[i], "--live") == 0) {
            o->armed = "timing.live_state=true";
        } else if (strcmp(argv[i], "--quick") == 0) {
            o->quick = true;
        } else if (strcmp(argv[i], "-v") == 0) {
            o->verbose = true;
        } else if (!value) {
            return false;
        } else if (strcmp(argv[i], "--source") == 0) {
            o->source = argv[++i];
        } else if (strcmp(argv[i], "--ptx") == 0) {
            o->ptx = argv[++i];
        } else if (strcmp(argv[i], "--narrow") == 0) {
            o->narrow = argv[++i];
        } else if (strcmp(argv[i], "--form") == 0) {
            o->form = argv[++i];
        } else if (strcmp(argv[i], "--part") == 0) {
            if (sscanf(argv[++i], "%u/%u", &o->part, &o->parts) != 2)
                return false;
        } else if (strcmp(argv[i], "--only") == 0) {
            o->only = argv[++i];
        } else if (strcmp(argv[i], "--machine") == 0) {
            o->custom.machine = argv[++i];
            o->custom.warp = strcmp(value, "generic64") == 0 || strcmp(value, "tahiti") == 0
                                 ? 64
                                 : o->custom.warp;
        } else if (strcmp(argv[i], "--set") == 0 && o->custom_count < 7) {
            o->custom.settings[o->custom_count++] = argv[++i];
            if (strcmp(value, "core.warp_size=64") == 0)
                o->custom.warp = 64;
        } else {
            return false;
        }
    }
    return o->source != NULL || o->list;
}

int main(int argc, char **argv)
{
    struct options o = {.custom = {.name = "as set", .warp = 32}};
    struct totals totals = {0};
    if (!parse(&o, argc, argv)) {
        fprintf(stderr,
                "usage: %s --source DIR [--ptx DIR|--narrow DIR] [--form NAME] [--only TEXT] "
                "[--machine NAME]"
                " [--exact|--armed|--live] [--quick] [--part K/N] [--set K=V]... [--list] [-v]\n",
                argv[0]);
        return 2;
    }
    run_all(&o, &totals);
    if (!o.list)
        printf("%u passed, %u failed, %u skipped\n", totals.passed, totals.failed, totals.skipped);
    return totals.failed != 0 || (!o.list && totals.passed == 0);
}
