/*
 * heddle nvcc: compiles CUDA C++ with clang, in the words of NVIDIA's compiler.
 *
 * A .cu file is compiled twice by clang: its kernels to PTX, which goes into a fat binary, and the rest,
 * with the fat binary inside, to an object. Headers, and the library of device functions, are Heddle's
 * (share/heddle/cuda). The program is linked with Heddle's runtime under the name libcudart.so.12.
 *
 * Relocatable device code (-rdc=true) is linked when the program runs (cuda/module.c): its fat binaries
 * are marked, and -dlink has nothing to do.
 *
 * heddle hipcc is the same for HIP, whose names a header maps onto CUDA's (share/heddle/hip): every C++
 * source is compiled for both sides.
 *
 *  V1  Words that change what is compiled are passed on or are an error; only words that tune machine
 *      code, which there is none of, are taken and dropped.
 */
#include "cli/common.h"
#include "cli/program.h"

#include "base/temporary.h"
#include "base/text.h"
#include "base/toolchain.h"
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    /* of a fat binary: see cuda/fatbin.h */
    FATBIN_PTX = 1,
    FATBIN_MARK = 0x4844,
    RIGHT_CLANG = 15, /* clang-14 moves loads across barriers (base/toolchain.h) */
    ARCH = 70,        /* if none is given: the newest that none of the functions here goes beyond */
    FATBIN_HEAD = 16,
    FATBIN_ENTRY = 64
};

typedef const char *word_t;
struct word_list {
    VEC(word_t) list;
};

struct nvcc {
    const struct command *command;
    struct arena *arena;
    struct temporary folder;
    struct toolchain toolchain;
    const char *data; /* share/heddle/cuda */
    const char *output;
    struct word_list inputs, both, device, host, link,
        dependencies; /* the last: -MD and the like */
    u32 arch, files;  /* files: objects made */
    bool compile_only, ptx, fatbin, verbose;
    bool list_headers;             /* -M */
    bool relocatable, device_link; /* -rdc=true; -dlink */
    bool hip, all_cuda;            /* hipcc; -x cu: C++ sources have kernels, too */
    bool separate;                 /* products and sums are not fused */
};

static void add(struct word_list *words, const char *word)
{
    *(const char **)vec_push(&words->list) = word;
}

#define ADD(words, ...)                            \
    do {                                           \
        const char *const added[] = {__VA_ARGS__}; \
        for (u32 a = 0; a < ARRAY_LEN(added); a++) \
            add(words, added[a]);                  \
    } while (0)

static void add_all(struct word_list *words, const struct word_list *more)
{
    for (u32 i = 0; i < more->list.count; i++)
        add(words, more->list.data[i]);
}

/* Adds the words between commas. */
static void add_parts(const struct nvcc *nvcc, struct word_list *words, const char *text)
{
    for (const char *at = text; *at;) {
        const size_t length = strcspn(at, ",");
        add(words, arena_strndup(nvcc->arena, at, length));
        at += length + (at[length] == ',');
    }
}

/* ---- the command line ---- */

enum word_use {
    TO_BOTH, /* to both compilations */
    TO_HOST, /* its value's parts, to the compilation of the host's part */
    TO_LINK, /* its value's parts, to the linker */
    AS_LINK, /* to the linker as it is */
    AS_OUTPUT,
    AS_ARCH,
    AS_RELOCATABLE,
    AS_DEPENDENCY,
    AS_LANGUAGE,
    DROPPED
};

