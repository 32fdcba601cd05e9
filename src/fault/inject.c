/* The public functions of fault campaigns: see heddle/inject.h. */
#include "base/text.h"
#include "base/workers.h"
#include "fault/campaign.h"
#include "gpu/api/api.h"
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MOST_FAULTS = 10000000,
    MOST_JOBS = 1024,
    ROUND = 200 /* faults between looks at the interval that is to be reached */
};
#define DEFAULT_HANG 2.0 /* times the golden run, as gpuFI-4 has it */
#define DEFAULT_AUDIT 0.01

const char *hd_effect_name(enum hd_effect effect)
{
    static const char *const names[HD_EFFECTS] = {"none", "masked", "gray", "time",
                                                  "sdc",  "due",    "hang"};
    return (u32)effect < HD_EFFECTS ? names[effect] : "unknown";
}

/* ---- creation ---- */

static bool read_words(struct hd_inject *inject, struct error *error)
{
    static const char *const names[] = {"u32", "s32", "f32", "f64"};
    const char *words = inject->plan.words ? inject->plan.words : names[0];
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(words, names[i])) {
            inject->words = (enum word_type)i;
            return true;
        }
    return error_set(error, ERROR_USAGE, "",
                     "'%.60s' is no type of output words: expected u32, s32, f32 or f64", words);
}

static bool check_plan(struct hd_inject *inject, struct error *error)
{
    struct hd_inject_plan *plan = &inject->plan;
    if (!plan->hang)
        plan->hang = DEFAULT_HANG;
    if (!plan->audit)
        plan->audit = DEFAULT_AUDIT;
    if (!plan->jobs)
        plan->jobs = workers_host_cores();
    plan->jobs = MIN(plan->jobs, (u32)MOST_JOBS);
    if (!(plan->tolerance >= 0 && plan->tolerance < 1e9))
        return error_set(error, ERROR_USAGE, "",
                         "the tolerance is %g: expected a share from 0, such as 0.001",
                         plan->tolerance);
    if (!(plan->hang > 1))
        return error_set(error, ERROR_USAGE, "",
                         "a launch hangs after %g times its cycles: expected more than 1",
                         plan->hang);
    if (!plan->list && (!plan->faults || plan->faults > MOST_FAULTS))
        return error_set(error, ERROR_USAGE, "", "the number of faults is not from 1 to %d",
                         MOST_FAULTS);
    if (plan->window && !strncmp(plan->model ? plan->model : "bit", "stuck", 5))
        return error_set(error, ERROR_USAGE, "",
                         "a bit that is stuck cannot be followed in a window");
    if (plan->stratify && plan->list)
        return error_set(error, ERROR_USAGE, "", "a list of faults has no strata");
    if (plan->only >= 0 && !plan->list && (u64)plan->only >= plan->faults)
        return error_set(error, ERROR_USAGE, "", "there is no fault %lld: ids count from 0 to %llu",
                         (long long)plan->only, (unsigned long long)plan->faults - 1);
    return true;
}

static bool check_device(const struct hd_device *device, struct error *error)
{
    if (!device->timing)
        return error_set(error, ERROR_USAGE, "",
                         "faults need a timing model: they cannot be injected with "
                         "timing.functional=true");
    if (!timing_rows(device->timing))
        return error_set(error, ERROR_USAGE, "",
                         "faults need a device that was opened with timing.live_state");
    if (timing_threads(device->timing) > 1)
        return error_set(error, ERROR_USAGE, "", "faults need a device that uses one thread");
    return true;
}

static bool take_list(struct hd_inject *inject, struct error *error)
{
    struct injection_list list = {0};
    const char *name = inject->plan.list_name;
    const bool ok = list_read(inject, inject->plan.list, name ? name : "list", &list, error);
    inject->faults = list.rows.data;
    inject->drawn = inject->capacity = list.rows.count;
    if (ok && inject->plan.only >= 0 && (u64)inject->plan.only >= list.rows.count)
        return error_set(error, ERROR_USAGE, "", "there is no fault %lld: ids count from 0 to %u",
                         (long long)inject->plan.only, list.rows.count - 1);
    return ok;
}

