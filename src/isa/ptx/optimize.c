/* Simplification of virtual code before allocation. */
#include "isa/ptx/lower.h"
void optimize(struct fn *fn)
{
    (void)fn;
}
