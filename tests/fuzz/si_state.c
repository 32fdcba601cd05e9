/*
 * The reader of raw programs' state on any text: it ends, says where and what is wrong, and what it
 * takes is written and read again to the same text.
 */
#include "isa/si/state.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const struct si_state *state)
{
    require(state->wave_count && state->wave_count <= SI_STATE_WAVES);
    for (u32 i = 0; i < state->wave_count; i++) {
        const struct si_wave *wave = &state->waves[i];
        require(wave->group < state->group_count && wave->scc <= 1 && wave->pc % 4 == 0);
        require(wave->threads >= 1 && wave->threads <= SI_STATE_LANES);
        require(wave->vgpr_count <= SI_STATE_VGPRS);
    }
    for (u32 i = 0; i < state->group_count; i++)
        require(state->groups[i].lds && state->groups[i].lds_bytes <= SI_STATE_LDS_BYTES);
    for (u32 i = 0; i < state->region_count; i++) {
        const struct si_region *region = &state->regions[i];
        require(region->bytes && region->address + region->bytes - 1 >= region->address);
        require(!i || region->address - region[-1].address >= region[-1].bytes);
    }
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    struct arena *arena = arena_create();
    struct error error = {0};
    struct si_state *state = state_read(arena, (const char *)data, size, "fuzz.json", &error);
    if (!state) {
        require(error.code == ERROR_INPUT && error.place[0] && error.message[0]);
        arena_destroy(arena);
        return 0;
    }
    check(state);
    /* Many waves with many registers make a text of megabytes: nothing more to learn from it. */
    if (state->wave_count <= 4) {
        char *text = state_text(state);
        struct si_state *again = state_read(arena, text, strlen(text), "again.json", &error);
        require(again);
        check(again);
        char *same = state_text(again);
        require(!strcmp(text, same));
        free(text);
        free(same);
    }
    arena_destroy(arena);
    return 0;
}