/* Words with a value, which may follow after '=', in the same word or as the next one. */
static const struct valued {
    const char *name, *pass; /* pass: as clang has it; NULL: the name */
    enum word_use use;
} valued[] = {
    {"-o", NULL, AS_OUTPUT},
    {"--output-file", NULL, AS_OUTPUT},
    {"-I", NULL, TO_BOTH},
    {"--include-path", "-I", TO_BOTH},
    {"-isystem", NULL, TO_BOTH},
    {"-include", NULL, TO_BOTH},
    {"-D", NULL, TO_BOTH},
    {"--define-macro", "-D", TO_BOTH},
    {"-U", NULL, TO_BOTH},
    {"-std", "-std=", TO_BOTH},
    {"--std", "-std=", TO_BOTH},
    {"-Xcompiler", NULL, TO_HOST},
    {"--compiler-options", NULL, TO_HOST},
    {"-Xlinker", NULL, TO_LINK},
    {"--linker-options", NULL, TO_LINK},
    {"-L", NULL, AS_LINK},
    {"-l", NULL, AS_LINK},
    {"-arch", NULL, AS_ARCH},
    {"--gpu-architecture", NULL, AS_ARCH},
    {"-gencode", NULL, AS_ARCH},
    {"--generate-code", NULL, AS_ARCH},
    {"-MF", NULL, AS_DEPENDENCY},
    {"-MT", NULL, AS_DEPENDENCY},
    {"-MQ", NULL, AS_DEPENDENCY},
    {"-rdc", NULL, AS_RELOCATABLE},
    {"--relocatable-device-code", NULL, AS_RELOCATABLE},
    {"-code", NULL, DROPPED},
    {"--gpu-code", NULL, DROPPED},
    {"-Xptxas", NULL, DROPPED},
    {"--ptxas-options", NULL, DROPPED},
    {"-maxrregcount", NULL, DROPPED},
    {"--maxrregcount", NULL, DROPPED},
    {"-cudart", NULL, DROPPED},
    {"--cudart", NULL, DROPPED},
    {"-ccbin", NULL, DROPPED},
    {"--compiler-bindir", NULL, DROPPED},
    {"-diag-suppress", NULL, DROPPED},
    {"-x", NULL, AS_LANGUAGE},
    {"--x", NULL, AS_LANGUAGE},
    {"--offload-arch", NULL, DROPPED}, /* hipcc: of AMD's GPUs, as the next one */
    {"--amdgpu-target", NULL, DROPPED},
    {"--default-stream", NULL, DROPPED},
    {"-t", NULL, DROPPED},
};

/* Words without a value: what clang gets for the device and for both; neither: dropped. */
static const struct plain {
    const char *name, *device, *both;
} plain[] = {
    {"-lineinfo", "-gline-directives-only", NULL},
    {"--generate-line-info", "-gline-directives-only", NULL},
    {"-G", "-gline-directives-only", NULL},
    {"-g", NULL, "-g"},
    {"--debug", NULL, "-g"},
    {"-pg", NULL, NULL},
    {"-w", NULL, "-w"},
    {"-use_fast_math", NULL, "-ffast-math"},
    {"--use_fast_math", NULL, "-ffast-math"},
    {"-fmad=true", NULL, NULL},
    {"--fmad=true", NULL, NULL},
    {"-ftz=true", "-fcuda-flush-denormals-to-zero", NULL},
    {"-ftz=false", NULL, NULL},
    {"-prec-div=true", NULL, NULL},
    {"-prec-sqrt=true", NULL, NULL},
    {"-m64", NULL, NULL},
    {"-restrict", NULL, NULL},
    {"--extended-lambda", NULL, NULL},
    {"-extended-lambda", NULL, NULL},
    {"--expt-extended-lambda", NULL, NULL},
    {"-expt-extended-lambda", NULL, NULL},
    {"--expt-relaxed-constexpr", NULL, NULL},
    {"-expt-relaxed-constexpr", NULL, NULL},
    {"--resource-usage", NULL, NULL},
    {"-Wno-deprecated-gpu-targets", NULL, NULL},
};

/* The number of "sm_61", "compute_61" or "arch=compute_61,code=...". */
static bool read_arch(struct nvcc *nvcc, const char *text)
{
    const char *underscore = strchr(text, '_');
    const u32 number = underscore ? (u32)strtoul(underscore + 1, NULL, 10) : 0;
    if (number < 30 || number > 999) {
        usage_error(nvcc->command, "'%s' names no architecture: expected sm_61 or the like", text);
        return false;
    }
    nvcc->arch = MAX(nvcc->arch, MIN(number, 90)); /* clang-16 knows no newer ones */
    return true;
}

static bool read_flag(const struct nvcc *nvcc, const char *name, const char *text, bool *flag)
{
    *flag = !strcmp(text, "true");
    if (*flag || !strcmp(text, "false"))
        return true;
    usage_error(nvcc->command, "%s=%s: expected true or false", name, text);
    return false;
}

