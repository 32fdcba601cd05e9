/*
 * vote, shfl, match, redux, activemask, elect and the reductions of bar, on full warps, on parts
 * of a warp that reach the instruction together, and on single lanes.
 */
#include <string.h>

#include "harness.h"
#include "warp.h"

enum {
    WARP = 32,
    THREADS = 96,
    ROUNDS = 12
};

static bool has(const struct warp_form *f, const char *part)
{
    return strstr(f->opcode, part) != NULL;
}

static u32 members(const struct lane *l, unsigned count)
{
    u32 mask = 0;
    for (unsigned i = 0; i < count; i++)
        mask |= (u32)l[i].member << (i % WARP);
    return mask;
}

static void ref_vote(const struct warp_form *f, struct lane *l, unsigned count)
{
    bool negate = strchr(f->text, '!') != NULL, all = true, any = false;
    u32 ballot = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!l[i].member)
            continue;
        bool p = l[i].p != negate;
        all &= p;
        any |= p;
        ballot |= (u32)p << i;
    }
    for (unsigned i = 0; i < count; i++) {
        l[i].d = has(f, "ballot") ? ballot : 0;
        l[i].q = has(f, ".all") ? all : has(f, ".any") ? any : has(f, ".uni") && (all || !any);
    }
}

static void ref_shfl(const struct warp_form *f, struct lane *l, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        int lane = (int)i, b = l[i].b & 31, c = l[i].c & 31, segment = l[i].c >> 8 & 31;
        int most = (lane & segment) | (c & ~segment), least = lane & segment, j;
        bool in;
        if (has(f, ".up")) {
            j = lane - b;
            in = j >= most;
        } else {
            j = has(f, ".down") ? lane + b : has(f, ".bfly") ? lane ^ b : least | (b & ~segment);
            in = j <= most;
        }
        j = in ? j : lane;
        l[i].q = in;
        l[i].undefined = j < 0 || j >= (int)count || !l[j].member;
        l[i].d = l[i].undefined ? 0 : l[j].a;
    }
}

static void ref_match(const struct warp_form *f, struct lane *l, unsigned count)
{
    u32 everyone = members(l, count);
    bool same = true;
    for (unsigned i = 0; i < count; i++) {
        u32 mask = 0;
        for (unsigned j = 0; j < count; j++)
            if (l[j].member && l[i].a == l[j].a)
                mask |= 1u << j;
        if (l[i].member)
            same &= mask == everyone;
        l[i].d = mask;
    }
    for (unsigned i = 0; has(f, ".all") && i < count; i++) {
        l[i].d = same ? everyone : 0;
        l[i].q = same;
    }
}

static u32 reduce(const struct warp_form *f, u32 x, u32 y)
{
    bool is_signed = has(f, "s32"), less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    if (has(f, ".add"))
        return x + y;
    if (has(f, ".min"))
        return less ? x : y;
    if (has(f, ".max"))
        return less ? y : x;
    return has(f, ".and") ? (x & y) : has(f, ".xor") ? (x ^ y) : (x | y);
}

static void ref_redux(const struct warp_form *f, struct lane *l, unsigned count)
{
    bool first = true;
    u32 value = 0;
    for (unsigned i = 0; i < count; i++)
        if (l[i].member) {
            value = first ? (u32)l[i].a : reduce(f, value, (u32)l[i].a);
            first = false;
        }
    for (unsigned i = 0; i < count; i++)
        l[i].d = value;
}

static void ref_activemask(const struct warp_form *f, struct lane *l, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        l[i].d = members(l, count);
}

/* The lowest member is elected here; the manual leaves the choice open but asks for one. */
static void ref_elect(const struct warp_form *f, struct lane *l, unsigned count)
{
    u32 mask = members(l, count);
    unsigned leader = mask ? (unsigned)__builtin_ctz(mask) : 0;
    for (unsigned i = 0; i < count; i++) {
        l[i].d = leader;
        l[i].q = i == leader;
    }
}

static void ref_barrier(const struct warp_form *f, struct lane *l, unsigned count)
{
    bool negate = strchr(f->text, '!') != NULL, all = true, any = false;
    u32 sum = 0;
    for (unsigned i = 0; i < count; i++) {
        bool p = l[i].p != negate;
        all &= p;
        any |= p;
        sum += p;
    }
    for (unsigned i = 0; i < count; i++) {
        l[i].d = has(f, "popc") ? sum : 0;
        l[i].q = has(f, ".and") ? all : has(f, ".or") ? any : false;
    }
}

