/* Fat binaries of CUDA programs: damaged ones are an error, never a crash. */
#include "cuda/fatbin.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct error error = {0};
    struct fatbin fatbin = {0};
    struct arena *arena = arena_create();
    const size_t first = fatbin_size(data, size);
    assert(first <= size);
    const bool ok = fatbin_read(&fatbin, arena, data, size, &error);
    assert(ok || error.message[0]);
    for (u32 i = 0; i < fatbin.entries.count; i++)
        assert(!fatbin.entries.data[i].text ||
               fatbin.entries.data[i].text[fatbin.entries.data[i].bytes] == 0);
    const struct fatbin_entry *chosen = fatbin_ptx(&fatbin, 61);
    assert(!chosen || chosen->text);
    vec_free(&fatbin.entries);
    arena_destroy(arena);
    return 0;
}