/* Libraries of CUDA that Heddle's runtime stands for. */
static bool is_own_library(const char *name)
{
    return !strncmp(name, "cudart", 6) || !strcmp(name, "cuda") || !strcmp(name, "nvrtc") ||
           !strcmp(name, "cudadevrt");
}

static bool take_value(struct nvcc *nvcc, const struct valued *row, const char *value)
{
    const char *pass = row->pass ? row->pass : row->name;
    switch (row->use) {
    case TO_BOTH:
        if (!strcmp(pass, "-isystem") || !strcmp(pass, "-include"))
            ADD(&nvcc->both, pass, value);
        else
            add(&nvcc->both, arena_printf(nvcc->arena, "%s%s", pass, value));
        return true;
    case TO_HOST:
        add_parts(nvcc, &nvcc->host, value);
        add_parts(nvcc, &nvcc->link, value);
        return true;
    case TO_LINK:
        add(&nvcc->link, arena_printf(nvcc->arena, "-Wl,%s", value));
        return true;
    case AS_LINK:
        if (strcmp(row->name, "-l") != 0 || !is_own_library(value))
            add(&nvcc->link, arena_printf(nvcc->arena, "%s%s", row->name, value));
        return true;
    case AS_OUTPUT:
        nvcc->output = value;
        return true;
    case AS_ARCH:
        return read_arch(nvcc, value);
    case AS_RELOCATABLE:
        return read_flag(nvcc, row->name, value, &nvcc->relocatable);
    case AS_DEPENDENCY:
        ADD(&nvcc->dependencies, row->name, value);
        return true;
    case AS_LANGUAGE:
        nvcc->all_cuda |= !strcmp(value, "cu") || !strcmp(value, "hip");
        return true;
    case DROPPED:
        return true;
    }
    return true;
}

/* Takes a word of `valued`; *at moves over a value in the next word. */
static bool take_valued(struct nvcc *nvcc, char **words, u32 *at, bool *known)
{
    const char *word = words[*at];
    const struct valued *best = NULL;
    for (u32 i = 0; i < ARRAY_LEN(valued); i++) {
        const size_t length = strlen(valued[i].name);
        /* only names of one letter have their value right behind them */
        const bool fits = !strncmp(word, valued[i].name, length) &&
                          (!word[length] || word[length] == '=' || length == 2);
        if (fits && (!best || length > strlen(best->name)))
            best = &valued[i];
    }
    *known = best;
    if (!best)
        return true;
    const char *value = word + strlen(best->name);
    value += *value == '=' && strlen(best->name) > 2;
    if (!*value)
        value = words[*at + 1] ? words[++*at] : NULL;
    if (value)
        return take_value(nvcc, best, value);
    usage_error(nvcc->command, "%s needs a value", best->name);
    return false;
}

static bool take_plain(struct nvcc *nvcc, const char *word)
{
    for (u32 i = 0; i < ARRAY_LEN(plain); i++) {
        if (strcmp(plain[i].name, word) != 0)
            continue;
        if (plain[i].device)
            add(&nvcc->device, plain[i].device);
        if (plain[i].both)
            add(&nvcc->both, plain[i].both);
        return true;
    }
    return false;
}