static bool create_ledger(struct hd_inject *inject, struct error *error)
{
    if (inject->folder)
        return program_share(inject, error);
    const size_t ends = sizeof(struct ledger) + inject->capacity * sizeof(struct fault_verdict);
    const size_t bytes = ends + inject->capacity * sizeof(struct shadow_end);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    inject->outputs = memfd_create("heddle-outputs", MFD_CLOEXEC);
    if (map == MAP_FAILED || inject->outputs < 0) {
        if (map != MAP_FAILED)
            munmap(map, bytes);
        return error_set(error, ERROR_SYSTEM, "", "cannot create shared memory: %s",
                         strerror(errno));
    }
    inject->ledger = map;
    inject->ledger_bytes = bytes;
    inject->shadow_ends = (struct shadow_end *)(inject->ledger->verdicts + inject->capacity);
    inject->ledger->every = FIRST_INTERVAL;
    return true;
}

static const char *copy(struct arena *arena, const char *text)
{
    return text ? arena_strdup(arena, text) : NULL;
}

static void copy_plan(struct hd_inject *inject, const struct hd_inject_plan *plan)
{
    struct hd_inject_plan *own = &inject->plan;
    *own = *plan;
    const char **const texts[] = {&own->structures, &own->model,     &own->words,
                                  &own->list,       &own->list_name, &own->keep};
    for (u32 i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = copy(inject->arena, *texts[i]);
    const char **files = arena_array(inject->arena, const char *, plan->file_count);
    for (u32 i = 0; i < plan->file_count; i++)
        files[i] = copy(inject->arena, plan->files[i]);
    own->files = files;
    inject->folder = own->folder = copy(inject->arena, plan->folder);
}

static bool prepare(struct hd_inject *inject, struct error *error)
{
    if (!check_device(inject->device, error) || !check_plan(inject, error) ||
        !read_words(inject, error) || !draw_model(inject, error) || !draw_targets(inject, error))
        return false;
    if (inject->plan.list) {
        if (!take_list(inject, error))
            return false;
    } else {
        inject->capacity = inject->plan.faults;
        inject->faults = checked(calloc(inject->capacity, sizeof *inject->faults));
    }
    inject->workers = checked(calloc(inject->plan.jobs, sizeof *inject->workers));
    return create_ledger(inject, error);
}

static struct hd_inject *campaign_on(struct hd_device *device)
{
    struct hd_inject *inject = checked(calloc(1, sizeof *inject));
    inject->arena = arena_create();
    inject->device = device;
    inject->machine = config_machine(device->config);
    inject->outputs = inject->kept = -1;
    return inject;
}

struct hd_inject *hd_inject_create(struct hd_device *device, const struct hd_inject_plan *plan,
                                   struct hd_error *error)
{
    struct error inner = {0};
    if (!device || !plan) {
        api_null(error, "hd_inject_create");
        return NULL;
    }
    struct hd_inject *inject = campaign_on(device);
    copy_plan(inject, plan);
    if (prepare(inject, &inner))
        return inject;
    hd_inject_destroy(inject);
    api_fail(error, &inner);
    return NULL;
}

void hd_inject_destroy(struct hd_inject *inject)
{
    if (!inject)
        return;
    if (inject->ledger)
        munmap(inject->ledger, inject->ledger_bytes);
    if (inject->golden_outputs)
        munmap((void *)(uintptr_t)inject->golden_outputs, inject->golden_bytes);
    if (inject->outputs >= 0)
        close(inject->outputs);
    touch_destroy(inject);
    if (!inject->joined)
        free(inject->faults);
    free(inject->workers);
    vec_free(&inject->targets);
    vec_free(&inject->due);
    vec_free(&inject->due_ids);
    arena_destroy(inject->arena);
    free(inject);
}

/* ---- running ---- */

/* In a process of a program, in the first moment of each launch: the memory that launches touch. */
static void look_at_memory(struct hd_inject *inject)
{
    inject->looked = true;
    if (inject->launch == 0 && !inject->ledger->reallocates) {
        touch_create(inject);
        if (inject->role == ROLE_GOLDEN)
            touch_record(inject);
    }
    if (inject->role == ROLE_GOLDEN && !touch_is_current(inject))
        inject->ledger->reallocates = true;
    if (inject->ledger->reallocates)
        inject->touched.count = 0;
}

/* Called by the timing model, in processes of the campaign. */
static void at_moment(void *user, const struct live_moment *moment)
{
    struct hd_inject *inject = user;
    if (inject->joined && !inject->looked && !moment->ended)
        look_at_memory(inject);
    if (inject->role == ROLE_GOLDEN)
        golden_moment(inject, moment);
    else if (inject->role == ROLE_FAULT)
        follow_moment(inject, moment);
    else
        spawn_moment(inject, moment);
    inject->looked &= !moment->ended;
}

void hd_inject_output(struct hd_inject *inject, const char *name, hd_address address,
                      const void *data, size_t bytes)
{
    if (inject->role == ROLE_GOLDEN)
        golden_output(inject, name, address, data, bytes);
    else if (inject->role == ROLE_FAULT)
        follow_output(inject, name, data, bytes);
}

/* Whether the failure rate is known well enough. */
static bool is_reached(const struct hd_inject *inject)
{
    return tally_half_width(inject) <= inject->plan.half_width;
}

static bool run_range(struct hd_inject *inject, const struct hd_inject_host *host, u64 from, u64 to,
                      struct error *error)
{
    const bool ok = inject->folder ? program_run_faults(inject, host, from, to, error)
                                   : spawn_run(inject, host, ROLE_RUNNER, from, to, error);
    if (inject->plan.window)
        follow_resolve(inject, from, to);
    return ok;
}

static bool run_faults(struct hd_inject *inject, const struct hd_inject_host *host,
                       struct error *error)
{
    const bool rounds = inject->plan.half_width > 0 && !inject->plan.list && inject->plan.only < 0;
    if (!keep_open(inject, error))
        return false;
    if (inject->plan.list)
        return list_check(inject, error) && run_range(inject, host, 0, inject->drawn, error);
    u64 size = rounds ? ROUND : inject->capacity;
    for (u64 from = 0; from < inject->capacity && !inject->stopped; from = inject->drawn) {
        draw_faults(inject, MIN(from + size, inject->capacity));
        if (!run_range(inject, host, from, inject->drawn, error))
            return false;
        if (rounds && is_reached(inject))
            break;
        size =
            inject->drawn; /* each round costs a run without faults: their number must not grow */
    }
    return true;
}

bool hd_inject_run(struct hd_inject *inject, const struct hd_inject_host *host,
                   struct hd_error *error)
{
    struct error inner = {0};
    if (!inject || !host || (inject->folder ? !host->start : !host->run))
        return api_null(error, "hd_inject_run");
    if (inject->folder) {
        const bool done = program_run_golden(inject, host, &inner) &&
                          (inject->stopped || run_faults(inject, host, &inner));
        keep_close(inject);
        return done || api_fail(error, &inner);
    }
    touch_create(inject);
    timing_watch_moments(inject->device->timing, at_moment, inject);
    timing_watch_strikes(inject->device->timing, spawn_ask, inject);
    const bool ok =
        spawn_run(inject, host, ROLE_GOLDEN, 0, 0, &inner) &&
        (inject->stopped || (golden_map(inject, &inner) && run_faults(inject, host, &inner)));
    timing_watch_moments(inject->device->timing, NULL, NULL);
    timing_watch_strikes(inject->device->timing, NULL, NULL);
    keep_close(inject);
    return ok || api_fail(error, &inner);
}

bool hd_inject_replay(struct hd_inject *inject, uint64_t id, const struct hd_inject_host *host,
                      struct hd_error *error)
{
    struct error inner = {0};
    if (!inject || !host || !host->run || id >= inject->drawn)
        return api_null(error, "hd_inject_replay");
    timing_watch_moments(inject->device->timing, at_moment, inject);
    const bool ok = spawn_replay(inject, host, id, &inner);
    timing_watch_moments(inject->device->timing, NULL, NULL);
    return ok || api_fail(error, &inner);
}

/* ---- processes of programs ---- */

/* The plan of the campaign that has started this process. */
static bool read_plan(struct hd_inject *inject, struct error *error)
{
    struct hd_inject_plan plan = {.only = -1};
    json_int_t seed = 0, capacity = 0, only = -1, window = 0;
    int jobs = 0, stratify = 0;
    const char *path = arena_printf(inject->arena, "%s/plan.json", inject->folder);
    json_t *files = NULL, *json = json_load_file(path, 0, NULL);
    const bool ok =
        json &&
        json_unpack(json, "{s:s, s:s, s:s, s:I, s:F, s:F, s:F, s:i, s:I, s:I, s:I, s:b, s:o}",
                    "structures", &plan.structures, "model", &plan.model, "words", &plan.words,
                    "seed", &seed, "hang", &plan.hang, "audit", &plan.audit, "tolerance",
                    &plan.tolerance, "jobs", &jobs, "capacity", &capacity, "only", &only, "window",
                    &window, "stratify", &stratify, "files", &files) == 0;
    const char **names = arena_array(inject->arena, const char *, json_array_size(files));
    for (size_t i = 0; i < json_array_size(files); i++)
        names[i] = json_string_value(json_array_get(files, i));
    plan.files = names;
    plan.file_count = (u32)json_array_size(files);
    plan.seed = (u64)seed;
    plan.only = only;
    plan.window = (u64)window;
    plan.stratify = stratify;
    plan.jobs = (u32)jobs;
    plan.folder = inject->folder;
    if (ok)
        copy_plan(inject, &plan);
    inject->capacity = (u64)capacity;
    json_decref(json);
    return ok || error_set(error, ERROR_INPUT, path, "is no plan of a campaign");
}

/* What this process is to do. */
static bool take_role(struct hd_inject *inject, const char *role, struct error *error)
{
    struct ledger *ledger = inject->ledger;
    u64 id;
    inject->place = arena_printf(inject->arena, "%s/work", inject->folder);
    inject->faults = program_faults(inject);
    inject->drawn = ledger->to;
    inject->workers = checked(calloc(inject->plan.jobs, sizeof *inject->workers));
    if (!strcmp(role, "golden")) {
        inject->role = ROLE_GOLDEN;
        ledger->joined = true;
    } else if (!strcmp(role, "runner") || !strcmp(role, "shadow")) {
        inject->role = *role == 'r' ? ROLE_RUNNER : ROLE_SHADOW;
        if (inject->role == ROLE_SHADOW)
            shadow_create(inject);
        inject->order = spawn_order(inject, ledger->from, ledger->to);
    } else if (text_u64(role, &id) == TEXT_OK && id < inject->drawn) {
        inject->role = ROLE_FAULT;
        inject->own = arena_printf(inject->arena, "%s/%s", inject->folder, role);
        follow_begin_fault(inject, id);
    } else {
        return error_set(error, ERROR_USAGE, "", "'%.60s' is no part of a campaign", role);
    }
    return true;
}

struct hd_inject *hd_inject_join(struct hd_device *device, const char *job, struct hd_error *error)
{
    struct error inner = {0};
    const char *colon = job ? strrchr(job, ':') : NULL;
    if (!device || !colon) {
        api_null(error, "hd_inject_join");
        return NULL;
    }
    struct hd_inject *inject = campaign_on(device);
    inject->joined = true;
    inject->folder = arena_strndup(inject->arena, job, (size_t)(colon - job));
    if (check_device(device, &inner) && read_plan(inject, &inner) && read_words(inject, &inner) &&
        draw_model(inject, &inner) && draw_targets(inject, &inner) &&
        program_join(inject, &inner) && take_role(inject, colon + 1, &inner)) {
        timing_watch_moments(device->timing, at_moment, inject);
        timing_watch_strikes(device->timing, spawn_ask, inject);
        return inject;
    }
    hd_inject_destroy(inject);
    api_fail(error, &inner);
    return NULL;
}

/* ---- results ---- */

bool hd_inject_fault(const struct hd_inject *inject, uint64_t index, struct hd_fault *fault)
{
    static const char *const decided[] = {"",        "late", "unused", "dead",     "converged",
                                          "written", "end",  "window", "vanished", "untimed"};
    if (!inject || index >= inject->drawn)
        return false;
    const struct injection *what = &inject->faults[index];
    const struct fault_verdict *verdict = &inject->ledger->verdicts[index];
    *fault = (struct hd_fault){
        .id = index,
        .structure = inject->targets.data[what->target].name,
        .owner = what->owner,
        .entry = what->entry,
        .bit = what->bit,
        .pattern = what->pattern,
        .launch = what->launch + 1,
        .cycle = what->cycle,
        .effect = (enum hd_effect)verdict->effect,
        .decided = decided[verdict->decided],
        .audited = verdict->audited,
        .disagrees = verdict->disagrees,
        .crashed = verdict->crashed,
        .cycles = verdict->cycles,
        .output = verdict->output,
        .wrong = verdict->wrong,
        .first = verdict->first,
        .error = verdict->error,
        .detail = verdict->empty && verdict->effect == HD_EFFECT_GRAY ? "empty" : verdict->detail,
        .explanation = verdict->explanation,
        .story = inject->shadow_ends[index].story,
    };
    return true;
}
