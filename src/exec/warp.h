/*
 * A running launch: its blocks, their warps, and the paths of each warp.
 *
 * Invariants
 *  W1  The masks of a warp's leaves are disjoint and not empty; together with the lanes that wait
 *      at inner nodes they are its live lanes. There are never more leaves than lanes.
 *  W2  A node's mask contains its children's masks. The lanes of a waiting node that are in no
 *      child have arrived at its pc.
 *  W3  `order` lists the leaves; the last ready one runs next (a stack, hence LIFO).
 *  W4  A leaf in the middle of a basic block has `resume` set: the block has been counted for it
 *      already. Otherwise its pc is the first instruction of a block.
 *  W5  Counters hold whole basic blocks while a launch runs; account_finish makes them exact.
 */
#ifndef EXEC_WARP_H
#define EXEC_WARP_H

#include "exec/fault.h"
#include "exec/image.h"
#include "exec/memory.h"
#include "exec/params.h"
#include <stdatomic.h>

#define NO_PATH UINT32_MAX
enum {
    MAX_LANES = 64,
    MAX_CHUNKS = 2,
    BARRIERS = 16
};

typedef u64 lane_set; /* one bit per lane of a warp */

enum path_kind {
    PATH_BRANCH,
    PATH_CALL
};
enum path_state {
    PATH_READY,
    PATH_SYNC,    /* waits for the lanes that a .sync op names */
    PATH_BARRIER, /* waits at a block barrier */
};

struct path {
    lane_set mask;
    u32 pc;       /* next instruction; of a waiting node, where it continues */
    u32 rpc;      /* merges into its parent there; NO_INST: leaves only by return or exit */
    u32 parent;   /* NO_PATH for a root; of a free node, the next free one */
    u32 children; /* 0: a leaf */
    u8 kind;      /* PATH_CALL: a return of its lanes ends here */
    u8 state;
    u8 barrier;    /* PATH_BARRIER: which */
    bool resume;   /* W4 */
    u32 members;   /* PATH_SYNC: the named lanes, of the chunk that its own lanes are in */
    bool hashed;   /* spin_hash is that of its registers when it last yielded, going to spin_pc */
    u32 spins;     /* backward branches since lanes last left the loop */
    u32 next_look; /* the number of spins at which paths_spin must act */
    u32 gave_way;  /* the number of spins when it last yielded */
    u32 spin_pc;
    u64 spin_hash;
    u32 stray; /* not 0: a flipped PC, plus one, at which it continues when it has waited */
};

/* 32 lanes of a warp: what a lane function needs. */
struct chunk {
    struct lanes lanes; /* with the next three in two cache lines */
    u8 *base;           /* of its masks and registers (S3 of image.h) */
    u32 active;         /* lanes of the current path */
    u32 guarded;        /* the mask that guard_mask expands */
    u8 *shared;
    u32 shared_bytes;
    u32 shared_check; /* bits that a word's offset may have only after a closer check */
    u32 shared_none;  /* all ones if shared memory has no word at all */
    u32 uniform_bytes;
    const u8 *uniforms;    /* enum uniform, then the parameters */
    const u32 *tids[3];    /* its threads' coordinates */
    const u64 *generation; /* memory_generation */
    u8 *local;             /* of its first lane; the next lane's is local_stride bytes later */
    u32 local_bytes, local_stride;
    _Alignas(64) u32 active_mask[LANES];
    u32 guard_mask[LANES];
};

struct warp;

/*
 * Where the values of vector registers are while they are not in their rows: in one lane, or in
 * another array. A mechanism that stores registers this way attaches a view to a warp, and dynamic
 * instructions read through it. Only dynamic instructions use views: the functional interpreter has
 * none.
 *
 * If a mechanism may move registers between rows of the register file, the map of a warp is itself
 * such a view, of all registers, and another view may be on top of it (register_keep): see
 * register_file.h.
 *
 *  R1  `apart` has a bit for each register of the warp. Registers without a bit are in their rows.
 *  R2  A dynamic instruction commits the lanes of `writes` to the row, and only the mechanism
 *      changes `apart`: when it sees the dynamic instruction retire. A partial write to a register
 *      that is apart would lose its other lanes: the mechanism must make it whole before.
 *  R3  Whatever acts later than at issue, outside a dynamic instruction (lanes that wait for
 *      others), finds its registers whole: dyninst_issue makes them so with `whole`.
 */
