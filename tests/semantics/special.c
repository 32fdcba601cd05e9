/*
 * Special registers on a three-dimensional launch with a partial warp, address spaces, and the
 * instructions without a result: each must be accepted and leave what is around it alone.
 */
#include <string.h>

#include "harness.h"
#include "special.h"

/* clang-format off */
static const struct dim { u32 x, y, z; } grid = {2, 3, 2}, block = {8, 3, 3};
static const char *const registers32[] = {
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y",
    "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid", "%warpid", "%nwarpid", "%smid",
    "%nsmid", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt",
    "%clock", "%clock_hi", "%globaltimer_lo", "%globaltimer_hi", "%pm0", "%pm7", "%envreg0",
    "%envreg31", "%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%clusterid.x", "%clusterid.y", "%clusterid.z", "%nclusterid.x", "%nclusterid.y",
    "%nclusterid.z", "%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z",
    "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_ctarank",
    "%cluster_nctarank"};
static const char *const registers64[] = {"%gridid", "%clock64", "%globaltimer", "%pm0_64",
                                          "%current_graph_exec"};
/* Without a result: what they order or hint is not visible in one thread. */
static const char *const silent[] = {
    "bar.sync 0;", "bar.sync 1, 96;", "bar.warp.sync 0xffffffff;", "barrier.sync 0;",
    "barrier.sync.aligned 2, 96;", "barrier.cta.sync 3;", "barrier.cta.sync.aligned 4, 96;",
    "membar.cta;", "membar.gl;", "membar.sys;",
    "fence.sc.cta;", "fence.sc.gpu;", "fence.sc.sys;", "fence.acq_rel.cta;", "fence.acq_rel.gpu;",
    "fence.acq_rel.sys;", "fence.acq_rel.cluster;",
    "prefetch.global.L1 [%d9];", "prefetch.global.L2 [%d9];", "prefetch.L1 [%d9];",
    "prefetch.L2 [%d9];", "prefetchu.L1 [%d9];", "nanosleep.u32 20;", "discard.global.L2 [%d9], 128;",
    "applypriority.global.L2::evict_normal [%d9], 128;", "bar.arrive 5, 192; bar.sync 5, 192;",
    "pmevent 1;", "fence.proxy.alias;", "fence.proxy.async.global;", "membar.proxy.alias;",
    "griddepcontrol.wait;", "griddepcontrol.launch_dependents;",
    "createpolicy.fractional.L2::evict_first.b64 %d8, 0.5;"
    " ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %r2, [%d9], %d8;"
    " st.global.L2::cache_hint.u32 [%d9], %r2, %d8;", "barrier.arrive 6, 192; barrier.sync 6, 192;"};
/* clang-format on */

enum {
    COUNT32 = sizeof registers32 / sizeof *registers32,
    COUNT64 = sizeof registers64 / sizeof *registers64,
    SLOTS = COUNT32 + COUNT64 + 2 /* clock again, clock64 again */
};

static void special_kernel(struct text *t)
{
    text_add(t, ".visible .entry special(.param .u64 out)\n{\n    .reg .b32 %%r<8>;\n"
                "    .reg .b64 %%d<4>;\n    .shared .align 4 .b8 area[100];\n"
                "    mov.u32 %%r0, %%ctaid.z;\n    mov.u32 %%r1, %%nctaid.y;\n"
                "    mov.u32 %%r2, %%ctaid.y;\n    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                "    mov.u32 %%r1, %%nctaid.x;\n    mov.u32 %%r2, %%ctaid.x;\n"
                "    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                "    mov.u32 %%r1, %%ntid.z;\n    mov.u32 %%r2, %%tid.z;\n"
                "    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                "    mov.u32 %%r1, %%ntid.y;\n    mov.u32 %%r2, %%tid.y;\n"
                "    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                "    mov.u32 %%r1, %%ntid.x;\n    mov.u32 %%r2, %%tid.x;\n"
                "    mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
                "    ld.param.u64 %%d0, [out];\n");
    text_add(t, "    mul.wide.u32 %%d1, %%r0, %u;\n    add.u64 %%d0, %%d0, %%d1;\n", SLOTS * 8);
    text_add(t, "    st.shared.u32 [area], %%r0;\n");
    for (unsigned i = 0; i < COUNT32; i++)
        text_add(t, "    mov.u32 %%r3, %s;\n    st.global.u32 [%%d0+%u], %%r3;\n", registers32[i],
                 i * 8);
    for (unsigned i = 0; i < COUNT64; i++)
        text_add(t, "    mov.u64 %%d2, %s;\n    st.global.u64 [%%d0+%u], %%d2;\n", registers64[i],
                 (COUNT32 + i) * 8);
    text_add(t,
             "    mov.u32 %%r3, %%clock;\n    st.global.u32 [%%d0+%u], %%r3;\n"
             "    mov.u64 %%d2, %%clock64;\n    st.global.u64 [%%d0+%u], %%d2;\n    ret;\n}\n\n",
             (SLOTS - 2) * 8, (SLOTS - 1) * 8);
}

