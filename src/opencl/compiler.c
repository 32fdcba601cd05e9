/* The compiler: see compiler.h. Arguments are those of clang-14 to clang-19. */
#include "opencl/compiler.h"

#include "base/text.h"
#include "base/toolchain.h"
#include "opencl/cache.h"
#include "opencl/llinfo.h"
#include "opencl/mend.h"
#include "opencl/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum {
    FILE_LIMIT = 256 << 20, /* largest file of a compilation, in bytes */
    OLDEST_CLANG = 14,      /* the driver's library is its bitcode */
    RIGHT_CLANG = 15,       /* the first that preserves the order of memory accesses and barriers */
    LAST_RIGHT_CLANG = 16   /* the last known to read two-byte parameters correctly */
};

struct work {
    const struct compiler_job *job;
    struct toolchain toolchain;
    struct scratch scratch;
    struct arena *arena;
    VEC(const char *) words; /* arguments of the next process */
    VEC(char) log;
    bool approximate; /* float division and square root may be approximate */
};

static bool is_si(const struct work *work)
{
    return work->job->target == CODE_SI;
}

static void say_bytes(struct work *work, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        *(char *)vec_push(&work->log) = text[i];
}

static void say(struct work *work, const char *text)
{
    say_bytes(work, text, strlen(text));
}

/* Appends the compiler's output to the log, without the name of the scratch folder. */
static void say_file(struct work *work, const char *path)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path, false, FILE_LIMIT, &length, &error);
    if (!text)
        return;
    const char *folder = scratch_path(&work->scratch, work->arena, "headers/");
    const char *at = text, *found;
    while ((found = strstr(at, folder))) {
        say_bytes(work, at, (size_t)(found - at));
        at = found + strlen(folder);
    }
    say(work, at);
    free(text);
}

static void add(struct work *work, const char *word)
{
    *(const char **)vec_push(&work->words) = word;
}
#define ADD(work, ...)                                         \
    do {                                                       \
        const char *const added[] = {__VA_ARGS__};             \
        for (size_t word = 0; word < ARRAY_LEN(added); word++) \
            add(work, added[word]);                            \
    } while (0)

static const char *path(struct work *work, const char *name)
{
    return scratch_path(&work->scratch, work->arena, name);
}

static void start(struct work *work)
{
    work->words.count = 0;
    ADD(work, work->toolchain.clang, "-target");
    if (is_si(work)) {
        ADD(work, "amdgcn-amd-amdhsa", "-mcpu=tahiti");
        if (work->toolchain.linker)
            ADD(work, "-B", work->toolchain.linker);
        /* the version implies the layout of hidden arguments (si.hidden_args=driver) */
        add(work, work->toolchain.rocm ? "-mcode-object-version=5" : "-mcode-object-version=4");
        /* keep LLVM from replacing library functions */
        if (work->toolchain.version != OLDEST_CLANG)
            ADD(work, "-mllvm", "-amdgpu-simplify-libcall=0");
    } else /* sm_60: the first with all 64-bit atomics. DWARF 2: with later versions, LLVM 14
            * crashes on calls, whose descriptions PTX cannot express. */
        ADD(work, work->job->target == CODE_PTX32 ? "nvptx--nvidiacl" : "nvptx64--nvidiacl",
            "-Xclang", "-target-cpu", "-Xclang", "sm_60", "-Xclang", "-target-feature", "-Xclang",
            "+ptx60", "-Xclang", "-dwarf-version=2");
    ADD(work, "-nogpulib", "-O2", "-gline-tables-only", "-fdebug-compilation-dir=.",
        "-fno-crash-diagnostics", "-Wno-unused-command-line-argument");
}

/* Runs the process with the collected arguments; its output goes to the log. */
static bool finish(struct work *work, const char *input)
{
    add(work, NULL);
    const char *output = path(work, "said");
    int code = process_run(&work->scratch, work->words.data, input, output);
    if (code == -1) {
        say(work, arena_printf(work->arena,
                               "error: cannot run %s: %s (set HEDDLE_CLANG to use another)\n",
                               work->toolchain.clang, strerror(errno)));
        return false;
    }
    say_file(work, output);
    if (code == -2)
        say(work, "error: the compiler was ended by a signal\n");
    return code == 0;
}

