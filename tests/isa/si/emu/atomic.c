/* What an atomic leaves in memory. See emu.h. */
#include "emu.h"

u64 atomic_value(enum atomic op, bool wide, u64 old, u64 data, u64 compare)
{
    enum kind kind = wide ? K_F64 : K_F32;
    i64 signed_old = wide ? (i64)old : (int32_t)old, signed_data = wide ? (i64)data : (int32_t)data;
    switch (op) {
    case A_ADD:
        return old + data;
    case A_SUB:
        return old - data;
    case A_RSUB:
        return data - old;
    case A_INC:
        return old >= data ? 0 : old + 1;
    case A_DEC:
        return old == 0 || old > data ? data : old - 1;
    case A_SMIN:
        return signed_data < signed_old ? data : old;
    case A_SMAX:
        return signed_data > signed_old ? data : old;
    case A_UMIN:
        return data < old ? data : old;
    case A_UMAX:
        return data > old ? data : old;
    case A_AND:
        return old & data;
    case A_OR:
        return old | data;
    case A_XOR:
        return old ^ data;
    case A_MSKOR:
        return (old & ~compare) | data;
    case A_SWAP:
        return data;
    case A_CMPSWAP:
        return old == compare ? data : old;
    case A_FCMPSWAP:
        return num_compare(kind, old, compare) == 0 ? data : old;
    case A_FMIN:
    case A_FMAX:
        return num_atomic_minmax(kind, old, data, op == A_FMAX);
    }
    return old;
}
