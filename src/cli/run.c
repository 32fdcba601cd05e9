/*
 * heddle run: launches kernels of program files and writes their results.
 *
 *  R1  All errors of options, files, kernels, arguments and outputs are found before the first
 *      launch. What remains is the guest's behaviour and a full disk.
 *  R2  Outputs and statistics are written also after a fault or Ctrl-C, each atomically.
 *  R3  Standard output has guest printf, or else the one output that is requested there with "-": the
 *      guest then prints to standard error. Everything else goes to standard error.
 */
#include "cli/run.h"
#include "base/text.h"
#include "cli/annotate.h"
#include "cli/avf.h"
#include "cli/common.h"
#include "cli/energy.h"
#include "cli/files.h"
#include "cli/program.h"
#include "cli/raw.h"
#include "cli/timeline.h"
#include "variation/choice.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static f64 seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (f64)now.tv_sec + (f64)now.tv_nsec * 1e-9;
}

/* The first launch from the same file. */
static struct launch *same_file(struct run_command *run, const struct launch *launch)
{
    struct launch *first = run->request.launches.data;
    while (strcmp(first->file, launch->file) != 0)
        first++;
    return first;
}

/* Reads the files before the machine is chosen: they determine its default. */
static bool read_programs(struct run_command *run)
{
    for (u32 i = 0; i < run->request.launches.count; i++) {
        struct launch *launch = &run->request.launches.data[i];
        if (!launch->file)
            launch->file = launch[-1].file;
        if (same_file(run, launch) != launch)
            continue;
        if (!claim_stdin(run, launch->file, launch->file) ||
            !code_read(run->command, launch->file, run->request.state ? CODE_RAW : CODE_MODULE,
                       &launch->code))
            return false;
        const struct code_file *code = &launch->code;
        record_text(run, launch->file, code->source ? code->source : code->data,
                    code->source ? code->source_length : code->length);
    }
    return true;
}

static const char *choose_machine(const struct run_command *run)
{
    const char *machine = option_value(run->line, "--machine");
    for (u32 i = 0; !machine && i < run->request.launches.count; i++) {
        const struct code_file *code = &run->request.launches.data[i].code;
        const char *name = code->data ? hd_machine_for(code->data, code->length, code->raw) : NULL;
        if (name && strcmp(name, "generic") != 0)
            machine = name;
    }
    return machine;
}

static bool load_module(struct run_command *run, u32 index)
{
    struct launch *launch = &run->request.launches.data[index], *first = same_file(run, launch);
    if (!first->module)
        first->module = load_code(run->command, run->device, first->file, &first->code);
    launch->module = first->module;
    return launch->module;
}

/* ---- arguments against the signature ---- */

static const char *signature(struct arena *arena, const struct hd_kernel_info *info)
{
    const char *text = "";
    for (u32 i = 0; i < info->param_count; i++) {
        const struct hd_param_info *param = &info->params[i];
        const char *type =
            param->is_array ? arena_printf(arena, "%u bytes", param->size) : param->type;
        text = arena_printf(arena, "%s%s%s %s", text, i ? ", " : "", type, param->name);
    }
    return text;
}

static bool check_argument(struct run_command *run, const struct launch *launch, u32 index)
{
    const struct argument *argument = &launch->args.data[index];
    const struct hd_param_info *param = &launch->info.params[index];
    if (argument->size != param->size) {
        complain(run->command,
                 "%s: %u bytes given for parameter %u, '%s', of kernel '%s', which has %u (%s%s)%s",
                 argument->option, argument->size, index + 1, param->name, launch->info.name,
                 param->size, param->type, param->is_array ? " array" : "",
                 param->is_shared ? ": local:BYTES gives it shared memory" : "");
        return false;
    }
    bool float_param = strchr(param->type, 'f');
    bool bits_param = param->type[0] == 'b' && !float_param;
    if (argument->kind == ARGUMENT_VALUE && !bits_param && !run->request.quiet &&
        argument->value.is_float != float_param)
        complain(run->command, "%s: note: parameter %u, '%s', is %s; the bits are passed unchanged",
                 argument->option, index + 1, param->name, param->type);
    return true;
}

