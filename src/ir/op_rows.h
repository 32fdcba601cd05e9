/* The rows of op_info, for files that define it. */
#define OP(name, text, signature, unit, latency, event, flags) \
    [OP_##name] = {#name, text, signature, UNIT_##unit, LATENCY_##latency, EVENT_##event, flags},
#include "ir/ops.def"
#undef OP
