/* Results of a sweep as CSV, JSON, SQLite and text: see sheet.h. */
#include "heddle/heddle.h"
#include "lab/report.h"
#include "lab/sheet.h"
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

/* The label of a row's value on an axis. */
static const char *label_of(const struct sheet *sheet, u32 row, u32 axis)
{
    u32 values[SPACE_MAX_AXES];
    space_values(sheet->space, sheet->rows.data[row].point, values);
    return sheet->space->axes[axis].values[values[axis]].label;
}

/* ---- CSV ---- */

void sheet_csv(FILE *to, const struct sheet *sheet)
{
    const struct space *space = sheet->space;
    for (u32 a = 0; a < space->axis_count; a++) {
        csv_text(to, space->axes[a].name);
        fputc(',', to);
    }
    fputs("status", to);
    for (u32 c = 0; c < sheet->column_count; c++) {
        fputc(',', to);
        csv_text(to, sheet->columns[c].name);
    }
    fputc('\n', to);
    for (u32 r = 0; r < sheet->rows.count; r++) {
        for (u32 a = 0; a < space->axis_count; a++) {
            csv_text(to, label_of(sheet, r, a));
            fputc(',', to);
        }
        csv_text(to, sheet->rows.data[r].status);
        for (u32 c = 0; c < sheet->column_count; c++) {
            f64 value = sheet_value(sheet, r, c);
            fputc(',', to);
            if (!isnan(value))
                fprintf(to, "%.17g", value);
        }
        fputc('\n', to);
    }
}

/* ---- JSON ---- */

