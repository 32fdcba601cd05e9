/* The list of suites, and the forms they walk. */
#include "suites.h"

#include <string.h>

#include "atomic.h"
#include "memory.h"
#include "reject.h"
#include "special.h"
#include "warp.h"
#include "wide.h"

suite_fn *suite_find(const char *name)
{
    static const struct {
        const char *name;
        suite_fn *run;
    } suites[] = {{"memory", suite_memory},   {"atomic", suite_atomic}, {"warp", suite_warp},
                  {"special", suite_special}, {"wide", suite_wide},     {"reject", suite_reject}};
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (!strcmp(suites[i].name, name))
            return suites[i].run;
    return NULL;
}

struct visitor {
    visit_fn *visit;
    void *user;
};

static void on_memory(void *user, const struct memory_form *form)
{
    struct visitor *v = user;
    v->visit(v->user, "memory", form->opcode);
}

static void on_atomic(void *user, const struct atomic_form *form)
{
    struct visitor *v = user;
    v->visit(v->user, "atomic", form->opcode);
}

static void on_warp(void *user, const struct warp_form *form)
{
    struct visitor *v = user;
    v->visit(v->user, "warp", form->opcode);
}

static void on_special(void *user, const char *opcode)
{
    struct visitor *v = user;
    v->visit(v->user, "special", opcode);
}

static void on_wide(void *user, const char *opcode)
{
    struct visitor *v = user;
    v->visit(v->user, "wide", opcode);
}

void suites_visit(visit_fn *visit, void *user)
{
    struct visitor v = {visit, user};
    memory_visit_forms(on_memory, &v);
    atomic_visit_forms(on_atomic, &v);
    warp_visit_forms(on_warp, &v);
    special_visit_forms(on_special, &v);
    wide_visit_forms(on_wide, &v);
}
