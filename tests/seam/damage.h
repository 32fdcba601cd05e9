/* What damage.c looks for and changes. */
#ifndef SEAM_DAMAGE_H
#define SEAM_DAMAGE_H

#include "base/types.h"

#define DAMAGE_MARK 0x0badcafeu
enum {
    DAMAGE_BIT = 1 << 5, /* of the second word */
    DAMAGE_SETS = 4,     /* of an L2 slice, in these tests */
    DAMAGE_WAYS = 8
};

extern const struct mechanism damage_mechanism;

#endif
