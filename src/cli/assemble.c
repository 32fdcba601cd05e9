/*
 * Assembles Southern Islands code with an assembler of LLVM, found on PATH. Its object goes to an
 * unnamed file, so that nothing has to be cleaned up; its messages go to standard error unchanged,
 * with file and line.
 */
#include "cli/code.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the order they are tried: the oldest first, as the best tested one. */
static const char *const clangs[] = {"clang-14", "clang",    "clang-19", "clang-18", "clang-17",
                                     "clang-16", "clang-15", "clang-13", "clang-20", "clang-21"};
static const char *const mcs[] = {"llvm-mc-14", "llvm-mc",    "llvm-mc-19", "llvm-mc-18",
                                  "llvm-mc-17", "llvm-mc-16", "llvm-mc-15", "llvm-mc-13",
                                  "llvm-mc-20", "llvm-mc-21"};

static bool on_path(const char *program)
{
    const char *path = getenv("PATH");
    char name[4096];
    for (size_t length; path; path = path[length] ? path + length + 1 : NULL) {
        length = strcspn(path, ":");
        int printed = snprintf(name, sizeof name, "%.*s/%s", (int)length, path, program);
        if (length && printed < (int)sizeof name && access(name, X_OK) == 0)
            return true;
    }
    return false;
}

static const char *find(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (on_path(names[i]))
            return names[i];
    return NULL;
}

/* The exit status, or -1 if it could not be started. */
static int run(const char *const *words, int output)
{
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    int failed = posix_spawnp(&child, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) {
        errno = failed;
        return -1;
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static char *read_back(FILE *file, size_t *length)
{
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *data = size > 0 ? malloc((size_t)size) : NULL;
    rewind(file);
    *length = data ? fread(data, 1, (size_t)size, file) : 0;
    if (data && *length == (size_t)size)
        return data;
    free(data);
    return NULL;
}

/* ---- the object ---- */

struct elf_object {
    const char *data;
    size_t length;
    Elf64_Ehdr header;
};

static bool section_at(const struct elf_object *object, u32 index, Elf64_Shdr *section)
{
    u64 offset = object->header.e_shoff + (u64)index * sizeof *section;
    if (index >= object->header.e_shnum || offset > object->length ||
        sizeof *section > object->length - offset)
        return false;
    memcpy(section, object->data + offset, sizeof *section);
    return section->sh_type == SHT_NOBITS ||
           (section->sh_offset <= object->length &&
            section->sh_size <= object->length - section->sh_offset);
}

static const char *section_name(const struct elf_object *object, const Elf64_Shdr *section)
{
    Elf64_Shdr names;
    if (!section_at(object, object->header.e_shstrndx, &names) || section->sh_name >= names.sh_size)
        return "";
    const char *name = object->data + names.sh_offset + section->sh_name;
    return memchr(name, 0, names.sh_size - section->sh_name) ? name : "";
}

/* Finds the code; reports relocations as errors and other contents of the object as notes. */
static bool take_text(const struct command *command, const char *path,
                      const struct elf_object *object, Elf64_Shdr *text)
{
    u32 index = 0;
    for (u32 i = 1; i < object->header.e_shnum; i++) {
        Elf64_Shdr section;
        if (!section_at(object, i, &section))
            break;
        const char *name = section_name(object, &section);
        if (!strcmp(name, ".text")) {
            *text = section;
            index = i;
        } else if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) && index &&
                   section.sh_info == index) {
            complain(command,
                     "%s: the code refers to symbols that need a linker: a raw program may use "
                     "only labels of its own .text",
                     path);
            return false;
        } else if ((section.sh_flags & SHF_ALLOC) && section.sh_size &&
                   section.sh_type != SHT_NOTE) {
            complain(command,
                     "%s: note: section %s is ignored: a raw program consists of .text only", path,
                     name);
        }
    }
    if (!index || !text->sh_size) {
        complain(command, "%s: its .text has no instructions", path);
        return false;
    }
    return true;
}

static char *text_of(const struct command *command, const char *path, const char *data,
                     size_t *length)
{
    struct elf_object object = {.data = data, .length = *length};
    Elf64_Shdr text = {0};
    if (*length < sizeof object.header || memcmp(data, ELFMAG, SELFMAG) != 0) {
        complain(command, "%s: the assembler produced no ELF object", path);
        return NULL;
    }
    memcpy(&object.header, data, sizeof object.header);
    if (!take_text(command, path, &object, &text))
        return NULL;
    char *code = malloc(text.sh_size);
    if (code)
        memcpy(code, data + text.sh_offset, text.sh_size);
    *length = text.sh_size;
    return code;
}

char *assemble(const struct command *command, const char *path, size_t *length)
{
    const char *clang = find(clangs, ARRAY_LEN(clangs));
    const char *mc = clang ? NULL : find(mcs, ARRAY_LEN(mcs));
    if (!clang && !mc) {
        complain(command,
                 "%s: no assembler found on PATH: clang or llvm-mc is needed (Debian package "
                 "clang-14, or llvm-14)",
                 path);
        return NULL;
    }
    char name[4096];
    snprintf(name, sizeof name, "%s%s", path[0] == '-' ? "./" : "", path);
    const char *language = path[strlen(path) - 1] == 'S' ? "assembler-with-cpp" : "assembler";
    const char *const by_clang[] = {clang,
                                    "-x",
                                    language,
                                    "-target",
                                    "amdgcn-amd-amdhsa",
                                    "-mcpu=tahiti",
                                    "-nogpulib",
                                    "-Wno-unused-command-line-argument",
                                    "-c",
                                    name,
                                    "-o",
                                    "-",
                                    NULL};
    const char *const by_mc[] = {
        mc, "-triple=amdgcn-amd-amdhsa", "-mcpu=tahiti", "-filetype=obj", name, "-o", "-", NULL};
    const char *const *words = clang ? by_clang : by_mc;
    FILE *file = tmpfile();
    int status = file ? run(words, fileno(file)) : -1;
    char *data = NULL, *code = NULL;
    if (status < 0)
        complain(command, "%s: cannot run %s: %s", path, words[0], strerror(errno));
    else if (status || !(data = read_back(file, length)))
        complain(command, "%s: %s could not assemble this file", path, words[0]);
    else
        code = text_of(command, path, data, length);
    free(data);
    if (file)
        fclose(file);
    return code;
}
