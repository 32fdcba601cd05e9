/* Outcomes of a campaign of injected faults, by structure: those of `heddle inject`, beside the run. */
#include "report/page.h"

#include "base/text.h"

static const char *const outcomes[] = {"masked", "gray", "time", "sdc", "due", "hang"};

static const json_t *faults_of(const struct page *page)
{
    for (u32 r = 0; r < page->count; r++)
        if (page->runs[r].faults)
            return page->runs[r].faults;
    return NULL;
}

static f64 count_of(const json_t *row, const char *outcome)
{
    return number_in(json_object_get(json_object_get(row, "outcomes"), outcome), "count");
}

/* What became of the faults of each structure. */
static void outcomes_by_structure(struct page *page, const json_t *structures)
{
    const json_t *row;
    size_t at;
    figure_open(
        page, "stack", "faults", "Injected faults",
        "From a campaign of heddle inject: what became of the faults in each structure that "
        "got any. Failures are sdc (wrong output), due (a detected error, or a crash) and "
        "hang.");
    figure_head(page, "structure");
    for (u32 i = 0; i < ARRAY_LEN(outcomes); i++)
        figure_column(page, outcomes[i]);
    json_array_foreach((json_t *)structures, at, row)
    {
        if (number_in(row, "faults") <= 0)
            continue;
        figure_row(page, "", text_printable(page->arena, string_in(row, "structure")));
        for (u32 i = 0; i < ARRAY_LEN(outcomes); i++)
            figure_number(page, QUANTITY_COUNT, count_of(row, outcomes[i]));
    }
    figure_close(page);
}

/* The share of failures with its 95 % interval. */
static void failure_cells(struct page *page, const json_t *row)
{
    static const char *const names[] = {"share", "low", "high"};
    const json_t *failures = json_object_get(row, "failures");
    f64 number;
    figure_number(page, QUANTITY_COUNT, number_in(row, "faults"));
    figure_number(page, QUANTITY_COUNT, number_in(failures, "count"));
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (number_of(json_object_get(failures, names[i]), &number))
            figure_number(page, QUANTITY_SHARE, number);
        else
            figure_none(page);
}

void page_faults(struct page *page)
{
    static const char *const columns[] = {"faults", "failures", "share", "from (95 %)",
                                          "to (95 %)"};
    const json_t *faults = faults_of(page);
    const json_t *structures = json_object_get(faults, "structures"), *row;
    size_t at;
    if (!faults || number_in(json_object_get(faults, "total"), "faults") <= 0)
        return;
    outcomes_by_structure(page, structures);
    figure_open(page, "table", "failures", "Failures by structure",
                "Shares of the injected faults with their 95 % intervals.");
    figure_head(page, "structure");
    for (u32 i = 0; i < ARRAY_LEN(columns); i++)
        figure_column(page, columns[i]);
    json_array_foreach((json_t *)structures, at, row)
    {
        if (number_in(row, "faults") <= 0)
            continue;
        figure_row(page, "", text_printable(page->arena, string_in(row, "structure")));
        failure_cells(page, row);
    }
    figure_row(page, "", "all");
    failure_cells(page, json_object_get(faults, "total"));
    figure_close(page);
}
