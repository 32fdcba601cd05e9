/*
 * Files of a run: see files.h.
 */
#include "cli/files.h"

#include "base/hash.h"
#include "base/text.h"
#include "cli/common.h"
#include "cli/output.h"
#include "cli/page.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    COPY_BYTES = 1 << 20
};

/* ---- inputs ---- */

bool claim_stdin(struct run_command *run, const char *option, const char *path)
{
    if (strcmp(path, "-") != 0)
        return true;
    if (run->stdin_taken)
        usage_error(run->command, "%s: another option already reads standard input", option);
    bool free = !run->stdin_taken;
    run->stdin_taken = true;
    return free;
}

static void record(struct run_command *run, const char *path, u64 bytes, struct sha256 *hash)
{
    struct input_record *record = vec_push(&run->inputs.records);
    record->path = path;
    record->bytes = bytes;
    sha256_text(hash, record->sha256);
}

void record_text(struct run_command *run, const char *path, const char *text, size_t length)
{
    struct sha256 hash;
    if (!run->inputs.wanted)
        return;
    sha256_start(&hash);
    sha256_add(&hash, text, length);
    record(run, path, length, &hash);
}

void record_mechanisms(struct run_command *run)
{
    if (!run->inputs.wanted)
        return;
    json_t *rows = parse_own_json(hd_config_plugins(run->config)), *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        struct input_record *record = vec_push(&run->inputs.records);
        record->path =
            arena_strdup(run->request.arena, json_string_value(json_object_get(row, "path")));
        record->bytes = (u64)json_integer_value(json_object_get(row, "bytes"));
        snprintf(record->sha256, sizeof record->sha256, "%s",
                 json_string_value(json_object_get(row, "sha256")));
    }
    json_decref(rows);
}

/* ---- buffers ---- */

static bool buffer_failed(struct run_command *run, const struct run_buffer *buffer,
                          const struct hd_error *error)
{
    complain(run->command, "%s: %s", buffer->option, error->message);
    return false;
}

static bool allocate(struct run_command *run, struct run_buffer *buffer)
{
    struct hd_error error = {0};
    buffer->address = hd_alloc_named(run->device, buffer->bytes, buffer->label, &error);
    return buffer->address || buffer_failed(run, buffer, &error);
}

/* Standard input and pipes have no known size: reads first, then allocates. */
static bool fill_from_pipe(struct run_command *run, struct run_buffer *buffer, FILE *stream)
{
    size_t capacity = COPY_BYTES, used = 0;
    char *data = malloc(capacity);
    for (size_t got; data && (got = fread(data + used, 1, capacity - used, stream)) > 0;) {
        used += got;
        if (used == capacity) {
            char *larger = realloc(data, capacity *= 2);
            if (!larger)
                free(data);
            data = larger;
        }
    }
    struct hd_error error = {0};
    buffer->bytes = used;
    bool ok = data && used && !ferror(stream);
    if (!ok)
        complain(run->command, "%s: %s", buffer->option,
                 !data            ? "out of memory"
                 : ferror(stream) ? strerror(errno)
                                  : "the input is empty: a buffer has at least 1 byte");
    ok = ok && allocate(run, buffer);
    if (ok && !hd_write(run->device, buffer->address, data, used, &error))
        ok = buffer_failed(run, buffer, &error);
    if (ok)
        record_text(run, buffer->input, data, used);
    free(data);
    return ok;
}

/* Copies a regular file to the device in pieces, so that it is never held twice. */
static bool fill_from_file(struct run_command *run, struct run_buffer *buffer, FILE *stream,
                           u64 bytes)
{
    struct sha256 hash;
    struct hd_error error = {0};
    buffer->bytes = bytes;
    if (!allocate(run, buffer))
        return false;
    char *piece = malloc(COPY_BYTES);
    u64 done = 0;
    sha256_start(&hash);
    while (piece && done < bytes) {
        size_t got = fread(piece, 1, MIN(bytes - done, (u64)COPY_BYTES), stream);
        if (!got)
            break;
        if (run->inputs.wanted)
            sha256_add(&hash, piece, got);
        if (!hd_write(run->device, buffer->address + done, piece, got, &error)) {
            free(piece);
            return buffer_failed(run, buffer, &error);
        }
        done += got;
    }
    free(piece);
    if (done < bytes) {
        complain(run->command, "%s: cannot read '%s': %s", buffer->option, buffer->input,
                 ferror(stream) ? strerror(errno) : "the file became shorter while it was read");
        return false;
    }
    if (run->inputs.wanted)
        record(run, buffer->input, bytes, &hash);
    return true;
}

