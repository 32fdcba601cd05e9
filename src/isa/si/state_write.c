/* Writes the state of raw programs as JSON, one register per line: see state.h. */
#include "isa/si/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void write_hex(FILE *out, const u8 *data, u64 bytes)
{
    static const char digits[] = "0123456789abcdef";
    fputc('"', out);
    for (u64 i = 0; i < bytes; i++) {
        fputc(digits[data[i] >> 4], out);
        fputc(digits[data[i] & 15], out);
    }
    fputc('"', out);
}

static void write_wave(FILE *out, const struct si_state *state, const struct si_wave *wave)
{
    const struct si_group *group = &state->groups[wave->group];
    fprintf(out,
            "{\"workgroup\": %u, \"threads\": %u, \"pc\": %" PRIu64 ", \"lds_bytes\": %u,\n"
            "   \"exec\": \"0x%016" PRIx64 "\", \"vcc\": \"0x%016" PRIx64 "\", \"scc\": %u, "
            "\"m0\": %u, \"mode\": %u,\n   \"sgpr\": {",
            group->id, wave->threads, wave->pc, group->lds_bytes, wave->exec, wave->vcc, wave->scc,
            wave->m0, wave->mode);
    for (u32 i = 0; i < SI_STATE_SGPRS; i++)
        fprintf(out, "%s\"%u\": %u", i ? ", " : "", i, wave->sgpr[i]);
    fprintf(out, "},\n   \"vgpr\": {");
    for (u32 i = 0; i < wave->vgpr_count; i++) {
        fprintf(out, "%s\n    \"%u\": [", i ? "," : "", i);
        for (u32 lane = 0; lane < SI_STATE_LANES; lane++)
            fprintf(out, "%s%u", lane ? ", " : "", wave->vgpr[i][lane]);
        fputc(']', out);
    }
    fprintf(out, "},\n   \"lds\": ");
    write_hex(out, group->lds, group->lds_bytes);
    fputc('}', out);
}

char *state_text(const struct si_state *state)
{
    char *text = NULL;
    size_t length;
    FILE *out = checked(open_memstream(&text, &length));
    fprintf(out, "{\"waves\": [");
    for (u32 i = 0; i < state->wave_count; i++) {
        fprintf(out, "%s\n  ", i ? "," : "");
        write_wave(out, state, &state->waves[i]);
    }
    fprintf(out, "],\n \"memory\": [");
    for (u32 i = 0; i < state->region_count; i++) {
        const struct si_region *region = &state->regions[i];
        fprintf(out, "%s\n  {\"address\": \"0x%" PRIx64 "\", \"hex\": ", i ? "," : "",
                region->address);
        write_hex(out, region->data, region->bytes);
        fputc('}', out);
    }
    fprintf(out, "]}\n");
    fclose(out);
    return text;
}
