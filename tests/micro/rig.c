#include "rig.h"
#include "core/mechanism.h"
#include "gpu/device.h"

void add(struct text *text, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof line);
    text->data = realloc(text->data, text->length + (size_t)n + 1);
    assert_non_null(text->data);
    memcpy(text->data + text->length, line, (size_t)n + 1);
    text->length += (size_t)n;
}

/* ---- the log: a mechanism that only looks ---- */

#define COMPONENT eye
#define COMPONENT_DEF "eye.def"
#include "base/component_struct.h"

#define COMPONENT eye
#define COMPONENT_DEF "eye.def"
#define COMPONENT_HELP "who issues when, for tests"
#include "base/component_table.h"

struct eye {
    MECHANISM_STATE(eye);
    struct moves issued, retired; /* of a core */
};

static void push(struct moves *moves, struct move move)
{
    if (moves->count == moves->capacity) {
        moves->capacity = moves->capacity ? 2 * moves->capacity : 256;
        moves->data = realloc(moves->data, moves->capacity * sizeof *moves->data);
        assert_non_null(moves->data);
    }
    moves->data[moves->count++] = move;
}

static struct move move_of(const struct core *core, const struct inflight *inflight)
{
    return (struct move){core_cycle(core), core->config.index, inflight->slot, inflight->dyn.inst};
}

static void eye_destroy(void *state)
{
    struct eye *eye = state;
    free(eye->issued.data);
    free(eye->retired.data);
}

static void see_issued(void *state, struct core *core, struct inflight *inflight)
{
    struct eye *eye = state;
    eye->stats->seen++;
    push(&eye->issued, move_of(core, inflight));
}

static void see_retired(void *state, struct core *core, struct inflight *inflight)
{
    push(&((struct eye *)state)->retired, move_of(core, inflight));
}

static const struct mechanism eye = {
    MECHANISM_NAMED(eye, "who issues when"),
    .state_size = sizeof(struct eye),
    .destroy = eye_destroy,
    .no_operands = true,
    .issued = see_issued,
    .retired = see_retired,
};

static int by_cycle(const void *a, const void *b)
{
    const struct move *x = a, *y = b;
    return x->cycle != y->cycle ? (x->cycle > y->cycle) - (x->cycle < y->cycle)
                                : (x->core > y->core) - (x->core < y->core);
}

static void take_moves(struct moves *to, struct moves *from)
{
    for (u32 i = 0; i < from->count; i++)
        push(to, from->data[i]);
    from->count = 0;
}

/* What all cores have seen, by cycle; in a cycle, each core's in its own order. */
static void gather(struct rig *rig)
{
    for (u32 i = 0; i < rig->device->gpu->cores; i++) {
        const struct hooks *hooks = &timing_core(rig->device->timing, i)->hooks;
        if (!hooks->count)
            return; /* not observed */
        struct eye *seen = hooks->uses[0].state;
        take_moves(&rig->issued, &seen->issued);
        take_moves(&rig->retired, &seen->retired);
    }
    if (rig->device->gpu->cores > 1) {
        qsort(rig->issued.data, rig->issued.count, sizeof *rig->issued.data, by_cycle);
        qsort(rig->retired.data, rig->retired.count, sizeof *rig->retired.data, by_cycle);
    }
}

/* ---- open and run ---- */

static void set_all(struct hd_config *config, const char *settings)
{
    char *copy = strdup(settings), *rest = copy;
    struct hd_error error;
    for (char *one; (one = strtok_r(rest, " ", &rest));)
        if (!hd_config_set(config, one, &error))
            fail_msg("%s: %s", one, error.message);
    free(copy);
}

struct rig *rig_open(const char *machine, const char *settings, const char *ptx)
{
    return rig_open_with(NULL, machine, settings, ptx);
}

static struct rig *open_code(const struct mechanism *const *more, const char *machine,
                             const char *settings, const char *code, size_t length)
{
    struct hd_error error = {0};
    struct rig *rig = calloc(1, sizeof *rig);
    const struct mechanism **list = rig->mechanisms;
    *list++ = &eye;
    while (more && *more) {
        assert_true(list + 1 < rig->mechanisms + ARRAY_LEN(rig->mechanisms));
        *list++ = *more++;
    }
    struct hd_config *config = config_with(rig->mechanisms);
    if (machine && !hd_config_load(config, machine, &error))
        fail_msg("%s", error.message);
    set_all(config, "eye.on=true timing.functional=false ptx.optimize=false icache.perfect=true "
                    "constant.perfect=true fetch.when_empty=false fetch.width=8 fetch.buffer=16");
    set_all(config, settings);
    char *text = hd_config_json(config);
    rig->params = json_loads(text, 0, NULL);
    hd_free(text);
    rig->device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (!rig->device)
        fail_msg("%s", error.message);
    const char *name = memcmp(code, "\177ELF", 4) ? "bench.ptx" : "bench.so";
    rig->module = hd_module_load(rig->device, code, length, name, &error);
    if (!rig->module)
        fail_msg("%s: %s\n%s", error.place, error.message, code);
    return rig;
}

