/*
 * The command line of `heddle run`: see request.h.
 *
 *  Q1  Options up to the first --then belong to the first launch, those after it to the second,
 *      and so on; --buf and options of the whole run may be anywhere.
 *  Q2  A size is what follows the last colon, so that file names may hold colons.
 */
#include "cli/request.h"

#include "base/text.h"
#include "cli/common.h"
#include "cli/foreign.h"
#include "report/series.h"
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <unistd.h>

struct request_parser {
    struct request *request;
    const struct command *command;
};

static struct launch *current(const struct request *request)
{
    return &request->launches.data[request->launches.count - 1];
}

/* The forms of an argument, for messages. */
static const char spec_forms[] =
    "TYPE:VALUE (TYPE: u8 s8 u16 s16 u32 s32 u64 s64 f16 f32 f64), in:FILE, out:FILE:BYTES, "
    "inout:IN:OUT, zero:BYTES, bytes:FILE, local:BYTES or @NAME[+OFFSET]";
static const char buffer_forms[] = "in:FILE, out:FILE:BYTES, inout:IN:OUT or zero:BYTES";

static bool wrong(const struct request_parser *parser, const char *option, const char *what,
                  const char *expected)
{
    usage_error(parser->command, "%s: %s: expected %s", option, what, expected);
    return false;
}

static bool parse_bytes(const struct request_parser *parser, const char *option, const char *text,
                        u64 *bytes)
{
    enum text_result result = text_size(text, bytes);
    if (result == TEXT_OK && *bytes)
        return true;
    const char *what = arena_printf(parser->request->arena, "'%.64s' is not a size", text);
    return wrong(parser, option, what, "a number of bytes from 1, as in 4096, 64K, 16M or 1G");
}

/* ---- buffers ---- */

/* Parses out:FILE:BYTES (Q2). */
static bool parse_out(const struct request_parser *parser, struct run_buffer *buffer,
                      const char *text)
{
    const char *colon = strrchr(text, ':');
    if (!colon || colon == text)
        return wrong(parser, buffer->option, "no file or size given", "out:FILE:BYTES");
    buffer->output = arena_strndup(parser->request->arena, text, (size_t)(colon - text));
    return parse_bytes(parser, buffer->option, colon + 1, &buffer->bytes);
}

/* With several colons, splits after the first existing file. */
static bool parse_inout(const struct request_parser *parser, struct run_buffer *buffer,
                        const char *text)
{
    struct arena *arena = parser->request->arena;
    const char *split = strchr(text, ':');
    if (split && strchr(split + 1, ':'))
        for (const char *at = strrchr(text, ':'); at > text; at--)
            if (*at == ':' && access(arena_strndup(arena, text, (size_t)(at - text)), F_OK) == 0) {
                split = at;
                break;
            }
    if (!split || split == text || !split[1])
        return wrong(parser, buffer->option, "no file given", "inout:IN:OUT");
    buffer->input = arena_strndup(arena, text, (size_t)(split - text));
    buffer->output = split + 1;
    return true;
}

/* Whether `spec` begins with `prefix`; moves past it. */
static bool skip(const char **spec, const char *prefix)
{
    size_t length = strlen(prefix);
    if (strncmp(*spec, prefix, length) != 0)
        return false;
    *spec += length;
    return true;
}

enum buffer_verdict {
    NO_BUFFER,
    BAD_BUFFER,
    GOOD_BUFFER
};

/* `name`: from --buf, or NULL. */
static enum buffer_verdict parse_buffer(const struct request_parser *parser, const char *option,
                                        const char *spec, const char *name, u32 *index)
{
    struct run_buffer buffer = {.option = option, .name = name, .label = spec};
    const char *text = spec;
    bool ok;
    if (skip(&text, "in:")) {
        buffer.input = buffer.label = text;
        ok = text[0] || wrong(parser, option, "no file given", "in:FILE");
    } else if (skip(&text, "out:")) {
        ok = parse_out(parser, &buffer, text);
        buffer.label = buffer.output;
    } else if (skip(&text, "inout:")) {
        ok = parse_inout(parser, &buffer, text);
        buffer.label = buffer.input;
    } else if (skip(&text, "zero:")) {
        ok = parse_bytes(parser, option, text, &buffer.bytes);
    } else {
        return NO_BUFFER;
    }
    if (!ok)
        return BAD_BUFFER;
    if (name)
        buffer.label = name;
    *index = parser->request->buffers.count;
    *vec_push(&parser->request->buffers) = buffer;
    return GOOD_BUFFER;
}