static u64 slot(const u64 *row, const char *name)
{
    for (unsigned i = 0; i < COUNT32; i++)
        if (!strcmp(registers32[i], name))
            return row[i];
    for (unsigned i = 0; i < COUNT64; i++)
        if (!strcmp(registers64[i], name))
            return row[COUNT32 + i];
    return ~0ull;
}

static unsigned expect(const u64 *row, const char *name, u64 want)
{
    u64 got = slot(row, name);
    if (got != want)
        printf("  %s is %llx, expected %llx\n", name, (unsigned long long)got,
               (unsigned long long)want);
    return got != want;
}

static unsigned check_place(const u64 *row, u32 thread, struct dim b)
{
    unsigned wrong = 0;
    u32 lane = thread % 32;
    wrong += expect(row, "%tid.x", thread % block.x);
    wrong += expect(row, "%tid.y", thread / block.x % block.y);
    wrong += expect(row, "%tid.z", thread / block.x / block.y);
    wrong += expect(row, "%ntid.x", block.x) + expect(row, "%ntid.y", block.y) +
             expect(row, "%ntid.z", block.z);
    wrong +=
        expect(row, "%ctaid.x", b.x) + expect(row, "%ctaid.y", b.y) + expect(row, "%ctaid.z", b.z);
    wrong += expect(row, "%clusterid.x", b.x) + expect(row, "%clusterid.y", b.y) +
             expect(row, "%clusterid.z", b.z);
    wrong += expect(row, "%nctaid.x", grid.x) + expect(row, "%nctaid.y", grid.y) +
             expect(row, "%nctaid.z", grid.z);
    wrong += expect(row, "%nclusterid.x", grid.x) + expect(row, "%nclusterid.y", grid.y) +
             expect(row, "%nclusterid.z", grid.z);
    wrong += expect(row, "%laneid", lane);
    wrong += expect(row, "%lanemask_eq", 1u << lane);
    wrong += expect(row, "%lanemask_lt", (1u << lane) - 1);
    wrong += expect(row, "%lanemask_le", (2u << lane) - 1);
    wrong += expect(row, "%lanemask_ge", (u32) ~((1u << lane) - 1));
    wrong += expect(row, "%lanemask_gt", (u32) ~((2u << lane) - 1));
    return wrong;
}

static unsigned check_rest(const u64 *row)
{
    static const char *const zeros[] = {"%pm0",
                                        "%pm7",
                                        "%envreg0",
                                        "%envreg31",
                                        "%dynamic_smem_size",
                                        "%cluster_ctaid.x",
                                        "%cluster_ctaid.y",
                                        "%cluster_ctaid.z",
                                        "%cluster_ctarank",
                                        "%current_graph_exec"};
    static const char *const ones[] = {"%cluster_nctaid.x", "%cluster_nctaid.y",
                                       "%cluster_nctaid.z", "%cluster_nctarank"};
    unsigned wrong = 0;
    for (unsigned i = 0; i < sizeof zeros / sizeof *zeros; i++)
        wrong += expect(row, zeros[i], 0);
    for (unsigned i = 0; i < sizeof ones / sizeof *ones; i++)
        wrong += expect(row, ones[i], 1);
    const struct {
        const char *what;
        bool holds;
    } facts[] = {
        {"%warpid < %nwarpid", slot(row, "%warpid") < slot(row, "%nwarpid")},
        {"%smid < %nsmid", slot(row, "%smid") < slot(row, "%nsmid")},
        {"%total_smem_size >= 100", slot(row, "%total_smem_size") >= 100},
        {"%clock grows", (u32)(row[SLOTS - 2] - slot(row, "%clock")) - 1 < 1u << 20},
        {"%clock64 grows", row[SLOTS - 1] > slot(row, "%clock64")},
        {"%clock is %clock64's low half", slot(row, "%clock64") - slot(row, "%clock") < 1u << 20},
        {"%globaltimer's high half",
         slot(row, "%globaltimer") >> 32 == slot(row, "%globaltimer_hi")},
    };
    for (unsigned i = 0; i < sizeof facts / sizeof *facts; i++)
        if (!facts[i].holds) {
            printf("  not so: %s\n", facts[i].what);
            wrong++;
        }
    return wrong;
}

