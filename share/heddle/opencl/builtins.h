/*
 * What every OpenCL program begins with on Heddle; builtins.cl has the code.
 *
 * Names that begin with hd_ or HD_ are ours.
 */
#pragma clang system_header

#define HD_OVERLOAD __attribute__((overloadable))

/* ---- work-items ----
 *
 * A program's calls go to functions of ours (workitem.cl), which know what there is beyond three
 * dimensions; those ask the library's functions, which keep their names.
 */
#ifndef HD_LIBRARY
#define HD_ASK(name) size_t HD_OVERLOAD name(uint) __asm__("hd_" #name);
HD_ASK(get_global_id)
HD_ASK(get_local_id)
HD_ASK(get_group_id)
HD_ASK(get_global_size)
HD_ASK(get_local_size)
HD_ASK(get_num_groups)
#endif

/* ---- loads and stores of half, which the compiler declares only for devices with half ---- */

#define HD_LOAD_IN(space, n, v)                                        \
    float##v HD_OVERLOAD vload_half##n(size_t, const space half *);    \
    float##v HD_OVERLOAD vloada_half##n(size_t, const space half *);
#define HD_LOAD(n, v)           \
    HD_LOAD_IN(global, n, v)    \
    HD_LOAD_IN(constant, n, v)  \
    HD_LOAD_IN(local, n, v)     \
    HD_LOAD_IN(private, n, v)
HD_LOAD(, )
HD_LOAD(2, 2)
HD_LOAD(3, 3)
HD_LOAD(4, 4)
HD_LOAD(8, 8)
HD_LOAD(16, 16)

#define HD_STORE_AS(type, space, name)                              \
    void HD_OVERLOAD vstore_half##name(type, size_t, space half *); \
    void HD_OVERLOAD vstorea_half##name(type, size_t, space half *);
