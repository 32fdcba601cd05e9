/* The critical path of an issue stage: see issue_path.h. */
#include "model/issue_path.h"
#include <math.h>

enum {
    OPERANDS = 4,
    CLASSES = 4
};

/* Levels of a tree with so many leaves. */
static f64 tree(f64 leaves)
{
    return log2(leaves);
}

struct issue_path issue_path_of(u32 registers, u32 warps)
{
    const f64 rest = tree(OPERANDS) + 2 * tree(warps) + 2 * tree(CLASSES) + tree(warps);
    return (struct issue_path){.levels = tree(registers) + rest,
                               .by_offset = tree((f64)warps * ISSUE_OFFSETS) + rest};
}