static bool check_signature(struct run_command *run, const struct launch *launch)
{
    if (launch->args.count != launch->info.param_count) {
        complain(run->command, "kernel '%s' takes %u arguments (%s), but %u %s given with --arg",
                 launch->info.name, launch->info.param_count,
                 signature(run->request.arena, &launch->info), launch->args.count,
                 launch->args.count == 1 ? "is" : "are");
        return false;
    }
    for (u32 i = 0; i < launch->args.count; i++)
        if (!check_argument(run, launch, i))
            return false;
    return true;
}

/*
 * A local argument, part of the block's dynamic shared memory: its value is its offset, after the
 * kernel's own shared memory, that of --shared and the local arguments before it.
 */
static bool place_local(struct run_command *run, struct launch *launch, u32 index)
{
    enum {
        LOCAL_ALIGN = 16 /* bytes: size of the largest access to shared memory */
    };
    struct argument *argument = &launch->args.data[index];
    u64 offset = align_up((u64)launch->info.shared_bytes + launch->shared_bytes, LOCAL_ALIGN);
    u64 end = offset + argument->offset - launch->info.shared_bytes;
    u32 size = index < launch->info.param_count ? launch->info.params[index].size : 4;
    if (end > UINT32_MAX || argument->offset > UINT32_MAX) {
        complain(run->command, "%s: no block can have that much shared memory", argument->option);
        return false;
    }
    if (size != 4 && size != 8) {
        complain(run->command,
                 "%s: parameter %u, '%s', of kernel '%s' has %u bytes: a pointer to shared memory "
                 "has 4 or 8",
                 argument->option, index + 1, launch->info.params[index].name, launch->info.name,
                 size);
        return false;
    }
    launch->shared_bytes = (u32)end;
    argument->size = size;
    argument->data = arena_alloc(run->request.arena, sizeof offset);
    memcpy(argument->data, &offset, sizeof offset);
    return true;
}

/* The size of a buffer's address as an argument: machines with 32-bit addresses run code with either
 * size. */
static u32 address_bytes(const struct run_command *run, const struct launch *launch, u32 index)
{
    struct hd_machine_info info;
    bool narrow = hd_config_info(run->config, &info, NULL) && info.address_bits == 32;
    return narrow && index < launch->info.param_count && launch->info.params[index].size == 4
               ? 4
               : sizeof(hd_address);
}

/* Sets the size of an argument; addresses follow when buffers are allocated. */
static bool size_argument(struct run_command *run, struct launch *launch, u32 index)
{
    struct argument *argument = &launch->args.data[index];
    if (argument->kind == ARGUMENT_LOCAL)
        return place_local(run, launch, index);
    if (argument->kind == ARGUMENT_VALUE) {
        argument->data = argument->value.data;
        argument->size = argument->value.size;
    } else if (argument->kind == ARGUMENT_BUFFER) {
        argument->size = address_bytes(run, launch, index);
        argument->data = arena_alloc(run->request.arena, sizeof(hd_address));
    } else {
        struct error error = {0};
        size_t length;
        if (!claim_stdin(run, argument->option, argument->path))
            return false;
        char *data = text_read_file(argument->path, true, 1 << 20, &length, &error);
        if (!data) {
            complain(run->command, "%s: %s: %s", argument->option, error.place, error.message);
            return false;
        }
        record_text(run, argument->path, data, length);
        argument->data = arena_alloc(run->request.arena, length);
        memcpy(argument->data, data, length);
        argument->size = (u32)length;
        free(data);
    }
    return true;
}

/* Prints all unsupported instructions; an error's message has room for only some. */
static bool complain_unsupported(struct run_command *run, const struct hd_kernel *kernel,
                                 const char *which, const struct hd_error *error)
{
    char *list = hd_kernel_unsupported(kernel);
    size_t lines = 0, length = strlen(list);
    for (size_t i = 0; i < length; i++)
        lines += list[i] == '\n';
    char *text = arena_alloc(run->request.arena, length + 2 * lines + 1), *to = text;
    for (const char *from = list; *from; to++, from++) {
        if (from == list || from[-1] == '\n')
            to = stpcpy(to, "  ");
        *to = *from;
    }
    if (lines)
        to[-1] = '\0'; /* complain() adds the last newline */
    complain(run->command, "%s%s: %.*s\n%s", which, error->place,
             (int)strcspn(error->message, "\n"), error->message, text);
    hd_free(list);
    return false;
}

