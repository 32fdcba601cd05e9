/* heddle disasm: the code as the machine sees it. */
#include "cli/common.h"
#include <stdlib.h>

static const struct option options[] = {
    {"--kernel", "NAME", "Only this kernel and the functions it reaches; without it, everything.",
     0, 0},
    MACHINE_OPTIONS,
    {0},
};

static int list(const struct command *command, const struct command_line *line,
                struct hd_device *device, const char *path)
{
    size_t length;
    struct hd_error error = {0};
    char *text = read_module(command, path, &length);
    if (!text)
        return EXIT_USAGE;
    struct hd_module *module =
        hd_module_load(device, text, length, strcmp(path, "-") ? path : "standard input", &error);
    free(text);
    char *listing =
        module ? hd_module_listing(module, option_value(line, "--kernel"), &error) : NULL;
    int code = EXIT_DONE;
    if (listing)
        fputs(listing, stdout);
    else
        code = report(command, &error);
    hd_free(listing);
    if (module)
        hd_module_unload(module);
    return code;
}

static int run(const struct command *command, const struct command_line *line)
{
    const char *path = option_word(line, 0);
    if (!path)
        return usage_error(command, "a file is missing: expected heddle disasm FILE.ptx");
    struct hd_config *config = open_config(command, line, option_value(line, "--machine"));
    if (!config)
        return EXIT_USAGE;
    struct hd_error error = {0};
    struct hd_device *device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (!device)
        return report(command, &error);
    int code = list(command, line, device, path);
    hd_device_close(device);
    return code;
}

static const struct example examples[] = {
    {"heddle disasm kernel.ptx", "Everything in a file:"},
    {"heddle disasm kernel.ptx --kernel matmul --set ptx.optimize=false",
     "One kernel, its PTX instructions one to one:"},
    {0},
};

const struct command disasm_command = {
    .name = "disasm",
    .words = "FILE.ptx [options]",
    .summary = "show code as the machine sees it",
    .help = "Lowers a PTX file to machine code and lists it: basic blocks with their reconvergence "
            "points, physical registers, how many registers are live at each instruction, and the "
            "source line each comes from. '-' reads standard input.",
    .options = options,
    .examples = examples,
    .max_words = 1,
    .complete = COMPLETE_FILE,
    .run = run,
};