/* clang-format off */
static const struct warp_form forms[] = {
    {"vote.sync.all.pred %q, %p, %m;", "vote.sync.all.pred", ref_vote, 32, false, false},
    {"vote.sync.any.pred %q, %p, %m;", "vote.sync.any.pred", ref_vote, 32, false, false},
    {"vote.sync.uni.pred %q, %p, %m;", "vote.sync.uni.pred", ref_vote, 32, false, false},
    {"vote.sync.ballot.b32 %d, %p, %m;", "vote.sync.ballot.b32", ref_vote, 32, false, false},
    {"vote.sync.all.pred %q, !%p, %m;", "vote.sync.all.pred", ref_vote, 32, false, false},
    {"vote.sync.any.pred %q, !%p, %m;", "vote.sync.any.pred", ref_vote, 32, false, false},
    {"vote.sync.uni.pred %q, !%p, %m;", "vote.sync.uni.pred", ref_vote, 32, false, false},
    {"vote.sync.ballot.b32 %d, !%p, %m;", "vote.sync.ballot.b32", ref_vote, 32, false, false},
    {"shfl.sync.up.b32 %d|%q, %a, %b, %c, %m;", "shfl.sync.up.b32", ref_shfl, 32, false, false},
    {"shfl.sync.down.b32 %d|%q, %a, %b, %c, %m;", "shfl.sync.down.b32", ref_shfl, 32, false, false},
    {"shfl.sync.bfly.b32 %d|%q, %a, %b, %c, %m;", "shfl.sync.bfly.b32", ref_shfl, 32, false, false},
    {"shfl.sync.idx.b32 %d|%q, %a, %b, %c, %m;", "shfl.sync.idx.b32", ref_shfl, 32, false, false},
    {"match.any.sync.b32 %d, %a, %m;", "match.any.sync.b32", ref_match, 32, false, false},
    {"match.any.sync.b64 %d, %a, %m;", "match.any.sync.b64", ref_match, 64, false, false},
    {"match.all.sync.b32 %d|%q, %a, %m;", "match.all.sync.b32", ref_match, 32, false, false},
    {"match.all.sync.b64 %d|%q, %a, %m;", "match.all.sync.b64", ref_match, 64, false, false},
    {"redux.sync.add.u32 %d, %a, %m;", "redux.sync.add.u32", ref_redux, 32, false, false},
    {"redux.sync.add.s32 %d, %a, %m;", "redux.sync.add.s32", ref_redux, 32, false, false},
    {"redux.sync.min.u32 %d, %a, %m;", "redux.sync.min.u32", ref_redux, 32, false, false},
    {"redux.sync.min.s32 %d, %a, %m;", "redux.sync.min.s32", ref_redux, 32, false, false},
    {"redux.sync.max.u32 %d, %a, %m;", "redux.sync.max.u32", ref_redux, 32, false, false},
    {"redux.sync.max.s32 %d, %a, %m;", "redux.sync.max.s32", ref_redux, 32, false, false},
    {"redux.sync.and.b32 %d, %a, %m;", "redux.sync.and.b32", ref_redux, 32, false, false},
    {"redux.sync.or.b32 %d, %a, %m;", "redux.sync.or.b32", ref_redux, 32, false, false},
    {"redux.sync.xor.b32 %d, %a, %m;", "redux.sync.xor.b32", ref_redux, 32, false, false},
    {"activemask.b32 %d;", "activemask.b32", ref_activemask, 32, false, false},
    {"elect.sync %d|%q, %m;", "elect.sync", ref_elect, 32, false, false},
    {"bar.red.and.pred %q, 0, %p;", "bar.red.and.pred", ref_barrier, 32, false, true},
    {"bar.red.or.pred %q, 0, %p;", "bar.red.or.pred", ref_barrier, 32, false, true},
    {"bar.red.popc.u32 %d, 0, %p;", "bar.red.popc.u32", ref_barrier, 32, false, true},
    {"bar.red.and.pred %q, 1, 96, !%p;", "bar.red.and.pred", ref_barrier, 32, false, true},
    {"barrier.red.or.pred %q, 3, !%p;", "barrier.red.or.pred", ref_barrier, 32, false, true},
    {"barrier.red.popc.aligned.u32 %d, 15, 96, %p;", "barrier.red.popc.u32", ref_barrier, 32, false, true},
    {"barrier.cta.red.and.aligned.pred %q, 0, %p;", "barrier.cta.red.and.pred", ref_barrier, 32, false, true},
    {"vote.all.pred %q, %p;", "vote.all.pred", ref_vote, 32, true, false},
    {"vote.any.pred %q, %p;", "vote.any.pred", ref_vote, 32, true, false},
    {"vote.uni.pred %q, %p;", "vote.uni.pred", ref_vote, 32, true, false},
    {"vote.ballot.b32 %d, %p;", "vote.ballot.b32", ref_vote, 32, true, false},
    {"shfl.up.b32 %d|%q, %a, %b, %c;", "shfl.up.b32", ref_shfl, 32, true, false},
    {"shfl.down.b32 %d|%q, %a, %b, %c;", "shfl.down.b32", ref_shfl, 32, true, false},
    {"shfl.bfly.b32 %d|%q, %a, %b, %c;", "shfl.bfly.b32", ref_shfl, 32, true, false},
    {"shfl.idx.b32 %d|%q, %a, %b, %c;", "shfl.idx.b32", ref_shfl, 32, true, false},
};
/* clang-format on */

