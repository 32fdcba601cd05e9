/* The first table of a page, its statistics, and what was given. */
#include "report/page.h"

#include "base/text.h"
#include "lab/page.h"

/* ---- summary ---- */

/* "darsie, filter_cache": the components that are switched on. */
static const char *mechanisms_of(const struct page *page, u32 run)
{
    const json_t *config = json_object_get(page->runs[run].run->document, "config");
    const char *key, *list = "";
    json_t *component;
    json_object_foreach((json_t *)config, key, component)
    {
        if (json_is_true(json_object_get(component, "on")))
            list = arena_printf(page->arena, "%s%s%s", list, *list ? ", " : "",
                                text_printable(page->arena, key));
    }
    return *list ? list : "none";
}

static const char *machine_of(const struct page *page, u32 run)
{
    const json_t *config = json_object_get(page->runs[run].run->document, "config");
    return text_printable(page->arena, string_in(config, "machine"));
}

static const char *version_of(const struct page *page, u32 run)
{
    const json_t *manifest = json_object_get(page->runs[run].run->document, "manifest");
    return text_printable(page->arena, string_in(manifest, "version"));
}

static const char *outcome_of(const struct page *page, u32 run)
{
    return page->runs[run].run->stopped ? page->runs[run].run->stopped : "done";
}

static void text_row(struct page *page, const char *name,
                     const char *text(const struct page *page, u32 run))
{
    figure_row(page, "", name);
    for (u32 r = 0; r < page->count; r++)
        figure_text(page, text(page, r));
}

static void number_row(struct page *page, const char *name, enum quantity quantity,
                       const char *statistic)
{
    f64 number;
    figure_row(page, "", name);
    for (u32 r = 0; r < page->count; r++)
        if (number_of(json_object_get(page->runs[r].run->totals, statistic), &number))
            figure_number(page, quantity, number);
        else
            figure_none(page);
}

static void launches_row(struct page *page)
{
    figure_row(page, "", "launches");
    for (u32 r = 0; r < page->count; r++)
        figure_number(page, QUANTITY_COUNT, (f64)page->runs[r].run->launches);
}

static void time_rows(struct page *page)
{
    figure_row(page, "", "time");
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].run->timed)
            figure_number(page, QUANTITY_SECONDS, page->runs[r].run->seconds);
        else
            figure_none(page);
    if (page->count == 1)
        return;
    figure_row(page, "", "times as fast as the first");
    const struct compare_run *first = page->runs[0].run;
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].run->timed && first->timed)
            figure_number(page, QUANTITY_NUMBER, first->seconds / page->runs[r].run->seconds);
        else
            figure_none(page);
}

void page_summary(struct page *page)
{
    figure_open(page, "summary", "summary", page->count > 1 ? "The runs" : "The run", "");
    figure_head(page, "");
    figure_run_columns(page, "value");
    text_row(page, "machine", machine_of);
    text_row(page, "mechanisms", mechanisms_of);
    text_row(page, "outcome", outcome_of);
    launches_row(page);
    number_row(page, "warp instructions", QUANTITY_COUNT, "exec.warp_instructions");
    number_row(page, "thread instructions", QUANTITY_COUNT, "exec.thread_instructions");
    if (page_timed(page)) {
        number_row(page, "core cycles", QUANTITY_COUNT, "timing.cycles");
        time_rows(page);
        number_row(page, "warp instructions a cycle", QUANTITY_NUMBER, "timing.ipc_warp");
        number_row(page, "energy", QUANTITY_PJ, "energy.total_pj");
        number_row(page, "mean power, W", QUANTITY_NUMBER, "energy.total_w");
    }
    text_row(page, "version of Heddle", version_of);
    figure_close(page);
}

/* ---- statistics ---- */

static bool in_earlier(const struct page *page, u32 run, const char *key)
{
    for (u32 r = 0; r < run; r++)
        if (json_object_get(page->runs[r].run->totals, key))
            return true;
    return false;
}

