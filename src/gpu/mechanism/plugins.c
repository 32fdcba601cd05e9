/* Mechanisms of shared objects: see plugins.h. */
#include "gpu/mechanism/plugins.h"

#include "base/text.h"
#include "core/mechanism.h"
#include "core/plugin.h"
#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

enum {
    OBJECT_LIMIT = 1 << 28, /* bytes */
    HASH_SHOWN = 12         /* digits */
};

bool plugin_named(const char *name, size_t length)
{
    return memchr(name, '/', length) || (length > 3 && !memcmp(name + length - 3, ".so", 3));
}

/* Fills the table of functions that a mechanism may call. */
static void fill_functions(void **table)
{
    static void *const functions[] = {
#define FUNCTION(name) (void *)name,
        PLUGIN_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    _Static_assert(ARRAY_LEN(functions) == PLUGIN_FUNCTION_COUNT, "one each");
    for (u32 i = 0; i < PLUGIN_FUNCTION_COUNT; i++) /* the object may be in use by other threads */
        __atomic_store_n(&table[i], functions[i], __ATOMIC_RELAXED);
}

/* Whether the file is a complete shared object: the system's loader crashes on a truncated one. */
static bool is_whole(const u8 *data, size_t length)
{
    Elf64_Ehdr header;
    if (length < sizeof header)
        return false;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_phoff > length ||
        (length - header.e_phoff) / sizeof(Elf64_Phdr) < header.e_phnum)
        return false;
    for (u32 i = 0; i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, data + header.e_phoff + i * sizeof segment, sizeof segment);
        if (segment.p_offset > length || segment.p_filesz > length - segment.p_offset)
            return false;
    }
    return true;
}

/* Reads and checks the file before any of its code runs: most mistakes are found here. */
static bool read_object(struct plugin *plugin, struct error *error)
{
    size_t length;
    struct sha256 hash;
    char *data = text_read_file(plugin->path, false, OBJECT_LIMIT, &length, error);
    if (!data)
        return false;
    const bool whole = is_whole((const u8 *)data, length);
    sha256_start(&hash);
    sha256_add(&hash, data, length);
    sha256_text(&hash, plugin->sha256);
    plugin->bytes = length;
    free(data);
    return whole ||
           error_set(error, ERROR_INPUT, plugin->path,
                     "%s: expected a shared object, as made by cc -shared",
                     length ? "not a shared object, or only a part of one" : "the file is empty");
}

static bool load_object(struct plugin *plugin, struct error *error)
{
    /* a path with a slash: not searched in the system's folders */
    char *path = realpath(plugin->path, NULL);
    plugin->handle = dlopen(path ? path : plugin->path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (plugin->handle)
        return true;
    const char *why = dlerror();
    const char *behind = strstr(why, ": "); /* skips the path at the start of the message */
    return error_set(error, ERROR_INPUT, plugin->path, "it cannot be loaded: %s%s",
                     behind ? behind + 2 : why,
                     strstr(why, "undefined symbol")
                         ? " (mechanisms may call only what the installed headers declare: was it "
                           "compiled with pkg-config --cflags heddle-mechanism?)"
                         : "");
}

/* Checks that the object contains a mechanism compiled for this build (G1). */
static bool take_symbol(struct plugin *plugin, struct error *error)
{
    static const u32 sizes[] = PLUGIN_SIZES;
    const struct mechanism_plugin *symbol = dlsym(plugin->handle, PLUGIN_SYMBOL);
    if (!symbol)
        return error_set(
            error, ERROR_INPUT, plugin->path,
            "it contains no mechanism: it does not export '%s', which MECHANISM_PLUGIN(NAME) does "
            "in a file that is compiled with pkg-config --cflags heddle-mechanism",
            PLUGIN_SYMBOL);
    if (memcmp(symbol->magic, PLUGIN_MAGIC, sizeof symbol->magic) != 0)
        return error_set(error, ERROR_INPUT, plugin->path, "its '%s' is not one of Heddle's",
                         PLUGIN_SYMBOL);
    if (memcmp(symbol->hash, PLUGIN_HASH, sizeof symbol->hash) != 0)
        return error_set(error, ERROR_INPUT, plugin->path,
                         "it was compiled against the headers of another Heddle (%.*s..., this one "
                         "has %.*s...): compile it again; there is no stable interface",
                         HASH_SHOWN, symbol->hash, HASH_SHOWN, PLUGIN_HASH);
    if (memcmp(symbol->sizes, sizes, sizeof sizes) != 0 || !symbol->functions)
        return error_set(error, ERROR_INPUT, plugin->path,
                         "its compiler uses another layout of structures: compile it with "
                         "pkg-config --cflags heddle-mechanism");
    plugin->mechanism = symbol->mechanism;
    if (!plugin_check(plugin->mechanism, plugin->path, error))
        return false;
    fill_functions(symbol->functions);
    return plugin_check_arrays(plugin->mechanism, plugin->path, error);
}

/* Whether the path is valid UTF-8, since it is written to JSON. */
static bool is_text(const char *path)
{
    size_t left = strlen(path), step = 1;
    for (; left && step; path += step, left -= step)
        step = text_utf8_length(path, left);
    return !left;
}

struct plugin *plugin_open(const char *path, struct error *error)
{
    if (!is_text(path)) {
        error_set(error, ERROR_INPUT, "", "the path is not UTF-8");
        return NULL;
    }
    struct plugin *plugin = checked(calloc(1, sizeof *plugin));
    plugin->owners = 1;
    plugin->path = checked(strdup(path));
    if (read_object(plugin, error) && load_object(plugin, error) && take_symbol(plugin, error))
        return plugin;
    plugin_close(plugin);
    return NULL;
}

struct plugin *plugin_share(struct plugin *plugin)
{
    atomic_fetch_add(&plugin->owners, 1);
    return plugin;
}

void plugin_close(struct plugin *plugin)
{
    if (atomic_fetch_sub(&plugin->owners, 1) > 1)
        return;
    if (plugin->handle)
        dlclose(plugin->handle);
    free(plugin->path);
    free(plugin);
}