static bool parse_buf(const struct request_parser *parser, const char *value)
{
    struct request *request = parser->request;
    const char *option = arena_printf(request->arena, "--buf %s", value);
    const char *equals = strchr(value, '=');
    if (!equals || equals == value)
        return wrong(parser, option, "no name given", "NAME=SPEC, as in data=zero:64K");
    const char *name = arena_strndup(request->arena, value, (size_t)(equals - value));
    for (const char *at = name; *at; at++)
        if (!isalnum((u8)*at) && *at != '_')
            return wrong(parser, option, "invalid name", "letters, digits and '_'");
    for (u32 i = 0; i < request->buffers.count; i++)
        if (request->buffers.data[i].name && !strcmp(request->buffers.data[i].name, name))
            return wrong(parser, option, "this name is already in use", "another one");
    u32 index;
    enum buffer_verdict verdict = parse_buffer(parser, option, equals + 1, name, &index);
    if (verdict == NO_BUFFER)
        return wrong(parser, option, "not a buffer", buffer_forms);
    return verdict == GOOD_BUFFER;
}

/* ---- arguments ---- */

static bool parse_reference(const struct request_parser *parser, struct argument *argument,
                            const char *text)
{
    size_t length = strcspn(text, "+");
    argument->kind = ARGUMENT_BUFFER;
    argument->refers = arena_strndup(parser->request->arena, text, length);
    if (!length)
        return wrong(parser, argument->option, "no name given", "@NAME[+OFFSET]");
    if (!text[length] || text_size(text + length + 1, &argument->offset) == TEXT_OK)
        return true;
    return wrong(parser, argument->option, "the offset is not a number of bytes", "@NAME[+OFFSET]");
}

static bool unknown_spec(const struct request_parser *parser, const struct argument *argument,
                         const char *spec)
{
    static const char *const heads[] = {"u8",  "s8",    "u16",  "s16",   "u32",  "s32",
                                        "u64", "s64",   "f16",  "f32",   "f64",  "in",
                                        "out", "inout", "zero", "bytes", "local"};
    struct arena *arena = parser->request->arena;
    size_t length = strcspn(spec, ":");
    const char *head = arena_strndup(arena, spec, length);
    const char *nearest = spec[length] ? nearest_word(head, heads, ARRAY_LEN(heads)) : NULL;
    if (nearest)
        usage_error(parser->command, "%s: unknown kind '%s': did you mean '%s:'?", argument->option,
                    text_printable(arena, head), nearest);
    else
        wrong(parser, argument->option, "not an argument", spec_forms);
    return false;
}

static bool parse_arg(const struct request_parser *parser, const char *spec)
{
    struct argument *argument = vec_push(&current(parser->request)->args);
    argument->option = arena_printf(parser->request->arena, "--arg %s", spec);
    if (spec[0] == '@')
        return parse_reference(parser, argument, spec + 1);
    size_t head = strcspn(spec, ":");
    const char *type = spec[head] ? scalar_type(spec, head) : NULL;
    if (type) {
        struct error error = {0};
        argument->kind = ARGUMENT_VALUE;
        if (scalar_parse(type, spec + head + 1, &argument->value, &error))
            return true;
        usage_error(parser->command, "%s: %s", argument->option, error.message);
        return false;
    }
    const char *text = spec;
    if (skip(&text, "bytes:")) {
        argument->kind = ARGUMENT_BYTES;
        argument->path = text;
        return text[0] || wrong(parser, argument->option, "no file given", "bytes:FILE");
    }
    if (skip(&text, "local:")) {
        argument->kind = ARGUMENT_LOCAL;
        return parse_bytes(parser, argument->option, text, &argument->offset);
    }
    argument->kind = ARGUMENT_BUFFER;
    enum buffer_verdict verdict =
        parse_buffer(parser, argument->option, spec, NULL, &argument->buffer);
    if (verdict == NO_BUFFER)
        return unknown_spec(parser, argument, spec);
    return verdict == GOOD_BUFFER;
}

