/* Every op of the machine is the meaning of some form that is tested, or is said to be beyond PTX:
 * an op that is said so and yet reached is a failure too, so that the saying stays true. */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "harness.h"
#include "memory.h"
#include "reached.h"
#include "special.h"
#include "suites.h"
#include "warp.h"
#include "wide.h"

/* Control flow and services, which random programs and the tests of faults run. */
static const char control[] =
    PTX_HEADER ".extern .func (.param .b32 rv) vprintf(.param .b64 f, .param .b64 a);\n"
               ".func callee()\n{\n    ret;\n}\n"
               ".visible .entry control(.param .u64 in)\n{\n    .reg .b32 %r<4>;\n"
               "    .reg .b64 %d<4>;\n    .reg .pred %p<2>;\n"
               "    mov.u32 %r0, %tid.x;\n    setp.eq.u32 %p0, %r0, 0;\n    @%p0 bra A;\n"
               "    and.b32 %r0, %r0, 1;\nT: .branchtargets A, B;\n    brx.idx %r0, T;\n"
               "A:\n    call callee;\n    mov.u64 %d0, callee;\nP: .callprototype _ ();\n"
               "    call %d0, P;\n    brkpt;\n    trap;\n"
               "B:\n    {\n    .param .b64 f;\n    .param .b64 a;\n    .param .b32 rv;\n"
               "    ld.param.u64 %d1, [in];\n    st.param.b64 [f], %d1;\n"
               "    st.param.b64 [a], %d1;\n    call (rv), vprintf, (f, a);\n    }\n"
               "    cp.async.wait_all;\n    exit;\n}\n";

static bool mark_text(struct text *text, const char *name, bool *reached)
{
    bool good = ops_mark(text->data, text->at, name, reached);
    text_free(text);
    return good;
}

/* A module at a time, so that one form that does not compile hides no others. */
static bool mark_forms(const struct forms *forms, bool *reached)
{
    enum {
        TOGETHER = 64
    };
    bool good = true;
    for (size_t i = 0; i < forms->count; i += TOGETHER) {
        struct text text = {0};
        text_add(&text, PTX_HEADER);
        for (size_t k = i; k < i + TOGETHER && k < forms->count; k++) {
            char name[32];
            snprintf(name, sizeof name, "k%zu", k);
            form_kernel(&text, &forms->items[k], name, false);
        }
        good &= mark_text(&text, forms->items[i].family, reached);
    }
    return good;
}

static bool mark_suites(bool *reached)
{
    bool good = true;
    for (unsigned part = 0; part < 6; part++) {
        struct text text = {0};
        text_add(&text, "%s", part == 4 ? PTX_HEADER_OLD : PTX_HEADER);
        if (part == 0)
            memory_ptx(&text);
        else if (part == 1)
            atomic_ptx(&text);
        else if (part == 2)
            special_ptx(&text);
        else if (part == 5)
            wide_ptx(&text);
        else
            warp_ptx(&text, part == 4);
        good &= mark_text(&text, "suites", reached);
    }
    return good && ops_mark(control, sizeof control - 1, "control", reached);
}

int suite_ops(const struct forms *forms)
{
    /* nop has no PTX of its own. Textures need handles and images, which these programs do not have:
     * tests/gpu/test_texture.c, tests/exec/memory/test_texel.c and tests/cuda/textures.cu compare them. */
    static const char *const exempt[] = {"nop", "tex", "suld", "sust", "txq"};
    bool *reached = calloc(ops_count(), sizeof *reached);
    unsigned missing = 0;
    bool good = reached && mark_forms(forms, reached) && mark_suites(reached);
    for (unsigned op = 0; reached && op < ops_count(); op++) {
        bool needed = true;
        for (size_t k = 0; k < sizeof exempt / sizeof *exempt; k++)
            needed &= strcmp(exempt[k], ops_name(op)) != 0;
        const bool beyond = ops_is_beyond_ptx(op);
        if (beyond && reached[op])
            printf("  op %s is reached, though said to be beyond PTX\n", ops_name(op));
        else if (needed && !beyond && !reached[op])
            printf("  no form reaches op %s\n", ops_name(op));
        missing += beyond ? reached[op] : needed && !reached[op];
    }
    free(reached);
    printf("ops: %u of %u not reached\n", missing, ops_count());
    return missing != 0 || !good;
}