void warp_visit_forms(warp_visit *visit, void *user)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        visit(user, &forms[i]);
}

/* in: a, b | c << 32, p | member << 1 | mask << 32 a thread; out: d, q. Lanes outside jump over. */
static void warp_kernel(struct text *t, const struct warp_form *f, const char *name)
{
    text_add(t,
             "// %s\n.visible .entry %s(.param .u64 in, .param .u64 out)\n{\n"
             "    .reg .b%u %%a;\n    .reg .b32 %%b, %%c, %%d, %%m, %%t, %%x;\n"
             "    .reg .pred %%p, %%q, %%w;\n    .reg .b64 %%i, %%o, %%y;\n"
             "    mov.u32 %%t, %%tid.x;\n    mul.wide.u32 %%y, %%t, 24;\n"
             "    ld.param.u64 %%i, [in];\n    add.u64 %%i, %%i, %%y;\n"
             "    mul.wide.u32 %%y, %%t, 8;\n    ld.param.u64 %%o, [out];\n"
             "    add.u64 %%o, %%o, %%y;\n    ld.global.b%u %%a, [%%i];\n"
             "    ld.global.v2.u32 {%%b, %%c}, [%%i+8];\n"
             "    ld.global.v2.u32 {%%x, %%m}, [%%i+16];\n"
             "    and.b32 %%t, %%x, 1;\n    setp.ne.u32 %%p, %%t, 0;\n"
             "    and.b32 %%t, %%x, 2;\n    setp.eq.u32 %%w, %%t, 0;\n"
             "    mov.u32 %%d, 0;\n    setp.ne.u32 %%q, %%d, 0;\n    @%%w bra DONE;\n",
             f->text, name, f->bits, f->bits);
    text_add(t, "    %s\n", f->text);
    text_add(t, "    selp.u32 %%x, 1, 0, %%q;\n    st.global.v2.u32 [%%o], {%%d, %%x};\n"
                "DONE:\n    ret;\n}\n\n");
}

/* Few different values, so that lanes agree; shuffle controls as compilers make them and wild. */
static void fill(const struct warp_form *f, struct lane *l, u32 *masks, unsigned round)
{
    struct rng rng = {round * 977 + 5};
    for (unsigned i = 0; i < THREADS; i++) {
        if (i % WARP == 0) {
            u64 r = rng_next(&rng);
            u32 mask = round < 4    ? 0xffffffff
                       : round == 4 ? 1u << (r & 31)
                       : round == 5 ? 0x55555555u << (r & 1)
                                    : (u32)(r | 1ull << (r >> 58 & 31));
            masks[i / WARP] = f->block ? 0xffffffff : mask;
        }
        u64 r = rng_next(&rng);
        static const u32 controls[] = {0x1f, 0x1c1f, 0x181f, 0x101f, 0, 0x1e00, 0x1c00, 0x0f1f};
        l[i] = (struct lane){.a = round % 3 ? r : r & 1, .b = r >> 40 & 31, .p = r >> 50 & 1};
        l[i].c = round % 2 ? controls[r >> 55 & 7] : (u32)(r >> 20);
        l[i].b = round % 4 == 3 ? (u32)r : l[i].b;
        if (round == 1)
            l[i].a = 0x123456789a, l[i].p = true;
        if (round == 2)
            l[i].p = false;
        if (f->bits == 32)
            l[i].a &= 0xffffffff;
        l[i].member = masks[i / WARP] >> (i % WARP) & 1;
    }
}