static enum quantity statistic_quantity(const char *key, const json_t *value)
{
    static const char suffix[] = "_pj";
    const size_t length = strlen(key), after = sizeof suffix - 1;
    if (length > after && !strcmp(key + length - after, suffix))
        return QUANTITY_PJ;
    return json_is_real(value) ? QUANTITY_NUMBER : QUANTITY_COUNT;
}

void page_statistics(struct page *page)
{
    figure_open(page, "table", "statistics", "All statistics",
                "Sums over all launches; 'heddle stats' explains each.");
    figure_head(page, "statistic");
    figure_run_columns(page, "value");
    for (u32 r = 0; r < page->count; r++) {
        const char *key;
        json_t *value;
        json_object_foreach(page->runs[r].run->totals, key, value)
        {
            if (in_earlier(page, r, key))
                continue;
            figure_row(page, "", text_printable(page->arena, key));
            for (u32 k = 0; k < page->count; k++) {
                const json_t *one = json_object_get(page->runs[k].run->totals, key);
                f64 number;
                if (number_of(one, &number))
                    figure_number(page, statistic_quantity(key, one), number);
                else
                    figure_none(page);
            }
        }
    }
    figure_close(page);
}

/* ---- what was given ---- */

static const char *param_text(const struct page *page, u32 run, const char *component,
                              const char *name)
{
    const json_t *config = json_object_get(page->runs[run].run->document, "config");
    const json_t *value = json_object_get(json_object_get(config, component), name);
    if (!value)
        return "-";
    if (json_is_string(value))
        return text_printable(page->arena, json_string_value(value));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(12));
    const char *copy = arena_strdup(page->arena, text);
    free(text);
    return copy;
}

/* Parameters of a mechanism that is off say nothing. */
static bool is_off(const struct page *page, const char *component)
{
    for (u32 r = 0; r < page->count; r++) {
        const json_t *config = json_object_get(page->runs[r].run->document, "config");
        const json_t *on = json_object_get(json_object_get(config, component), "on");
        if (!json_is_boolean(on) || json_is_true(on))
            return false;
    }
    return true;
}

static void param_rows(struct page *page, const char *component, const json_t *params)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)params, name, value)
    {
        const char *key = arena_printf(page->arena, "%s.%s", component, name);
        bool same = true;
        for (u32 r = 1; r < page->count; r++)
            same &=
                !strcmp(param_text(page, r, component, name), param_text(page, 0, component, name));
        figure_row(page, same ? "" : "differs", text_printable(page->arena, key));
        for (u32 r = 0; r < page->count; r++)
            figure_text(page, param_text(page, r, component, name));
    }
}

static void print_inputs(struct page *page)
{
    FILE *to = page->to;
    for (u32 r = 0; r < page->count; r++) {
        const json_t *document = page->runs[r].run->document, *word;
        const json_t *command = json_object_get(json_object_get(document, "host"), "command");
        size_t i;
        if (!json_array_size(command))
            continue;
        if (page->count > 1)
            page_element(to, "<p>", page->runs[r].run->label, ":</p>\n");
        fputs("<pre class=\"command\">", to);
        json_array_foreach((json_t *)command, i, word)
        {
            const char *text = json_string_value(word);
            text = text_printable(page->arena, text ? text : "");
            const bool plain = *text && !text[strcspn(text, " \t'\"\\$`&|;<>()*?#~!{}[]")];
            page_element(to, i ? " " : "", plain ? text : arena_printf(page->arena, "'%s'", text),
                         "");
        }
        fputs("</pre>\n", to);
    }
}

void page_setup(struct page *page)
{
    figure_open(page, "table", "setup", "Machine and parameters",
                "Parameters of mechanisms that are off are left out.");
    figure_head(page, "parameter");
    figure_run_columns(page, "value");
    const char *component;
    json_t *params;
    json_object_foreach(json_object_get(page->runs[0].run->document, "config"), component, params)
    {
        if (json_is_object(params) && !is_off(page, component))
            param_rows(page, component, params);
    }
    figure_close(page);
    fputs("<section id=\"again\">\n<h2>Run it again</h2>\n", page->to);
    print_inputs(page);
    fputs("</section>\n", page->to);
}