struct register_view {
    const u64 *apart;
    void *user;
    /* All lanes of a register that is apart. */
    void (*read)(const struct register_view *view, const struct warp *warp, u32 reg, u32 *row);
    /* All lanes of the register's row have been written: it is no longer apart. */
    void (*whole)(const struct register_view *view, struct warp *warp, u32 reg);
};

static inline bool register_elsewhere(const struct register_view *view, u32 reg)
{
    return view->apart[reg / 64] >> reg % 64 & 1;
}

enum warp_state {
    WARP_READY,
    WARP_WAITING,
    WARP_DONE
};

struct warp {
    /* Members that every instruction needs, in 64 bytes. */
    struct exec *exec;
    struct view *view;        /* the code under its MODE; NULL before it runs */
    struct path *paths;       /* malloc'd pool */
    lane_set active;          /* mask of the running leaf */
    u64 instructions;         /* issued, up to the start of its current basic block */
    struct register_map *map; /* where its registers are; NULL: in its frame (register_file.h) */
    u32 current;              /* the running leaf, or NO_PATH */
    u8 state;                 /* enum warp_state */
    bool yield;               /* it sleeps: its turn ends with the basic block */
    bool slept;               /* its last turn ended this way */
    struct chunk chunks[MAX_CHUNKS];
    struct thread_block *block;
    u32 index;        /* in its block */
    lane_set members; /* lanes that have a thread */
    lane_set live;    /* those that have not exited */
    u32 active_count;
    u32 path_capacity, path_used, path_free, path_live;
    u32 order[MAX_LANES]; /* W3 */
    u32 order_count;
    u8 *local;                       /* lanes * local_stride bytes */
    struct memory_view *memory_view; /* while an access uses one (dyninst.h); otherwise NULL */
    const struct register_view *registers; /* NULL: all registers are in their rows */
    u32 frame;                             /* of exec->file */
    struct reformed *reformed;             /* NULL: it executes its own threads (reformed.h) */
    struct reformed *kept; /* its scalars, while another has its slot; NULL: it has them */
};

/* The paths of a warp as they were at some time (paths.c). */
struct paths_copy {
    struct path *paths;
    u32 capacity, used, free, live, current, order_count;
    u32 order[MAX_LANES];
    lane_set live_lanes;
};

struct barrier {
    u32 threads;       /* expected number, 0 = all live ones */
    u32 again;         /* arrivals of lanes that had arrived already */
    bool waiting;      /* some lane has arrived */
    u32 ones, zeros;   /* reduction: lanes whose predicate was true, false */
    i32 miscounted;    /* what bit flips have added to the number of warps that have arrived */
    lane_set *arrived; /* by warp */
};

struct thread_block {
    struct exec *exec;
    u64 number;
    u32 id[3];
    u32 core;
    u32 slot; /* its place among the resident blocks, below most_resident of exec_prepare */
    u32 done_warps;
    u8 *shared;
    /* Its warps and shared memory: those of the launch, or fewer (block_limit). */
    u32 warp_count, shared_bytes;
    struct barrier barriers[BARRIERS];
    u32 barriers_used; /* barriers that may need a check, bits */
    struct warp *warps;
    void *storage; /* block, warps, registers and shared memory */
    u8 *local;
    u32 *uniforms; /* enum uniform, then the parameters */
};

typedef void output_fn(void *user, const char *text, size_t length);

/*
 * Observes a launch instruction by instruction. `started` sees a warp when its registers are set
 * and before it runs, and may change them (code with explicit EXEC only); `before` is called when
 * the current path has reached an instruction, whose sources are in the registers; `stored` sees
 * each lane's write of a store or atomic, in the order of the writes, at an address of the space;
 * `committed` is called when an instruction has executed, or waits. Without explicit EXEC,
 * `committed` is not called for branches. Any of them may be NULL.
 */
struct exec_watcher {
    void (*started)(struct exec_watcher *watcher, struct warp *warp);
    void (*before)(struct exec_watcher *watcher, struct warp *warp, u32 inst);
    void (*stored)(struct exec_watcher *watcher, struct warp *warp, u32 lane, enum space space,
                   u64 address, const u8 *bytes, u32 size);
    void (*committed)(struct exec_watcher *watcher, struct warp *warp, u32 inst);
};

