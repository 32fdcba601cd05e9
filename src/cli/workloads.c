/*
 * heddle workloads: the OpenCL programs that come with Heddle, from their manifests
 * (workloads/NAME/workload.yaml), which are compiled in.
 */
#include "base/text.h"
#include "base/yaml.h"
#include "cli/common.h"
#include "cli/program.h"

extern const struct builtin_file builtin_workloads[]; /* ends with a NULL name */

/* Recognises numbers and booleans unless they are quoted. */
static json_t *scalar_json(const struct yaml *node)
{
    u64 value;
    if (!node->quoted && text_u64(node->text, &value) == TEXT_OK && value <= INT64_MAX)
        return json_integer((json_int_t)value);
    if (!node->quoted && (!strcmp(node->text, "true") || !strcmp(node->text, "false")))
        return json_boolean(node->text[0] == 't');
    return json_string(node->text);
}

static json_t *yaml_json(const struct yaml *node)
{
    if (node->kind == YAML_SCALAR)
        return scalar_json(node);
    json_t *json = node->kind == YAML_MAP ? json_object() : json_array();
    for (const struct yaml *child = node->first; child; child = child->next)
        if (node->kind == YAML_MAP)
            json_object_set_new(json, child->key, yaml_json(child));
        else
            json_array_append_new(json, yaml_json(child));
    return json;
}

/* Parses a manifest; NULL after printing an error. */
static json_t *manifest(const struct command *command, const struct builtin_file *file)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    const struct yaml *tree = yaml_parse(arena, file->text, file->length, file->name, &error);
    json_t *json = tree ? yaml_json(tree) : NULL;
    if (!json)
        complain(command, "%s: %s", error.place, error.message);
    arena_destroy(arena);
    return json;
}

/* "rows 128, columns 80" */
static const char *sizes_text(struct arena *arena, json_t *sizes)
{
    const char *text = "", *key;
    json_t *value;
    json_object_foreach(sizes, key, value)
    {
        text = arena_printf(arena, "%s%s%s %s", text, *text ? ", " : "", key,
                            field_text(arena, sizes, key));
    }
    return text;
}

/* "16x16, 32x32": each shape once. */
static const char *shapes_text(struct arena *arena, const json_t *blocks)
{
    const char *text = "";
    for (size_t i = 0; i < json_array_size(blocks); i++) {
        const json_t *shape = json_object_get(json_array_get(blocks, i), "shape");
        const char *one = "";
        for (size_t k = 0; k < json_array_size(shape); k++)
            one = arena_printf(arena, "%s%s%lld", one, k ? "x" : "",
                               (long long)json_integer_value(json_array_get(shape, k)));
        const char *known = arena_printf(arena, ", %s,", text);
        if (!strstr(known, arena_printf(arena, ", %s,", one)))
            text = arena_printf(arena, "%s%s%s", text, *text ? ", " : "", one);
    }
    return text;
}

/* Warp instructions of a size: "1.2 M"; "-" when not measured. */
static const char *count_text(struct arena *arena, const json_t *row, const char *code,
                              const char *size)
{
    const json_t *counts = json_object_get(json_object_get(row, "instructions"), code);
    const json_t *value = json_object_get(counts, size);
    f64 number = json_number_value(value);
    if (!value)
        return "-";
    return number >= 1e6 ? arena_printf(arena, "%.1f M", number * 1e-6)
                         : arena_printf(arena, "%.0f k", number * 1e-3);
}

static void print_all(const json_t *rows)
{
    struct arena *arena = arena_create();
    printf("%-16s %-14s %9s %9s  %s\n", "workload", "block", "instr.", "quick", "what it does");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        printf("%-16s %-14s %9s %9s  %s\n", field_text(arena, row, "workload"),
               shapes_text(arena, json_object_get(row, "blocks")),
               count_text(arena, row, "ptx", "default"), count_text(arena, row, "ptx", "quick"),
               field_text(arena, row, "description"));
    }
    printf("\n"
           "instr.: warp instructions as PTX. 'heddle workloads NAME' explains one;\n"
           "'heddle run --workload NAME [--quick]' runs it.\n");
    arena_destroy(arena);
}

static void print_one(const json_t *row)
{
    struct arena *arena = arena_create();
    json_t *sizes = json_object_get(row, "sizes"), *papers = json_object_get(row, "papers");
    static const char *const codes[][2] = {{"ptx", "PTX"}, {"si", "Southern Islands"}};
    printf("%s: %s\n\n", field_text(arena, row, "workload"), field_text(arena, row, "description"));
    printf("sizes         default  %s\n", sizes_text(arena, json_object_get(sizes, "default")));
    printf("              quick    %s\n", sizes_text(arena, json_object_get(sizes, "quick")));
    printf("              %s: %s\n", field_text(arena, sizes, "source"),
           field_text(arena, sizes, "note"));
    printf("blocks        %s\n", shapes_text(arena, json_object_get(row, "blocks")));
    for (u32 i = 0; i < ARRAY_LEN(codes); i++)
        printf("%s %s warp instructions by default, %s with --quick, as %s\n",
               i ? "             " : "instructions ",
               count_text(arena, row, codes[i][0], "default"),
               count_text(arena, row, codes[i][0], "quick"), codes[i][1]);
    for (size_t i = 0; i < json_array_size(papers); i++)
        printf("%-13s %s (%s)%s%s\n", i ? "" : "in papers",
               field_text(arena, json_array_get(papers, i), "id"),
               field_text(arena, json_array_get(papers, i), "of"),
               json_object_get(json_array_get(papers, i), "options") ? " with " : "",
               json_object_get(json_array_get(papers, i), "options")
                   ? field_text(arena, json_array_get(papers, i), "options")
                   : "");
    printf("\nheddle run --workload %s --quick\n", field_text(arena, row, "workload"));
    arena_destroy(arena);
}