/* Resolves @NAME: --buf may follow the --arg that refers to it. */
static bool resolve(const struct request_parser *parser, struct argument *argument)
{
    const struct request *request = parser->request;
    const char **names = arena_array(request->arena, const char *, request->buffers.count + 1);
    u32 count = 0;
    for (u32 i = 0; i < request->buffers.count; i++) {
        const char *name = request->buffers.data[i].name;
        if (name && !strcmp(name, argument->refers)) {
            argument->buffer = i;
            return true;
        }
        if (name)
            names[count++] = name;
    }
    const char *nearest = nearest_word(argument->refers, names, count);
    usage_error(parser->command, "%s: there is no buffer '%s'%s%s%s", argument->option,
                text_printable(request->arena, argument->refers),
                nearest ? ": did you mean '@" : ": declare it with --buf ",
                nearest ? nearest : argument->refers, nearest ? "'?" : "=SPEC");
    return false;
}

/* ---- the line ---- */

static bool parse_dim(const struct request_parser *parser, const char *option, const char *value,
                      struct hd_dim *dim)
{
    struct error error = {0};
    if (dim_parse(value, dim, &error))
        return true;
    usage_error(parser->command, "%s: %s", option, error.message);
    return false;
}

static bool parse_shared(const struct request_parser *parser, const char *value, u32 *bytes)
{
    u64 size;
    if (text_size(value, &size) == TEXT_OK && size <= UINT32_MAX) {
        *bytes = (u32)size;
        return true;
    }
    return wrong(parser, "--shared", arena_printf(parser->request->arena, "'%.64s'", value),
                 "a number of bytes, as in 1024 or 48K");
}

static bool take_file(const struct request_parser *parser, const char *word)
{
    struct launch *launch = current(parser->request);
    if (!launch->file) {
        launch->file = word;
        return true;
    }
    usage_error(parser->command,
                "unexpected word '%s': the file is already '%s' (kernel arguments need --arg)",
                text_printable(parser->request->arena, word), launch->file);
    return false;
}

/* N[:FILE] */
static bool parse_interval(const struct request_parser *parser, const char *value)
{
    struct request *request = parser->request;
    size_t length = strcspn(value, ":");
    const char *digits = arena_strndup(request->arena, value, length);
    request->series = value[length] ? value + length + 1 : "-";
    return (text_u64(digits, &request->interval) == TEXT_OK && request->interval) ||
           wrong(parser, "--interval", arena_printf(request->arena, "'%.64s'", value),
                 "a number of core cycles, at least 1, and a file: N[:FILE]");
}

/* FROM:TO, of which TO may be left out; or "longest". */
static bool parse_window(const struct request_parser *parser, const char *value)
{
    struct request *request = parser->request;
    size_t length = strcspn(value, ":");
    request->trace_window = true;
    request->trace_longest = !strcmp(value, "longest");
    if (request->trace_longest)
        return true;
    const char *from = arena_strndup(request->arena, value, length);
    const char *to = value[length] ? value + length + 1 : NULL;
    bool ok = to && text_u64(from, &request->trace_from) == TEXT_OK &&
              (!*to || (text_u64(to, &request->trace_to) == TEXT_OK &&
                        request->trace_to > request->trace_from));
    return ok || wrong(parser, "--trace-window", arena_printf(request->arena, "'%.64s'", value),
                       "two core cycles with FROM below TO: FROM:TO or FROM:, or the word longest");
}