struct warp_run {
    struct hd_device *device[2];
    u64 in[2], out[2];
    unsigned count, failed;
};

static bool check(const struct warp_form *f, const struct lane *l, const u32 (*out)[2],
                  unsigned round)
{
    bool has_d = strstr(f->text, "%d") != NULL, has_q = strstr(f->text, "%q") != NULL;
    for (unsigned i = 0; i < THREADS; i++) {
        if (!l[i].member)
            continue;
        bool good = !has_d || l[i].undefined || out[i][0] == (u32)l[i].d;
        good &= !has_q || out[i][1] == l[i].q;
        if (!good) {
            printf("  %s round %u thread %u: a %llx b %x c %x p %d gives %x, %u; expected %x, %d\n",
                   f->text, round, i, (unsigned long long)l[i].a, l[i].b, l[i].c, l[i].p, out[i][0],
                   out[i][1], (u32)l[i].d, l[i].q);
            return false;
        }
    }
    return true;
}

static bool run_round(struct warp_run *r, struct hd_module *module, unsigned on,
                      const struct warp_form *f, unsigned round)
{
    struct lane l[THREADS];
    u32 masks[THREADS / WARP], out[THREADS][2];
    u64 in[THREADS][3];
    fill(f, l, masks, round);
    for (unsigned i = 0; i < THREADS; i++) {
        in[i][0] = l[i].a;
        in[i][1] = l[i].b | (u64)l[i].c << 32;
        in[i][2] = l[i].p | (u64)l[i].member << 1 | (u64)masks[i / WARP] << 32;
    }
    if (f->block)
        f->reference(f, l, THREADS);
    else
        for (unsigned w = 0; w < THREADS; w += WARP)
            f->reference(f, l + w, WARP);
    buffer_write(r->device[on], r->in[on], in, sizeof in);
    u64 args[] = {r->in[on], r->out[on]};
    if (!launch(module, "across", (struct hd_dim){1, 1, 1}, (struct hd_dim){THREADS, 1, 1}, args,
                2))
        return false;
    buffer_read(r->device[on], r->out[on], out, sizeof out);
    return check(f, l, out, round);
}

static void run_warp(void *user, const struct warp_form *f)
{
    struct warp_run *r = user;
    struct text text = {0};
    bool good = true;
    r->count++;
    text_add(&text, "%s", f->old ? PTX_HEADER_OLD : PTX_HEADER);
    warp_kernel(&text, f, "across");
    for (unsigned on = 0; on < 2 && good; on++) {
        struct hd_module *module = module_load(r->device[on], &text, f->text);
        good = module != NULL;
        for (unsigned round = 0; good && round < ROUNDS; round++)
            good = run_round(r, module, on, f, round);
        if (module)
            hd_module_unload(module);
    }
    r->failed += !good;
    text_free(&text);
}

int suite_warp(void)
{
    struct warp_run r = {0};
    for (unsigned on = 0; on < 2; on++) {
        r.device[on] = device_open(on ? settings_plain : settings_fast);
        r.in[on] = buffer_new(r.device[on], NULL, THREADS * 24);
        r.out[on] = buffer_new(r.device[on], NULL, THREADS * 8);
    }
    warp_visit_forms(run_warp, &r);
    hd_device_close(r.device[0]);
    hd_device_close(r.device[1]);
    printf("warp: %u forms, %u failed\n", r.count, r.failed);
    return r.failed != 0;
}

struct printer {
    struct text *text;
    unsigned count;
    bool old;
};

static void print_warp(void *user, const struct warp_form *f)
{
    struct printer *p = user;
    char name[32];
    snprintf(name, sizeof name, "k%u", p->count++);
    if (f->old == p->old)
        warp_kernel(p->text, f, name);
}

void warp_ptx(struct text *text, bool old)
{
    struct printer p = {text, 0, old};
    warp_visit_forms(print_warp, &p);
}