static void print_markdown(const json_t *rows)
{
    struct arena *arena = arena_create();
    printf(
        "<!-- Generated by 'heddle workloads --markdown'; 'make docs' writes it anew. -->\n"
        "# Workloads\n"
        "\n"
        "OpenCL 1.2 programs that come with Heddle (`workloads/`). They do not depend on Heddle: "
        "they run on any OpenCL device, generate their own seeded input and check their result "
        "against a computation on the host. `heddle run --workload NAME` runs one on a modelled "
        "machine, `--quick` selects its small size, and `-- --help` lists its own options.\n"
        "\n"
        "Instructions are warp instructions at the default and the quick size, as PTX (warps of "
        "32) and as Southern Islands code (64), both compiled by clang 16 with libclc. Paper "
        "identifiers are those of the works that use such a program; sizes are `stated` there, "
        "`inferred` from what they say, or `ours`.\n"
        "\n"
        "| workload | what it does | block | sizes | PTX | Southern Islands | in papers |\n"
        "|---|---|---|---|---:|---:|---|\n");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const json_t *papers = json_object_get(row, "papers");
        json_t *sizes = json_object_get(row, "sizes");
        printf("| %s | %s | %s | %s (%s) | %s, %s | %s, %s | ", field_text(arena, row, "workload"),
               field_text(arena, row, "description"),
               shapes_text(arena, json_object_get(row, "blocks")),
               sizes_text(arena, json_object_get(sizes, "default")),
               field_text(arena, sizes, "source"), count_text(arena, row, "ptx", "default"),
               count_text(arena, row, "ptx", "quick"), count_text(arena, row, "si", "default"),
               count_text(arena, row, "si", "quick"));
        for (size_t k = 0; k < json_array_size(papers); k++)
            printf("%s%s (%s)", k ? ", " : "", field_text(arena, json_array_get(papers, k), "id"),
                   field_text(arena, json_array_get(papers, k), "of"));
        printf(" |\n");
    }
    arena_destroy(arena);
}

static int unknown(const struct command *command, const char *name)
{
    const char *names[128];
    u32 count = 0;
    for (; builtin_workloads[count].name && count < ARRAY_LEN(names); count++)
        names[count] = builtin_workloads[count].name;
    const char *nearest = nearest_word(name, names, count);
    struct arena *arena = arena_create();
    int code =
        usage_error(command, "there is no workload '%s'%s%s%s", text_printable(arena, name),
                    nearest ? ": did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    arena_destroy(arena);
    return code;
}

bool workload_known(const struct command *command, const char *name)
{
    for (const struct builtin_file *file = builtin_workloads; file->name; file++)
        if (!strcmp(file->name, name))
            return true;
    unknown(command, name);
    return false;
}

void print_workload_names(void)
{
    for (const struct builtin_file *file = builtin_workloads; file->name; file++)
        printf("%s\n", file->name);
}

static int run_workloads(const struct command *command, const struct command_line *line)
{
    const char *name = option_word(line, 0);
    json_t *rows = json_array();
    int code = EXIT_DONE;
    for (const struct builtin_file *file = builtin_workloads; file->name; file++) {
        json_t *row = !name || !strcmp(name, file->name) ? manifest(command, file) : NULL;
        if (row)
            json_array_append_new(rows, row);
    }
    if (name && !json_array_size(rows))
        code = unknown(command, name);
    else if (option_value(line, "--json"))
        print_json(stdout, name ? json_array_get(rows, 0) : rows);
    else if (option_value(line, "--markdown"))
        print_markdown(rows);
    else if (name)
        print_one(json_array_get(rows, 0));
    else
        print_all(rows);
    json_decref(rows);
    return code;
}

static const struct option options[] = {
    {"--json", NULL, "Print JSON instead of text.", 0, 0},
    {"--markdown", NULL, "Print a page of Markdown.", 0, 0},
    {0},
};

static const struct example examples[] = {
    {"heddle workloads", "All workloads:"},
    {"heddle workloads matmul", "One workload, with the origin of its sizes:"},
    {"heddle run --workload matmul --quick", "Running it:"},
    {0},
};

const struct command workloads_command = {
    .name = "workloads",
    .words = "[NAME]",
    .summary = "list the OpenCL programs that come with Heddle, or explain one",
    .help = "Lists the programs of the suite with the shapes of their blocks and their warp "
            "instructions at both sizes. With a name, prints sizes, their origin, and the papers "
            "that use such a program. 'heddle run --workload NAME' runs one; the programs are "
            "ordinary OpenCL and run on any device.",
    .options = options,
    .examples = examples,
    .max_words = 1,
    .complete = COMPLETE_WORKLOAD,
    .run = run_workloads,
};