#define HD_STORE_IN(type, n, space)      \
    HD_STORE_AS(type, space, n)          \
    HD_STORE_AS(type, space, n##_rte)    \
    HD_STORE_AS(type, space, n##_rtz)    \
    HD_STORE_AS(type, space, n##_rtp)    \
    HD_STORE_AS(type, space, n##_rtn)
#define HD_STORE(type, n)          \
    HD_STORE_IN(type, n, global)   \
    HD_STORE_IN(type, n, local)    \
    HD_STORE_IN(type, n, private)
HD_STORE(float, )
HD_STORE(float2, 2)
HD_STORE(float3, 3)
HD_STORE(float4, 4)
HD_STORE(float8, 8)
HD_STORE(float16, 16)
HD_STORE(double, )
HD_STORE(double2, 2)
HD_STORE(double3, 3)
HD_STORE(double4, 4)
HD_STORE(double8, 8)
HD_STORE(double16, 16)

/* The compiler's own declaration wants a pointer that Southern Islands does not have. */
void HD_OVERLOAD wait_group_events(int, event_t *);

/* ---- printf ----
 *
 * A call becomes one record in a buffer that the host reads after the launch: u32 bytes of it, u32
 * 0, u64 address of the format, then the arguments, each with a word that says what it is (see
 * HD_PRINT_TAG), a word of 0 and its bytes, padded to eight. The arguments are told apart here, by
 * overloading, so that the host needs not trust the format.
 */
typedef global uint *hd_print_place;
hd_print_place hd_print_begin(constant const char *format, uint bytes);

#define HD_PRINT_PUT(type) hd_print_place HD_OVERLOAD hd_print_put(hd_print_place, type);
#define HD_PRINT_PUTS(type)   \
    HD_PRINT_PUT(type)        \
    HD_PRINT_PUT(type##2)     \
    HD_PRINT_PUT(type##3)     \
    HD_PRINT_PUT(type##4)     \
    HD_PRINT_PUT(type##8)     \
    HD_PRINT_PUT(type##16)
HD_PRINT_PUTS(char)
HD_PRINT_PUTS(uchar)
HD_PRINT_PUTS(short)
HD_PRINT_PUTS(ushort)
HD_PRINT_PUTS(int)
HD_PRINT_PUTS(uint)
HD_PRINT_PUTS(long)
HD_PRINT_PUTS(ulong)
HD_PRINT_PUTS(float)
HD_PRINT_PUTS(double)
HD_PRINT_PUT(const volatile global void *)
HD_PRINT_PUT(const volatile local void *)
HD_PRINT_PUT(const volatile constant void *)
HD_PRINT_PUT(const volatile private void *)
HD_PRINT_PUT(private void *) /* what (void *)0 is, which could be any of the others, too */

/* An array counts as the pointer that it becomes. */
#define HD_PRINT_SIZE(x) +8 + ((sizeof(__typeof__((0, x))) + 7) & ~7)
#define HD_PRINT_ARG(x) hd_at = hd_print_put(hd_at, x);

#define printf(...) HD_PRINTF(HD_COUNT(__VA_ARGS__), __VA_ARGS__)
#define HD_PRINTF(...) HD_PRINTF_(__VA_ARGS__)
#define HD_PRINTF_(count, format, ...)                                                  \
    ({                                                                                  \
        hd_print_place hd_first =                                                       \
            hd_print_begin(format, 0 HD_EACH##count(HD_PRINT_SIZE, ##__VA_ARGS__));     \
        hd_print_place hd_at = hd_first;                                                \
        HD_EACH##count(HD_PRINT_ARG, ##__VA_ARGS__);                                    \
        hd_at ? 0 : -1;                                                                 \
    })

/* As many arguments as there are after the format. */
#define HD_COUNT(...) HD_COUNT_(__VA_ARGS__, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, \
    52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, \
    30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, \
    7, 6, 5, 4, 3, 2, 1, 0)
#define HD_COUNT_(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, \
    a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, \
    a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, a51, a52, \
    a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, count, ...) count
#define HD_EACH0(m, ...)
#define HD_EACH1(m, x) m(x)
#define HD_EACH2(m, x, ...) m(x) HD_EACH1(m, __VA_ARGS__)
#define HD_EACH3(m, x, ...) m(x) HD_EACH2(m, __VA_ARGS__)
#define HD_EACH4(m, x, ...) m(x) HD_EACH3(m, __VA_ARGS__)
#define HD_EACH5(m, x, ...) m(x) HD_EACH4(m, __VA_ARGS__)
#define HD_EACH6(m, x, ...) m(x) HD_EACH5(m, __VA_ARGS__)
#define HD_EACH7(m, x, ...) m(x) HD_EACH6(m, __VA_ARGS__)
#define HD_EACH8(m, x, ...) m(x) HD_EACH7(m, __VA_ARGS__)
#define HD_EACH9(m, x, ...) m(x) HD_EACH8(m, __VA_ARGS__)
#define HD_EACH10(m, x, ...) m(x) HD_EACH9(m, __VA_ARGS__)
#define HD_EACH11(m, x, ...) m(x) HD_EACH10(m, __VA_ARGS__)
#define HD_EACH12(m, x, ...) m(x) HD_EACH11(m, __VA_ARGS__)
#define HD_EACH13(m, x, ...) m(x) HD_EACH12(m, __VA_ARGS__)
#define HD_EACH14(m, x, ...) m(x) HD_EACH13(m, __VA_ARGS__)
#define HD_EACH15(m, x, ...) m(x) HD_EACH14(m, __VA_ARGS__)
#define HD_EACH16(m, x, ...) m(x) HD_EACH15(m, __VA_ARGS__)
#define HD_EACH17(m, x, ...) m(x) HD_EACH16(m, __VA_ARGS__)
#define HD_EACH18(m, x, ...) m(x) HD_EACH17(m, __VA_ARGS__)
#define HD_EACH19(m, x, ...) m(x) HD_EACH18(m, __VA_ARGS__)
#define HD_EACH20(m, x, ...) m(x) HD_EACH19(m, __VA_ARGS__)
#define HD_EACH21(m, x, ...) m(x) HD_EACH20(m, __VA_ARGS__)
#define HD_EACH22(m, x, ...) m(x) HD_EACH21(m, __VA_ARGS__)
#define HD_EACH23(m, x, ...) m(x) HD_EACH22(m, __VA_ARGS__)
#define HD_EACH24(m, x, ...) m(x) HD_EACH23(m, __VA_ARGS__)
#define HD_EACH25(m, x, ...) m(x) HD_EACH24(m, __VA_ARGS__)
#define HD_EACH26(m, x, ...) m(x) HD_EACH25(m, __VA_ARGS__)
#define HD_EACH27(m, x, ...) m(x) HD_EACH26(m, __VA_ARGS__)
#define HD_EACH28(m, x, ...) m(x) HD_EACH27(m, __VA_ARGS__)
#define HD_EACH29(m, x, ...) m(x) HD_EACH28(m, __VA_ARGS__)
#define HD_EACH30(m, x, ...) m(x) HD_EACH29(m, __VA_ARGS__)
#define HD_EACH31(m, x, ...) m(x) HD_EACH30(m, __VA_ARGS__)
#define HD_EACH32(m, x, ...) m(x) HD_EACH31(m, __VA_ARGS__)
#define HD_EACH33(m, x, ...) m(x) HD_EACH32(m, __VA_ARGS__)
#define HD_EACH34(m, x, ...) m(x) HD_EACH33(m, __VA_ARGS__)
#define HD_EACH35(m, x, ...) m(x) HD_EACH34(m, __VA_ARGS__)
#define HD_EACH36(m, x, ...) m(x) HD_EACH35(m, __VA_ARGS__)
#define HD_EACH37(m, x, ...) m(x) HD_EACH36(m, __VA_ARGS__)
#define HD_EACH38(m, x, ...) m(x) HD_EACH37(m, __VA_ARGS__)
#define HD_EACH39(m, x, ...) m(x) HD_EACH38(m, __VA_ARGS__)
#define HD_EACH40(m, x, ...) m(x) HD_EACH39(m, __VA_ARGS__)
#define HD_EACH41(m, x, ...) m(x) HD_EACH40(m, __VA_ARGS__)
#define HD_EACH42(m, x, ...) m(x) HD_EACH41(m, __VA_ARGS__)
#define HD_EACH43(m, x, ...) m(x) HD_EACH42(m, __VA_ARGS__)
#define HD_EACH44(m, x, ...) m(x) HD_EACH43(m, __VA_ARGS__)
#define HD_EACH45(m, x, ...) m(x) HD_EACH44(m, __VA_ARGS__)
#define HD_EACH46(m, x, ...) m(x) HD_EACH45(m, __VA_ARGS__)
#define HD_EACH47(m, x, ...) m(x) HD_EACH46(m, __VA_ARGS__)
#define HD_EACH48(m, x, ...) m(x) HD_EACH47(m, __VA_ARGS__)
#define HD_EACH49(m, x, ...) m(x) HD_EACH48(m, __VA_ARGS__)
#define HD_EACH50(m, x, ...) m(x) HD_EACH49(m, __VA_ARGS__)
#define HD_EACH51(m, x, ...) m(x) HD_EACH50(m, __VA_ARGS__)
#define HD_EACH52(m, x, ...) m(x) HD_EACH51(m, __VA_ARGS__)
#define HD_EACH53(m, x, ...) m(x) HD_EACH52(m, __VA_ARGS__)
#define HD_EACH54(m, x, ...) m(x) HD_EACH53(m, __VA_ARGS__)
#define HD_EACH55(m, x, ...) m(x) HD_EACH54(m, __VA_ARGS__)
#define HD_EACH56(m, x, ...) m(x) HD_EACH55(m, __VA_ARGS__)
#define HD_EACH57(m, x, ...) m(x) HD_EACH56(m, __VA_ARGS__)
#define HD_EACH58(m, x, ...) m(x) HD_EACH57(m, __VA_ARGS__)
#define HD_EACH59(m, x, ...) m(x) HD_EACH58(m, __VA_ARGS__)
#define HD_EACH60(m, x, ...) m(x) HD_EACH59(m, __VA_ARGS__)
#define HD_EACH61(m, x, ...) m(x) HD_EACH60(m, __VA_ARGS__)
#define HD_EACH62(m, x, ...) m(x) HD_EACH61(m, __VA_ARGS__)
#define HD_EACH63(m, x, ...) m(x) HD_EACH62(m, __VA_ARGS__)
#define HD_EACH64(m, x, ...) m(x) HD_EACH63(m, __VA_ARGS__)
