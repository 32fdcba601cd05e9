/* The idioms as OpenCL C. */
#define HELPER
#define KERNEL(name) kernel void name(global unsigned *out, global const unsigned *in)
#define SHARED(type, name, count) local type name[count]
#define LOCAL(type) local type *
#define ITEM ((int)get_local_id(0))
#define BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#define INCREMENT(address) atomic_inc(address)
#include "idioms.h"
