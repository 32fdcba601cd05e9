/* docs/coverage.md: which test covers each op x type x modifier, from the tables themselves. */
#ifndef SEMANTICS_COVERAGE_H
#define SEMANTICS_COVERAGE_H

#include <stdio.h>

#include "form.h"

int coverage_print(const struct forms *forms, FILE *to);
int coverage_check(const struct forms *forms, const char *file);

#endif