/* Handles options of timing mode; false: another option. */
static bool take_timed(const struct request_parser *parser, const char *name, const char *value,
                       bool *ok)
{
    struct request *request = parser->request;
    *ok = true;
    if (!strcmp(name, "--functional"))
        request->functional = true;
    else if (!strcmp(name, "--annotate"))
        request->annotate = true;
    else if (!strcmp(name, "--energy"))
        request->energy = true;
    else if (!strcmp(name, "--avf"))
        request->avf = true;
    else if (!strcmp(name, "--interval"))
        *ok = parse_interval(parser, value);
    else if (!strcmp(name, "--trace"))
        request->timeline = value;
    else if (!strcmp(name, "--trace-window"))
        *ok = parse_window(parser, value);
    else if (!strcmp(name, "--trace-cores"))
        request->trace_cores = value;
    else if (!strcmp(name, "--core-order"))
        request->core_order = value;
    else if (!strcmp(name, "--threads"))
        request->threads = value;
    else
        return false;
    return true;
}

static bool parse_launches(const struct request_parser *parser, const char *value)
{
    struct request *request = parser->request;
    u64 first, last;
    if (!text_range(value, &first, &last))
        return wrong(parser, "--launches", arena_printf(request->arena, "'%.64s'", value),
                     "launch numbers, starting at 1: N, N-M, N- or -M");
    request->first_timed = MAX(request->first_timed, first);
    request->last_timed = request->last_timed ? MIN(request->last_timed, last) : last;
    return true;
}

/* The first N launches are functional. */
static bool parse_until(const struct request_parser *parser, const char *value)
{
    struct request *request = parser->request;
    u64 count;
    if (text_u64(value, &count) != TEXT_OK || count == UINT64_MAX)
        return wrong(parser, "--functional-until", arena_printf(request->arena, "'%.64s'", value),
                     "a number of launches");
    request->functional_until = MAX(request->functional_until, count);
    return true;
}

static bool parse_kernels(const struct request_parser *parser, const char *value)
{
    regex_t expression;
    int code = regcomp(&expression, value, REG_EXTENDED | REG_NOSUB);
    char text[256];
    if (code) {
        regerror(code, &expression, text, sizeof text);
        usage_error(parser->command, "--kernels: '%s' is not a regular expression: %s",
                    text_printable(parser->request->arena, value), text);
        return false;
    }
    regfree(&expression);
    parser->request->kernels = value;
    return true;
}

/* Handles options of programs; false: another option. */
static bool take_program(const struct request_parser *parser, const char *name, const char *value,
                         bool *ok)
{
    struct request *request = parser->request;
    *ok = true;
    if (!strcmp(name, "--workload"))
        request->workload = value;
    else if (!strcmp(name, "--quick"))
        request->quick = true;
    else if (!strcmp(name, "--keep-exit-code"))
        request->keep_exit_code = true;
    else if (!strcmp(name, "--list-devices"))
        request->list_devices = true;
    else if (!strcmp(name, "--kernels"))
        *ok = parse_kernels(parser, value);
    else if (!strcmp(name, "--launches"))
        *ok = parse_launches(parser, value);
    else if (!strcmp(name, "--functional-until"))
        *ok = parse_until(parser, value);
    else
        return false;
    return true;
}

static bool take(const struct request_parser *parser, const struct given *given)
{
    struct request *request = parser->request;
    u64 seed; /* only checked here: it is a parameter of the configuration */
    if (!given->option)
        return take_file(parser, given->value);
    const char *name = given->option->name, *value = given->value;
    struct launch *launch = current(request);
    bool ok;
    if (take_timed(parser, name, value, &ok) || take_program(parser, name, value, &ok))
        return ok;
    if (!strcmp(name, "--kernel"))
        launch->kernel_name = value;
    else if (!strcmp(name, "--grid"))
        return parse_dim(parser, name, value, &launch->grid);
    else if (!strcmp(name, "--block"))
        return parse_dim(parser, name, value, &launch->block);
    else if (!strcmp(name, "--shared"))
        return parse_shared(parser, value, &launch->shared_bytes);
    else if (!strcmp(name, "--arg"))
        return parse_arg(parser, value);
    else if (!strcmp(name, "--buf"))
        return parse_buf(parser, value);
    else if (!strcmp(name, "--then"))
        (void)vec_push(&request->launches);
    else if (!strcmp(name, "--report"))
        request->report = value;
    else if (!strcmp(name, "--stats"))
        request->stats = value;
    else if (!strcmp(name, "--dump-config"))
        request->dump_config = value;
    else if (!strcmp(name, "--si-state"))
        request->state = value;
    else if (!strcmp(name, "--si-dump"))
        request->dump = value;
    else if (!strcmp(name, "--si-trace"))
        request->trace = value;
    else if (!strcmp(name, "--quiet"))
        request->quiet = true;
    else if (!strcmp(name, "--seed") && text_u64(value, &seed) != TEXT_OK)
        return wrong(parser, "--seed", arena_printf(request->arena, "'%.64s'", value),
                     "an integer from 0 to 18446744073709551615");
    return true;
}

