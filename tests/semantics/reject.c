/*
 * Statements that are not PTX: a type an op does not have, a modifier it does not take, an operand
 * of the wrong kind or size. Each must be refused when the module is loaded or, where newer PTX has
 * such an op with other modifiers, as unsupported before the launch; at its own line, and the
 * message must name what is wrong.
 */
#include "reject.h"

#include <string.h>

#include "harness.h"

/* clang-format off */
static const struct reject {
    const char *statement; /* with %h 16, %r 32, %d 64 bits, %f f32, %g f64, %p predicates */
    const char *part;      /* of the message */
} rejects[] = {
    {"add.u8 %h1, %h2, %h3;", "u8"},
    {"add.b32 %r1, %r2, %r3;", "b32"},
    {"add.sat.u32 %r1, %r2, %r3;", "expected one of .s32"},
    {"add.ftz.f64 %g1, %g2, %g3;", "'.f64' is not a modifier of"},
    {"add.sat.f64 %g1, %g2, %g3;", "'.f64' is not a modifier of"},
    {"add.rn.s32 %r1, %r2, %r3;", "'.s32' is not a modifier of"},
    {"add.cc.u16 %h1, %h2, %h3;", "'.u16' is not a modifier of"},
    {"add.u32 %r1, %r2;", "operand"},
    {"add.u32 %r1, %r2, %r3, %r4;", "operand"},
    {"add.u32 %r1, %r2, %d3;", "%d3"},
    {"add.u64 %d1, %d2, %r3;", "%r3"},
    {"add.u32 %d1, %r2, %r3;", "%d1"},
    {"add.u32 %r1, %p2, %r3;", "%p2"},
    {"add.u32 %r1, %r2, %nothing;", "nothing"},
    {"add %r1, %r2, %r3;", "needs another modifier"},
    {"frobnicate.u32 %r1, %r2;", "frobnicate"},
    {"mul.u32 %r1, %r2, %r3;", "mul"},
    {"mul.wide.u64 %d1, %d2, %d3;", "'.u64' is not a modifier of"},
    {"mul.lo.f32 %f1, %f2, %f3;", "'.f32' is not a modifier of"},
    {"fma.f32 %f1, %f2, %f3, %f4;", "expected one of .rn, .rz, .rm, .rp"},
    {"fma.rn.s32 %r1, %r2, %r3, %r4;", "s32"},
    {"div.approx.f64 %g1, %g2, %g3;", "'.f64' is not a modifier of"},
    {"div.full.rn.f32 %f1, %f2, %f3;", "rn"},
    {"sqrt.f64 %g1, %g2;", "sqrt"},
    {"sin.f32 %f1, %f2;", "approx"},
    {"sin.approx.f64 %g1, %g2;", "f64"},
    {"rem.f32 %f1, %f2, %f3;", "f32"},
    {"abs.u32 %r1, %r2;", "u32"},
    {"popc.u32 %r1, %r2;", "u32"},
    {"popc.b32 %d1, %r2;", "%d1"},
    {"bfe.b32 %r1, %r2, %r3, %r4;", "b32"},
    {"brev.b16 %h1, %h2;", "b16"},
    {"shf.b32 %r1, %r2, %r3, %r4;", "shf"},
    {"shl.u32 %r1, %r2, %r3;", "u32"},
    {"shr.s32 %r1, %r2, %d3;", "%d3"},
    {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "literal from 0 to 255"},
    {"and.u32 %r1, %r2, %r3;", "u32"},
    {"not.pred %r1, %p2;", "%r1"},
    {"setp.lt.b32 %p1, %r2, %r3;", "b32"},
    {"setp.lo.s32 %p1, %r2, %r3;", "lo"},
    {"setp.ltu.s32 %p1, %r2, %r3;", "comparison does not exist for .s32"},
    {"setp.eq.u32 %r1, %r2, %r3;", "%r1"},
    {"setp.eq.and.u32 %p1, %r2, %r3;", "operand"},
    {"setp.u32 %p1, %r2, %r3;", "expected one of .eq, .ne"},
    {"set.eq.f64.u32 %g1, %r2, %r3;", "f64"},
    {"selp.b32 %r1, %r2, %r3, %r4;", "%r4"},
    {"slct.u32.u32 %r1, %r2, %r3, %r4;", "u32"},
    {"testp.finite.f16 %p1, %h2;", "f16"},
    {"cvt.f32.f64 %f1, %g2;", "needs .rn, .rz, .rm or .rp"},
    {"cvt.s32.f32 %r1, %f2;", "needs .rni, .rzi, .rmi or .rpi"},
    {"cvt.rni.f32.s32 %f1, %r2;", "needs .rn, .rz, .rm or .rp"},
    {"cvt.rn.u32.s32 %r1, %r2;", "does not round"},
    {"cvt.u32.b32 %r1, %r2;", "b32"},
    {"mov.u32 %d1, %r2;", "%d1"},
    {"mov.b64 %d1, {%r1, %r2, %r3};", "3"},
    {"mov.b32 %r1, {%r1, %r2};", "%r1"},
    {"ld.global.u32 %r1, %r2;", "address"},
    {"ld.global.v3.u32 {%r1, %r2, %r3}, [%d1];", "v3"},
    {"ld.global.v2.u32 {%r1, %r2, %r3, %r4}, [%d1];", "expected 2 elements, not 4"},
    {"ld.global.u64 %r1, [%d1];", "%r1"},
    {"ld.sideways.u32 %r1, [%d1];", "sideways"},
    {"st.const.u32 [%d1], %r1;", "const"},
    {"st.global.u32 [%d1];", "operand"},
    {"atom.global.add.b32 %r1, [%d1], %r2;", "b32"},
    {"atom.global.sub.u32 %r1, [%d1], %r2;", "'.sub' is not a modifier of"},
    {"atom.global.min.f32 %f1, [%d1], %f2;", "f32"},
    {"atom.global.cas.b32 %r1, [%d1], %r2;", "operand"},
    {"atom.local.add.u32 %r1, [%d1], %r2;", "'.local' is not a modifier of"},
    {"red.global.exch.b32 [%d1], %r2;", "'.exch' is not a modifier of"},
    {"vote.sync.ballot.b32 %p1, %p2, %r1;", "%p1"},
    {"vote.sync.most.pred %p1, %p2, %r1;", "most"},
    {"shfl.sync.sideways.b32 %r1, %r2, %r3, %r4, %r5;", "sideways"},
    {"shfl.sync.up.b64 %d1, %d2, %r3, %r4, %r5;", "b64"},
    {"redux.sync.and.u32 %r1, %r2, %r3;", "'.u32' is not a modifier of"},
    {"match.some.sync.b32 %r1, %r2, %r3;", "some"},
    {"prmt.b64 %d1, %d2, %d3, %d4;", "b64"},
    {"dp4a.u32 %r1, %r2, %r3, %r4;", "dp4a"},
    {"bra NOWHERE;", "NOWHERE"},
    {"@%r1 mov.u32 %r1, %r2;", "%r1"},
    {"@%p9 mov.u32 %r1, %r2;", "%p9"},
    {"call nobody;", "nobody"},
    {"cvta.sideways.u64 %d1, %d2;", "sideways"},
    {"isspacep.global %r1, %d1;", "%r1"},
    {"bar.sync 0, 33;", "33"},
    {"bar.sync 16;", "16"},
    {"mov.u32 %r1, %nosuch;", "nosuch"},
    {"mov.u32 %r1, 1.5;", "float literal"},
};
/* clang-format on */

