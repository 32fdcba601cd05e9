/* The files of a campaign, and its summary on the terminal: see inject.h. */
#include "cli/inject.h"

#include "cli/common.h"
#include "lab/page.h"
#include <math.h>

static const char *const effects[] = {"masked", "gray", "time", "sdc", "due", "hang"};

/* ---- faults.csv ---- */

static void print_fault(FILE *to, const struct hd_fault *fault)
{
    fprintf(to, "%llu,%s,%u,%llu,%u,%#llx,%u,%llu,%s,%s,", (unsigned long long)fault->id,
            fault->structure, fault->owner, (unsigned long long)fault->entry, fault->bit,
            (unsigned long long)fault->pattern, fault->launch, (unsigned long long)fault->cycle,
            fault->crashed ? "crashed" : hd_effect_name(fault->effect), fault->decided);
    if (fault->cycles)
        fprintf(to, "%llu", (unsigned long long)fault->cycles);
    fputc(',', to);
    if (fault->effect == HD_EFFECT_SDC) {
        for (const char *c = fault->output; *c; c++) /* a path may have any character */
            fputc(*c == ',' || *c == '"' || (u8)*c < 32 ? '_' : *c, to);
        fprintf(to, ",%llu,%llu,", (unsigned long long)fault->wrong,
                (unsigned long long)fault->first);
        if (isinf(fault->error))
            fputs("inf", to);
        else
            fprintf(to, "%.6g", fault->error);
    } else {
        fputs(",,,", to);
    }
    fprintf(to, ",%s\n", fault->detail);
}

static void print_csv(FILE *to, const struct inject_command *inject)
{
    struct hd_fault fault;
    fputs("id,structure,owner,entry,bit,pattern,launch,cycle,outcome,decided,cycles,output,"
          "wrong_words,first_word,relative_error,detail\n",
          to);
    for (u64 i = 0; hd_inject_fault(inject->inject, i, &fault); i++)
        if (fault.effect != HD_EFFECT_NONE || fault.crashed)
            print_fault(to, &fault);
}

/* ---- summary.json ---- */

static json_t *document_of(const struct inject_command *inject, const json_t *summary)
{
    json_t *document = json_object();
    json_object_set_new(document, "schema", json_integer(1));
    json_object_set_new(document, "manifest",
                        manifest_json(inject->run.config, &inject->run.inputs));
    json_object_update(document, (json_t *)(uintptr_t)summary);
    json_object_set_new(document, "config", parse_own_json(hd_config_json(inject->run.config)));
    return document;
}

static void print_summary_json(FILE *to, const struct inject_command *inject, const json_t *summary)
{
    json_t *document = document_of(inject, summary);
    print_json(to, document);
    json_decref(document);
}

/* ---- --stats ---- */

/* Counts and shares as a total of statistics: those of all structures, and of each by its name. */
static json_t *totals_of(const json_t *summary)
{
    json_t *faults = json_deep_copy(json_object_get(summary, "total"));
    json_t *structures = json_object(), *row;
    size_t i;
    json_array_foreach(json_object_get(summary, "structures"), i, row)
        json_object_set(structures, json_string_value(json_object_get(row, "structure")), row);
    json_object_set_new(faults, "structures", structures);
    return json_pack("{s:o}", "faults", faults);
}

/* The launches of the run without faults: all have ended as they should. */
static json_t *launches_of(const json_t *summary)
{
    json_t *launches = json_array(), *cycles;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(summary, "golden"), "launch_cycles"), i,
                       cycles)
        json_array_append_new(launches, json_pack("{s:s, s:O}", "outcome", hd_outcome_name(HD_DONE),
                                                  "cycles", cycles));
    return launches;
}

static void print_stats(FILE *to, const struct inject_command *inject, const json_t *summary)
{
    json_t *document = document_of(inject, summary);
    json_object_del(document, "structures");
    json_object_del(document, "total");
    json_object_set_new(document, "launches", launches_of(summary));
    json_object_set_new(document, "totals", totals_of(summary));
    print_json(to, document);
    json_decref(document);
}

/* ---- report.html ---- */

static f64 number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* "12" or "12: 3.4 % (1.9 to 5.9)". */
static void share_text(const json_t *share, char *text, size_t size)
{
    const int count = (int)json_integer_value(json_object_get(share, "count"));
    if (json_object_get(share, "share"))
        snprintf(text, size, "%d: %.1f %% (%.1f to %.1f)", count, 100 * number(share, "share"),
                 100 * number(share, "low"), 100 * number(share, "high"));
    else
        snprintf(text, size, "%d", count);
}

/* A share as a line within its interval; the whole width is 100 %. Without rates, nothing. */
static void print_bar(FILE *to, const json_t *share)
{
    enum {
        WIDTH = 160 /* pixels */
    };
    const f64 low = WIDTH * number(share, "low"), high = WIDTH * number(share, "high");
    fputs("<td class=\"text\">", to);
    if (json_object_get(share, "share"))
        fprintf(to,
                "<svg width=\"%d\" height=\"12\"><rect width=\"%d\" height=\"12\" "
                "fill=\"currentColor\" opacity=\"0.1\"/><rect x=\"%.1f\" width=\"%.1f\" "
                "height=\"12\" fill=\"currentColor\" opacity=\"0.3\"/><rect x=\"%.1f\" width=\"2\" "
                "height=\"12\" fill=\"currentColor\"/></svg>",
                WIDTH, WIDTH, low, high - low, WIDTH * number(share, "share") - 1);
    fputs("</td></tr>\n", to);
}

