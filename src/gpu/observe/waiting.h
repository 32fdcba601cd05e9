/*
 * What each warp waits for when a launch is deadlocked: facts filled in by the machine, and their
 * explanation as text and JSON.
 *
 * The machine fills one row for each warp that is still on a core and leaves unknown fields empty;
 * nothing here accesses the machine.
 */
#ifndef GPU_OBSERVE_WAITING_H
#define GPU_OBSERVE_WAITING_H

#include "base/arena.h"
#include "core/trace.h"
#include "ir/program.h"
#include <jansson.h>

enum {
    WAITING_PLACE = 96
};

struct waiting {
    u32 core, slot; /* of the warp */
    u64 block;      /* number of its block in the grid */
    u32 warp;       /* number in the block */
    u32 inst;       /* the instruction it would issue next; NO_INST: unknown */
    u8 stall;       /* enum stall */
    u32 writer;     /* instruction that writes the register it waits for; NO_INST: none */
    u32 barrier;    /* STALL_BARRIER: its number */
    char reg[16];   /* the register it waits for, "R5"; "": none or unknown */
    char place[WAITING_PLACE]; /* place of its memory request (memory_system_find); "": none */
    char more[160];            /* anything else: "vmcnt is 2, wanted 0"; "": nothing */
};

struct waiting_list {
    VEC(struct waiting) rows;
    u64 cycle;     /* of the launch, when the deadlock was found */
    u64 stuck;     /* core cycles without progress */
    u64 undone;    /* blocks that have not ended */
    u64 unstarted; /* blocks that were never on a core */
};

/* The context of a list's numbers. */
struct waiting_names {
    const struct program *program;
    const char *kernel;
    u32 grid[3];
    u64 code_address; /* of the program in device memory */
};

/* "R5, written by 0x48 'ld.global.u32 ...' (k.ptx:12); the request is in ..."; returns `text`. */
char *waiting_for(const struct waiting *waiting, const struct waiting_names *names, char *text,
                  size_t size);
/* The whole explanation, in lines, without a final newline; warps without room are counted. */
void waiting_text(const struct waiting_list *list, const struct waiting_names *names, char *text,
                  size_t size);
json_t *waiting_json(const struct waiting_list *list, const struct waiting_names *names);

#endif