/* The message about the statement may quote it; what counts must stand outside the quotation. */
static bool names(const char *message, const char *statement, const char *part)
{
    char rest[2048];
    snprintf(rest, sizeof rest, "%s", message);
    char bare[200];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(statement, ";"), statement);
    for (char *quoted; (quoted = strstr(rest, bare)) != NULL;)
        memmove(quoted, quoted + strlen(bare), strlen(quoted + strlen(bare)) + 1);
    return strstr(rest, part) != NULL;
}

static bool rejected(struct hd_device *device, const struct reject *r)
{
    struct text text = {0};
    struct hd_error error = {0};
    text_add(&text,
             "%s.visible .entry k()\n{\n    .reg .b16 %%h<5>;\n    .reg .b32 %%r<6>;\n"
             "    .reg .b64 %%d<5>;\n    .reg .f32 %%f<5>;\n    .reg .f64 %%g<5>;\n"
             "    .reg .pred %%p<5>;\n    %s\n    ret;\n}\n",
             PTX_HEADER, r->statement); /* the statement is on line 12 */
    struct hd_module *module = hd_module_load(device, text.data, text.at, "bad.ptx", &error);
    text_free(&text);
    bool accepted = false;
    if (module) {
        struct hd_dim one = {1, 1, 1};
        struct hd_kernel *kernel = hd_kernel_find(module, "k", &error);
        accepted = hd_launch_check(kernel, one, one, 0, NULL, 0, &error);
        hd_module_unload(module);
    }
    if (accepted) {
        printf("  accepted: %s\n", r->statement);
        return false;
    }
    if (strncmp(error.place, "bad.ptx:12:", 11)) {
        printf("  %s: the place is \"%s\", expected line 12 (%s)\n", r->statement, error.place,
               error.message);
        return false;
    }
    if (!names(error.message, r->statement, r->part)) {
        printf("  %s: the message does not name \"%s\": %s\n", r->statement, r->part,
               error.message);
        return false;
    }
    return true;
}

int suite_reject(void)
{
    struct hd_device *device = device_open(settings_fast);
    unsigned failed = 0, count = sizeof rejects / sizeof *rejects;
    for (unsigned i = 0; i < count; i++)
        failed += !rejected(device, &rejects[i]);
    hd_device_close(device);
    printf("reject: %u statements, %u failed\n", count, failed);
    return failed != 0;
}
