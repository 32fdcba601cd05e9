/*
 * The meaning of PTX, black box: `semantics FAMILY` runs the forms of a family through the public
 * API; `semantics --ptx FAMILY` prints their PTX; `semantics --coverage` prints docs/coverage.md;
 * `semantics --check-coverage FILE` fails when FILE is not that text.
 */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "coverage.h"
#include "harness.h"
#include "memory.h"
#include "special.h"
#include "suites.h"
#include "warp.h"
#include "wide.h"

static int print_ptx(const struct forms *forms, const char *family)
{
    struct text text = {0};
    text_add(&text, "%s\n", strcmp(family, "warp-old") ? PTX_HEADER : PTX_HEADER_OLD);
    if (!strcmp(family, "memory"))
        memory_ptx(&text);
    if (!strcmp(family, "atomic"))
        atomic_ptx(&text);
    if (!strcmp(family, "special"))
        special_ptx(&text);
    if (!strcmp(family, "wide"))
        wide_ptx(&text);
    if (!strncmp(family, "warp", 4))
        warp_ptx(&text, strcmp(family, "warp") != 0);
    for (size_t i = 0; i < forms->count; i++) {
        if (strcmp(forms->items[i].family, family))
            continue;
        char name[32];
        snprintf(name, sizeof name, "k%zu", i);
        form_kernel(&text, &forms->items[i], name, true);
    }
    fwrite(text.data, 1, text.at, stdout);
    text_free(&text);
    return 0;
}

static int run(const struct forms *forms, const char *family)
{
    unsigned count = 0;
    for (size_t i = 0; i < forms->count; i++)
        count += !strcmp(forms->items[i].family, family);
    if (count == 0) {
        fprintf(stderr, "no family \"%s\"\n", family);
        return 2;
    }
    unsigned failed = run_family(forms, family);
    printf("%s: %u forms, %u failed\n", family, count, failed);
    return failed != 0;
}

int main(int argc, char **argv)
{
    struct forms forms = {0};
    forms_load(&forms);
    int status = 2;
    if (argc == 2 && !strcmp(argv[1], "--coverage"))
        status = coverage_print(&forms, stdout);
    else if (argc == 3 && !strcmp(argv[1], "--check-coverage"))
        status = coverage_check(&forms, argv[2]);
    else if (argc == 3 && !strcmp(argv[1], "--ptx"))
        status = print_ptx(&forms, argv[2]);
    else if (argc == 2 && !strcmp(argv[1], "ops"))
        status = suite_ops(&forms);
    else if (argc == 2)
        status = suite_find(argv[1]) ? suite_find(argv[1])() : run(&forms, argv[1]);
    else
        fprintf(stderr, "usage: semantics FAMILY | --ptx FAMILY | --coverage | "
                        "--check-coverage FILE\n");
    forms_free(&forms);
    return status;
}
