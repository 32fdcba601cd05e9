/* Time series: see series.h. */
#include "report/series.h"

#include "base/text.h"
#include "compare/runs.h"
#include <stdio.h>

enum {
    FILE_LIMIT = 1 << 30
};

static const char idle[] = "issue.idle_";

/* ---- rows ---- */

static u32 reason_of(struct series *series, struct arena *arena, const char *name)
{
    u32 at = 0;
    while (at < series->reason_count && strcmp(series->reasons[at], name) != 0)
        at++;
    if (at == series->reason_count && at < SERIES_REASONS)
        series->reasons[series->reason_count++] = arena_strdup(arena, name);
    return at;
}

/* Two successive rows become one. */
static void merge(struct series_row *into, const struct series_row *from)
{
    into->cycles += from->cycles;
    into->picoseconds += from->picoseconds;
    into->issued += from->issued;
    for (u32 i = 0; i < SERIES_REASONS; i++)
        into->lost[i] += from->lost[i];
    into->warp_cycles += from->warp_cycles;
    into->warp_slots += from->warp_slots;
    into->dram_bytes += from->dram_bytes;
    into->dram_cycles += from->dram_cycles;
    into->channel_cycles += from->channel_cycles;
    into->l2_cycles += from->l2_cycles;
    into->slice_cycles += from->slice_cycles;
    into->dynamic_pj += from->dynamic_pj;
    into->static_pj += from->static_pj;
    for (u32 i = 0; i < SERIES_CORES; i++)
        into->blocks[i] += from->blocks[i];
}

/* All rows twice as long. */
static void halve(struct series *series)
{
    const u32 count = series->rows.count;
    for (u32 i = 0; i < count; i += 2) {
        struct series_row row = series->rows.data[i];
        if (i + 1 < count)
            merge(&row, &series->rows.data[i + 1]);
        series->rows.data[i / 2] = row;
    }
    series->rows.count = (count + 1) / 2;
    series->fill = count % 2 ? series->merged : 2 * series->merged;
    series->merged *= 2;
}

static void append(struct series *series, const struct series_row *row)
{
    if (!series->rows.count)
        series->merged = 1;
    if (series->rows.count && series->fill < series->merged) {
        merge(&series->rows.data[series->rows.count - 1], row);
        series->fill++;
        return;
    }
    if (series->rows.count == SERIES_ROWS) {
        halve(series);
        append(series, row);
        return;
    }
    *vec_push(&series->rows) = *row;
    series->fill = 1;
}

/* Cycles of blocks of each core; the number of cores is known from the first row. */
static void add_blocks(struct series *series, const json_t *from, struct series_row *row)
{
    char name[48];
    f64 cycles;
    for (u32 i = 0; !series->rows.count; i++) {
        snprintf(name, sizeof name, "core%u.block_cycles", i);
        if (!json_object_get(from, name)) {
            series->cores = i;
            series->each = (i + SERIES_CORES - 1) / SERIES_CORES;
            break;
        }
    }
    for (u32 i = 0; i < series->cores; i++) {
        snprintf(name, sizeof name, "core%u.block_cycles", i);
        if (number_of(json_object_get(from, name), &cycles))
            row->blocks[i / series->each] += cycles;
    }
}