static json_t *number_json(f64 value)
{
    if (isnan(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 1e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *column_json(const char *name, const char *type, const char *unit,
                           const char *formula)
{
    json_t *column = json_object();
    json_object_set_new(column, "name", json_string(name));
    json_object_set_new(column, "type", json_string(type));
    json_object_set_new(column, "unit", json_string(unit));
    if (formula)
        json_object_set_new(column, "formula", json_string(formula));
    return column;
}

/* The columns with types as Parquet and Arrow name them. */
static json_t *columns_json(const struct sheet *sheet)
{
    json_t *columns = json_array();
    for (u32 a = 0; a < sheet->space->axis_count; a++) {
        const struct axis *axis = &sheet->space->axes[a];
        json_array_append_new(
            columns, column_json(axis->name, axis->numbers ? "double" : "string", "", NULL));
    }
    json_array_append_new(columns, column_json("status", "string", "", NULL));
    for (u32 c = 0; c < sheet->column_count; c++)
        json_array_append_new(columns, column_json(sheet->columns[c].name, "double",
                                                   sheet->columns[c].unit, sheet->columns[c].text));
    return columns;
}

static json_t *axes_json(const struct sheet *sheet, u32 row, bool repeated)
{
    json_t *object = json_object();
    u32 values[SPACE_MAX_AXES];
    space_values(sheet->space, sheet->rows.data[row].point, values);
    for (u32 a = 0; a < sheet->space->axis_count; a++) {
        const struct axis *axis = &sheet->space->axes[a];
        if (repeated || !axis->kind->repeats)
            json_object_set_new(object, axis->name,
                                axis->numbers ? number_json(axis->numbers[values[a]])
                                              : json_string(axis->values[values[a]].label));
    }
    return object;
}

static json_t *row_json(const struct sheet *sheet, u32 index)
{
    const struct sheet_row *row = &sheet->rows.data[index];
    json_t *object = axes_json(sheet, index, true);
    json_object_set_new(object, "status", json_string(row->status));
    if (*row->message)
        json_object_set_new(object, "message", json_string(row->message));
    for (u32 c = 0; c < sheet->column_count; c++)
        json_object_set_new(object, sheet->columns[c].name,
                            number_json(sheet_value(sheet, index, c)));
    return object;
}

static json_t *means_json(const struct sheet *sheet)
{
    json_t *means = json_array();
    for (u32 r = 0; r < sheet->rows.count; r++) {
        if (!sheet_leads(sheet, r))
            continue;
        json_t *object = axes_json(sheet, r, false);
        for (u32 c = 0; c < sheet->column_count; c++) {
            struct sheet_mean mean = sheet_mean(sheet, r, c);
            json_t *one = json_object();
            json_object_set_new(one, "mean", number_json(mean.value));
            json_object_set_new(one, "interval95", number_json(mean.interval));
            json_object_set_new(one, "samples", json_integer(mean.samples));
            json_object_set_new(object, sheet->columns[c].name, one);
        }
        json_array_append_new(means, object);
    }
    return means;
}

/* Written row by row: the document of a million points does not fit into memory twice. */
void sheet_json(FILE *to, const struct sheet *sheet)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
    json_t *head = json_object();
    json_object_set_new(head, "schema", json_integer(1));
    json_object_set_new(head, "version", json_string(hd_version()));
    json_object_set_new(head, "build", json_string(sheet->plan->build));
    json_object_set_new(head, "sweep", json_string(sheet->experiment->name));
    json_object_set_new(head, "title", json_string(sheet->experiment->title));
    json_object_set_new(head, "sizes", json_string(sheet->plan->quick ? "quick" : "full"));
    json_object_set_new(head, "columns", columns_json(sheet));
    if (sheet_repeats(sheet))
        json_object_set_new(head, "means", means_json(sheet));
    char *text = json_dumps(head, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    size_t length = strlen(text);
    fprintf(to, "%.*s,\n \"points\": [\n", (int)length - 2, text); /* without "\n}" */
    free(text);
    json_decref(head);
    for (u32 r = 0; r < sheet->rows.count; r++) {
        json_t *row = row_json(sheet, r);
        fputs(r ? ",\n  " : "  ", to);
        json_dumpf(row, to, flags);
        json_decref(row);
    }
    fputs("\n ]\n}\n", to);
}

/* ---- SQLite ---- */

/* A name as an SQL identifier. */
static const char *identifier(struct arena *arena, const char *name)
{
    const char *text = "\"";
    for (; *name; name++)
        text = arena_printf(arena, *name == '"' ? "%s\"\"" : "%s%c", text, *name);
    return arena_printf(arena, "%s\"", text);
}

static const char *schema_sql(struct arena *arena, const struct sheet *sheet)
{
    const char *text = "CREATE TABLE columns(name TEXT, type TEXT, unit TEXT, formula TEXT);"
                       "CREATE TABLE points(";
    for (u32 a = 0; a < sheet->space->axis_count; a++)
        text = arena_printf(arena, "%s%s %s, ", text, identifier(arena, sheet->space->axes[a].name),
                            sheet->space->axes[a].numbers ? "REAL" : "TEXT");
    text = arena_printf(arena, "%sstatus TEXT", text);
    for (u32 c = 0; c < sheet->column_count; c++)
        text = arena_printf(arena, "%s, %s REAL", text, identifier(arena, sheet->columns[c].name));
    return arena_printf(arena, "%s)", text);
}

static bool insert_columns(sqlite3 *database, const struct sheet *sheet)
{
    json_t *columns = columns_json(sheet);
    sqlite3_stmt *statement = NULL;
    static const char *const keys[] = {"name", "type", "unit", "formula"};
    bool ok = sqlite3_prepare_v2(database, "INSERT INTO columns VALUES(?,?,?,?)", -1, &statement,
                                 NULL) == SQLITE_OK;
    for (size_t i = 0; ok && i < json_array_size(columns); i++) {
        for (int k = 0; k < (int)ARRAY_LEN(keys); k++)
            sqlite3_bind_text(
                statement, k + 1,
                json_string_value(json_object_get(json_array_get(columns, i), keys[k])), -1,
                SQLITE_TRANSIENT);
        ok = sqlite3_step(statement) == SQLITE_DONE;
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    json_decref(columns);
    return ok;
}

static bool insert_row(sqlite3_stmt *statement, const struct sheet *sheet, u32 row)
{
    u32 values[SPACE_MAX_AXES];
    int at = 1;
    space_values(sheet->space, sheet->rows.data[row].point, values);
    for (u32 a = 0; a < sheet->space->axis_count; a++, at++) {
        const struct axis *axis = &sheet->space->axes[a];
        if (axis->numbers)
            sqlite3_bind_double(statement, at, axis->numbers[values[a]]);
        else
            sqlite3_bind_text(statement, at, axis->values[values[a]].label, -1, SQLITE_STATIC);
    }
    sqlite3_bind_text(statement, at++, sheet->rows.data[row].status, -1, SQLITE_STATIC);
    for (u32 c = 0; c < sheet->column_count; c++, at++) {
        f64 value = sheet_value(sheet, row, c);
        if (isnan(value))
            sqlite3_bind_null(statement, at);
        else
            sqlite3_bind_double(statement, at, value);
    }
    bool ok = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return ok;
}

static bool insert_rows(sqlite3 *database, struct arena *arena, const struct sheet *sheet)
{
    sqlite3_stmt *statement = NULL;
    const char *text = "INSERT INTO points VALUES(?";
    for (u32 i = 0; i < sheet->space->axis_count + sheet->column_count; i++)
        text = arena_printf(arena, "%s,?", text);
    bool ok = sqlite3_prepare_v2(database, arena_printf(arena, "%s)", text), -1, &statement,
                                 NULL) == SQLITE_OK;
    for (u32 r = 0; ok && r < sheet->rows.count; r++)
        ok = insert_row(statement, sheet, r);
    sqlite3_finalize(statement);
    return ok;
}

bool sheet_sqlite(const char *path, const struct sheet *sheet, struct error *error)
{
    struct arena *arena = arena_create();
    sqlite3 *database = NULL;
    bool ok =
        sqlite3_open(path, &database) == SQLITE_OK &&
        sqlite3_exec(database, "PRAGMA journal_mode=OFF; BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(database, schema_sql(arena, sheet), NULL, NULL, NULL) == SQLITE_OK &&
        insert_columns(database, sheet) && insert_rows(database, arena, sheet) &&
        sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    if (!ok)
        error_fill(error, ERROR_SYSTEM, "", "cannot write: %s", sqlite3_errmsg(database));
    sqlite3_close(database);
    arena_destroy(arena);
    return ok;
}

/* ---- a terminal ---- */

static const char *value_text(struct arena *arena, struct sheet_mean mean)
{
    if (isnan(mean.value))
        return "-";
    const char *text = mean.value == floor(mean.value) && fabs(mean.value) < 1e15
                           ? arena_printf(arena, "%.0f", mean.value)
                           : arena_printf(arena, "%.4g", mean.value);
    return mean.samples > 1 ? arena_printf(arena, "%s +-%.2g", text, mean.interval) : text;
}

/* Cells of a row, or of the heading (row UINT32_MAX); returns how many. */
static u32 text_cells(const struct sheet *sheet, struct arena *arena, u32 row, const char **cells)
{
    const struct space *space = sheet->space;
    bool head = row == UINT32_MAX;
    u32 count = 0;
    for (u32 a = 0; a < space->axis_count; a++)
        if (!space->axes[a].kind->repeats)
            cells[count++] = head ? space->axes[a].name : label_of(sheet, row, a);
    for (u32 c = 0; c < sheet->column_count; c++)
        cells[count++] =
            head ? sheet->columns[c].heading : value_text(arena, sheet_mean(sheet, row, c));
    bool failed = !head && strcmp(sheet->rows.data[row].status, "done") != 0;
    cells[count++] = failed ? sheet->rows.data[row].status : "";
    return count;
}

void sheet_text(FILE *to, const struct sheet *sheet, u32 most)
{
    struct arena *arena = arena_create();
    u32 cells = sheet->space->axis_count + sheet->column_count + 1, shown = 0, left = 0, count = 0;
    const char **row = arena_array(arena, const char *, cells);
    size_t *widths = arena_array(arena, size_t, cells);
    for (u32 pass = 0; pass < 2; pass++) {
        shown = left = 0;
        for (u32 r = UINT32_MAX; r == UINT32_MAX || r < sheet->rows.count; r++) {
            if (r != UINT32_MAX && (!sheet_leads(sheet, r) || shown++ >= most)) {
                left += sheet_leads(sheet, r);
                continue;
            }
            count = text_cells(sheet, arena, r, row);
            for (u32 i = 0; i < count; i++) {
                widths[i] = MAX(widths[i], strlen(row[i]));
                bool last = i + 1 == count;
                bool number = i + 1 + sheet->column_count >= count;
                if (pass && last)
                    fprintf(to, "%s%s\n", *row[i] ? "  " : "", row[i]);
                else if (pass)
                    fprintf(to, number ? "%s%*s" : "%s%-*s", i ? "  " : "", (int)widths[i], row[i]);
            }
        }
    }
    if (left)
        fprintf(to, "... and %u more\n", left);
    arena_destroy(arena);
}
