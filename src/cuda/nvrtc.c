/*
 * libnvrtc: CUDA C++ compiled to PTX while the program runs, by `heddle nvcc -ptx` in a process of its own.
 *
 * A name expression becomes a variable at the end of the source that is initialised with its address;
 * the PTX text then has the name that the compiler made of it.
 *
 * Deviations: there is no machine code, so that nvrtcGetCUBIN gives the PTX, which cuModuleLoadData takes
 * as well; options that heddle nvcc does not know are an error with its message in the log.
 */
#include "nvrtc.h"
#include "cuda/versions.h"

#include "base/arena.h"
#include "base/temporary.h"
#include "base/text.h"
#include "base/toolchain.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    KIND_PROGRAM = 0x48450010,
    NAME_MOST = 4096, /* bytes of a lowered name */
    TEXT_MOST = 1 << 28
};

struct name_expression {
    const char *text;
    char *lowered; /* after compilation; NULL: it is none */
};

struct _nvrtcProgram {
    u32 kind; /* 0 when destroyed */
    struct arena *arena;
    const char *source, *name;
    u32 header_count;
    const char **headers, **header_names;
    VEC(struct name_expression) expressions;
    char *ptx, *log;
    bool compiled;
};

EXPORT_NVRTC(nvrtcGetErrorString)
const char *nvrtcGetErrorString(nvrtcResult result)
{
    static const char *const texts[] = {
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
    };
    return (u32)result < ARRAY_LEN(texts) ? texts[result] : "NVRTC_ERROR unknown";
}

EXPORT_NVRTC(nvrtcVersion)
nvrtcResult nvrtcVersion(int *major, int *minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = 12; /* the language of the headers is that of CUDA 12 */
    *minor = 0;
    return NVRTC_SUCCESS;
}

static const int archs[] = {50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90};

EXPORT_NVRTC(nvrtcGetNumSupportedArchs)
nvrtcResult nvrtcGetNumSupportedArchs(int *count)
{
    if (!count)
        return NVRTC_ERROR_INVALID_INPUT;
    *count = ARRAY_LEN(archs);
    return NVRTC_SUCCESS;
}

EXPORT_NVRTC(nvrtcGetSupportedArchs)
nvrtcResult nvrtcGetSupportedArchs(int *to)
{
    if (!to)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, archs, sizeof archs);
    return NVRTC_SUCCESS;
}

/* ---- programs ---- */

static bool is_program(nvrtcProgram program)
{
    return program && program->kind == KIND_PROGRAM;
}

static const char **copy_texts(struct arena *arena, const char *const *texts, u32 count)
{
    const char **copies = arena_array(arena, const char *, count + 1);
    for (u32 i = 0; i < count; i++)
        copies[i] = arena_strdup(arena, texts && texts[i] ? texts[i] : "");
    return copies;
}

EXPORT_NVRTC(nvrtcCreateProgram)
nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name,
                               int header_count, const char *const *headers,
                               const char *const *header_names)
{
    if (!program || !source || header_count < 0 || (header_count && (!headers || !header_names)))
        return NVRTC_ERROR_INVALID_INPUT;
    struct _nvrtcProgram *made = checked(calloc(1, sizeof *made));
    made->kind = KIND_PROGRAM;
    made->arena = arena_create();
    made->source = arena_strdup(made->arena, source);
    made->name = arena_strdup(made->arena, name ? name : "default_program");
    made->header_count = (u32)header_count;
    made->headers = copy_texts(made->arena, headers, made->header_count);
    made->header_names = copy_texts(made->arena, header_names, made->header_count);
    *program = made;
    return NVRTC_SUCCESS;
}