bool series_add(struct series *series, struct arena *arena, const json_t *from)
{
    f64 first, last, slots;
    const char *key;
    json_t *value;
    if (!number_of(json_object_get(from, "from_cycle"), &first) ||
        !number_of(json_object_get(from, "to_cycle"), &last) ||
        !json_object_get(from, "issue.issued") || last < first)
        return false;
    struct series_row row = {
        .cycles = last - first,
        .picoseconds = number_in(from, "timing.picoseconds"),
        .issued = number_in(from, "issue.issued"),
        .warp_cycles = number_in(from, "timing.warp_cycles"),
        .warp_slots = number_in(from, "timing.warp_slots"),
        .dram_bytes = number_in(from, "dram.read_bytes") + number_in(from, "dram.write_bytes"),
        .dram_cycles = number_in(from, "dram.bus_cycles"),
        .channel_cycles = number_in(from, "dram.channel_cycles"),
        .l2_cycles = number_in(from, "l2.port_cycles"),
        .slice_cycles = number_in(from, "l2.slice_cycles"),
        .dynamic_pj = number_in(from, "energy.dynamic_pj"),
        .static_pj = number_in(from, "energy.static_pj"),
    };
    json_object_foreach((json_t *)from, key,
                        value) if (!strncmp(key, idle, sizeof idle - 1) && number_of(value, &slots))
    {
        const u32 at = reason_of(series, arena, key + sizeof idle - 1);
        if (at < SERIES_REASONS)
            row.lost[at] += slots;
    }
    add_blocks(series, from, &row);
    append(series, &row);
    return true;
}

void series_free(struct series *series)
{
    vec_free(&series->rows);
}

/* ---- files ---- */

/* Splits a line of CSV in place; cells may be quoted. The number of cells. */
static u32 split(char *line, char **cells, u32 most)
{
    u32 count = 0;
    while (line && count < most) {
        char *to = line, *from = line;
        const bool quoted = *from == '"';
        cells[count++] = to;
        for (from += quoted; *from && (quoted || *from != ','); from++) {
            if (quoted && *from == '"' && from[1] != '"')
                break;
            from += quoted && *from == '"';
            *to++ = *from;
        }
        from = strchr(from, ',');
        *to = '\0';
        line = from ? from + 1 : NULL;
    }
    return count;
}

enum {
    MAX_CELLS = 4096
};

/* A row of a table as the object that a line of JSON would be. */
static json_t *row_of(char *const *names, u32 count, char *line, char **cells)
{
    f64 number;
    const u32 given = split(line, cells, MAX_CELLS);
    if (given != count)
        return NULL;
    json_t *row = json_object();
    for (u32 i = 0; i < count; i++)
        if (text_f64(cells[i], &number) == TEXT_OK)
            json_object_set_new(row, names[i], json_real(number));
    return row;
}

struct series_file {
    struct series *series;
    struct arena *arena;
    const char *path;
    char **names, **cells; /* of a table */
    u32 count;             /* names; 0: lines of JSON */
    u32 line;
};

static bool read_line(struct series_file *file, char *line, size_t length, struct error *error)
{
    json_t *row = file->count ? row_of(file->names, file->count, line, file->cells)
                              : json_loadb(line, length, 0, NULL);
    const bool ok = row && series_add(file->series, file->arena, row);
    json_decref(row);
    return ok ||
           error_set(error, ERROR_INPUT, arena_printf(file->arena, "%s:%u", file->path, file->line),
                     "not a row of a time series: expected what 'heddle run --interval' "
                     "writes, as lines of JSON or, if the name ends in .csv, as a table");
}

bool series_text(struct series *series, struct arena *arena, const char *path, char *text,
                 struct error *error)
{
    struct series_file file = {
        .series = series, .arena = arena, .path = text_printable(arena, path)};
    bool ok = true;
    file.names = arena_array(arena, char *, MAX_CELLS);
    file.cells = arena_array(arena, char *, MAX_CELLS);
    for (char *line = text, *end; ok && line && *line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        file.line++;
        if (file.line == 1 && *line != '{')
            file.count = split(line, file.names, MAX_CELLS);
        else
            ok = read_line(&file, line, strlen(line), error);
    }
    if (ok && !series->rows.count)
        ok = error_set(error, ERROR_INPUT, file.path, "the time series has no rows");
    return ok;
}

bool series_read(struct series *series, struct arena *arena, const char *path, struct error *error)
{
    size_t length;
    char *text = text_read_file(path, true, FILE_LIMIT, &length, error);
    const bool ok = text && series_text(series, arena, path, text, error);
    free(text);
    return ok;
}
