/*
 * AMDHSA code objects: an ELF file as the compiler's linker makes it, checked and described.
 *
 * The bytes are not trusted: every offset, size and count is checked against the file, and memory
 * is allocated for what the file holds, never for what it claims. Code object versions 3 to 6
 * (ABI versions 1 to 4) for Southern Islands (gfx600, gfx601, gfx602: one instruction set).
 *
 * Invariants of a code object
 *  O1  Segments are sorted by address, do not overlap, and data_bytes <= bytes.
 *  O2  The text lies inside the file's part of one executable segment; its ends are multiples of 4.
 *  O3  Functions are sorted by address and lie in the text; their addresses are multiples of 4.
 *  O4  A kernel's descriptor is in a segment's data, its entry in the text.
 *  O5  Relocated words lie inside a segment; line ranges are sorted and do not overlap.
 *  O6  Arguments lie inside kernarg_bytes.
 *
 * Addresses are the file's; a loader adds its base.
 */
#ifndef ISA_SI_CODEOBJECT_H
#define ISA_SI_CODEOBJECT_H

#include "base/arena.h"
#include "base/error.h"

#define NO_PLACE UINT32_MAX
#define NO_FUNCTION UINT32_MAX

enum code_access {
    CODE_EXECUTE = 1,
    CODE_WRITE = 2,
    CODE_READ = 4
};

struct code_segment {
    u64 address, bytes; /* in memory */
    const u8 *data;     /* the first data_bytes; the rest is zero */
    u64 data_bytes;
    u32 access; /* enum code_access */
};

struct code_function {
    const char *name;
    u64 address, size;
    bool is_kernel;
};

struct code_variable {
    const char *name;
    u64 address, size;
};

/* A word that depends on where the object is loaded. */
enum code_relocation_kind {
    CODE_WORD64,
    CODE_WORD32_LO, /* bits 31:0 */
    CODE_WORD32_HI, /* bits 63:32 */
};
struct code_relocation {
    u64 address;
    u64 value; /* new value of the word; + base if `relative` */
    u8 kind;   /* enum code_relocation_kind */
    bool relative;
};

enum code_arg_kind {
#define ARG_KIND(name, place) CODE_ARG_##name,
#include "isa/si/arg_kinds.def"
#undef ARG_KIND
    CODE_ARG_unknown /* an unknown word, explicit or "hidden_..." */
};

struct code_argument {
    const char *name, *type_name; /* "" if not given */
    u32 offset, size;             /* bytes in the kernarg segment */
    enum code_arg_kind kind;
    bool hidden;
    const char *kind_name;     /* as written */
    const char *address_space; /* "global", "local", "constant"..., "" if not given */
    const char *access;        /* "read_only"..., "" */
    u32 pointee_align;         /* of a dynamic_shared_pointer, 0 if not given */
    bool is_const, is_restrict, is_volatile, is_pipe;
};

/* The 64 bytes of <name>.kd, decoded for Southern Islands. */
struct kernel_descriptor {
    u32 lds_bytes;     /* static, per block */
    u32 private_bytes; /* per thread */
    u32 kernarg_bytes; /* 0: not given (compilers before 11) */
    i64 entry_offset;  /* relative to the descriptor */
    u32 rsrc1, rsrc2, rsrc3;
    u16 properties;
    /* RSRC1 */
    u32 vgprs, sgprs; /* allocated; the scalar ones include VCC */
    u32 priority;
    u32 mode; /* initial MODE register: rounding, subnormals, DX10_CLAMP, IEEE */
    /* RSRC2 */
    bool scratch; /* the wave offset is passed, private memory is set up */
    u32 user_sgprs;
    bool trap_handler;
    bool group_id[3], group_info;
    u32 local_ids;  /* 1 to 3: x, xy, xyz in v0.. */
    u32 exceptions; /* bits 30:24 */
    /* properties: what the user SGPRs hold, in this order */
    bool private_buffer, dispatch_ptr, queue_ptr, kernarg_ptr, dispatch_id, flat_scratch_init,
        private_size;
    bool wave32, dynamic_stack;
};

struct code_kernel {
    const char *name;   /* as the host uses it */
    const char *symbol; /* of the descriptor: "<name>.kd" */
    u64 descriptor_address, entry;
    u32 function; /* index of the function at `entry` */
    struct kernel_descriptor descriptor;
    bool has_metadata;
    struct code_argument *args; /* explicit ones first, hidden ones after */
    u32 arg_count, explicit_count;
    u32 kernarg_bytes, kernarg_align; /* the descriptor's, else the metadata's */
    u32 max_threads;                  /* per block: .max_flat_workgroup_size, 0 if not given */
    u32 required[3];                  /* .reqd_workgroup_size, 0 if not given */
    const char *language;             /* "OpenCL C", "" */
    u32 vgpr_count, sgpr_count;       /* used registers from the metadata; for information only */
    u32 vgpr_spills, sgpr_spills;
};

struct code_line {
    u64 start, end;
    u32 file, line; /* file: index into files */
};

/* Signs of the library a program was compiled with; see abi.h. */
struct code_producer {
    const char *const *idents; /* strings of .comment */
    u32 ident_count;
    bool rocm_names, libclc_names; /* functions whose names only one of them has */
};

struct code_object {
    const char *file; /* as the user named it */
    const char *gpu;  /* "gfx600" */
    u32 version;      /* of the code object: 3 to 6 */
    u64 low, high;    /* addresses [low, high) hold all segments; low is a multiple of 4096 */
    struct code_segment *segments;
    u32 segment_count;
    u64 text_address, text_bytes;
    const u8 *text;
    struct code_function *functions;
    u32 function_count;
    struct code_variable *variables;
    u32 variable_count;
    struct code_kernel *kernels; /* sorted by name */
    u32 kernel_count;
    struct code_relocation *relocations;
    u32 relocation_count;
    struct code_line *lines;
    u32 line_count;
    const char **files;
    u32 file_count;
    struct code_producer producer;
    const char **warnings;
    u32 warning_count;
};

/* Whether the bytes begin like an ELF file. */
bool codeobject_recognized(const void *bytes, size_t length);

/*
 * Reads a code object; the description is allocated in `arena`, with its own copy of the bytes.
 * Anything that makes the code unusable is an error; what can be worked around is a warning.
 */
struct code_object *codeobject_read(struct arena *arena, const void *bytes, size_t length,
                                    const char *file, struct error *error);

/* The kernel of this name, or NULL. */
const struct code_kernel *codeobject_kernel(const struct code_object *object, const char *name);
/* The function that holds the address, or NULL. */
const struct code_function *codeobject_function_at(const struct code_object *object, u64 address);
/* Source file and line of an address; false when not known. */
bool codeobject_line(const struct code_object *object, u64 address, const char **file, u32 *line);
/*
 * Fills `image` (high - low bytes, to be placed at guest address base + low) with the segments and
 * applies the relocations. Gaps are zero.
 */
void codeobject_load(const struct code_object *object, u64 base, u8 *image);
/* The descriptor field by field, the registers at entry and the arguments, as lines of text. */
const char *codeobject_describe_kernel(const struct code_object *object,
                                       const struct code_kernel *kernel, struct arena *arena);

#endif
