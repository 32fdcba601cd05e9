/* heddle disasm: the code as the machine executes it. */
#include "base/text.h"
#include "cli/common.h"
#include "cli/values.h"
#include <stdlib.h>

static const struct option options[] = {
    {"--kernel", "NAME",
     "List only this kernel and the functions it reaches; without it, everything.", 0, 0},
    {"--marks", NULL,
     "Print, before each instruction and instead of the number of live registers, whether all "
     "warps of a block execute it with the same values: DR always, CR if rows of threads along x "
     "fill warps evenly, CY if planes along x and y do, V otherwise.",
     0, 0},
    {"--block", "X[,Y[,Z]]",
     "With --marks: print an asterisk after the marks that hold in blocks of this shape.", 0, 0},
    {"--lifetimes", NULL,
     "Print, before each instruction and instead of the number of live registers, how long its "
     "result in vector registers lives: the instructions on the longest path to its last read, 0 "
     "if "
     "nothing reads it, inf if it is carried around a loop or across a call. S marks short-lived "
     "values, L long-lived ones, SL short-lived ones in a register that also holds long-lived "
     "ones.",
     0, 0},
    {"--limit", "INSTRUCTIONS",
     "With --lifetimes: the longest lifetime of short-lived values; without it, 10.", 0, 0},
    {"--regions", NULL,
     "Print, before each instruction and instead of the number of live registers, where idempotent "
     "regions begin, and why: the function's entry; a register, or memory, that the region before "
     "has read is overwritten; the instruction is a region alone, because it overwrites what it "
     "reads itself or acts on other threads; or comes after such an instruction.",
     0, 0},
    MACHINE_OPTIONS,
    {0},
};

/* What to show. */
struct listing_view {
    const char *kernel; /* NULL: all */
    bool marks, shaped, lifetimes, regions;
    u32 limit;           /* with lifetimes; 0: as usual */
    struct hd_dim block; /* if shaped */
};

static char *listing_of(struct hd_module *module, const struct listing_view *view,
                        struct hd_error *error)
{
    if (view->lifetimes)
        return hd_module_lifetimes(module, view->kernel, view->limit, error);
    if (view->regions)
        return hd_module_regions(module, view->kernel, error);
    return view->marks
               ? hd_module_marks(module, view->kernel, view->shaped ? &view->block : NULL, error)
               : hd_module_listing(module, view->kernel, error);
}

static int list(const struct command *command, const struct listing_view *view,
                struct hd_device *device, const char *path, const struct code_file *code)
{
    struct hd_error error = {0};
    struct hd_module *module = load_code(command, device, path, code);
    if (!module)
        return EXIT_USAGE;
    char *listing = listing_of(module, view, &error);
    int exit = EXIT_DONE;
    struct arena *arena = arena_create();
    if (listing)
        fputs(text_printable_lines(arena, listing), stdout); /* names may be any bytes */
    else
        exit = report(command, &error);
    arena_destroy(arena);
    hd_free(listing);
    hd_module_unload(module);
    return exit;
}

static int list_on_machine(const struct command *command, const struct command_line *line,
                           const struct listing_view *view, const char *path,
                           const struct code_file *code)
{
    const char *machine = option_value(line, "--machine");
    if (!machine)
        machine = hd_machine_for(code->data, code->length, code->raw);
    struct hd_config *config = open_config(command, line, machine);
    if (!config)
        return EXIT_USAGE;
    struct hd_error error = {0};
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (!device)
        return report(command, &error);
    int exit = list(command, view, device, path, code);
    hd_device_close(device);
    return exit;
}

/* A number of instructions. */
static bool parse_limit(const char *text, u32 *limit)
{
    struct scalar scalar;
    struct error error = {0};
    if (!scalar_parse("u16", text, &scalar, &error))
        return false;
    *limit = scalar.data[0] | (u32)scalar.data[1] << 8;
    return *limit && *limit < UINT16_MAX;
}

static bool parse_view(const struct command *command, const struct command_line *line,
                       struct listing_view *view)
{
    const char *block = option_value(line, "--block"), *limit = option_value(line, "--limit");
    struct error error = {0};
    *view = (struct listing_view){
        .kernel = option_value(line, "--kernel"),
        .marks = option_value(line, "--marks"),
        .shaped = block,
        .lifetimes = option_value(line, "--lifetimes"),
        .regions = option_value(line, "--regions"),
    };
    if (block && !view->marks)
        usage_error(command, "--block needs --marks: it says which marks hold");
    else if (block && !dim_parse(block, &view->block, &error))
        usage_error(command, "--block: %s", error.message);
    else if (view->marks && view->lifetimes)
        usage_error(command, "--marks and --lifetimes cannot be printed at once");
    else if (view->regions && (view->marks || view->lifetimes))
        usage_error(command, "--regions and %s cannot be printed at once",
                    view->marks ? "--marks" : "--lifetimes");
    else if (limit && !view->lifetimes)
        usage_error(command, "--limit needs --lifetimes: it says which values are short-lived");
    else if (limit && !parse_limit(limit, &view->limit))
        usage_error(command, "--limit: '%s' is not a number of instructions from 1 to 65534",
                    limit);
    else
        return true;
    return false;
}

static int run(const struct command *command, const struct command_line *line)
{
    const char *path = option_word(line, 0);
    struct code_file code;
    struct listing_view view;
    if (!path)
        return usage_error(command, "no file given: expected heddle disasm FILE");
    if (!parse_view(command, line, &view) || !code_read(command, path, CODE_EITHER, &code))
        return EXIT_USAGE;
    int exit = list_on_machine(command, line, &view, path, &code);
    code_free(&code);
    return exit;
}

static const struct example examples[] = {
    {"heddle disasm kernel.ptx", "Everything in a file:"},
    {"heddle disasm kernel.ptx --kernel matmul --set ptx.optimize=false",
     "One kernel, with its PTX instructions one to one:"},
    {"heddle disasm kernel.ptx --marks --block 16,16",
     "What warps of a block of 16 x 16 threads execute with the same values:"},
    {"heddle disasm kernel.ptx --lifetimes", "How many instructions each result lives, at most:"},
    {"heddle disasm kernel.ptx --regions", "Where code can run again from:"},
    {"heddle disasm kernel.so", "The kernels of a code object, with their descriptors:"},
    {0},
};

const struct command disasm_command = {
    .name = "disasm",
    .words = "FILE [options]",
    .summary = "list code as the machine executes it",
    .help = "Lowers a PTX file to machine code and lists it: basic blocks with their reconvergence "
            "points, physical registers, the number of live registers at each instruction, and its "
            "source line. With --marks it shows which instructions all warps of a block execute "
            "with the same values, with --lifetimes how long results live. Code objects for "
            "Southern Islands are listed with the "
            "descriptors of their kernels; raw machine code is read from .bin files, and from .s "
            "files, which are assembled. '-' reads standard input.",
    .options = options,
    .examples = examples,
    .max_words = 1,
    .complete = COMPLETE_FILE,
    .run = run,
};