/* The extensions of CL_DEVICE_EXTENSIONS that the compiler must know. */
#define EXTENSIONS                                                             \
    "-cl-ext=-all,+cl_khr_byte_addressable_store,+cl_khr_fp64,"                \
    "+cl_khr_global_int32_base_atomics,+cl_khr_global_int32_extended_atomics," \
    "+cl_khr_local_int32_base_atomics,+cl_khr_local_int32_extended_atomics,"   \
    "+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics"

static bool asked_for(const struct work *work, const char *option)
{
    const struct options *options = work->job->options;
    for (u32 i = 0; i < options->count; i++)
        if (!strcmp(options->words[i], option))
            return true;
    return false;
}

/* Adds the arguments for OpenCL C. */
static void add_language(struct work *work)
{
    ADD(work, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Xclang",
        EXTENSIONS, "-cl-kernel-arg-info", "-D__OPENCL_VERSION__=120", "-Wno-linker-warnings");
    add(work, "-fgnu-keywords"); /* asm, which NVIDIA's and AMD's compilers accept, too */
    if (!is_si(work))
        add(work, "-D__IMAGE_SUPPORT__=1");
    if (work->job->embedded)
        add(work, "-D__EMBEDDED_PROFILE__=1");
    /* a warning in clang-14, by default an error in later versions */
    if (!asked_for(work, "-Werror"))
        add(work, "-Wno-error=int-conversion");
    for (u32 i = 0; i < work->job->options->count; i++)
        add(work, work->job->options->words[i]);
}

