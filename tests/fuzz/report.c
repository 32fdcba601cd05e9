/*
 * Pages of any statistics and any time series: the input is the document, then a NUL, then the file of the
 * series. A page that is made is well-formed as far as its brackets go, and loads nothing.
 */
#include "report/report.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* What the input says is text: no element of its own in the page. */
static void check_page(const char *page)
{
    const char *script = strstr(page, "<script");
    require(script && !strstr(script + 1, "<script"));
    require(!strstr(page, "<img") && !strstr(page, "<iframe"));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct series series = {0};
    const u8 *end = memchr(data, 0, size);
    const size_t length = end ? (size_t)(end - data) : size;
    const char *rest = end ? (const char *)end + 1 : "";
    char *copy = arena_strndup(arena, rest, end ? size - length - 1 : 0);
    struct report_run run = {
        .run = compare_run_parse(arena, "run", "fuzz", (const char *)data, length, &error),
        .sources = "/nowhere",
    };
    if (series_text(&series, arena, "series", copy, &error)) {
        require(series.rows.count && series.rows.count <= SERIES_ROWS);
        run.series = &series;
    }
    if (run.run) {
        char *page;
        size_t bytes;
        FILE *to = open_memstream(&page, &bytes);
        report_print(to, arena, &run, 1);
        fclose(to);
        check_page(page);
        free(page);
        compare_run_free(run.run);
    }
    series_free(&series);
    arena_destroy(arena);
    return 0;
}
