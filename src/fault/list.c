/*
 * Faults from a table: comma-separated values with a line of headings, as faults.csv of a campaign.
 * The columns structure, entry, bit and cycle are required; owner (0), launch (1) and pattern (1)
 * have these defaults; others are ignored. Empty lines and lines that begin with # are skipped.
 */
#include "base/text.h"
#include "fault/campaign.h"
#include <inttypes.h>
#include <stdlib.h>

enum column {
    COLUMN_STRUCTURE,
    COLUMN_OWNER,
    COLUMN_ENTRY,
    COLUMN_BIT,
    COLUMN_PATTERN,
    COLUMN_LAUNCH,
    COLUMN_CYCLE,
    COLUMN_COUNT
};
static const char *const column_names[COLUMN_COUNT] = {"structure", "owner",  "entry", "bit",
                                                       "pattern",   "launch", "cycle"};

enum {
    MOST_FIELDS = 64,
    MOST_FIELD = 256, /* characters */
};

struct list_parser {
    const struct hd_inject *inject;
    const char *name;
    u32 line;
    i32 place[COLUMN_COUNT]; /* of a column among the fields; -1: there is none */
    bool headed;
    struct error *error;
};

#define list_error(p, ...)                                                                    \
    (snprintf((p)->error->place, sizeof(p)->error->place, "%.200s:%u", (p)->name, (p)->line), \
     error_at((p)->error, __VA_ARGS__))

static bool error_at(struct error *error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static bool error_at(struct error *error, const char *format, ...)
{
    char place[sizeof error->place], text[1024];
    va_list arguments;
    memcpy(place, error->place, sizeof place);
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(error, ERROR_INPUT, place, "%s", text);
}

/* The text up to the next comma or the end, without blanks around it. */
static bool next_field(struct list_parser *p, const char **at, const char *end,
                       char field[MOST_FIELD])
{
    const char *from = *at, *comma = memchr(from, ',', (size_t)(end - from));
    const char *to = comma ? comma : end;
    *at = comma ? comma + 1 : NULL;
    while (from < to && (*from == ' ' || *from == '\t'))
        from++;
    while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '\r'))
        to--;
    if (to - from >= MOST_FIELD || memchr(from, '\0', (size_t)(to - from)))
        return list_error(p, "a field has more than %d characters or a NUL", MOST_FIELD - 1);
    memcpy(field, from, (size_t)(to - from));
    field[to - from] = '\0';
    return true;
}

static bool read_heading(struct list_parser *p, const char *at, const char *end)
{
    char field[MOST_FIELD];
    for (i32 n = 0; at; n++) {
        if (!next_field(p, &at, end, field))
            return false;
        if (n == MOST_FIELDS)
            return list_error(p, "there are more than %d columns", MOST_FIELDS);
        for (u32 c = 0; c < COLUMN_COUNT; c++)
            if (!strcmp(field, column_names[c]))
                p->place[c] = n;
    }
    static const enum column required[] = {COLUMN_STRUCTURE, COLUMN_ENTRY, COLUMN_BIT,
                                           COLUMN_CYCLE};
    for (u32 i = 0; i < ARRAY_LEN(required); i++)
        if (p->place[required[i]] < 0)
            return list_error(p,
                              "there is no column '%s': expected headings such as "
                              "structure,owner,entry,bit,launch,cycle",
                              column_names[required[i]]);
    p->headed = true;
    return true;
}

static bool find_target(struct list_parser *p, const char *name, struct injection *fault)
{
    for (u32 i = 0; i < p->inject->targets.count; i++)
        if (!strcmp(p->inject->targets.data[i].name, name)) {
            fault->target = i;
            return p->inject->targets.data[i].live ||
                   list_error(p, "bits of '%s' cannot be flipped: the model only counts them",
                              name);
        }
    return list_error(p,
                      "'%.100s' is not among the structures: 'heddle machines %s --storage' "
                      "lists them, and --structures must select it",
                      name, p->inject->machine);
}

/* A number below a limit. */
static bool read_number(struct list_parser *p, enum column column, const char *text, u64 limit,
                        u64 *value)
{
    if (text_u64(text, value) != TEXT_OK || *value >= limit)
        return list_error(p, "%s: '%.100s' is not a number from 0 to %" PRIu64,
                          column_names[column], text, limit - 1);
    return true;
}