/* A raw program's waves come from its state: no other option may say what is launched. */
static bool complete_raw(const struct request_parser *parser)
{
    const struct request *request = parser->request;
    const struct launch *launch = &request->launches.data[0];
    const char *extra = request->launches.count > 1 ? "--then"
                        : launch->kernel_name       ? "--kernel"
                        : launch->grid.x            ? "--grid"
                        : launch->block.x           ? "--block"
                        : launch->shared_bytes      ? "--shared"
                        : launch->args.count        ? "--arg"
                        : request->buffers.count    ? "--buf"
                                                    : NULL;
    if (extra)
        usage_error(parser->command,
                    "%s cannot be used with --si-state, which gives the initial state of a raw "
                    "program's waves",
                    extra);
    return !extra;
}

/* Reports a missing --si-state where other options require it. */
static bool wants_state(const struct request_parser *parser)
{
    const struct request *request = parser->request;
    const struct launch *launch = &request->launches.data[0];
    const char *option = request->dump ? "--si-dump" : request->trace ? "--si-trace" : NULL;
    bool raw = code_named_raw(launch->file) && !launch->grid.x && !launch->block.x;
    if (option)
        usage_error(parser->command, "%s needs --si-state: expected --si-state FILE", option);
    else if (raw)
        usage_error(parser->command,
                    "--si-state is missing: '%s' is a raw program by its name and needs --si-state "
                    "FILE; kernels need --grid and --block",
                    launch->file);
    return option || raw;
}

/* Checks options that require timing mode. */
static bool complete_timed(const struct request_parser *parser)
{
    const struct request *request = parser->request;
    const char *option = request->timeline   ? "--trace"
                         : request->interval ? "--interval"
                         : request->annotate ? "--annotate"
                         : request->energy   ? "--energy"
                         : request->avf      ? "--avf"
                                             : NULL;
    const bool raw = request->state && !request->in_time;
    const char *without = request->functional ? "--functional"
                          : raw               ? "--si-state without --machine"
                                              : NULL;
    const bool traced = request->timeline || (request->report && request->trace_window);
    if (option && without)
        usage_error(parser->command, "%s needs a timing model; %s is functional only", option,
                    without);
    else if ((request->trace_window || request->trace_cores) && !traced)
        usage_error(parser->command, "%s: expected --trace FILE as well%s",
                    request->trace_window ? "--trace-window" : "--trace-cores",
                    request->trace_window ? ", or --report FILE" : "");
    else if (request->trace_longest && request->timeline && !is_event_file(request->timeline))
        usage_error(parser->command,
                    "--trace-window longest needs a trace of events: expected --trace FILE.jsonl");
    else {
        parser->request->trace_events =
            request->timeline ? is_event_file(request->timeline) : request->trace_window;
        /* a page shows the run over time; without --interval, the rows go to no file */
        if (request->report && !request->interval && !without)
            parser->request->interval = REPORT_INTERVAL;
        return true;
    }
    return false;
}

/* Programs launch their kernels themselves: options that describe a launch are errors. */
static bool complete_program(const struct request_parser *parser, const struct command_line *line)
{
    const struct request *request = parser->request;
    const struct launch *launch = &request->launches.data[0];
    for (u32 i = 0; i < line->count; i++)
        if (line->given[i].option && line->given[i].option->flags & OPTION_FILE) {
            usage_error(parser->command, "%s is for kernel files, but a program is given",
                        line->given[i].option->name);
            return false;
        }
    if (launch->file) {
        usage_error(parser->command, "unexpected word '%s': a program must follow '--'",
                    text_printable(parser->request->arena, launch->file));
        return false;
    }
    if (!request->workload && !request->program[0]) {
        usage_error(parser->command, "no program given after '--'");
        return false;
    }
    if (request->quick && !request->workload) {
        usage_error(parser->command, "--quick needs --workload: expected --workload NAME");
        return false;
    }
    return complete_timed(parser);
}