static bool prepare_launch(struct run_command *run, u32 index)
{
    struct launch *launch = &run->request.launches.data[index];
    struct hd_error error = {0};
    if (!load_module(run, index))
        return false;
    launch->kernel = hd_kernel_find(launch->module, launch->kernel_name, &error);
    if (!launch->kernel) {
        if (launch->kernel_name)
            complain(run->command, "--kernel: %s", error.message);
        else
            report(run->command, &error);
        return false;
    }
    hd_kernel_info(launch->kernel, &launch->info);
    for (u32 i = 0; i < launch->args.count; i++)
        if (!size_argument(run, launch, i))
            return false;
    if (!check_signature(run, launch))
        return false;
    struct hd_arg *args = arena_array(run->request.arena, struct hd_arg, launch->args.count);
    for (u32 i = 0; i < launch->args.count; i++)
        args[i].size = launch->args.data[i].size;
    if (hd_launch_check(launch->kernel, launch->grid, launch->block, launch->shared_bytes, args,
                        launch->args.count, &error))
        return true;
    const char *which = "";
    if (run->request.launches.count > 1)
        which = arena_printf(run->request.arena, "launch %u: ", index + 1);
    if (error.code == HD_ERROR_UNSUPPORTED)
        return complain_unsupported(run, launch->kernel, which, &error);
    complain(run->command, "%s%s%s%s", which, error.place, error.place[0] ? ": " : "",
             error.message);
    return false;
}

/* Fills the buffers and sets buffer arguments to their addresses. */
static bool place_buffers(struct run_command *run)
{
    struct request *request = &run->request;
    for (u32 i = 0; i < request->buffers.count; i++)
        if (!fill_buffer(run, &request->buffers.data[i]))
            return false;
    for (u32 i = 0; i < request->launches.count; i++)
        for (u32 j = 0; j < request->launches.data[i].args.count; j++) {
            struct argument *argument = &request->launches.data[i].args.data[j];
            if (argument->kind != ARGUMENT_BUFFER)
                continue;
            const struct run_buffer *buffer = &request->buffers.data[argument->buffer];
            if (argument->offset >= buffer->bytes) {
                complain(run->command, "%s: the offset is beyond the buffer's %llu bytes",
                         argument->option, (unsigned long long)buffer->bytes);
                return false;
            }
            hd_address address = buffer->address + argument->offset;
            memcpy(argument->data, &address, sizeof address);
        }
    return true;
}

/* ---- launching ---- */

static void guest_output(void *user, const char *text, size_t length)
{
    struct run_command *run = user;
    watch_clear(run->watch);
    fwrite(text, 1, length, request_takes_stdout(&run->request) ? stderr : stdout);
}

static void guest_note(void *user, const char *kernel, const char *text)
{
    const struct run_command *run = user;
    watch_note(run->watch, run->command, kernel, text);
}

bool run_launch(struct run_command *run, struct launch *launch, struct hd_error *error)
{
    struct hd_arg *args = arena_array(run->request.arena, struct hd_arg, launch->args.count);
    for (u32 i = 0; i < launch->args.count; i++)
        args[i] = (struct hd_arg){launch->args.data[i].data, launch->args.data[i].size};
    return hd_launch(launch->kernel, launch->grid, launch->block, launch->shared_bytes, args,
                     launch->args.count, &launch->result, error);
}

static int launch_one(struct run_command *run, u32 index)
{
    struct launch *launch = &run->request.launches.data[index];
    struct hd_error error = {0};
    watch_launch(run->watch, text_printable(run->request.arena, launch->info.name), index + 1,
                 run->request.launches.count);
    f64 start = seconds();
    bool ok = run_launch(run, launch, &error);
    launch->seconds = seconds() - start;
    watch_clear(run->watch);
    fflush(stdout); /* guest output before messages about it */
    if (!ok)
        return report(run->command, &error);
    launch->ran = true;
    if (launch->result.warnings[0])
        complain(run->command, "kernel '%s': %s", launch->info.name, launch->result.warnings);
    if (launch->result.outcome == HD_DONE)
        return EXIT_DONE;
    complain(run->command, "kernel '%s': %s", launch->info.name, launch->result.explanation);
    return launch->result.outcome == HD_STOPPED ? 128 + watch_signal(run->watch) : EXIT_FAULT;
}