static void print_row(FILE *to, const char *name, const json_t *row)
{
    char text[96];
    page_element(to, "<tr><th class=\"text\">", name, "</th>");
    snprintf(text, sizeof text, "%.0f", number(row, "live_bits"));
    page_element(to, "<td>", text, "</td>");
    snprintf(text, sizeof text, "%.0f", number(row, "counted_bits"));
    page_element(to, "<td>", text, "</td>");
    if (!json_object_get(row, "outcomes")) {
        fputs("<td>0</td><td></td><td></td><td></td><td></td><td></td><td></td><td></td><td></td></"
              "tr>\n",
              to);
        return;
    }
    snprintf(text, sizeof text, "%.0f", number(row, "faults"));
    page_element(to, "<td>", text, "</td>");
    for (u32 i = 0; i < ARRAY_LEN(effects); i++) {
        share_text(json_object_get(json_object_get(row, "outcomes"), effects[i]), text,
                   sizeof text);
        page_element(to, "<td>", text, "</td>");
    }
    share_text(json_object_get(row, "failures"), text, sizeof text);
    page_element(to, "<td>", text, "</td>");
    print_bar(to, json_object_get(row, "failures"));
}

static void print_page(FILE *to, const struct inject_command *inject, const json_t *summary)
{
    const json_t *rows = json_object_get(summary, "structures"), *row;
    const json_t *golden = json_object_get(summary, "golden");
    const json_t *audit = json_object_get(summary, "audit");
    struct hd_machine_info info = {0};
    char text[256];
    size_t i;
    hd_config_info(inject->run.config, &info, NULL);
    page_begin(to, "heddle inject", "Faults and what became of them");
    snprintf(text, sizeof text,
             "Machine %s; %.0f cycles without faults. Shares with 95 %% Wilson "
             "intervals, in percent.",
             info.name, number(golden, "cycles"));
    page_element(to, "<p>", text, "</p>\n");
    if (!json_is_true(json_object_get(summary, "complete")))
        fputs("<p class=\"failed\">The campaign was interrupted. It has followed faults of early "
              "cycles only, so there are no shares.</p>\n",
              to);
    fputs("<div class=\"scroll\"><table>\n<thead><tr><th class=\"text\">structure</th>"
          "<th>live bits</th><th>counted bits</th><th>faults</th>",
          to);
    for (u32 e = 0; e < ARRAY_LEN(effects); e++)
        page_element(to, "<th>", effects[e], "</th>");
    fputs("<th>failures</th><th class=\"text\">failures, 0 to 100 %</th></tr></thead>\n<tbody>\n",
          to);
    json_array_foreach(rows, i, row)
        print_row(to, json_string_value(json_object_get(row, "structure")), row);
    fputs("</tbody>\n<tfoot>\n", to);
    print_row(to, "total", json_object_get(summary, "total"));
    fputs("</tfoot>\n</table></div>\n", to);
    snprintf(text, sizeof text,
             "Failures are sdc, due and hang. Of the faults that were decided before the end, %.0f "
             "ran to it all the same; %.0f of them had another fate.",
             number(audit, "faults"), number(audit, "disagree"));
    page_element(to, "<p class=\"quiet\">", text, "</p>\n");
    page_end(to);
}

/* ---- writing ---- */

typedef void print_fn(FILE *to, const struct inject_command *inject, const json_t *summary);

static void print_table(FILE *to, const struct inject_command *inject, const json_t *summary)
{
    (void)summary;
    print_csv(to, inject);
}

/* Writes a file, or complains of an option. */
static bool write_one(struct inject_command *inject, const char *option, const char *path,
                      print_fn *print, const json_t *summary)
{
    struct output output;
    struct error error = {0};
    if (output_open(&output, path, &error)) {
        print(output.stream, inject, summary);
        if (output_commit(&output, &error))
            return true;
    }
    complain(inject->run.command, "%s: %s: %s", option, error.place, error.message);
    return false;
}

bool inject_write_stats(struct inject_command *inject, const json_t *summary)
{
    return write_one(inject, "--stats", inject->stats, print_stats, summary);
}

bool inject_write(struct inject_command *inject, const json_t *summary)
{
    static const struct {
        const char *name;
        print_fn *print;
    } files[] = {{"faults.csv", print_table},
                 {"summary.json", print_summary_json},
                 {"report.html", print_page}};
    bool ok = true;
    for (u32 i = 0; i < ARRAY_LEN(files) && ok; i++)
        ok = write_one(inject, "--out",
                       arena_printf(inject->run.request.arena, "%s/%s", inject->out, files[i].name),
                       files[i].print, summary);
    return ok;
}

void inject_print(const struct inject_command *inject, const json_t *summary)
{
    const json_t *total = json_object_get(summary, "total");
    char text[96];
    fprintf(stderr, "%.0f faults in %.0f live bits (%.0f counted bits left out), %.0f cycles\n",
            number(total, "faults"), number(total, "live_bits"), number(total, "counted_bits"),
            number(json_object_get(summary, "golden"), "cycles"));
    for (u32 i = 0; i < ARRAY_LEN(effects); i++) {
        share_text(json_object_get(json_object_get(total, "outcomes"), effects[i]), text,
                   sizeof text);
        fprintf(stderr, "  %-8s %s\n", effects[i], text);
    }
    share_text(json_object_get(total, "failures"), text, sizeof text);
    fprintf(stderr, "  %-8s %s\n", "failures", text);
}