static bool take_word(struct nvcc *nvcc, char **words, u32 *at)
{
    const char *word = words[*at];
    bool known = true;
    if (*word != '-')
        add(&nvcc->inputs, word);
    else if (!strcmp(word, "-c") || !strcmp(word, "--compile"))
        nvcc->compile_only = true;
    else if (!strcmp(word, "-M") || !strcmp(word, "-MM"))
        nvcc->list_headers = true;
    else if (!strcmp(word, "-MD") || !strcmp(word, "-MMD") || !strcmp(word, "-MP"))
        add(&nvcc->dependencies, word);
    else if (!strcmp(word, "-shared") || !strcmp(word, "--shared"))
        add(&nvcc->link, "-shared");
    else if (!strcmp(word, "-fgpu-rdc"))
        nvcc->relocatable = true;
    else if (!strcmp(word, "-dc") || !strcmp(word, "--device-c"))
        nvcc->compile_only = nvcc->relocatable = true;
    else if (!strcmp(word, "-dlink") || !strcmp(word, "--device-link"))
        nvcc->device_link = true;
    else if (!strcmp(word, "-ptx") || !strcmp(word, "--ptx"))
        nvcc->ptx = true;
    else if (!strcmp(word, "-fatbin") || !strcmp(word, "--fatbin"))
        nvcc->fatbin = true;
    else if (!strcmp(word, "-fmad=false") || !strcmp(word, "--fmad=false"))
        nvcc->separate = true;
    else if (!strcmp(word, "-v") || !strcmp(word, "--verbose"))
        nvcc->verbose = true;
    else if (!strncmp(word, "-O", 2))
        add(&nvcc->both, word);
    else if (!take_plain(nvcc, word)) {
        if (!take_valued(nvcc, words, at, &known))
            return false;
    }
    if (!known)
        usage_error(nvcc->command, "there is no option %s", word);
    return known;
}

/* ---- processes ---- */