static int launch_all(struct run_command *run)
{
    hd_set_note(run->device, guest_note, run);
    if (run->request.state)
        return raw_launch(run);
    hd_set_output(run->device, guest_output, run);
    int code = EXIT_DONE;
    u32 index = 0, count = run->request.launches.count;
    for (; index < count && code == EXIT_DONE; index++)
        code = watch_signal(run->watch) ? 128 + watch_signal(run->watch) : launch_one(run, index);
    watch_launch(run->watch, NULL, 0, 0);
    if (index < count)
        complain(run->command, "%u further launch%s not run", count - index,
                 count - index > 1 ? "es were" : " was");
    return code;
}

/* ---- the command ---- */

/* Applies options that set a parameter; error messages name the option. */
static bool apply_limits(struct run_command *run)
{
    static const char *const limits[][2] = {{"--seed", "launch.seed"},
                                            {"--max-instructions", "launch.max_instructions"},
                                            {"--max-seconds", "launch.max_seconds"}};
    for (u32 i = 0; i < ARRAY_LEN(limits); i++) {
        const char *value = option_value(run->line, limits[i][0]);
        struct hd_error error = {0};
        if (!value)
            continue;
        const char *setting = arena_printf(run->request.arena, "%s=%s", limits[i][1], value);
        if (!hd_config_set(run->config, setting, &error)) {
            const char *message = strstr(error.message, ": "); /* after the parameter's key */
            complain(run->command, "%s: %s", limits[i][0], message ? message + 2 : error.message);
            return false;
        }
    }
    if (run->request.functional || (run->request.state && !run->request.in_time))
        hd_config_set(run->config, "timing.functional=true", NULL);
    return true;
}

/* Gives the device the chip that --chip names. */
static bool apply_chip(struct run_command *run)
{
    const char *text = option_value(run->line, "--chip");
    struct error error = {0};
    struct hd_error own = {0};
    char whole[2400];
    if (!text)
        return true;
    json_t *machine = parse_own_json(hd_config_json(run->config));
    run->chip = chip_choice_read(text, machine, &run->chip_bytes, &error);
    json_decref(machine);
    if (!run->chip) {
        complain(run->command, "--chip: %s", error_text(&error, whole, sizeof whole));
        return false;
    }
    if (hd_config_chip(run->config, run->chip, run->chip_bytes, text, &own))
        return true;
    complain(run->command, "--chip %s: %s", text, own.message);
    return false;
}

/* A chip changes nothing by itself. */
static void note_idle_chip(const struct run_command *run)
{
    size_t i;
    json_t *rows = run->chip ? parse_own_json(hd_config_mechanisms(run->config)) : NULL, *row;
    bool read = !run->chip;
    json_array_foreach(rows, i, row)
    {
        read |= json_is_true(json_object_get(row, "on")) &&
                (json_is_true(json_object_get(row, "chip")) ||
                 json_is_true(json_object_get(row, "may_chip")));
    }
    if (!read)
        complain(run->command, "note: --chip has no effect on the simulation: no mechanism that is "
                               "on reads the chip");
    json_decref(rows);
}

static void note_idle(const struct run_command *run)
{
    note_idle_settings(run->command, run->line, run->config);
    note_idle_chip(run);
}

/* Sets how the host simulates: no result depends on it. */
static bool apply_order_and_threads(struct run_command *run)
{
    struct hd_error error = {0};
    struct request *request = &run->request;
    const char *variable = getenv("HEDDLE_THREADS");
    const bool given = request->threads;
    if (request->core_order && !hd_set_core_order(run->device, request->core_order, &error)) {
        usage_error(run->command, "--core-order: %s", error.message);
        return false;
    }
    if (!given && variable && *variable)
        request->threads = variable;
    if (request->threads && !hd_set_threads(run->device, request->threads, &error)) {
        usage_error(run->command, "%s: %s", given ? "--threads" : "HEDDLE_THREADS", error.message);
        return false;
    }
    return true;
}