/* The device heap behind guest malloc. */
struct heap {
    u64 used;
};

struct exec {
    /* set by the launcher */
    struct image *image;
    const struct function *kernel;
    struct memory *memory;
    struct heap *heap;
    const struct texture_table *textures;
    const struct launch_params *limits;
    u32 grid[3], dims[3]; /* blocks; threads of a block */
    u32 static_shared_bytes, dynamic_shared_bytes;
    u32 local_bytes;  /* per thread: the static frames and, if it can recurse, the stack */
    const u8 *params; /* padded to 16 bytes */
    u32 param_bytes;
    u32 env[9]; /* values of %envreg0 to 8: dimensions, three offsets and an address, low words
                 * first */
    const struct entry_state *entry; /* initial contents of a warp's registers; NULL: zeros */
    u64 entry_address;               /* guest address of its image */
    /* Guest address of the launch's local memory, with room for every resident warp:
     * entry->local_bytes * lanes each, by thread_block.slot. */
    u64 entry_local_address;
    /* enum redundancy by instruction of the program (analysis/redundancy.h); NULL: no active
     * mechanism needs them, or the code has no kernels. */
    const u8 *marks;
    struct bounds *bounds;        /* NULL: out-of-bounds accesses are faults (bounds.h) */
    struct exec_watcher *watcher; /* NULL: none, at full speed */
    const struct dyninst *acting; /* whose stores the watcher sees, in timing mode */
    bool by_dyninst; /* instructions are issued, and counted by the issuer, one by one: dyninst.h */
    /* The guest's clocks: cycles of the warp's core, or nanoseconds. NULL: as in special.c. */
    u64 (*clock)(const struct warp *warp, bool nanoseconds);
    u32 cores, warps_per_core;
    u64 grid_number; /* launches of the device before this one */
    bool crowded; /* in timing mode: the registers of all resident warps exceed the host's caches */
    struct register_file *file; /* of the core, in timing mode; NULL: blocks hold registers */
    output_fn *output;
    void *output_user;
    void (*poll)(struct exec *exec); /* after each run of a warp: may stop the launch */
    void *poll_user;
    f64 deadline;  /* for poll: host seconds, */
    u64 next_look; /* and the instruction count of the next check */
    /* derived by exec_prepare */
    u32 threads, warps; /* of a block */
    u32 shared_bytes;
    u32 local_stride;
    u32 register_rows, masks;
    u32 *tids[3];       /* thread coordinates by linear number, padded to whole warps */
    u64 *guard_threads; /* by instruction with a guard: lanes that executed it */
    size_t storage_bytes, local_storage_bytes;
    void **free_storage; /* LIFO, so that a block finds warm memory */
    u32 free_count;
    u32 storages; /* created so far: another is created only if none is free */
    /* results */
    struct exec_stats stats;
    u64 instructions; /* warp instructions issued, whole basic blocks */
    u64 printf_bytes;
    const struct warp *last; /* the warp that ran last, while its block is resident */
    bool stopped;            /* `fault` has the reason */
    struct fault fault;
};

/* Whether stores are observed. */
static inline bool exec_records(const struct exec *exec)
{
    return UNLIKELY(exec->watcher) && exec->watcher->stored;
}

/* Counts a basic block when lanes of a path enter it (W5). */
static inline void exec_count_entry(struct exec *exec, struct stretch *stretch, u32 lanes)
{
    stretch->warps++;
    stretch->threads += lanes;
    exec->instructions += stretch->length;
}

void exec_prepare(struct exec *exec, u32 most_resident);
void exec_release(struct exec *exec);

/* block.c */
struct thread_block *block_start(struct exec *exec, u64 number, u32 core);
void block_end(struct thread_block *block);
/* After its start: limits it to its first `warps` warps and to these bytes of shared memory. */
void block_limit(struct thread_block *block, u32 warps, u32 shared_bytes);
/* One turn: every warp may run a quantum. True: the block has ended. */
bool block_turn(struct thread_block *block);
/* Nothing in a block that has not ended can run: lets lanes at reconvergence points continue, or
 * stops the launch as a deadlock and returns false. */
bool block_unblock(struct thread_block *block);