bool fill_buffer(struct run_command *run, struct run_buffer *buffer)
{
    if (!buffer->input)
        return allocate(run, buffer);
    if (!claim_stdin(run, buffer->option, buffer->input))
        return false;
    bool dash = !strcmp(buffer->input, "-");
    FILE *stream = dash ? stdin : fopen(buffer->input, "rbe");
    struct stat status;
    bool ok = false;
    if (!stream || fstat(fileno(stream), &status) != 0)
        complain(run->command, "%s: cannot open '%s': %s", buffer->option, buffer->input,
                 strerror(errno));
    else if (S_ISDIR(status.st_mode))
        complain(run->command, "%s: '%s' is a directory: expected a file", buffer->option,
                 buffer->input);
    else if (!S_ISREG(status.st_mode) || dash)
        ok = fill_from_pipe(run, buffer, stream);
    else if (!status.st_size)
        complain(run->command, "%s: '%s' is empty: a buffer has at least 1 byte", buffer->option,
                 buffer->input);
    else
        ok = fill_from_file(run, buffer, stream, (u64)status.st_size);
    if (stream && !dash)
        fclose(stream);
    return ok;
}

/* ---- outputs ---- */

/* An output and its option. */
struct output_target {
    const char *option, *path;
};

/* Whether an output would not overwrite a kernel, machine or state file. */
static bool spares_inputs(const struct run_command *run, const struct output_target *target)
{
    const char *const read[] = {option_value(run->line, "--machine"), run->request.state};
    const char *taken = NULL;
    for (u32 i = 0; i < ARRAY_LEN(read); i++)
        if (read[i] && strcmp(read[i], "-") != 0 && output_same(target->path, read[i]))
            taken = read[i];
    for (u32 i = 0; i < run->request.launches.count; i++) {
        const char *file = run->request.launches.data[i].file; /* NULL: an OpenCL program runs */
        if (file && strcmp(file, "-") != 0 && output_same(target->path, file))
            taken = file;
    }
    if (taken)
        complain(run->command, "%s: this would overwrite '%s', which the run reads", target->option,
                 taken);
    return !taken;
}

bool check_outputs(struct run_command *run)
{
    const struct request *request = &run->request;
    u32 count = 0;
    struct output_target *targets =
        arena_array(request->arena, struct output_target, (size_t)request->buffers.count + 7);
    for (u32 i = 0; i < request->buffers.count; i++)
        if (request->buffers.data[i].output)
            targets[count++] = (struct output_target){request->buffers.data[i].option,
                                                      request->buffers.data[i].output};
    if (request->stats)
        targets[count++] = (struct output_target){"--stats", request->stats};
    if (request->report)
        targets[count++] = (struct output_target){"--report", request->report};
    if (request->dump_config)
        targets[count++] = (struct output_target){"--dump-config", request->dump_config};
    if (request->dump)
        targets[count++] = (struct output_target){"--si-dump", request->dump};
    if (request->trace)
        targets[count++] = (struct output_target){"--si-trace", request->trace};
    if (request->timeline)
        targets[count++] = (struct output_target){"--trace", request->timeline};
    if (request->series)
        targets[count++] = (struct output_target){"--interval", request->series};
    for (u32 i = 0; i < count; i++) {
        struct error error = {0};
        if (!output_check(targets[i].path, &error)) {
            complain(run->command, "%s: %s: %s", targets[i].option, error.place, error.message);
            return false;
        }
        if (!spares_inputs(run, &targets[i]))
            return false;
        for (u32 j = 0; j < i; j++)
            if (output_same(targets[i].path, targets[j].path)) {
                usage_error(run->command, "%s: '%s' is already written by %s", targets[i].option,
                            targets[i].path, targets[j].option);
                return false;
            }
    }
    return true;
}

bool open_output(struct run_command *run, struct output *output, const char *path,
                 struct error *error)
{
    if (!output_open(output, path, error))
        return false;
    watch_temporary(run->watch, output->temporary);
    return true;
}

