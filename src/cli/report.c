/* Summary and statistics file: see report.h. */
#include "cli/report.h"

#include "base/config.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/breakdown.h"
#include "cli/common.h"
#include <time.h>

static json_t *inputs_json(const struct input_list *inputs)
{
    json_t *array = json_array();
    for (u32 i = 0; i < inputs->records.count; i++) {
        const struct input_record *record = &inputs->records.data[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "path", text_json(record->path));
        json_object_set_new(entry, "bytes", stats_number(record->bytes));
        json_object_set_new(entry, "sha256", json_string(record->sha256));
        json_array_append_new(array, entry);
    }
    return array;
}

static json_t *host_json(const struct statistics_of *from)
{
    json_t *host = json_object(), *command = json_array();
    for (int i = 0; i < from->line->argc; i++)
        json_array_append_new(command, text_json(from->line->argv[i]));
    char date[32];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    json_object_set_new(host, "command", command);
    json_object_set_new(host, "threads", json_integer(from->threads));
    json_object_set_new(host, "date", json_string(date));
    json_object_set_new(host, "wall_seconds", json_real(from->wall_seconds));
    json_object_set(host, "launch_seconds", from->launch_seconds);
    if (json_array_size(from->sum_seconds))
        json_object_set(host, "sum_seconds", from->sum_seconds);
    return host;
}

json_t *manifest_json(const struct hd_config *config, const struct input_list *inputs)
{
    json_t *manifest = json_object();
    json_object_set_new(manifest, "version", json_string(hd_version()));
    json_object_set_new(manifest, "seed", stats_number(hd_config_seed(config)));
    json_object_set_new(manifest, "inputs", inputs_json(inputs));
    char *chip = hd_config_chip_json(config);
    if (chip)
        json_object_set_new(manifest, "chip", parse_own_json(chip));
    return manifest;
}

/* Prints a member of the document, one level deeper than its text is indented; frees the text. */
static void print_member(FILE *to, const char *name, char *text)
{
    const char *at = text;
    fprintf(to, "  \"%s\": ", name);
    for (const char *end; (end = strchr(at, '\n')); at = end + 1) {
        fwrite_unlocked(at, 1, (size_t)(end - at) + 1, to);
        fwrite_unlocked("  ", 1, 2, to);
    }
    fputs(at, to);
    hd_free(text);
}

/* The text of `json`, indented like that of the library; takes ownership. */
static char *text_of(json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2));
    json_decref(json);
    return text;
}

/* The library's JSON is copied: to parse it and to print it again would cost more host instructions
 * than a short run. */
void print_statistics(FILE *to, const struct statistics_of *from)
{
    const char *inside = from->stats + strlen("{\n");
    json_t *manifest = manifest_json(from->config, from->inputs);
    if (from->programs)
        json_object_set(manifest, "programs", from->programs);
    fputs("{\n  \"schema\": 2,\n", to);
    print_member(to, "manifest", text_of(manifest));
    fputs(",\n", to);
    print_member(to, "config", hd_config_json(from->config));
    fputs(",\n", to);
    fwrite(inside, 1, strlen(inside) - strlen("\n}"), to);
    fputs(",\n", to);
    print_member(to, "energy", hd_energy_json(from->config, NULL));
    fputs(",\n", to);
    print_member(to, "storage", hd_config_bits(from->config));
    fputs(",\n", to);
    print_member(to, "host", text_of(host_json(from)));
    fputs("\n}\n", to);
}

/* ---- the table ---- */

enum {
    COLUMNS = 12
};

static const char *speed_text(struct arena *arena, u64 instructions, f64 seconds)
{
    if (seconds <= 0)
        return "-";
    return arena_printf(arena, "%.1f M/s", (f64)instructions / seconds / 1e6);
}

/* A column whose cells are all NULL is not printed. */
static void fill_timed(struct arena *arena, const struct launch *launch, const json_t *record,
                       const char **cells)
{
    char text[32];
    const json_t *seconds = json_object_get(record, "seconds");
    u64 cycles = launch->result.cycles;
    if (!json_is_number(seconds))
        return;
    cells[6] = count_text(arena, cycles);
    cells[7] = arena_strdup(arena, time_text(json_number_value(seconds), text, sizeof text));
    cells[8] =
        cycles ? arena_printf(arena, "%.3f", (f64)launch->result.warp_instructions / (f64)cycles)
               : "-";
}

static void fill_row(struct arena *arena, const struct launch *launch, const json_t *record,
                     const char **cells)
{
    char text[64];
    cells[0] = text_printable(arena, launch->info.name);
    cells[1] = arena_strdup(arena, dim_text(launch->grid, text, sizeof text));
    cells[2] = arena_strdup(arena, dim_text(launch->block, text, sizeof text));
    cells[3] = arena_printf(arena, "%u", launch->info.registers);
    cells[4] = count_text(arena, launch->result.warp_instructions);
    cells[5] = count_text(arena, launch->result.thread_instructions);
    fill_timed(arena, launch, record, cells);
    cells[9] = arena_printf(arena, "%.3f s", launch->seconds);
    cells[10] = speed_text(arena, launch->result.thread_instructions, launch->seconds);
    cells[11] = hd_outcome_name(launch->result.outcome);
}

static void print_table(const char *(*rows)[COLUMNS], u32 count)
{
    bool has[COLUMNS] = {0};
    int widths[COLUMNS] = {0};
    for (u32 c = 0; c < COLUMNS; c++)
        for (u32 i = 0; i < count; i++) {
            has[c] |= i && rows[i][c];
            widths[c] = MAX(widths[c], rows[i][c] ? (int)strlen(rows[i][c]) : 1);
        }
    for (u32 i = 0; i < count; i++) {
        for (u32 c = 0; c < COLUMNS; c++) {
            bool left = c == 0, last = c == COLUMNS - 1;
            if (has[c])
                fprintf(stderr, "%s%*s", c ? "  " : "",
                        last   ? 0
                        : left ? -widths[c]
                               : widths[c],
                        rows[i][c] ? rows[i][c] : "-");
        }
        fputc('\n', stderr);
    }
}

void print_summary(const struct request *request, const json_t *stats)
{
    static const char *const headings[COLUMNS] = {
        "kernel", "grid", "block", "registers", "warp instr.", "thread instr.",
        "cycles", "time", "IPC",   "host time", "speed",       "outcome"};
    struct arena *arena = arena_create();
    u32 count = 1;
    const char *(*rows)[COLUMNS] =
        arena_alloc(arena, sizeof *rows * ((size_t)request->launches.count + 1));
    memcpy(rows[0], headings, sizeof headings);
    for (u32 i = 0; i < request->launches.count; i++)
        if (request->launches.data[i].ran) {
            const json_t *record = json_array_get(json_object_get(stats, "launches"), count - 1);
            fill_row(arena, &request->launches.data[i], record, rows[count++]);
        }
    if (count > 1)
        print_table(rows, count);
    print_breakdown(stderr, stats);
    arena_destroy(arena);
}