static void add_library(struct work *work, const char *file)
{
    ADD(work, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", file);
}

/* Adds a file of AMD's device libraries: "name", or "name_on" or "name_off". */
static void add_rocm(struct work *work, const char *name, const char *state)
{
    add_library(work, arena_printf(work->arena, "%s/%s%s.bc", work->toolchain.rocm, name, state));
}

/* Adds AMD's libraries: functions, then the constants that configure them. The compiler's driver
 * would add the same files, but before ours. Float subnormals are flushed to zero on this GPU. */
static void add_rocm_libraries(struct work *work)
{
    static const char *const STATES[] = {"_off", "_on"};
    bool fast = asked_for(work, "-cl-fast-relaxed-math");
    add_rocm(work, "opencl", "");
    add_rocm(work, "ocml", "");
    add_rocm(work, "ockl", "");
    add_rocm(work, "oclc_daz_opt", "_on");
    add_rocm(work, "oclc_unsafe_math",
             STATES[fast || asked_for(work, "-cl-unsafe-math-optimizations")]);
    add_rocm(work, "oclc_finite_only", STATES[fast || asked_for(work, "-cl-finite-math-only")]);
    add_rocm(work, "oclc_correctly_rounded_sqrt",
             STATES[asked_for(work, "-cl-fp32-correctly-rounded-divide-sqrt")]);
    add_rocm(work, "oclc_wavefrontsize64", "_on");
    add_rocm(work, "oclc_isa_version", "_600");
    add_rocm(work, "oclc_abi_version", "_500");
}

/* Adds the libraries, in this order: from each, only functions that are called and not yet defined
 * are linked. */
static void add_libraries(struct work *work)
{
    add_library(work, work->toolchain.library);
    if (work->toolchain.rocm)
        add_rocm_libraries(work);
    else
        add_library(work, work->toolchain.libclc);
}

/* Writes the source to a file that the compiler reads as standard input, so that it has the name
 * program.cl and includes are relative to the working directory. */
static const char *write_source(struct work *work)
{
    const char *text = arena_printf(work->arena, "# 1 \"program.cl\"\n%s\n", work->job->source);
    if (scratch_write(&work->scratch, "source", text, strlen(text)))
        return path(work, "source");
    say(work, "error: cannot create temporary files\n");
    return NULL;
}

static bool write_headers(struct work *work)
{
    for (u32 i = 0; i < work->job->header_count; i++) {
        const struct compiler_header *header = &work->job->headers[i];
        const char *name = arena_printf(work->arena, "headers/%s", header->name);
        if (scratch_write(&work->scratch, name, header->text, strlen(header->text)))
            continue;
        say(work, arena_printf(work->arena, "error: invalid header name '%s'\n", header->name));
        return false;
    }
    return true;
}

/* Compiles the source to bitcode for later linking or, with the libraries, to LLVM text. */
static bool compile(struct work *work, bool object, const char *output)
{
    const char *source = write_source(work);
    if (!source || !write_headers(work))
        return false;
    const char *headers = path(work, "headers");
    start(work);
    if (work->job->header_count)
        ADD(work, "-I", headers, arena_printf(work->arena, "-fmacro-prefix-map=%s/=", headers));
    add_language(work);
    ADD(work, "-include", work->toolchain.header);
    ADD(work, "-MD", "-MT", "x", "-MF", path(work, "included"), "-emit-llvm");
    if (object) {
        ADD(work, "-c", "-Xclang", "-disable-llvm-passes");
    } else {
        /* programs write `inline` without C99's meaning, a definition elsewhere */
        ADD(work, "-S", "-fgnu89-inline");
        add_libraries(work);
    }
    ADD(work, "-o", output, "-");
    return finish(work, source);
}

/* Links bitcode to a library or, with the libraries, to LLVM text. */
static bool link_inputs(struct work *work, bool library, const char *output)
{
    start(work);
    add_language(work);
    for (u32 i = 0; i < work->job->input_count; i++) {
        const char *name = arena_printf(work->arena, "input%u.bc", i);
        const struct compiler_input *input = &work->job->inputs[i];
        if (!scratch_write(&work->scratch, name, input->data, input->bytes)) {
            say(work, "error: cannot create temporary files\n");
            return false;
        }
        ADD(work, "-Xclang", "-mlink-bitcode-file", "-Xclang", path(work, name));
    }
    add(work, "-emit-llvm");
    if (library) {
        ADD(work, "-c", "-Xclang", "-disable-llvm-passes");
    } else {
        add(work, "-S");
        add_libraries(work);
    }
    ADD(work, "-o", output, "-");
    return finish(work, NULL);
}

/* Patches the LLVM text in place, before code generation. */
static bool mend_text(struct work *work, char *text, size_t length, const char *file)
{
    bool nulls = is_si(work) && mend_nulls(text);
    bool relaxed = mend_relaxed(text, &work->approximate);
    return !(nulls || relaxed) || scratch_write(&work->scratch, file, text, length);
}

/* Lets kernels that are called be inlined (mend.h). False: the text is unchanged. */
static bool inline_kernels(struct work *work, const char *text, const char *file)
{
    size_t length;
    char *mended = is_si(work) ? NULL : mend_kernel_calls(text, &length);
    bool written = mended && scratch_write(&work->scratch, file, mended, length);
    free(mended);
    return written;
}

static void warn_of_compiler(struct work *work)
{
    if (!is_si(work) && work->toolchain.version && work->toolchain.version < RIGHT_CLANG)
        say(work, arena_printf(work->arena,
                               "note: %s moves loads across barriers of PTX; Heddle's own "
                               "barrier() and fences prevent this, inline assembly in the program "
                               "does not. clang %d or newer does not have this bug\n",
                               work->toolchain.clang, RIGHT_CLANG));
}

/*
 * clang-19 treats a vector of two bytes in PTX parameters as two 16-bit halves of a word. Seen with
 * 19, not with 15 and 16; other versions were not tried.
 */
static bool parameters_right(struct work *work, const char *text)
{
    if (is_si(work) || work->toolchain.version <= LAST_RIGHT_CLANG)
        return true;
    for (const char *line = text; (line = strstr(line, "\ndefine ")); line++) {
        const char *end = line + 1 + strcspn(line + 1, "\n");
        if (!memmem(line, (size_t)(end - line), "<2 x i8>", strlen("<2 x i8>")))
            continue;
        say(work, arena_printf(work->arena,
                               "error: %s passes char2 and uchar2 incorrectly for PTX; use clang "
                               "%d or %d (set HEDDLE_CLANG)\n",
                               work->toolchain.clang, RIGHT_CLANG, LAST_RIGHT_CLANG));
        return false;
    }
    return true;
}

static bool generate(struct work *work, const char *text, bool optimize, const char *output)
{
    start(work);
    ADD(work, "-x", "ir", "-o", output);
    if (!optimize)
        ADD(work, "-Xclang", "-disable-llvm-passes");
    if (!is_si(work))
        add(work, "-S");
    /* the back end selects these instructions for all operations, not for each */
    if (!is_si(work) && work->approximate)
        ADD(work, "-mllvm", "-nvptx-prec-divf32=0", "-mllvm", "-nvptx-prec-sqrtf32=0");
    add(work, text);
    return finish(work, NULL);
}

/* The program's own name of a mangled function: "_Z3fooif" is foo. */
static const char *plain_name(struct arena *arena, const char *name)
{
    char *end;
    if (strncmp(name, "_Z", 2))
        return name;
    unsigned long length = strtoul(name + 2, &end, 10);
    return length && length <= strlen(end) ? arena_strndup(arena, end, length) : name;
}

/* Removes unused functions that would make the build fail. */
static bool drop_unused(struct work *work, u8 *text, size_t *bytes, const char *file)
{
    size_t kept;
    char *rest = llinfo_reachable(work->arena, (char *)text, *bytes, &kept);
    if (!rest)
        return true;
    memcpy(text, rest, kept);
    text[kept] = 0;
    *bytes = kept;
    return scratch_write(&work->scratch, file, text, kept);
}

/* Whether all called functions are defined; undefined ones go to the log. */
static bool all_defined(struct work *work, const char *text, size_t bytes)
{
    bool defined = true;
    size_t at = 0;
    for (;;) {
        const char *name = llinfo_undefined(work->arena, text, bytes, &at);
        if (!*name)
            return defined;
        defined = false;
        name = plain_name(work->arena, name);
        say(work, arena_printf(work->arena, "error: undefined reference to '%s'%s\n", name,
                               strstr(name, "_image") ? " (not a function of images on this device)"
                                                      : ""));
    }
}

static u8 *read_output(struct work *work, const char *file, size_t *bytes)
{
    struct error error = {0};
    char *data = text_read_file(file, false, FILE_LIMIT, bytes, &error);
    if (!data)
        say(work, arena_printf(work->arena, "error: the compiler produced no output: %s\n",
                               error.message));
    return (u8 *)data;
}

static u8 *make_bitcode(struct work *work, size_t *bytes)
{
    const char *output = path(work, "out.bc");
    bool library = work->job->type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
    struct binary binary = {.type = work->job->type, .target = work->job->target};
    if (library ? !link_inputs(work, true, output) : !compile(work, true, output))
        return NULL;
    u8 *data = read_output(work, output, &binary.sections[SECTION_BITCODE].bytes);
    if (!data)
        return NULL;
    binary.sections[SECTION_BITCODE].data = data;
    u8 *result = binary_write(&binary, bytes);
    free(data);
    return result;
}

static u8 *mend_ptx(struct work *work, u8 *code, size_t *bytes, const char *text, size_t length)
{
    u32 count;
    const struct kernel_info *kernels = llinfo_kernels(work->arena, text, length, &count);
    char *mended = mend_fields((char *)code, bytes);
    return (u8 *)mend_block_sizes(mended, bytes, kernels, count);
}

static u8 *make_code(struct work *work, size_t *bytes)
{
    const char *text_path = path(work, "out.ll"), *code_path = path(work, "out.code");
    warn_of_compiler(work);
    if (work->job->source ? !compile(work, false, text_path) : !link_inputs(work, false, text_path))
        return NULL;
    struct binary binary = {.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE, .target = work->job->target};
    size_t length;
    u8 *text = read_output(work, text_path, &length), *code = NULL, *result = NULL;
    if (text && drop_unused(work, text, &length, "out.ll") &&
        all_defined(work, (char *)text, length) && parameters_right(work, (char *)text) &&
        mend_text(work, (char *)text, length, "out.ll") &&
        generate(work, text_path, inline_kernels(work, (char *)text, "out.ll"), code_path))
        code = read_output(work, code_path, &binary.sections[SECTION_CODE].bytes);
    if (code) {
        if (!is_si(work))
            code = mend_ptx(work, code, &binary.sections[SECTION_CODE].bytes, (char *)text, length);
        char *kernels = llinfo_extract(work->arena, (char *)text, length);
        binary.sections[SECTION_CODE].data = code;
        binary.sections[SECTION_KERNELS].data = (u8 *)kernels;
        binary.sections[SECTION_KERNELS].bytes = strlen(kernels);
        result = binary_write(&binary, bytes);
    }
    free(text);
    free(code);
    return result;
}

/* ---- cache keys ---- */

static void hash_text(struct sha256 *hash, const char *text)
{
    sha256_add(hash, text, strlen(text) + 1);
}

/* The cache key: a hash of everything that the result depends on, except files that the source
 * includes. */
static void name_job(struct work *work, char key[SHA256_TEXT])
{
    const struct compiler_job *job = work->job;
    struct sha256 hash;
    const u32 facts[] = {job->target,         job->embedded,     job->type,
                         job->source != NULL, job->header_count, job->options->count,
                         job->input_count};
    sha256_start(&hash);
    sha256_add(&hash, facts, sizeof facts);
    hash_text(&hash, HEDDLE_VERSION);
    toolchain_identify(&work->toolchain, &hash);
    hash_text(&hash, job->source ? job->source : "");
    start(work); /* the fixed arguments may change with Heddle's version */
    add_language(work);
    for (u32 i = 0; i < work->words.count; i++)
        hash_text(&hash, work->words.data[i]);
    for (u32 i = 0; i < job->header_count; i++) {
        hash_text(&hash, job->headers[i].name);
        hash_text(&hash, job->headers[i].text);
    }
    for (u32 i = 0; i < job->input_count; i++) {
        const u64 bytes = job->inputs[i].bytes;
        sha256_add(&hash, &bytes, sizeof bytes);
        sha256_add(&hash, job->inputs[i].data, job->inputs[i].bytes);
    }
    /* include paths are relative to the working directory */
    char *here = job->source && strstr(job->source, "include") ? getcwd(NULL, 0) : NULL;
    hash_text(&hash, here ? here : "");
    free(here);
    sha256_text(&hash, key);
}

/* Reads the files of a make rule "x: a b\ c \<newline> d", except those of the scratch folder. */
static u32 read_included(struct work *work, const char ***files)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(path(work, "included"), false, FILE_LIMIT, &length, &error);
    VEC(const char *) list = {0};
    for (char *at = text ? text + strcspn(text, ":") : NULL; at && *at;) {
        at += 1;
        at += strspn(at, " \n\\:");
        char *name = arena_alloc(work->arena, strlen(at) + 1), *out = name;
        for (; *at && *at != ' ' && *at != '\n'; at++) {
            if (*at == '\\' && (at[1] == ' ' || at[1] == '#'))
                at++;
            else if (*at == '$' && at[1] == '$')
                at++;
            *out++ = *at;
        }
        if (*name && strncmp(name, work->scratch.folder, strlen(work->scratch.folder)))
            *(const char **)vec_push(&list) = name;
    }
    free(text);
    *files = arena_array(work->arena, const char *, list.count);
    if (list.count)
        memcpy(*files, list.data, list.count * sizeof **files);
    u32 count = list.count;
    vec_free(&list);
    return count;
}

