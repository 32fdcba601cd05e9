/* One run of a comparison: its document, checked, and what the options select of it. */
#include "compare/runs.h"

#include "base/demangle.h"
#include "base/text.h"

/* ---- fields ---- */

const char *string_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool number_of(const json_t *value, f64 *number)
{
    u64 large;
    if (json_is_number(value)) {
        *number = json_number_value(value);
        return true;
    }
    if (!json_is_string(value) || text_u64(json_string_value(value), &large) != TEXT_OK)
        return false;
    *number = (f64)large;
    return true;
}

f64 number_in(const json_t *object, const char *key)
{
    f64 number = 0;
    number_of(json_object_get(object, key), &number);
    return number;
}

bool ratio_in(const json_t *stats, const char *num, const char *den, f64 *ratio)
{
    f64 above, below;
    if (!number_of(json_object_get(stats, num), &above) ||
        !number_of(json_object_get(stats, den), &below) || below == 0)
        return false;
    *ratio = above / below;
    return true;
}

/* ---- issue slots ---- */

void slots_add(struct slot_use *use, const char *name, f64 slots)
{
    u32 at = 0;
    while (at < use->count && strcmp(use->names[at], name) != 0)
        at++;
    if (at == MAX_REASONS)
        return;
    if (at == use->count)
        use->names[use->count++] = name;
    use->slots[at] += slots;
    use->total += slots;
}

f64 slots_named(const struct slot_use *use, const char *name)
{
    for (u32 i = 0; i < use->count; i++)
        if (!strcmp(use->names[i], name))
            return use->slots[i];
    return 0;
}

/* Adds the slots of statistics: those that issued, and those lost to each reason. */
static void add_slots(struct slot_use *use, const json_t *stats)
{
    static const char issued[] = "issue.issued", prefix[] = "issue.idle_";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)stats, key, value)
    {
        f64 slots;
        const bool idle = !strncmp(key, prefix, sizeof prefix - 1);
        if ((idle || !strcmp(key, issued)) && number_of(value, &slots))
            slots_add(use, idle ? key + sizeof prefix - 1 : "issued", slots);
    }
}

/* ---- reading ---- */

static bool is_list(const json_t *document, const char *key)
{
    const json_t *list = json_object_get(document, key);
    size_t i;
    json_t *one;
    if (list && !json_is_array(list))
        return false;
    json_array_foreach(list, i, one) if (!json_is_object(one)) return false;
    return true;
}

/* Refuses what is not a statistics document of a schema that is understood. */
static bool check_document(const json_t *document, const char *place, struct error *error)
{
    const json_t *schema = json_object_get(document, "schema");
    if (!json_is_object(document) || !json_is_integer(schema))
        return error_set(error, ERROR_INPUT, place,
                         "not a statistics file: expected the JSON object of 'heddle run --stats', "
                         "with a number 'schema'");
    if (json_integer_value(schema) != DOCUMENT_SCHEMA)
        return error_set(error, ERROR_UNSUPPORTED, place,
                         "schema %lld, but this version of Heddle reads %d: names have other "
                         "meanings there; run it again, or compare with the version that wrote it",
                         (long long)json_integer_value(schema), DOCUMENT_SCHEMA);
    if (!json_is_object(json_object_get(document, "totals")))
        return error_set(error, ERROR_INPUT, place, "expected an object 'totals', found none");
    static const char *const lists[] = {"launches", "sums", "profile"};
    for (u32 i = 0; i < ARRAY_LEN(lists); i++)
        if (!is_list(document, lists[i]))
            return error_set(error, ERROR_INPUT, place, "'%s': expected a list of objects",
                             lists[i]);
    return true;
}

static const struct {
    const char *list, *key;
} kernel_names[] = {{"launches", "kernel"}, {"sums", "kernel"}, {"profile", "function"}};

/* Calls with each object that names a kernel, and the key of the name. */
static void each_named(json_t *document, void (*call)(json_t *of, const char *key, json_t *names),
                       json_t *names)
{
    for (u32 i = 0; i < ARRAY_LEN(kernel_names); i++) {
        size_t k;
        json_t *of;
        json_array_foreach(json_object_get(document, kernel_names[i].list), k, of)
            call(of, kernel_names[i].key, names);
    }
}

/* names: of each name as in the source, the mangled one, or null if there are several. */
static void note_name(json_t *of, const char *key, json_t *names)
{
    const char *name = json_string_value(json_object_get(of, key));
    struct arena *arena = arena_create();
    const char *shown = demangle(arena, name);
    const json_t *other = json_object_get(names, shown ? shown : "");
    const bool same =
        !other || !strcmp(json_is_string(other) ? json_string_value(other) : "", name);
    if (name)
        json_object_set_new(names, shown, same ? json_string(name) : json_null());
    arena_destroy(arena);
}

static void show_name(json_t *of, const char *key, json_t *names)
{
    const char *name = json_string_value(json_object_get(of, key));
    struct arena *arena = arena_create();
    const char *shown = demangle(arena, name);
    if (name && json_is_string(json_object_get(names, shown)))
        json_object_set_new(of, key, json_string(shown));
    arena_destroy(arena);
}

