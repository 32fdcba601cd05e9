/*
 * What a runtime sets up to launch a kernel of a code object: the argument segment, the dispatch
 * packet and the initial registers.
 *
 * Besides the arguments in the source, a kernel reads hidden ones that the runtime appends. Their
 * layout is that of the library the program was compiled with, which the file does not name:
 *
 *   libclc   {u32 dimensions, offset x, y, z}, whatever the metadata says
 *   rocm4    ROCm device libraries, code object version 4 and before: u64 offset x, y, z
 *   rocm5    ROCm device libraries, version 5 and later: block counts, block sizes, ...
 *            (arg_kinds.def)
 *
 * Detection looks, in this order, at
 *  1. functions that were not inlined: __ockl_*, __ocml_* are ROCm's, __clc_* libclc's;
 *  2. what the code loads through the argument and packet pointers it gets. In versions up to 4 a
 *     load that begins 4 or 12 bytes into the hidden arguments is libclc's (an offset of 32 bits;
 *     ROCm's are of 64), one beyond 16 bytes or of the packet's first word (the number of
 *     dimensions) is ROCm's. From version 5 on a load from the packet is libclc's (ROCm has all it
 *     needs in the hidden arguments), one beyond 16 bytes of the hidden arguments is ROCm's;
 *  3. the compilers named in .comment, those of linked bitcode among them: AMD's own is ROCm's;
 *     clang up to 14 is libclc's, as it neither wrote nor reads the bitcode of current ROCm;
 *  4. else ROCm, with the version's layout.
 * Only a program without a telling load can be misjudged. si.hidden_args overrides the detection.
 */
#ifndef ISA_SI_ABI_H
#define ISA_SI_ABI_H

#include "ir/entry.h"
#include "isa/si/codeobject.h"
#include "isa/si/params.h"

/* In the order of si.hidden_args. */
enum abi_hidden {
    ABI_AUTO,
    ABI_LIBCLC,
    ABI_ROCM4,
    ABI_ROCM5,
    ABI_DRIVER, /* a choice, not a layout */
};

struct abi_kernel {
    const struct code_object *object;
    const struct code_kernel *kernel;
    enum abi_hidden hidden; /* not ABI_AUTO */
};

/* The detected layout, never ABI_AUTO. `why`, if not NULL, gets a phrase for explanations. */
enum abi_hidden abi_detect(const struct code_object *object, const char **why);
/* Byte offset of a kernel's hidden arguments; NO_PLACE: it has none. */
u32 abi_hidden_start(const struct code_object *object, const struct code_kernel *kernel);
const char *abi_hidden_name(enum abi_hidden hidden);

/* The `kernel` arguments of abi_entry for the object's kernels, in their order. */
struct abi_kernel *abi_kernels(struct arena *arena, const struct code_object *object,
                               const struct si_params *params);

/* An entry_fn; `kernel` is a struct abi_kernel. */
entry_fn abi_entry;

#endif