static void make(struct work *work, const char key[SHA256_TEXT], struct compiler_result *result)
{
    if (!scratch_create(&work->scratch)) {
        say(work, "error: cannot create temporary files\n");
        return;
    }
    result->binary = work->job->type == CL_PROGRAM_BINARY_TYPE_EXECUTABLE
                         ? make_code(work, &result->bytes)
                         : make_bitcode(work, &result->bytes);
    *(char *)vec_push(&work->log) = 0;
    work->log.count--;
    if (result->binary) {
        const char **files = NULL;
        u32 count = work->job->source ? read_included(work, &files) : 0;
        const struct cache_entry entry = {work->log.data, result->binary, result->bytes};
        cache_store(key, &entry, files, count);
    }
    scratch_destroy(&work->scratch);
}

static const char *driver_file(void)
{
    Dl_info info;
    return dladdr((const void *)(uintptr_t)compiler_run, &info) ? info.dli_fname : NULL;
}

void compiler_run(const struct compiler_job *job, struct compiler_result *result)
{
    struct work work = {.job = job, .arena = arena_create()};
    char key[SHA256_TEXT];
    struct cache_entry kept;
    const char *missing;
    *result = (struct compiler_result){0};
    if (!toolchain_find(&work.toolchain, work.arena, driver_file(), job->target, &missing)) {
        say(&work, arena_printf(work.arena,
                                "error: %s not found; is Heddle completely installed?\n", missing));
    } else if (work.toolchain.version && work.toolchain.version < OLDEST_CLANG) {
        say(&work, arena_printf(work.arena, "error: %s is too old: clang %d or newer is needed\n",
                                work.toolchain.clang, OLDEST_CLANG));
    } else {
        name_job(&work, key);
        if (cache_find(work.arena, key, &kept)) {
            say(&work, kept.log);
            result->binary = memcpy(checked(malloc(kept.bytes)), kept.binary, kept.bytes);
            result->bytes = kept.bytes;
        } else {
            make(&work, key, result);
        }
    }
    say(&work, job->options->notes); /* notes are not cached */
    *(char *)vec_push(&work.log) = 0;
    result->log = work.log.data;
    result->compiler = checked(strdup(work.toolchain.name));
    vec_free(&work.words);
    arena_destroy(work.arena);
}
