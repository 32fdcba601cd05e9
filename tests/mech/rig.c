/* See rig.h. */
#include "rig.h"

#include "gpu/device.h"
#include "kernels.h"

/* after kernels.h, which has a function of the name of one of its macros */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

static const char *tests_folder;

void rig_folder(const char *tests)
{
    tests_folder = tests;
}

static const struct kernel_case *find_case(const char *file, const char *name)
{
    static const struct kernel_case *const groups[] = {
        cuda_basic_cases,  cuda_number_cases,   cuda_flow_cases,     cuda_space_cases,
        cuda_warp_cases,   opencl_cases,        opencl_number_cases, opencl_program_cases,
        opencl_more_cases, opencl_memory_cases, opencl_wide_cases,   opencl_flow_cases,
    };
    for (size_t g = 0; g < ARRAY_LEN(groups); g++)
        for (const struct kernel_case *c = groups[g]; c->name; c++)
            if (!strcmp(c->file, file) && !strcmp(c->name, name))
                return c;
    fail_msg("no case %s %s", file, name);
    return NULL;
}

bool rig_apply(struct hd_config *config, const char *word, struct hd_error *error)
{
    return word[strcspn(word, ":=")] == '=' ? hd_config_set(config, word, error)
                                            : hd_config_mechanism(config, word, error);
}

static struct hd_device *open_device(const char *machine, const char *const *words,
                                     const struct mechanism *const *available)
{
    struct hd_error error = {0};
    struct hd_config *config = available ? config_with(available) : hd_config_create();
    assert_true(hd_config_load(config, machine, &error));
    assert_true(hd_config_set(config, "timing.functional=false", &error));
    for (; words && *words; words++)
        if (!rig_apply(config, *words, &error))
            fail_msg("%s: %s", *words, error.message);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("no device: %s", error.message);
    hd_config_destroy(config);
    return device;
}

static u64 hash_bytes(u64 hash, const u8 *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    return hash;
}

static void ignore(void *user, const char *text, size_t length)
{
}

static struct seen look(struct test *t)
{
    struct seen seen = {
        .text = hd_stats_json(t->device), .hash = 0xcbf29ce484222325ull, .wrong = t->failed};
    json_t *all = json_loads(seen.text, 0, NULL);
    seen.totals = json_incref(json_object_get(all, "totals"));
    json_decref(all);
    for (size_t i = 0; i < t->memory_count; i++) {
        seen.hash = hash_bytes(seen.hash, t->memory[i], t->memory_bytes[i]);
        free(t->memory[i]);
    }
    free(t->memory);
    free(t->memory_bytes);
    return seen;
}

struct seen rig_run(const char *file, const char *name, const char *machine,
                    const char *const *words, const struct mechanism *const *available,
                    bool may_be_wrong)
{
    const struct kernel_case *c = find_case(file, name);
    const bool named = !strncmp(machine, "si:", 3);
    const bool si = named || !strcmp(machine, "generic64");
    machine += named ? 3 : 0;
    struct hd_error error = {0};
    struct error inner;
    char path[1024];
    size_t length;
    snprintf(path, sizeof path, "%s/kernels/%s%s", tests_folder, file, si ? ".clang14.so" : ".ptx");
    char *code = text_read_file(path, false, 1 << 26, &length, &inner);
    assert_non_null(code);
    struct test *t = calloc(1, sizeof *t);
    assert_non_null(t);
    t->random = 20240u;
    t->warp = si ? 64 : 32;
    t->si = si;
    t->source = tests_folder;
    t->device = open_device(machine, words, available);
    hd_set_output(t->device, ignore, NULL);
    t->module = hd_module_load(t->device, code, length, path, &error);
    assert_non_null(t->module);
    c->run(t);
    if (t->failed && !may_be_wrong)
        fail_msg("%s %s on %s with %s %s: %s", file, name, machine,
                 words && words[0] ? words[0] : "nothing",
                 words && words[0] && words[1] ? words[1] : "", t->message);
    struct seen seen = look(t);
    hd_device_close(t->device);
    free(t);
    free(code);
    return seen;
}

void rig_drop(struct seen *seen)
{
    json_decref(seen->totals);
    hd_free(seen->text);
}

u64 rig_total(const struct seen *seen, const char *name)
{
    json_t *value = json_object_get(seen->totals, name);
    if (!json_is_integer(value))
        fail_msg("no statistic %s", name);
    return (u64)json_integer_value(value);
}
