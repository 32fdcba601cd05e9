/*
 * Work-items: numbers are 0 and sizes 1 in dimensions that a launch does not have (6.12.1). libclc's
 * functions of PTX give sizes of 0 from the fourth on, those of Southern Islands numbers of 1.
 */

/* What programs call (builtins.h). With a constant dimension the library's function is left. */
#define ASK(name, beyond)                                                            \
    __attribute__((const, always_inline)) size_t hd_##name(uint dimension)           \
    {                                                                                \
        return dimension < 3 ? name(dimension) : beyond;                             \
    }

#ifdef __NVPTX__
/* %envreg0 is the number of dimensions, 1 to 6 the offsets, low words first. */
#define ENVREG(n)                                       \
    ({                                                  \
        uint hd_word;                                   \
        __asm__("mov.u32 %0, %%envreg" #n ";" : "=r"(hd_word)); \
        hd_word;                                        \
    })

PURE uint get_work_dim(void)
{
    return ENVREG(0);
}

PURE size_t get_global_offset(uint dimension)
{
    switch (dimension) {
    case 0: return upsample(ENVREG(2), ENVREG(1));
    case 1: return upsample(ENVREG(4), ENVREG(3));
    case 2: return upsample(ENVREG(6), ENVREG(5));
    default: return 0;
    }
}

PURE size_t get_global_id(uint dimension)
{
    return get_group_id(dimension) * get_local_size(dimension) + get_local_id(dimension) +
           get_global_offset(dimension);
}
#endif

ASK(get_global_id, 0)
ASK(get_local_id, 0)
ASK(get_group_id, 0)
ASK(get_global_size, 1)
ASK(get_local_size, 1)
ASK(get_num_groups, 1)