bool commit_output(struct run_command *run, struct output *output, struct error *error)
{
    char *temporary = output->temporary ? strdup(output->temporary) : NULL;
    bool ok = output_commit(output, error);
    watch_temporary_gone(run->watch, temporary);
    free(temporary);
    return ok;
}

void discard_output(struct run_command *run, struct output *output)
{
    char *temporary = output->temporary ? strdup(output->temporary) : NULL;
    output_discard(output);
    watch_temporary_gone(run->watch, temporary);
    free(temporary);
}

static bool write_buffer(struct run_command *run, const struct run_buffer *buffer)
{
    struct output output;
    struct error error = {0};
    struct hd_error device_error = {0};
    char *piece = malloc(COPY_BYTES);
    bool ok = piece && open_output(run, &output, buffer->output, &error);
    for (u64 done = 0; ok && done < buffer->bytes;) {
        u64 step = MIN(buffer->bytes - done, (u64)COPY_BYTES);
        if (!hd_read(run->device, piece, buffer->address + done, step, &device_error)) {
            discard_output(run, &output);
            free(piece);
            return buffer_failed(run, buffer, &device_error);
        }
        fwrite(piece, 1, step, output.stream);
        done += step;
    }
    free(piece);
    ok = ok && commit_output(run, &output, &error);
    if (!ok)
        complain(run->command, "%s: %s: %s", buffer->option, error.place, error.message);
    return ok;
}

bool write_json(struct run_command *run, const char *option, const char *path, json_t *json)
{
    struct output output;
    struct error error = {0};
    bool ok = open_output(run, &output, path, &error);
    if (ok) {
        print_json(output.stream, json);
        ok = commit_output(run, &output, &error);
    }
    if (!ok)
        complain(run->command, "%s: %s: %s", option, error.place, error.message);
    json_decref(json);
    return ok;
}

/* Writes the library's text as it is, one register per line. */
static bool write_dump(struct run_command *run)
{
    struct output output;
    struct error error = {0};
    char *text = hd_raw_dump(run->raw);
    bool ok = open_output(run, &output, run->request.dump, &error);
    if (ok) {
        fputs(text, output.stream);
        ok = commit_output(run, &output, &error);
    }
    if (!ok)
        complain(run->command, "--si-dump: %s: %s", error.place, error.message);
    hd_free(text);
    return ok;
}

const char *launch_statistics(struct run_command *run)
{
    if (!run->stats)
        run->stats = hd_stats_json(run->device);
    return run->stats;
}

static bool write_document(struct run_command *run, const struct statistics_of *from)
{
    struct output output;
    struct error error = {0};
    bool ok = open_output(run, &output, run->request.stats, &error);
    if (ok) {
        print_statistics(output.stream, from);
        ok = commit_output(run, &output, &error);
    }
    if (!ok)
        complain(run->command, "--stats: %s: %s", error.place, error.message);
    return ok;
}

bool write_statistics(struct run_command *run, const struct statistics_of *from)
{
    const bool written = !run->request.stats || write_document(run, from);
    return (!run->request.report || write_page(run, from)) && written;
}

static bool write_stats(struct run_command *run, f64 wall_seconds)
{
    json_t *seconds = json_array();
    for (u32 i = 0; i < run->request.launches.count; i++)
        if (run->request.launches.data[i].ran)
            json_array_append_new(seconds, json_real(run->request.launches.data[i].seconds));
    bool ok = write_statistics(
        run, &(struct statistics_of){&run->request, &run->inputs, run->config, run->line,
                                     launch_statistics(run), NULL, seconds, NULL, wall_seconds,
                                     hd_threads(run->device), NULL});
    json_decref(seconds);
    return ok;
}

bool write_outputs(struct run_command *run, f64 wall_seconds)
{
    bool ok = true;
    for (u32 i = 0; i < run->request.buffers.count; i++)
        if (run->request.buffers.data[i].output)
            ok &= write_buffer(run, &run->request.buffers.data[i]);
    if (run->request.dump)
        ok &= write_dump(run);
    if (run->request.stats || run->request.report)
        ok &= write_stats(run, wall_seconds);
    return ok;
}