/* Kernels get their names in the source, unless that makes two of them alike. */
static void name_kernels(json_t *document)
{
    json_t *names = json_object();
    each_named(document, note_name, names);
    each_named(document, show_name, names);
    json_decref(names);
}

struct compare_run *compare_run_parse(struct arena *arena, const char *label, const char *place,
                                      const char *text, size_t length, struct error *error)
{
    json_error_t reason;
    struct sha256 hash;
    static const char database[] = "SQLite format 3"; /* from standard input */
    if (length > sizeof database && !memcmp(text, database, sizeof database)) {
        error_set(error, ERROR_INPUT, place, "a results database can be compared only by its path");
        return NULL;
    }
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &reason);
    if (!document) {
        error_set(error, ERROR_INPUT, place, "line %d: not JSON: %s", reason.line, reason.text);
        return NULL;
    }
    if (!check_document(document, place, error)) {
        json_decref(document);
        return NULL;
    }
    name_kernels(document);
    struct compare_run *run = arena_new(arena, struct compare_run);
    run->label = text_printable(arena, label);
    run->place = text_printable(arena, place);
    run->document = document;
    sha256_start(&hash);
    sha256_add(&hash, text, length);
    sha256_text(&hash, run->sha256);
    return run;
}

void compare_run_free(struct compare_run *run)
{
    if (!run)
        return;
    json_decref(run->document);
    json_decref(run->totals);
    vec_free(&run->kernels);
}

u64 compare_run_launches(const struct compare_run *run)
{
    return run->launches;
}

/* ---- selecting ---- */

const struct kernel_use *kernel_in(const struct compare_run *run, const char *name)
{
    for (u32 i = 0; i < run->kernels.count; i++)
        if (!strcmp(run->kernels.data[i].name, name))
            return &run->kernels.data[i];
    return NULL;
}

static struct kernel_use *kernel_of(struct compare_run *run, const char *name)
{
    struct kernel_use *kernel = (struct kernel_use *)kernel_in(run, name);
    if (kernel)
        return kernel;
    kernel = vec_push(&run->kernels);
    kernel->name = name;
    return kernel;
}

/* Whether a statistic may be added up: a counter, or an energy. Rates and powers may not. */
static bool is_sum(const char *key, const json_t *value)
{
    static const char suffix[] = "_pj";
    const size_t length = strlen(key), after = sizeof suffix - 1;
    return json_is_integer(value) || json_is_string(value) ||
           (length > after && !strcmp(key + length - after, suffix));
}

static void add_totals(json_t *totals, const json_t *stats)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)stats, key, value)
    {
        f64 number;
        const json_t *before = json_object_get(totals, key);
        if (!is_sum(key, value) || !number_of(value, &number))
            continue;
        if (json_is_integer(value) && (!before || json_is_integer(before)))
            json_object_set_new(
                totals, key, json_integer(json_integer_value(before) + json_integer_value(value)));
        else
            json_object_set_new(totals, key, json_real(json_number_value(before) + number));
    }
}

/* Adds a launch, or an entry of `sums`. */
static void add_launch(struct arena *arena, struct compare_run *run, const json_t *launch,
                       json_t *totals)
{
    const json_t *stats = json_object_get(launch, "stats"), *seconds;
    const char *name = string_in(launch, "kernel"), *outcome = string_in(launch, "outcome");
    struct kernel_use *kernel = kernel_of(run, name);
    const bool sum = json_object_get(launch, "launches");
    const u64 count = sum ? (u64)number_in(launch, "launches") : 1;
    kernel->launches += count;
    run->launches += count;
    seconds = json_object_get(launch, "seconds");
    if (json_is_number(seconds)) {
        kernel->timed += sum ? (u64)number_in(launch, "timed") : 1;
        kernel->cycles += number_in(launch, "cycles");
        kernel->seconds += json_number_value(seconds);
    }
    kernel->pj += number_in(stats, "energy.total_pj");
    add_slots(&kernel->slots, stats);
    if (totals)
        add_totals(totals, stats);
    if (*outcome && strcmp(outcome, "done") != 0 && !run->stopped)
        run->stopped = arena_printf(arena, "kernel %s: %s", text_printable(arena, name),
                                    text_printable(arena, outcome));
}

bool run_select(struct arena *arena, struct compare_run *run, const regex_t *pattern)
{
    static const char *const lists[] = {"launches", "sums"};
    size_t i;
    json_t *launch, *totals = pattern ? json_object() : NULL;
    json_decref(run->totals);
    run->kernels.count = 0;
    run->slots = (struct slot_use){0};
    run->launches = 0;
    run->stopped = NULL;
    for (u32 k = 0; k < ARRAY_LEN(lists); k++)
        json_array_foreach(json_object_get(run->document, lists[k]), i,
                           launch) if (!pattern ||
                                       !regexec(pattern, string_in(launch, "kernel"), 0, NULL, 0))
            add_launch(arena, run, launch, totals);
    run->totals = totals ? totals : json_incref(json_object_get(run->document, "totals"));
    run->cycles = number_in(run->totals, "timing.cycles");
    run->seconds = number_in(run->totals, "timing.picoseconds") * 1e-12;
    run->timed = run->cycles > 0;
    add_slots(&run->slots, run->totals);
    return !pattern || run->launches;
}