static bool run(const struct nvcc *nvcc, struct word_list *words)
{
    pid_t child;
    int status;
    add(words, NULL);
    if (nvcc->verbose) {
        for (u32 i = 0; words->list.data[i]; i++)
            fprintf(stderr, "%s%s", i ? " " : "#$ ", words->list.data[i]);
        fputc('\n', stderr);
    }
    const int failed = posix_spawnp(&child, words->list.data[0], NULL, NULL,
                                    (char *const *)words->list.data, environ);
    if (failed)
        complain(nvcc->command, "%s: %s", words->list.data[0], strerror(failed));
    vec_free(&words->list);
    if (failed)
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- a .cu file ---- */

static bool has_ending(const char *path, const char *const *endings, u32 count)
{
    const char *dot = strrchr(path, '.');
    for (u32 i = 0; dot && i < count; i++)
        if (!strcmp(dot, endings[i]))
            return true;
    return false;
}

static bool is_cuda(const struct nvcc *nvcc, const char *path)
{
    static const char *const endings[] = {".cu", ".hip", ".cpp", ".cc", ".cxx"};
    return has_ending(path, endings, nvcc->all_cuda ? ARRAY_LEN(endings) : 2);
}

static void begin_cuda(const struct nvcc *nvcc, struct word_list *words, const char *side)
{
    ADD(words, nvcc->toolchain.clang, "-x", "cuda", side, "--cuda-path=/nonexistent", "-nocudainc",
        "-nocudalib", "-Xclang", "-target-sdk-version=11.5", "-isystem", nvcc->data, "-include",
        "cuda_runtime.h", "-O2");
    ADD(words, arena_printf(nvcc->arena, "--cuda-gpu-arch=sm_%u", nvcc->arch), "-D__NVCC__",
        "-Wno-unknown-cuda-version", "-Wno-linker-warnings", "-Wno-unused-command-line-argument");
    if (nvcc->hip)
        ADD(words, "-isystem", arena_printf(nvcc->arena, "%s/../hip", nvcc->data), "-include",
            "hip/hip_runtime.h", "-D__HIPCC__", "-D__HIP__");
    if (nvcc->relocatable)
        add(words, "-D__HEDDLE_RELOCATABLE__");
    add_all(words, &nvcc->both);
}

static bool compile_device(const struct nvcc *nvcc, const char *input, const char *output)
{
    struct word_list words = {0};
    const char *const libraries[] = {arena_printf(nvcc->arena, "%s/libdevice.bc", nvcc->data),
                                     nvcc->toolchain.library, nvcc->toolchain.libclc};
    begin_cuda(nvcc, &words, "--cuda-device-only");
    ADD(&words, "-S", "-Xclang", "-target-feature", "-Xclang", "+ptx75");
    /* products and sums are fused in the program's code, as nvcc does, but not in the library's, whose
     * functions count on rounded products */
    ADD(&words, "-Xclang",
        nvcc->separate ? "-ffp-contract=off" : "-ffp-contract=fast-honor-pragmas");
    for (u32 i = 0; i < ARRAY_LEN(libraries); i++)
        ADD(&words, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", libraries[i]);
    add_all(&words, &nvcc->device);
    ADD(&words, input, "-o", output);
    return run(nvcc, &words);
}

/* Whether a mangled name (Itanium C++ ABI) is of something that only its own file sees. */
static bool is_internal(const char *name, size_t length)
{
    static const char unnamed[] = "12_GLOBAL__N_1";
    return !strncmp(name, "_ZL", 3) ||
           (!strncmp(name, "_ZN", 3) && memmem(name, length, unnamed, strlen(unnamed)));
}

/* The compiler makes static kernels and variables visible, so that the runtime finds them. In code that
 * will be linked they must not be mistaken for those of other files. Gives the names of all variables that
 * are left visible, a line each, to `shared`. */
static void hide_internal(char *text, FILE *shared)
{
    static const char visible[] = "\n.visible ";
    for (char *at = text; (at = strstr(at, visible)); at++) {
        const char *space = at + strlen(visible), *end = space + strcspn(space, "([=;\n");
        while (end[-1] == ' ')
            end--;
        const char *name = end;
        while (name[-1] != ' ')
            name--;
        const int length = (int)(end - name);
        if (is_internal(name, (size_t)length))
            memset(at + 1, ' ', strlen(visible) - 1);
        else if (!strncmp(space, ".global", 7) || !strncmp(space, ".const", 6))
            fprintf(shared, "%.*s\n", length, name);
    }
}

/* Makes a text of PTX ready to be linked; `names` is the file of its variables. */
static bool prepare_link(const struct nvcc *nvcc, char *text, const char *names)
{
    FILE *file = fopen(names, "wbe");
    if (file) {
        fputc('\n', file); /* objcopy takes no empty file */
        hide_internal(text, file);
    }
    if (file && fclose(file) == 0)
        return true;
    complain(nvcc->command, "%s: %s", names, strerror(errno));
    return false;
}

/* A variable's address on the host names it; the compiler keeps it to the object, but other files may
 * declare the variable extern. */
static bool share_variables(const struct nvcc *nvcc, const char *names, const char *object)
{
    struct word_list words = {0};
    ADD(&words, "objcopy", arena_printf(nvcc->arena, "--globalize-symbols=%s", names), object);
    return run(nvcc, &words);
}

/* Writes PTX as a fat binary: cuda/fatbin.h describes it. */
static bool pack(const struct nvcc *nvcc, const char *ptx, const char *names, const char *output)
{
    struct error error = {0};
    size_t length;
    char *text = text_read_file(ptx, false, 1 << 28, &length, &error);
    if (text && nvcc->relocatable && !prepare_link(nvcc, text, names)) {
        free(text);
        return false;
    }
    FILE *file = text ? fopen(output, "wbe") : NULL;
    const u64 padded = align_up(length + 1, 8);
    u8 head[FATBIN_HEAD + FATBIN_ENTRY] = {0x50, 0xed, 0x55, 0xba, 1, 0, FATBIN_HEAD};
    u8 *entry = head + FATBIN_HEAD;
    memcpy(head + 8, &(u64){FATBIN_ENTRY + padded}, 8);
    memcpy(entry, &(u16[2]){FATBIN_PTX, nvcc->relocatable ? FATBIN_MARK : 0x101}, 4);
    memcpy(entry + 4, &(u32){FATBIN_ENTRY}, 4);
    memcpy(entry + 8, &padded, 8);
    memcpy(entry + 28, &nvcc->arch, 4);
    static const char zeros[8];
    const size_t tail = (size_t)(padded - length);
    bool ok = file && fwrite(head, sizeof head, 1, file) == 1 &&
              fwrite(text, 1, length, file) == length && fwrite(zeros, 1, tail, file) == tail;
    if (file && fclose(file) != 0)
        ok = false;
    if (!ok)
        complain(nvcc->command, "%s: %s", output, text ? strerror(errno) : error.message);
    free(text);
    return ok;
}

/* "name.o" of "folder/name.cu" */
static const char *beside(struct arena *arena, const char *input, const char *ending)
{
    const char *slash = strrchr(input, '/'), *name = slash ? slash + 1 : input;
    const char *dot = strrchr(name, '.');
    return arena_printf(arena, "%.*s%s", dot ? (int)(dot - name) : (int)strlen(name), name, ending);
}

/* -M: the headers that a file includes, for make. */
static bool list_headers(const struct nvcc *nvcc, const char *input)
{
    struct word_list words = {0};
    begin_cuda(nvcc, &words, "--cuda-host-only");
    add(&words, "-M");
    add_all(&words, &nvcc->dependencies);
    ADD(&words, input, "-o", nvcc->output ? nvcc->output : "-");
    return run(nvcc, &words);
}

static bool compile_cuda(struct nvcc *nvcc, const char *input, const char *object)
{
    const char *folder = nvcc->folder.path;
    const char *ptx = arena_printf(nvcc->arena, "%s/%u.ptx", folder, nvcc->files);
    const char *fat = !nvcc->fatbin ? arena_printf(nvcc->arena, "%s/%u.fatbin", folder, nvcc->files)
                      : nvcc->output ? nvcc->output
                                     : beside(nvcc->arena, input, ".fatbin");
    if (nvcc->list_headers)
        return list_headers(nvcc, input);
    if (nvcc->ptx)
        return compile_device(nvcc, input,
                              nvcc->output ? nvcc->output : beside(nvcc->arena, input, ".ptx"));
    const char *names = arena_printf(nvcc->arena, "%s/%u.names", folder, nvcc->files);
    if (!compile_device(nvcc, input, ptx) || !pack(nvcc, ptx, names, fat))
        return false;
    if (nvcc->fatbin)
        return true;
    struct word_list words = {0};
    begin_cuda(nvcc, &words, "--cuda-host-only");
    ADD(&words, "-c", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fat);
    add_all(&words, &nvcc->host);
    add_all(&words, &nvcc->dependencies);
    ADD(&words, input, "-o", object);
    return run(nvcc, &words) && (!nvcc->relocatable || share_variables(nvcc, names, object));
}

/* C and C++ are compiled by the host's own compiler, as nvcc does. */
static bool compile_host(const struct nvcc *nvcc, const char *input, const char *object)
{
    struct word_list words = {0};
    ADD(&words, has_ending(input, &(const char *){".c"}, 1) ? "gcc" : "g++", "-c", "-O2",
        "-isystem", nvcc->data);
    add_all(&words, &nvcc->both);
    add_all(&words, &nvcc->host);
    add_all(&words, &nvcc->dependencies);
    ADD(&words, input, "-o", object);
    return run(nvcc, &words);
}

static bool is_source(const char *path)
{
    static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx"};
    return has_ending(path, endings, ARRAY_LEN(endings));
}

/* Compiles an input that is a source; others go to the linker as they are. */
static bool compile(struct nvcc *nvcc, const char *input, struct word_list *objects)
{
    if (!is_cuda(nvcc, input) && !is_source(input)) {
        add(objects, input);
        return true;
    }
    const char *object = !nvcc->compile_only
                             ? arena_printf(nvcc->arena, "%s/%u.o", nvcc->folder.path, nvcc->files)
                         : nvcc->output ? nvcc->output
                                        : beside(nvcc->arena, input, ".o");
    nvcc->files++;
    add(objects, object);
    return is_cuda(nvcc, input) ? compile_cuda(nvcc, input, object)
                                : compile_host(nvcc, input, object);
}

static bool link_program(const struct nvcc *nvcc, const struct word_list *objects)
{
    struct word_list words = {0};
    const char *runtime = find_beside(nvcc->arena, "libheddle-cudart.so",
                                      HEDDLE_LIBDIR "/heddle/libheddle-cudart.so");
    if (!runtime) {
        complain(nvcc->command, "libheddle-cudart.so was found neither beside this command nor in "
                                "its prefix");
        return false;
    }
    const char *folder =
        arena_strndup(nvcc->arena, runtime, (size_t)(strrchr(runtime, '/') - runtime));
    if (nvcc->verbose) /* what CMake looks for, as nvcc has it */
        fprintf(stderr, "#$ PATH=%s\n#$ LIBRARIES=-L%s\n#$ -arch compute_%u\n", getenv("PATH"),
                folder, nvcc->arch);
    ADD(&words, "g++");
    add_all(&words, objects);
    ADD(&words, "-o", nvcc->output ? nvcc->output : "a.out",
        arena_printf(nvcc->arena, "-L%s", folder), "-lheddle-cudart");
    add_all(&words, &nvcc->link);
    add(&words, "-lm");
    return run(nvcc, &words);
}

/* -dlink */
static bool write_empty_object(const struct nvcc *nvcc)
{
    struct word_list words = {0};
    ADD(&words, nvcc->toolchain.clang, "-c", "-x", "c", "/dev/null", "-o",
        nvcc->output ? nvcc->output : "a_dlink.o");
    return run(nvcc, &words);
}

/* ---- the command ---- */

static bool find_parts(struct nvcc *nvcc)
{
    const char *missing = NULL;
    nvcc->data = find_beside(nvcc->arena, "share/heddle/cuda", HEDDLE_DATADIR "/heddle/cuda");
    const char *driver =
        find_beside(nvcc->arena, "libheddle-opencl.so", HEDDLE_LIBDIR "/libheddle-opencl.so");
    const bool found = toolchain_find(&nvcc->toolchain, nvcc->arena, driver, CODE_PTX, &missing);
    if (!found || !nvcc->data)
        complain(nvcc->command, "%s was not found", found ? "share/heddle/cuda" : missing);
    else if (nvcc->toolchain.version < RIGHT_CLANG)
        complain(nvcc->command,
                 "%s moves loads across barriers: install clang-16, or name another "
                 "from clang-%d on in HEDDLE_CLANG",
                 nvcc->toolchain.clang, RIGHT_CLANG);
    else
        return true;
    return false;
}

/* The option by which every input has an output of its own; NULL: none, they become a program. */
static const char *one_output(const struct nvcc *nvcc)
{
    return nvcc->list_headers   ? "-M"
           : nvcc->ptx          ? "-ptx"
           : nvcc->fatbin       ? "-fatbin"
           : nvcc->compile_only ? "-c"
                                : NULL;
}

static bool build(struct nvcc *nvcc)
{
    struct error error = {0};
    struct word_list objects = {0};
    if (!temporary_create(&nvcc->folder, NULL, false, &error)) {
        complain(nvcc->command, "%s: %s", error.place, error.message);
        return false;
    }
    bool ok = !nvcc->device_link || write_empty_object(nvcc);
    for (u32 i = 0; ok && !nvcc->device_link && i < nvcc->inputs.list.count; i++)
        ok = compile(nvcc, nvcc->inputs.list.data[i], &objects);
    if (ok && !one_output(nvcc) && !nvcc->device_link)
        ok = link_program(nvcc, &objects);
    temporary_remove(&nvcc->folder);
    vec_free(&objects.list);
    return ok;
}

/* Whether inputs can be read, and the output is none of them: the compiler, or the linker, would
 * replace a source by its result. */
static bool check_files(const struct nvcc *nvcc)
{
    struct stat output, input;
    const bool exists = nvcc->output && stat(nvcc->output, &output) == 0;
    for (u32 i = 0; i < nvcc->inputs.list.count; i++) {
        const char *name = nvcc->inputs.list.data[i];
        if (access(name, R_OK) != 0 || stat(name, &input) != 0) {
            complain(nvcc->command, "%s: cannot open: %s", name, strerror(errno));
            return false;
        }
        if (exists && input.st_dev == output.st_dev && input.st_ino == output.st_ino) {
            usage_error(nvcc->command, "-o: '%s' is one of the files to read", nvcc->output);
            return false;
        }
    }
    return true;
}

static int run_compiler(const struct command *command, const struct command_line *line, bool hip)
{
    struct nvcc nvcc = {.command = command, .arena = arena_create(), .hip = hip, .all_cuda = hip};
    bool ok = true;
    for (u32 i = 0; ok && line->program[i]; i++)
        ok = take_word(&nvcc, line->program, &i);
    nvcc.arch = nvcc.arch ? nvcc.arch : ARCH;
    int code = EXIT_USAGE;
    if (ok && !nvcc.inputs.list.count)
        usage_error(command, "expected files to compile");
    else if (ok && one_output(&nvcc) && nvcc.output && nvcc.inputs.list.count > 1)
        usage_error(command, "-o with %s takes one file", one_output(&nvcc));
    else if (ok && check_files(&nvcc) && find_parts(&nvcc))
        code = build(&nvcc) ? EXIT_DONE : EXIT_GUEST;
    struct word_list *const all[] = {&nvcc.inputs, &nvcc.both, &nvcc.device,
                                     &nvcc.host,   &nvcc.link, &nvcc.dependencies};
    for (u32 i = 0; i < ARRAY_LEN(all); i++)
        vec_free(&all[i]->list);
    arena_destroy(nvcc.arena);
    return code;
}

static int run_nvcc(const struct command *command, const struct command_line *line)
{
    return run_compiler(command, line, false);
}

static int run_hipcc(const struct command *command, const struct command_line *line)
{
    return run_compiler(command, line, true);
}

static const struct option nvcc_options[] = {
    {"-o", "FILE", "The output: a program, with -c an object, with -ptx PTX.", 0, COMPLETE_FILE},
    {"-c", NULL, "Compile to objects; do not link.", 0, 0},
    {"-ptx", NULL, "Compile kernels to PTX.", 0, 0},
    {"-fatbin", NULL, "Compile kernels to fat binaries.", 0, 0},
    {"-rdc", "true", "Kernels use functions and variables of other files.", 0, 0},
    {"-dc", NULL, "-rdc=true and -c.", 0, 0},
    {"-arch", "sm_61", "The architecture that kernels are compiled for; at most sm_90.", 0, 0},
    {"-O", "N", "Optimization, 0 to 3.", 0, 0},
    {"-std", "c++17", "The language.", 0, 0},
    {"-I", "FOLDER", "Look for headers there.", OPTION_REPEAT, COMPLETE_FILE},
    {"-D", "NAME[=VALUE]", "Define a macro.", OPTION_REPEAT, 0},
    {"-L", "FOLDER", "Look for libraries there.", OPTION_REPEAT, COMPLETE_FILE},
    {"-l", "NAME", "Link with a library.", OPTION_REPEAT, 0},
    {"-lineinfo", NULL, "Keep source lines of kernels, for listings and annotations.", 0, 0},
    {"-use_fast_math", NULL, "Fast and less exact functions.", 0, 0},
    {"-Xcompiler", "WORDS", "Words for the compiler of the host's part.", OPTION_REPEAT, 0},
    {"-v", NULL, "Print the commands.", 0, 0},
    {0},
};

static const struct example nvcc_examples[] = {
    {"heddle nvcc -O3 -lineinfo vecadd.cu -o vecadd", "Compile a program:"},
    {"heddle run --machine gtx1080ti -- ./vecadd", "and run it:"},
    {0},
};

const struct command nvcc_command = {
    .name = "nvcc",
    .words = "FILE...",
    .summary = "compile a CUDA program with clang, without a CUDA toolkit",
    .help =
        "Compiles CUDA C++ with clang and Heddle's own headers. It takes the usual words of nvcc; "
        "those that tune machine code have no effect, since programs contain PTX only. "
        "Libraries such as cuBLAS and Thrust, and textures, are not supported. The exit code is 1 "
        "if the compiler or the linker reports an error.",
    .options = nvcc_options,
    .examples = nvcc_examples,
    .own_words = true,
    .complete = COMPLETE_FILE,
    .run = run_nvcc,
};

static const struct example hipcc_examples[] = {
    {"heddle hipcc -O3 vecadd.hip -o vecadd", "Compile a program:"},
    {"heddle run --machine gtx1080ti -- ./vecadd", "and run it:"},
    {0},
};

const struct command hipcc_command = {
    .name = "hipcc",
    .words = "FILE...",
    .summary = "compile a HIP program, as a CUDA program",
    .help =
        "Compiles HIP programs as heddle nvcc compiles CUDA C++: a header maps the names of HIP's "
        "runtime onto CUDA's. It takes the words of heddle nvcc; architectures of AMD's GPUs are "
        "taken without an effect. C++ files may have kernels. Warps have 32 threads.",
    .options = nvcc_options,
    .examples = hipcc_examples,
    .own_words = true,
    .complete = COMPLETE_FILE,
    .run = run_hipcc,
};