/* Hash of everything that determines what a warp does next, except memory that others can
 * change. */
u64 warp_hash(const struct warp *warp);
/* The same without vector registers. */
u64 warp_hash_plain(const struct warp *warp);

/* warp.c */
void warp_run(struct warp *warp, u64 budget);
/* Expands the current leaf's mask for the lane functions. */
void warp_set_active(struct warp *warp);
/* Executes any step but a branch, with its guard. False: the path cannot continue. */
bool warp_step(struct warp *warp, const struct inst *inst, struct step *step);
/* The current path, of code without explicit EXEC, is at the end of a stretch that it does not
 * leave by a plain branch of all its lanes. Returns the stretch that the warp enters next, perhaps
 * on another path; NULL: warp_run must handle it. */
struct stretch *warp_pass_end(struct warp *warp, struct stretch *stretch, u64 limit);
/* The path is at an instruction inside a stretch, which it has issued. */
void warp_stop_inside(struct warp *warp, u32 pc);
/* Settles merges and waits, and picks the path that runs; false: there is none. A path that has
 * slept may yield here. */
bool warp_settle(struct warp *warp);
/* A branch instruction of code without explicit EXEC. */
void warp_control(struct warp *warp, u32 pc, lane_set lanes);
/* Memory and other accesses of a chunk. */
bool other_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
enum outcome_step {
    STEP_NEXT,
    STEP_PARK,
    STEP_STOP
};

static inline void chunk_shared(struct chunk *chunk, u8 *shared, u32 bytes)
{
    u32 words = bytes / 4;
    chunk->shared = shared;
    chunk->shared_bytes = bytes;
    chunk->shared_none = words ? 0 : ~0u;
    chunk->shared_check = words ? 3 | (~0u << (33 - __builtin_clz(words))) : ~0u;
}