EXPORT_NVRTC(nvrtcDestroyProgram)
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program)
{
    if (!program || !is_program(*program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    struct _nvrtcProgram *at = *program;
    at->kind = 0;
    for (u32 i = 0; i < at->expressions.count; i++)
        free(at->expressions.data[i].lowered);
    vec_free(&at->expressions);
    arena_destroy(at->arena);
    free(at->ptx);
    free(at->log);
    free(at);
    *program = NULL;
    return NVRTC_SUCCESS;
}

EXPORT_NVRTC(nvrtcAddNameExpression)
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char *expression)
{
    if (!is_program(program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression)
        return NVRTC_ERROR_INVALID_INPUT;
    if (program->compiled)
        return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    struct name_expression *added = vec_push(&program->expressions);
    *added = (struct name_expression){arena_strdup(program->arena, expression), NULL};
    return NVRTC_SUCCESS;
}

/* ---- files for the compiler ---- */

/* Makes the folders of a path below `root`; a path that leaves it is refused. */
static bool make_folders(struct arena *arena, const char *root, const char *path)
{
    if (*path == '/' || strstr(path, ".."))
        return false;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/'))
        if (mkdir(arena_printf(arena, "%s/%.*s", root, (int)(slash - path), path), 0700) != 0 &&
            errno != EEXIST)
            return false;
    return true;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wbe");
    bool ok = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        ok = false;
    return ok;
}

static bool write_headers(struct _nvrtcProgram *program, const char *folder)
{
    for (u32 i = 0; i < program->header_count; i++) {
        const char *name = program->header_names[i];
        if (!make_folders(program->arena, folder, name) ||
            !write_text(arena_printf(program->arena, "%s/%s", folder, name), program->headers[i]))
            return false;
    }
    return true;
}

static const char variable[] = "heddle_name_expression_";

static bool write_source(const struct _nvrtcProgram *program, const char *path)
{
    FILE *file = fopen(path, "wbe");
    if (!file)
        return false;
    fprintf(file, "#line 1 \"%s\"\n%s\n", program->name, program->source);
    for (u32 i = 0; i < program->expressions.count; i++) {
        const char *text = program->expressions.data[i].text;
        text += *text == '&';
        fprintf(file,
                "#line 1 \"name expression\"\nextern \"C\" __device__ __attribute__((used)) const "
                "void *const %s%u = (const void *)&%s;\n",
                variable, i, text);
    }
    return fclose(file) == 0;
}

/* ---- compilation ---- */

/* The command: named by the environment, or relative to this library in a build folder or an
 * installation. */
static const char *find_command(struct arena *arena)
{
    Dl_info place;
    const char *set = getenv("HEDDLE_COMMAND");
    if (set && *set)
        return set;
    char whole[PATH_MAX];
    if (!dladdr((const void *)nvrtcVersion, &place) || !realpath(place.dli_fname, whole))
        return "heddle";
    *strrchr(whole, '/') = '\0';
    const char *beside = arena_printf(arena, "%s/heddle", whole);
    const char *installed = arena_printf(arena, "%s/" HEDDLE_BIN_FROM_RUNTIME "/heddle", whole);
    struct stat is;
    return stat(beside, &is) == 0 && S_ISREG(is.st_mode) ? beside
           : stat(installed, &is) == 0                   ? installed
                                                         : "heddle";
}

/* Runs it with its messages in a file. */
static bool run_command(const char *const *words, const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log,
                                     O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    const int failed =
        posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The words of nvrtc that differ from nvcc's; NULL: dropped. */
static const char *option_of(const char *option)
{
    static const char *const dropped[] = {"--device-as-default-execution-space",
                                          "-default-device",
                                          "--device-debug",
                                          "--dopt",
                                          "-dopt",
                                          "--extra-device-vectorization",
                                          "--disable-warnings",
                                          "--builtin-move-forward",
                                          "--builtin-initializer-list",
                                          "--split-compile",
                                          "--minimal",
                                          "-no-source-include",
                                          "--no-source-include"};
    for (u32 i = 0; i < ARRAY_LEN(dropped); i++)
        if (!strncmp(option, dropped[i], strlen(dropped[i])))
            return NULL;
    return option;
}

static bool compile(struct _nvrtcProgram *program, const char *folder, int count,
                    const char *const *options)
{
    struct arena *arena = program->arena;
    const char *source = arena_printf(arena, "%s/source.cu", folder);
    const char *ptx = arena_printf(arena, "%s/out.ptx", folder);
    const char *log = arena_printf(arena, "%s/log", folder);
    const char *own[] = {find_command(arena), "nvcc",     "-ptx",     source, "-o",  ptx,
                         "-D__CUDACC_RTC__",  "-include", "assert.h", "-I",   folder};
    const char **words = arena_array(arena, const char *, ARRAY_LEN(own) + (u32)count + 1);
    struct error error = {0};
    size_t bytes;
    u32 used = ARRAY_LEN(own);
    memcpy(words, own, sizeof own);
    for (int i = 0; i < count; i++)
        if (options[i] && option_of(options[i]))
            words[used++] = options[i];
    bool ok = write_headers(program, folder) && write_source(program, source);
    ok = ok && run_command(words, log);
    program->log = text_read_file(log, false, TEXT_MOST, &bytes, &error);
    if (ok)
        program->ptx = text_read_file(ptx, false, TEXT_MOST, &bytes, &error);
    return program->ptx != NULL;
}

/* Takes the lowered name from "heddle_name_expression_0[1] = {generic(NAME)}" or "... = NAME;". */
static void read_name(struct _nvrtcProgram *program, u32 index)
{
    char text[64];
    snprintf(text, sizeof text, "%s%u", variable, index);
    const char *at = strstr(program->ptx, text);
    at = at ? strchr(at, '=') : NULL;
    if (!at)
        return;
    at += strspn(at, "= {");
    if (!strncmp(at, "generic(", 8))
        at += 8;
    const size_t length = strcspn(at, " ;)}+\n");
    if (length && length < NAME_MOST)
        program->expressions.data[index].lowered = checked(strndup(at, length));
}

EXPORT_NVRTC(nvrtcCompileProgram)
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char *const *options)
{
    struct error error = {0};
    struct temporary folder = {0};
    if (!is_program(program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (option_count < 0 || (option_count && !options))
        return NVRTC_ERROR_INVALID_INPUT;
    if (!temporary_create(&folder, NULL, false, &error))
        return NVRTC_ERROR_PROGRAM_CREATION_FAILURE;
    free(program->log);
    free(program->ptx);
    program->log = program->ptx = NULL;
    program->compiled = true;
    const bool ok = compile(program, folder.path, option_count, options);
    temporary_remove(&folder);
    for (u32 i = 0; ok && i < program->expressions.count; i++)
        read_name(program, i);
    if (ok)
        return NVRTC_SUCCESS;
    return program->log && strstr(program->log, "there is no option") ? NVRTC_ERROR_INVALID_OPTION
                                                                      : NVRTC_ERROR_COMPILATION;
}

/* ---- results ---- */

static nvrtcResult tell_size(nvrtcProgram program, const char *text, size_t *bytes)
{
    if (!is_program(program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!bytes || !text)
        return NVRTC_ERROR_INVALID_INPUT;
    *bytes = strlen(text) + 1;
    return NVRTC_SUCCESS;
}

static nvrtcResult tell_text(nvrtcProgram program, const char *text, char *to)
{
    if (!is_program(program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!to || !text)
        return NVRTC_ERROR_INVALID_INPUT;
    memcpy(to, text, strlen(text) + 1);
    return NVRTC_SUCCESS;
}

static const char *ptx_of(nvrtcProgram program)
{
    return is_program(program) ? program->ptx : NULL;
}

static const char *log_of(nvrtcProgram program)
{
    return is_program(program) && program->log ? program->log : "";
}

EXPORT_NVRTC(nvrtcGetPTXSize)
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *bytes)
{
    return tell_size(program, ptx_of(program), bytes);
}

EXPORT_NVRTC(nvrtcGetPTX)
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ptx)
{
    return tell_text(program, ptx_of(program), ptx);
}

EXPORT_NVRTC(nvrtcGetCUBINSize)
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *bytes)
{
    return tell_size(program, ptx_of(program), bytes);
}

EXPORT_NVRTC(nvrtcGetCUBIN)
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *image)
{
    return tell_text(program, ptx_of(program), image);
}

EXPORT_NVRTC(nvrtcGetProgramLogSize)
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *bytes)
{
    return tell_size(program, log_of(program), bytes);
}

EXPORT_NVRTC(nvrtcGetProgramLog)
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log)
{
    return tell_text(program, log_of(program), log);
}

EXPORT_NVRTC(nvrtcGetLoweredName)
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char *expression, const char **name)
{
    if (!is_program(program))
        return NVRTC_ERROR_INVALID_PROGRAM;
    if (!expression || !name)
        return NVRTC_ERROR_INVALID_INPUT;
    if (!program->ptx)
        return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (u32 i = 0; i < program->expressions.count; i++)
        if (!strcmp(program->expressions.data[i].text, expression) &&
            program->expressions.data[i].lowered) {
            *name = program->expressions.data[i].lowered;
            return NVRTC_SUCCESS;
        }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
