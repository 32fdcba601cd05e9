/* Forms that look across lanes: see warp.c. */
#ifndef SEMANTICS_WARP_H
#define SEMANTICS_WARP_H

#include "form.h"

struct text;

/* One lane's operands and results. */
struct lane {
    u64 a;
    u32 b, c;
    bool p;
    bool member; /* executes the instruction */
    u64 d;
    bool q;
    bool undefined; /* the manual does not say what d is */
};

struct warp_form {
    const char *text;   /* statement; a b c p m d q name the registers */
    const char *opcode; /* for the coverage table */
    void (*reference)(const struct warp_form *f, struct lane *lanes, unsigned count);
    unsigned bits; /* of a */
    bool old;      /* a form without .sync, for targets before sm_70 */
    bool block;    /* over the whole block: all lanes take part */
};
typedef void warp_visit(void *user, const struct warp_form *form);
void warp_visit_forms(warp_visit *visit, void *user);
void warp_ptx(struct text *text, bool old);
int suite_warp(void);

#endif