/* Address of an operand's first row, for the lanes of one chunk. */
static inline u32 *chunk_row(const struct chunk *chunk, const struct step *step, unsigned slot)
{
    return (u32 *)(((uintptr_t)chunk->base & step->select[slot]) + step->row[slot]);
}
/* All six at once, for a lane function. */
static inline void chunk_place(struct chunk *chunk, const struct step *step)
{
    typedef u64 pair __attribute__((vector_size(16), aligned(8), may_alias));
    typedef u64 quad __attribute__((vector_size(32), aligned(8), may_alias));
    const quad base = (quad){} + (uintptr_t)chunk->base;
    const pair half = __builtin_shufflevector(base, base, 0, 1);
    *(quad *)chunk->lanes.src =
        (*(const quad *)&step->select[0] & base) + *(const quad *)&step->row[0];
    *(pair *)chunk->lanes.dst =
        (*(const pair *)&step->select[SLOT_DST] & half) + *(const pair *)&step->row[SLOT_DST];
}
/* Lane functions and accesses use only a part of the path's lanes, until chunk_widen. */
static inline void chunk_narrow(struct chunk *chunk, u32 mask)
{
    if (mask == chunk->active)
        return;
    if (mask != chunk->guarded) {
        chunk->guarded = mask;
        lanes_expand(mask, chunk->guard_mask);
    }
    chunk->lanes.mask = mask;
    chunk->lanes.lane_mask = chunk->guard_mask;
}
static inline void chunk_widen(struct chunk *chunk)
{
    chunk->lanes.mask = chunk->active;
    chunk->lanes.lane_mask = chunk->active_mask;
}
static inline u32 chunk_guard(const struct chunk *chunk, const struct step *step)
{
    return *(u32 *)(chunk->base + step->guard_offset) ^ (0u - step->guard_not);
}
static inline lane_set chunk_lanes(u32 mask, unsigned chunk)
{
    if (chunk >= MAX_CHUNKS)
        __builtin_unreachable(); /* for analysers: a shift by 64 is undefined */
    return (lane_set)mask << (LANES * chunk);
}
static inline u32 lanes_of_chunk(lane_set set, unsigned chunk)
{
    if (chunk >= MAX_CHUNKS)
        __builtin_unreachable();
    return (u32)(set >> (LANES * chunk));
}
static inline u32 count_lanes(lane_set set)
{
#ifdef __POPCNT__
    return (u32)__builtin_popcountll(set);
#else /* the builtin would be a call */
    set -= set >> 1 & 0x5555555555555555;
    set = (set & 0x3333333333333333) + (set >> 2 & 0x3333333333333333);
    set = (set + (set >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (u32)(set * 0x0101010101010101 >> 56);
#endif
}
static inline u32 first_lane(lane_set set)
{
    return (u32)__builtin_ctzll(set);
}
static inline struct path *warp_path(struct warp *warp)
{
    return &warp->paths[warp->current];
}
/* Active lanes for which the guard of a guarded instruction is true. */
static inline lane_set warp_guard(const struct warp *warp, const struct step *step)
{
    lane_set lanes = chunk_guard(&warp->chunks[0], step);
    if (warp->exec->image->chunks > 1)
        lanes |= chunk_lanes(chunk_guard(&warp->chunks[1], step), 1);
    return lanes & warp->active;
}
static inline const struct inst *warp_inst(const struct warp *warp, u32 inst)
{
    return &warp->exec->image->program->insts[inst];
}
/* The row of a vector register for one chunk. */
static inline u32 *vector_row(const struct warp *warp, const struct chunk *chunk, u32 index)
{
    const struct image *image = warp->exec->image;
    size_t row = image->mask_rows + image->own_rows + index;
    return (u32 *)chunk->base + row * image->warp_size;
}
/* Whether the branch of a STRETCH_TESTS is taken. */
static inline bool warp_branch_taken(const struct warp *warp, const struct stretch *stretch)
{
    const struct inst *inst = &stretch->insts[stretch->length - 1];
    const u32 *word = (const u32 *)(warp->chunks[0].base + stretch->last->row[0]);
    u32 value = word[0] | (inst->src[0].count > 1 ? word[LANES] : 0);
    return (value != 0) == inst->key;
}

/* paths.c */
struct target {
    lane_set mask;
    u32 pc;
};
/* One path, of these lanes; or none. */
void paths_reset(struct warp *warp, lane_set mask, u32 pc, u32 rpc);
void paths_clear(struct warp *warp);
/* Where all lanes continue that are at a path: up to MAX_LANES places. 0: none is, or some are in a
 * call or wait. */
u32 paths_places(const struct warp *warp, struct target *places);
bool paths_select(struct warp *warp);
bool paths_diverge(struct warp *warp, const struct target *targets, u32 count, u32 reconverge);
bool paths_call(struct warp *warp, const struct target *targets, u32 count, u32 return_pc);
void paths_return(struct warp *warp, lane_set lanes);
void paths_exit(struct warp *warp, lane_set lanes);
void paths_merge(struct warp *warp);
/* Removes a leaf, whose lanes are gone. */
void paths_remove(struct warp *warp, u32 leaf);
u32 paths_split(struct warp *warp, lane_set lanes);
void paths_rotate(struct warp *warp);
bool paths_release(struct warp *warp);
void paths_spin(struct warp *warp);
void paths_advance(struct warp *warp, struct path *leaf);
void paths_park(struct warp *warp, enum path_state state);
/* Keeps a warp's paths, in a copy that was zeroed or used before; the warp goes back to them. The
 * memory of copy->paths is the caller's to free. */
void paths_keep(const struct warp *warp, struct paths_copy *copy);
void paths_go_back(struct warp *warp, const struct paths_copy *copy);

/* spaces.c and atomic.c */
bool memory_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
bool atomic_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
/* buffer.c: through a descriptor; lds.c: between lanes; scalar_load.c: once for the warp. */
bool buffer_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
bool scalar_load_step(struct warp *warp, u32 pc, struct step *step);
void swizzle_step(struct warp *warp, u32 pc, struct step *step, lane_set lanes);
bool append_step(struct warp *warp, u32 pc, struct step *step, lane_set lanes);
/* What a scalar load reads: `inside` words at `address`, then zeros. */
struct scalar_place {
    u64 address;
    u32 words, inside;
};
struct scalar_place scalar_load_place(const struct warp *warp, u32 pc, const struct step *step);
/* Host memory of its words; NULL: there are none, or it has faulted. */
const u8 *scalar_load_find(struct warp *warp, u32 pc, struct step *step,
                           const struct scalar_place *place);
void isspace_step(struct warp *warp, struct step *step, struct chunk *chunk,
                  const struct inst *inst, u32 mask);

/* The addresses of the lanes of an access. */
struct addresses {
    const u32 *low, *high; /* words of the lanes' addresses; absent words read the zero row */
    i64 add;               /* to each of them */
    bool wide;             /* sums have 64 bits; otherwise they wrap at 2^32 */
    enum space space;
    u32 ignored; /* low bits that are ignored, where misalignment is no fault */
    u32 limit;   /* of the space, from the instruction's last scalar; all ones: none */
};
/* The alignment that an address must have. Buffers move any number of words. */
static inline u32 access_align(const struct inst *inst, u32 bytes)
{
    return inst->op == OP_buf_ld || inst->op == OP_buf_st ? MIN(bytes, 4u) : bytes;
}

struct access {
    u8 *base; /* used with offset if all lanes are in one region; otherwise NULL, and `at` is
               * used */
    _Alignas(64) u32 offset[LANES];
    u8 *at[LANES];
    u32 outside; /* without `base`: lanes outside any allocation (bounds.h) */
};
/* From the instruction's first source and imm. */
struct addresses access_addresses(const struct warp *warp, const struct step *step,
                                  const struct chunk *chunk, const struct inst *inst);
/* The slot of the scalar that limits its space; SLOT_DST: none. */
static inline unsigned access_limit(const struct inst *inst)
{
    unsigned slot;
    switch (inst->op) {
    case OP_ld:
    case OP_ld2:
    case OP_atom_src2:
        slot = 1;
        break;
    case OP_st:
        slot = 2;
        break;
    case OP_st2:
    case OP_atom:
    case OP_exch2:
        slot = 3;
        break;
    default:
        return SLOT_DST;
    }
    return inst->src[slot].kind == OPERAND_NONE ? SLOT_DST : slot;
}
/* One lane's address, in its space. */
u64 access_address(const struct addresses *addresses, u32 lane);
/* The addresses of 32 lanes, active or not; returns the OR of all of them. */
u64 access_all(const struct warp *warp, const struct addresses *addresses, u64 *address);
/* Lanes whose bytes end below the limit of shared memory, where exceeding it is no fault: the limit
 * is the scalar that the instruction names and, depending on the program's traits, the size of the
 * space. */
u32 access_within(const struct warp *warp, const struct addresses *addresses, u32 mask, u32 bytes);
/* Finds the lanes' bytes; false: the launch has stopped with a fault. */
bool access_find(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk,
                 const struct addresses *addresses, u32 mask, u32 bytes, bool write,
                 struct access *access);
void access_pointers(struct access *access, u32 mask);
/* The same, and lanes are no longer found by offsets: each may be somewhere else. */
void access_apart(struct access *access, u32 mask);
/* Moves whole words, found by access_find, from or to rows of registers. */
void access_move(const struct warp *warp, const struct chunk *chunk, u32 *row, u32 words, u32 mask,
                 struct access *access, bool write);
/* Reports a lane's write to the observer of stores, after access_pointers. */
void access_record(struct warp *warp, const struct chunk *chunk, u32 lane,
                   const struct addresses *addresses, const struct access *access, u32 bytes);
/* Zeros some lanes of `words` registers. */
void lanes_clear(u32 *row, u32 stride, u32 words, u32 mask);
/* One element of up to four bytes, extended to a word. */
static inline u32 load_narrow(const u8 *from, u32 bytes, bool is_signed)
{
    u32 word = 0;
    memcpy(&word, from, bytes);
    if (is_signed && bytes < 4)
        word = (u32)((i32)(word << (32 - 8 * bytes)) >> (32 - 8 * bytes));
    return word;
}
static inline bool loads_signed(const struct inst *inst)
{
    return inst->mods & MOD_SIGNED || type_is_signed(inst->type);
}
/* 32-bit atomics by the lanes of a mask, in lane order, at base + offset; `others` are the new
 * values of a cas; `result` may be NULL. `ftz`: float additions flush subnormals. */
void atomic_words(const struct inst *inst, u8 *base, const u32 *offset, u32 mask, const u32 *values,
                  const u32 *others, u32 *result, bool ftz);
/* atomic.c: memory[at] becomes op(memory, value, other); returns the old value. */
u64 atomic_update(const struct inst *inst, u8 *at, u32 bytes, u64 value, u64 other);
/* Checks only the faults of an atomic that atomic_step would perform. */
bool atomic_check(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
/* lds.c: the address of element 0 or 1 of a pair; the two places of an atom_src2, whose low words
 * go into `to` and `from`. */
struct addresses pair_addresses(const struct warp *warp, const struct step *step,
                                const struct chunk *chunk, const struct inst *inst, u32 element);
struct src2_places {
    struct addresses target, source;
    u32 to[LANES], from[LANES];
};
void src2_locate(const struct warp *warp, const struct step *step, const struct chunk *chunk,
                 const struct inst *inst, struct src2_places *places);
bool pair_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
bool atomic_src2_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);

/* A generic address in a window becomes an address of that window's space. */
static inline enum space window_space(const struct windows *windows, enum space space, u64 *address)
{
    if (space == SPACE_GENERIC && *address - windows->shared < WINDOW_BYTES) {
        *address -= windows->shared;
        return SPACE_SHARED;
    }
    if (space == SPACE_GENERIC && *address - windows->local < WINDOW_BYTES) {
        *address -= windows->local;
        return SPACE_LOCAL;
    }
    return space;
}
/* A generic address of one lane as host memory of at least `bytes`, or NULL. */
u8 *lane_pointer(const struct warp *warp, u32 lane, enum space space, u64 address, u64 bytes);

/* warp_ops.c, barrier.c, special.c, system.c */
enum outcome_step cross_step(struct warp *warp, u32 pc, lane_set mask);
void cross_retry(struct warp *warp);
enum outcome_step barrier_step(struct warp *warp, u32 pc, lane_set mask);
void barrier_exits(struct thread_block *block);
void special_step(struct warp *warp, u32 pc, struct step *step, struct chunk *chunk, u32 mask);
bool system_step(struct warp *warp, u32 pc, lane_set mask);

/* wave.c, scalar_step.c: code with explicit EXEC */
void wave_start(struct warp *warp);
void wave_run_path(struct warp *warp, u64 limit);
/* A branch instruction: where the path continues. False: it has ended or faulted. */
bool wave_control(struct warp *warp, u32 pc);
/* Sets the view for the warp's MODE; false: there are too many, a fault. */
bool wave_set_mode(struct warp *warp, u32 pc);
bool scalar_step(struct warp *warp, u32 pc);
void scalar_control(struct warp *warp, u32 pc);
void scalar_derive(struct warp *warp);
bool move_relative_step(struct warp *warp, u32 pc, const struct step *step);
/* The registers that result from adding M0 to those that an instruction names. False: a fault. */
bool moved_vectors(struct warp *warp, u32 pc, u32 *from, u32 *to);
bool moved_scalar(struct warp *warp, u32 pc, u32 *index);
void lane_scalar_step(struct warp *warp, u32 pc, const struct step *step);

/* account.c */
void account_finish(struct exec *exec);
void account_tails(struct thread_block *block);
void account_inst(struct exec *exec, u32 inst, i64 warps, i64 threads);
/* The same for a whole program, by instruction: the counts of an issuer of dynamic instructions. */
void account_issued(struct exec *exec, const u64 *warps, const u64 *threads);

/* fault.c */
void fault_memory(struct warp *warp, u32 pc, u32 lane, u64 address, u32 bytes, lane_set others);
/* origin.c: the data that the address of a lane's access was computed from; NULL: unknown. */
const struct allocation *fault_origin(const struct warp *warp, u32 pc, u32 lane);
void fault_at(struct warp *warp, u32 pc, u32 lane, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds a line to an explanation. */
void fault_add(struct warp *warp, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fault_deadlock(struct thread_block *block);
/* From outside the guest: reports where the last warp that ran was. */
void fault_stop(struct exec *exec, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* For a launch that would end without a fault: a check has failed, at an instruction. */
void fault_check(struct exec *exec, u32 inst, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The location of an instruction: "saxpy.cu:12 (saxpy.ptx:41), pc 0x100000128: ld.global.f32
 * ...". */
void fault_place_text(const struct exec *exec, u32 inst, char *text, size_t size);
/* What is near an address: "\n  0 bytes past the end of buffer 3 'words' [0x..., +240)". */
void fault_near_text(const struct exec *exec, u64 address, u32 bytes, char *text, size_t size);

#endif