static unsigned run_special(struct hd_device *device)
{
    enum {
        THREADS = 72,
        BLOCKS = 12
    };
    static u64 out[BLOCKS * THREADS * SLOTS];
    struct text text = {0};
    unsigned wrong = 0;
    text_add(&text, PTX_HEADER);
    special_kernel(&text);
    struct hd_module *module = module_load(device, &text, "special");
    u64 args[] = {buffer_new(device, NULL, sizeof out)};
    memset(out, 0, sizeof out);
    buffer_write(device, args[0], out, sizeof out);
    if (!module || !launch(module, "special", (struct hd_dim){grid.x, grid.y, grid.z},
                           (struct hd_dim){block.x, block.y, block.z}, args, 1))
        return 1;
    buffer_read(device, args[0], out, sizeof out);
    for (u32 b = 0; b < BLOCKS && wrong < 20; b++)
        for (u32 i = 0; i < THREADS && wrong < 20; i++) {
            const u64 *row = out + (b * THREADS + i) * SLOTS;
            struct dim at = {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y};
            wrong += check_place(row, i, at) + check_rest(row);
        }
    text_free(&text);
    return wrong;
}

/* Addresses of each space, converted to generic and back, and asked where they are. */
static const char *const address_spaces[] = {"global", "shared", "local", "const"};

static void address_kernel(struct text *t)
{
    text_add(t, ".global .align 8 .b8 in_global[16];\n.const .align 8 .b8 in_const[16];\n"
                ".visible .entry addresses(.param .u64 out)\n{\n    .reg .b64 %%d<8>;\n"
                "    .reg .b32 %%r<4>;\n    .reg .pred %%p<4>;\n"
                "    .local .align 8 .b8 in_local[16];\n    .shared .align 8 .b8 in_shared[16];\n"
                "    ld.param.u64 %%d0, [out];\n");
    for (unsigned s = 0; s < 4; s++) {
        const char *name = address_spaces[s];
        unsigned at = s * 64;
        text_add(t,
                 "    mov.u64 %%d1, in_%s;\n    cvta.%s.u64 %%d2, %%d1;\n"
                 "    cvta.to.%s.u64 %%d3, %%d2;\n    cvta.%s.u64 %%d4, in_%s+8;\n"
                 "    sub.u64 %%d5, %%d3, %%d1;\n    st.global.u64 [%%d0+%u], %%d5;\n"
                 "    sub.u64 %%d5, %%d4, %%d2;\n    st.global.u64 [%%d0+%u], %%d5;\n",
                 name, name, name, name, name, at, at + 8);
        for (unsigned k = 0; k < 4; k++)
            text_add(t,
                     "    isspacep.%s %%p0, %%d2;\n    selp.u32 %%r0, 1, 0, %%p0;\n"
                     "    st.global.u32 [%%d0+%u], %%r0;\n",
                     address_spaces[k], at + 16 + 4 * k);
    }
    text_add(t, "    ret;\n}\n\n");
}