static bool read_fault(struct list_parser *p, char (*fields)[MOST_FIELD], struct injection *fault)
{
    u64 owner, bit, launch;
    if (!find_target(p, fields[COLUMN_STRUCTURE], fault))
        return false;
    const struct fault_target *target = &p->inject->targets.data[fault->target];
    const u32 width = target->row->backed;
    fault->line = p->line;
    if (!read_number(p, COLUMN_OWNER, fields[COLUMN_OWNER], target->owners, &owner) ||
        !read_number(p, COLUMN_ENTRY, fields[COLUMN_ENTRY], target->row->entries, &fault->entry) ||
        !read_number(p, COLUMN_BIT, fields[COLUMN_BIT], width, &bit) ||
        !read_number(p, COLUMN_PATTERN, fields[COLUMN_PATTERN], UINT64_MAX, &fault->pattern) ||
        !read_number(p, COLUMN_LAUNCH, fields[COLUMN_LAUNCH], MOST_LAUNCHES + 1, &launch) ||
        !read_number(p, COLUMN_CYCLE, fields[COLUMN_CYCLE], 1ull << 40, &fault->cycle))
        return false;
    fault->owner = (u32)owner;
    fault->bit = (u32)bit;
    fault->launch = (u32)launch - 1;
    const u32 highest = fault->pattern ? 63 - (u32)__builtin_clzll(fault->pattern) : 0;
    if (!fault->pattern || bit + highest >= width)
        return list_error(p, "pattern: '%.100s' flips no bit, or one beyond the %u of an entry",
                          fields[COLUMN_PATTERN], width);
    return launch || list_error(p, "launch: launches count from 1");
}

static bool read_row(struct list_parser *p, const char *at, const char *end,
                     struct injection_list *list)
{
    char fields[COLUMN_COUNT][MOST_FIELD] = {
        [COLUMN_OWNER] = "0", [COLUMN_PATTERN] = "1", [COLUMN_LAUNCH] = "1"};
    u32 found = 0;
    for (i32 n = 0; at; n++) {
        char field[MOST_FIELD];
        if (!next_field(p, &at, end, field))
            return false;
        for (u32 c = 0; c < COLUMN_COUNT; c++)
            if (p->place[c] == n) {
                memcpy(fields[c], field, sizeof field);
                found |= 1u << c;
            }
    }
    for (u32 c = 0; c < COLUMN_COUNT; c++)
        if (p->place[c] >= 0 && !(found >> c & 1))
            return list_error(p, "the row ends before the column '%s'", column_names[c]);
    struct injection fault = {0};
    if (!read_fault(p, fields, &fault))
        return false;
    *vec_push(&list->rows) = fault;
    return true;
}

bool list_read(const struct hd_inject *inject, const char *text, const char *name,
               struct injection_list *list, struct error *error)
{
    struct list_parser p = {.inject = inject, .name = name, .error = error};
    for (u32 c = 0; c < COLUMN_COUNT; c++)
        p.place[c] = -1;
    while (*text) {
        const char *end = strchrnul(text, '\n');
        p.line++;
        const size_t blanks = strspn(text, " \t\r\n");
        if (text + blanks < end && text[blanks] != '#' &&
            !(p.headed ? read_row(&p, text, end, list) : read_heading(&p, text, end)))
            return false;
        text = *end ? end + 1 : end;
    }
    return list->rows.count ||
           list_error(&p, "there are no faults: expected a line of headings such as "
                          "structure,owner,entry,bit,launch,cycle, and a line per "
                          "fault");
}

bool list_check(const struct hd_inject *inject, struct error *error)
{
    for (u64 id = 0; id < inject->drawn; id++) {
        const struct injection *fault = &inject->faults[id];
        struct list_parser p = {
            .name = inject->plan.list_name, .line = fault->line, .error = error};
        if (fault->launch >= inject->ledger->launch_count)
            return list_error(&p, "launch: there is no launch %u, the program has %u",
                              fault->launch + 1, inject->ledger->launch_count);
    }
    return true;
}