/* Opens the device that the options ask for, on a machine. */
static bool open_device(struct run_command *run, const char *machine)
{
    struct hd_error error = {0};
    run->config = open_config(run->command, run->line, machine);
    if (!run->config || !apply_limits(run) || !apply_chip(run))
        return false;
    if (run->live)
        hd_config_set(run->config, "timing.live_state=true", NULL);
    record_mechanisms(run);
    run->device = hd_device_open(run->config, &error);
    if (!run->device) {
        report(run->command, &error);
        return false;
    }
    if (!apply_order_and_threads(run))
        return false;
    if (!run->request.quiet)
        note_idle(run);
    return true;
}

bool run_prepare(struct run_command *run)
{
    if (!read_programs(run) || !open_device(run, choose_machine(run)))
        return false;
    if (run->request.state)
        return load_module(run, 0) && raw_prepare(run) && check_outputs(run);
    for (u32 i = 0; i < run->request.launches.count; i++)
        if (!prepare_launch(run, i))
            return false;
    return check_outputs(run) && place_buffers(run);
}

/* From here on signals stop the launch instead of killing the process. */
static int launch_and_write(struct run_command *run, f64 start)
{
    const struct request *request = &run->request;
    if (request->dump_config && !write_json(run, "--dump-config", request->dump_config,
                                            parse_own_json(hd_config_json(run->config))))
        return EXIT_USAGE;
    if (!timeline_open(run))
        return EXIT_USAGE;
    int code = launch_all(run);
    bool written = timeline_close(run);
    written &= write_outputs(run, seconds() - start);
    if (!code && watch_signal(run->watch)) /* arrived while writing: a shell's loop must end, too */
        code = 128 + watch_signal(run->watch);
    if (code > 128 && written)
        complain(run->command, "interrupted; outputs and statistics are complete up to here");
    return written || code ? code : EXIT_USAGE;
}

bool run_open(struct run_command *run)
{
    return open_device(run, option_value(run->line, "--machine"));
}

/* Prints what the options ask for on standard error. */
static void print_results(struct run_command *run)
{
    const struct request *request = &run->request;
    if (request->quiet && !request->energy && !request->avf && !request->annotate)
        return;
    json_t *stats = json_loads(launch_statistics(run), 0, NULL);
    if (!request->quiet)
        print_summary(request, stats);
    if (request->energy)
        print_run_energy(stderr, stats, run->config);
    if (request->avf)
        print_avf(stderr, stats);
    if (request->annotate)
        print_annotated(stderr, stats, NULL, request->energy);
    json_decref(stats);
}

static int run_all(struct run_command *run)
{
    f64 start = seconds();
    if (!request_parse(&run->request, run->command, run->line))
        return run->line->program ? EXIT_OWN : EXIT_USAGE;
    run->inputs.wanted = run->request.stats || run->request.report;
    if (run->request.list_devices)
        return program_devices(run);
    if (run->request.program)
        return run_open(run) ? program_run(run) : EXIT_OWN;
    if (!run_prepare(run))
        return EXIT_USAGE;
    run->watch = watch_start(run->device, !run->request.quiet && isatty(STDERR_FILENO));
    if (!run->watch) {
        complain(run->command, "cannot start a thread: %s", strerror(errno));
        return EXIT_USAGE;
    }
    int code = launch_and_write(run, start);
    watch_stop(run->watch);
    print_results(run);
    return code;
}

void run_free(struct run_command *run)
{
    hd_free(run->stats);
    free(run->chip);
    hd_raw_destroy(run->raw);
    if (run->device)
        hd_device_close(run->device);
    hd_config_destroy(run->config);
    vec_free(&run->inputs.records);
    series_free(&run->over_time);
    request_free(&run->request);
}