struct rig *rig_open_with(const struct mechanism *const *more, const char *machine,
                          const char *settings, const char *ptx)
{
    return open_code(more, machine, settings, ptx, strlen(ptx));
}

struct rig *rig_open_file(const char *machine, const char *settings, const char *path)
{
    return rig_open_file_with(NULL, machine, settings, path);
}

struct rig *rig_open_file_with(const struct mechanism *const *more, const char *machine,
                               const char *settings, const char *path)
{
    static char code[1 << 18];
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    const size_t length = fread(code, 1, sizeof code, file);
    fclose(file);
    return open_code(more, machine, settings, code, length);
}

struct rig *rig_open_text(const char *machine, const char *settings, struct text *ptx)
{
    struct rig *rig = rig_open(machine, settings, ptx->data);
    free(ptx->data);
    *ptx = (struct text){0};
    return rig;
}

void rig_close(struct rig *rig)
{
    hd_device_close(rig->device);
    json_decref(rig->params);
    json_decref(rig->stats);
    free(rig->issued.data);
    free(rig->retired.data);
    free(rig);
}

void rig_launch_shape(struct rig *rig, struct hd_dim grid, struct hd_dim block,
                      const struct hd_arg *args, u32 count)
{
    struct hd_error error = {0};
    rig->issued.count = rig->retired.count = 0;
    struct hd_kernel *kernel = rig->kernel ? hd_kernel_find(rig->module, rig->kernel, &error)
                                           : hd_kernel_at(rig->module, 0);
    if (!kernel)
        fail_msg("%s", error.message);
    if (!hd_launch(kernel, grid, block, 0, args, count, &rig->result, &error))
        fail_msg("%s", error.message);
    gather(rig);
    char *text = hd_stats_json(rig->device);
    json_decref(rig->stats);
    rig->stats = json_loads(text, 0, NULL);
    hd_free(text);
}

void rig_launch(struct rig *rig, u32 blocks, u32 threads, const struct hd_arg *args, u32 count)
{
    rig_launch_shape(rig, (struct hd_dim){blocks, 1, 1}, (struct hd_dim){threads, 1, 1}, args,
                     count);
}

void rig_run(struct rig *rig, u32 blocks, u32 threads, hd_address pointer)
{
    rig_launch(rig, blocks, threads, &(struct hd_arg){&pointer, sizeof pointer}, 1);
    if (rig->result.outcome != HD_DONE)
        fail_msg("%s", rig->result.explanation);
}

hd_address rig_memory(struct rig *rig, u64 bytes)
{
    struct hd_error error;
    hd_address address = hd_alloc(rig->device, bytes, &error);
    if (!address || !hd_fill(rig->device, address, &(u8){0}, 1, bytes, &error))
        fail_msg("%s", error.message);
    return address;
}

/* ---- numbers ---- */

u64 param(const struct rig *rig, const char *name)
{
    char part[64];
    const char *dot = strchr(name, '.');
    snprintf(part, sizeof part, "%.*s", (int)(dot - name), name);
    const json_t *value = json_object_get(json_object_get(rig->params, part), dot + 1);
    if (!value)
        fail_msg("there is no parameter %s", name);
    return json_is_boolean(value) ? json_is_true(value) : (u64)json_number_value(value);
}

u64 stat(const struct rig *rig, const char *name)
{
    const json_t *launches = json_object_get(rig->stats, "launches");
    const json_t *last = json_array_get(launches, json_array_size(launches) - 1);
    const json_t *value = json_object_get(json_object_get(last, "stats"), name);
    if (!value)
        fail_msg("there is no statistic %s", name);
    return (u64)json_number_value(value);
}

u64 issued_at(const struct rig *rig, u32 core, u32 slot, u32 nth)
{
    for (u32 i = 0; i < rig->issued.count; i++) {
        const struct move *s = &rig->issued.data[i];
        if (s->core == core && s->slot == slot && !nth--)
            return s->cycle;
    }
    fail_msg("warp %u of core %u has not issued so much", slot, core);
    return 0;
}

u64 retired_at(const struct rig *rig, u32 core, u32 slot, u32 inst)
{
    for (u32 i = 0; i < rig->retired.count; i++) {
        const struct move *s = &rig->retired.data[i];
        if (s->core == core && s->slot == slot && s->inst == inst)
            return s->cycle;
    }
    fail_msg("instruction %u of warp %u has not retired", inst, slot);
    return 0;
}

u64 issued_before_end(const struct rig *rig, u32 core, u32 slot, u32 back)
{
    u32 count = 0;
    for (u32 i = 0; i < rig->issued.count; i++)
        count += rig->issued.data[i].core == core && rig->issued.data[i].slot == slot;
    assert_true(back < count);
    return issued_at(rig, core, slot, count - 1 - back);
}