static unsigned run_addresses(struct hd_device *device)
{
    struct text text = {0};
    u8 out[256] = {0};
    unsigned wrong = 0;
    text_add(&text, PTX_HEADER);
    address_kernel(&text);
    struct hd_module *module = module_load(device, &text, "addresses");
    u64 args[] = {buffer_new(device, out, sizeof out)};
    if (!module ||
        !launch(module, "addresses", (struct hd_dim){1, 1, 1}, (struct hd_dim){1, 1, 1}, args, 1))
        return 1;
    buffer_read(device, args[0], out, sizeof out);
    for (unsigned s = 0; s < 4; s++) {
        u64 there_and_back, offset;
        memcpy(&there_and_back, out + s * 64, 8);
        memcpy(&offset, out + s * 64 + 8, 8);
        if (there_and_back != 0 || offset != 8) {
            printf("  cvta.%s: there and back differs by %llx, +8 gives +%llx\n", address_spaces[s],
                   (unsigned long long)there_and_back, (unsigned long long)offset);
            wrong++;
        }
        for (unsigned k = 0; k < 4; k++) {
            u32 is;
            memcpy(&is, out + s * 64 + 16 + 4 * k, 4);
            if (is != (s == k)) {
                printf("  isspacep.%s of an address in %s is %u\n", address_spaces[k],
                       address_spaces[s], is);
                wrong++;
            }
        }
    }
    text_free(&text);
    return wrong;
}

static void silent_kernel(struct text *t, const char *statement, const char *name)
{
    text_add(t,
             "// %s\n.visible .entry %s(.param .u64 out)\n{\n    .reg .b64 %%d<10>;\n"
             "    .reg .b32 %%r<4>;\n    ld.param.u64 %%d0, [out];\n    mov.u64 %%d9, %%d0;\n"
             "    mov.u32 %%r0, %%tid.x;\n    mul.wide.u32 %%d1, %%r0, 4;\n"
             "    add.u64 %%d0, %%d0, %%d1;\n    mad.lo.u32 %%r1, %%r0, 5, 7;\n    %s\n"
             "    st.global.u32 [%%d0+128], %%r1;\n    ret;\n}\n\n",
             statement, name, statement);
}

static unsigned run_silent(struct hd_device *device, const char *statement)
{
    enum {
        THREADS = 96
    };
    struct text text = {0};
    u32 out[32 + THREADS] = {0};
    unsigned wrong = 0;
    text_add(&text, PTX_HEADER);
    silent_kernel(&text, statement, "silent");
    struct hd_module *module = module_load(device, &text, statement);
    u64 args[] = {buffer_new(device, out, sizeof out)};
    if (!module || !launch(module, "silent", (struct hd_dim){2, 1, 1},
                           (struct hd_dim){THREADS, 1, 1}, args, 1))
        return 1;
    buffer_read(device, args[0], out, sizeof out);
    for (u32 i = 0; i < THREADS; i++)
        wrong += out[32 + i] != i * 5 + 7;
    if (wrong)
        printf("  %s disturbs %u threads\n", statement, wrong);
    text_free(&text);
    return wrong != 0;
}

int suite_special(void)
{
    unsigned failed = 0;
    for (unsigned on = 0; on < 2; on++) {
        struct hd_device *device = device_open(on ? settings_plain : settings_fast);
        failed += run_special(device) != 0;
        failed += run_addresses(device) != 0;
        for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++)
            failed += run_silent(device, silent[i]);
        hd_device_close(device);
    }
    printf("special: %u failed\n", failed);
    return failed != 0;
}

void special_visit_forms(special_visit *visit, void *user)
{
    char opcode[80];
    for (unsigned i = 0; i < COUNT32; i++) {
        snprintf(opcode, sizeof opcode, "mov.u32 %s", registers32[i]);
        visit(user, opcode);
    }
    for (unsigned i = 0; i < COUNT64; i++) {
        snprintf(opcode, sizeof opcode, "mov.u64 %s", registers64[i]);
        visit(user, opcode);
    }
    for (unsigned s = 0; s < 4; s++) {
        for (unsigned k = 0; k < 3; k++) {
            snprintf(opcode, sizeof opcode,
                     k == 0   ? "cvta.%s.u64"
                     : k == 1 ? "cvta.to.%s.u64"
                              : "isspacep.%s",
                     address_spaces[s]);
            visit(user, opcode);
        }
    }
    for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++)
        for (const char *p = silent[i]; *p; p += strspn(p, "; ")) {
            snprintf(opcode, sizeof opcode, "%.*s", (int)strcspn(p, " ;"), p);
            visit(user, opcode);
            p += strcspn(p, ";");
        }
}

void special_ptx(struct text *text)
{
    special_kernel(text);
    address_kernel(text);
    for (unsigned i = 0; i < sizeof silent / sizeof *silent; i++) {
        char name[32];
        snprintf(name, sizeof name, "silent%u", i);
        silent_kernel(text, silent[i], name);
    }
}