static int run(const struct command *command, const struct command_line *line)
{
    struct run_command state = {.command = command, .line = line};
    signal(SIGPIPE, SIG_IGN); /* a closed pipe must not cost the output files (R2) */
    int code = run_all(&state);
    run_free(&state);
    return code;
}

static const struct option options[] = {
    LAUNCH_OPTIONS,
    {"--si-dump", "FILE",
     "Write the final state of a raw program's waves and memory, in the format of --si-state.",
     OPTION_FILE, COMPLETE_FILE},
    {"--si-trace", "FILE",
     "Write a line of JSON for each instruction that a raw program completes, with all that it "
     "writes; with a timing model also one for each of its steps, with the cycle.",
     OPTION_FILE, COMPLETE_FILE},
    PROGRAM_OPTIONS,
    {"--keep-exit-code", NULL,
     "Return the program's own exit code even if it is 0 although a launch faulted, hung or "
     "reached a limit; by default the code is then 3.",
     OPTION_PROGRAM, 0},
    {"--list-devices", NULL,
     "List the devices that OpenCL programs can use, as they see them, and stop.", 0, 0},
    MACHINE_OPTIONS,
    {"--chip", "FILE.db:NUMBER|draw:SEED:NUMBER",
     "The chip to model, of a file that 'heddle chip --out' wrote; or a file with the maps of one "
     "chip, that 'heddle chip --maps' wrote; or draw:SEED[,RANDOM:SYSTEMATIC]:NUMBER: the chip "
     "that "
     "'heddle chip' draws for the machine with this seed and ratio. Mechanisms read from it which "
     "parts of its register "
     "files are slow or fail. It must have been drawn for a machine with the same register files.",
     0, COMPLETE_FILE},
    {"--functional", NULL,
     "Functional mode: compute results and counts without a timing model. Much faster, but without "
     "cycles.",
     0, 0},
    {"--annotate", NULL,
     "Print the source, or the code where there is no source, with the number of times each line "
     "was issued, its active lanes and the reasons for its stalls.",
     0, 0},
    {"--energy", NULL,
     "Print the energy of the launches: for each part of the machine, dynamic and static, and the "
     "mean power. With --annotate, also for each line.",
     0, 0},
    {"--avf", NULL,
     "Compute and print how vulnerable registers, shared memory, units, buffers and caches are to "
     "soft errors (architectural vulnerability factors); short for --mech avf. With --annotate, "
     "also for each line.",
     0, 0},
    {"--interval", "N[:FILE]",
     "Write all statistics for every N core cycles, as lines of JSON or, if the name of the file "
     "ends in .csv, as a table. Without a file they go to standard output.",
     0, COMPLETE_SPEC},
    {"--trace", "FILE",
     "Write a trace for the Perfetto viewer: blocks and warps on cores, stalls of warps, memory "
     "requests, counters. If the name ends in .jsonl, write what happened to each instruction and "
     "request, as lines of JSON, from which 'heddle why' tells what a warp waited for.",
     0, COMPLETE_FILE},
    {"--trace-window", "FROM:TO|longest",
     "Trace only between two core cycles, counted from the start of the first launch; 'longest': "
     "only what led to the longest stall of a warp, for each kernel. With --report, the page shows "
     "the window.",
     0, 0},
    {"--trace-cores", "N[-M][,...]", "Trace only these cores, as in 0,4-7.", 0, 0},
    {"--core-order", "forward|reverse|shuffle:N",
     "The order in which cores are simulated within a window. No result depends on it; the option "
     "exists to test this.",
     0, 0},
    {"--threads", "N|auto",
     "Share the work of a launch in timing mode among N threads; 'auto': as many as the host has "
     "cores. No result depends on it. The default is the environment variable HEDDLE_THREADS, or "
     "1. "
     "Functional mode uses one thread.",
     0, 0},
    {"--stats", "FILE",
     "Write configuration, statistics and a manifest as JSON; '-' is standard output. Everything "
     "except 'host' is identical, byte for byte, when the run is repeated.",
     0, COMPLETE_FILE},
    {"--report", "FILE",
     "Write a page with charts of the run, which needs no other file; docs/report.md describes it. "
     "'heddle report' makes such pages from statistics files.",
     0, COMPLETE_FILE},
    {"--dump-config", "FILE",
     "Write the resolved configuration as JSON; it is a machine file that --machine accepts.", 0,
     COMPLETE_FILE},
    {"--seed", "N",
     "Seed of random numbers, recorded in the statistics; short for --set launch.seed=N. Only "
     "mechanisms that use random numbers depend on it; 'heddle mechanisms NAME' says which do. The "
     "default is 1.",
     0, 0},
    {"--max-instructions", "N",
     "Stop a launch after about this many warp instructions: the outcome is 'limit', exit code 3.",
     0, 0},
    {"--max-seconds", "S",
     "Stop a launch after this much host time: the outcome is 'limit', exit code 3.", 0, 0},
    {"--quiet", NULL, "Print no summary, notes or progress.", 0, 0},
    {0},
};