static bool complete_file(const struct request_parser *parser, const struct command_line *line)
{
    for (u32 i = 0; i < line->count; i++)
        if (line->given[i].option && line->given[i].option->flags & OPTION_PROGRAM) {
            usage_error(parser->command,
                        "%s is for programs: expected heddle run [options] -- PROGRAM",
                        line->given[i].option->name);
            return false;
        }
    return true;
}

static bool complete(const struct request_parser *parser)
{
    struct request *request = parser->request;
    if (!request->launches.data[0].file) {
        usage_error(parser->command, "no file given: expected heddle run FILE");
        return false;
    }
    if (!complete_timed(parser))
        return false;
    if (request->state)
        return complete_raw(parser);
    if (wants_state(parser))
        return false;
    for (u32 i = 0; i < request->launches.count; i++) {
        struct launch *launch = &request->launches.data[i];
        const char *missing = !launch->grid.x ? "--grid" : !launch->block.x ? "--block" : NULL;
        if (missing) {
            usage_error(parser->command, "%s is missing%s: expected %s X[,Y[,Z]]", missing,
                        i ? arena_printf(request->arena, " for launch %u", i + 1) : "", missing);
            return false;
        }
        for (u32 j = 0; j < launch->args.count; j++)
            if (launch->args.data[j].refers && !resolve(parser, &launch->args.data[j]))
                return false;
    }
    return true;
}

/* Raw programs are functional by default; whether the options ask for timing mode. */
static bool asks_for_time(const struct command_line *line)
{
    static const char key[] = "timing.functional";
    for (u32 i = 0; i < line->count; i++) {
        const struct given *given = &line->given[i];
        if (!given->option || !given->value)
            continue;
        if (!strcmp(given->option->name, "--machine") ||
            (!strcmp(given->option->name, "--set") && !strncmp(given->value, key, sizeof key - 1)))
            return true;
    }
    return false;
}

/* Reports a file that is not a kernel before options that only a kernel needs. */
static bool takes_file(const struct request_parser *parser, const struct command_line *line)
{
    const char *file = option_word(line, 0);
    if (!file || line->program || option_value(line, "--workload") ||
        option_value(line, "--si-state"))
        return true;
    const char *foreign = foreign_file(parser->request->arena, file);
    if (foreign)
        complain(parser->command, "%s: %s", file, foreign);
    return !foreign;
}

bool request_parse(struct request *request, const struct command *command,
                   const struct command_line *line)
{
    const struct request_parser parser = {request, command};
    *request = (struct request){.arena = arena_create()};
    (void)vec_push(&request->launches);
    request->in_time = asks_for_time(line);
    if (!takes_file(&parser, line))
        return false;
    for (u32 i = 0; i < line->count; i++)
        if (!take(&parser, &line->given[i]))
            return false;
    static char *none[] = {NULL};
    request->program = line->program ? line->program : request->workload ? none : NULL;
    if (request->list_devices)
        return true;
    return request->program ? complete_program(&parser, line)
                            : complete_file(&parser, line) && complete(&parser);
}

bool request_takes_stdout(const struct request *request)
{
    const char *const paths[] = {request->stats, request->dump_config, request->dump,
                                 request->trace, request->timeline,    request->series,
                                 request->report};
    bool taken = false;
    for (u32 i = 0; i < ARRAY_LEN(paths); i++)
        taken |= paths[i] && !strcmp(paths[i], "-");
    for (u32 i = 0; i < request->buffers.count; i++)
        taken |= request->buffers.data[i].output && !strcmp(request->buffers.data[i].output, "-");
    return taken;
}

void request_free(struct request *request)
{
    for (u32 i = 0; i < request->launches.count; i++) {
        vec_free(&request->launches.data[i].args);
        code_free(&request->launches.data[i].code);
    }
    vec_free(&request->launches);
    vec_free(&request->buffers);
    arena_destroy(request->arena);
}