static const struct example examples[] = {
    {"heddle run --machine gtx1080ti --stats s.json -- ./my_opencl_program 1024",
     "An unmodified OpenCL or CUDA program, on another machine:"},
    {"heddle run --workload hotspot --quick --kernels hotspot --annotate",
     "A program that comes with Heddle, and where its kernel spends its time:"},
    {"heddle run vecadd.ptx --grid 4 --block 256 --arg in:a.bin --arg in:b.bin "
     "--arg out:c.bin:4K --arg u32:1024",
     "Two input files, one output file of 4096 bytes and a number:"},
    {"heddle run sum.ptx --buf x=in:x.bin --buf t=zero:4K --kernel partial --grid 8 --block 128 "
     "--arg @x --arg @t --then --kernel total --grid 1 --block 128 --arg @t --arg out:y.bin:4",
     "Two kernels one after the other, with a buffer between them:"},
    {"heddle run scale.so --kernel scale --grid 4 --block 256 --arg inout:x.bin:y.bin --arg f32:2",
     "A kernel of a code object for Southern Islands:"},
    {"heddle run prog.s --si-state state.json --si-dump end.json --si-trace trace.jsonl",
     "Assembly for Southern Islands, instruction by instruction:"},
    {"heddle run k.ptx --grid 64 --block 256 --arg zero:64K --machine gtx480 --annotate --trace "
     "k.perfetto --trace-window 0:20000 --interval 1000:k.csv",
     "Timing on a GTX 480, observed in several ways:"},
    {"heddle run k.ptx --grid 64 --block 256 --arg zero:64K --functional",
     "Results and counts only, many times faster:"},
    {"heddle run k.ptx --grid 1 --block 64 --machine my.yaml --set core.warp_size=64 --stats -",
     "Your own machine with one parameter changed, and statistics on standard output:"},
    {0},
};

const struct command run_command = {
    .name = "run",
    .words = "[options] -- PROGRAM [words] | --workload NAME | FILE --grid X[,Y[,Z]] "
             "--block X[,Y[,Z]] [options] [--then [FILE] ...]",
    .summary = "run an OpenCL or CUDA program, or kernels of a file, on a modelled GPU",
    .help =
        "With a program after '--', or a workload, runs an unmodified OpenCL or CUDA program: its "
        "kernels "
        "run on the modelled machine, everything else on the host. A summary of its kernels goes "
        "to standard error when the program ends, however it ends. Its exit code is passed on, "
        "except that 0 becomes 3 if a launch faulted; 125 means that heddle itself failed.\n"
        "\n"
        "With a file: loads PTX text or a code object for Southern Islands ('-' is standard "
        "input), launches one of its kernels on the modelled machine and writes the output "
        "buffers. Before anything runs, arguments are checked against the kernel's parameters, and "
        "output files are checked for being writable.\n"
        "\n"
        "Standard output carries what the guest prints; a summary of each launch goes to standard "
        "error. If an output is sent to standard output ('-', as in --stats -), what the guest "
        "prints goes to standard error instead: the two are never mixed. After a guest fault, a "
        "limit or Ctrl-C, output files and statistics are still "
        "written and hold everything up to that point.",
    .options = options,
    .examples = examples,
    .runs_programs = true,
    .max_words = UINT32_MAX,
    .complete = COMPLETE_FILE,
    .run = run,
};
