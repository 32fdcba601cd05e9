/* Workarounds for compiler faults: see mend.h. */
#include "opencl/mend.h"

#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *mend_kernel_calls(const char *text, size_t *length)
{
    static const char FORBIDDEN[] = " noinline ", WANTED[] = " alwaysinline ";
    if (!strstr(text, " call spir_kernel "))
        return NULL;
    VEC(char) out = {0};
    for (const char *at = text, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        const char *found = strncmp(at, "attributes #", 12)
                                ? NULL
                                : memmem(at, (size_t)(end - at), FORBIDDEN, strlen(FORBIDDEN));
        for (const char *c = at; c < end; c++) {
            if (c == found) {
                for (const char *w = WANTED; *w; w++)
                    *(char *)vec_push(&out) = *w;
                c += strlen(FORBIDDEN) - 1;
                continue;
            }
            *(char *)vec_push(&out) = *c;
        }
    }
    *length = out.count;
    return out.data;
}

/* "5)*)" or, in LLVM 15 and later, whose pointers have no type, "5))". */
static bool private_or_local(const char *space)
{
    return (*space == '5' || *space == '3') &&
           (!strncmp(space + 1, ")*)", 3) || !strncmp(space + 1, "))", 2));
}

bool mend_nulls(char *text)
{
    static const char CAST[] = "addrspacecast (", OF_NULL[] = " null to ",
                      ONES[] = "inttoptr (i32 -1 to";
    bool found = false;
    for (char *at = text; (at = strstr(at, CAST)); at++) {
        char *of = strstr(at, OF_NULL), *space = of ? strstr(of, "addrspace(") : NULL;
        if (!space || memchr(at, '\n', (size_t)(space - at)) ||
            memchr(at, ')', (size_t)(of - at)) || !private_or_local(space + strlen("addrspace(")))
            continue;
        memset(at, ' ', (size_t)(of - at) + strlen(OF_NULL));
        memcpy(at, ONES, strlen(ONES));
        found = true;
    }
    return found;
}

bool mend_relaxed(char *text, bool *approximate)
{
    static const char *const RELAXED[] = {
        " \"unsafe-fp-math\"=\"true\"",          " \"approx-func-fp-math\"=\"true\"",
        " \"no-infs-fp-math\"=\"true\"",         " \"no-nans-fp-math\"=\"true\"",
        " \"no-signed-zeros-fp-math\"=\"true\"",
    };
    bool found = false;
    for (char *at = text; (at = strstr(at, "\nattributes #"));) {
        char *end = at + 1 + strcspn(at + 1, "\n");
        for (u32 i = 0; i < ARRAY_LEN(RELAXED); i++) {
            char *name = memmem(at, (size_t)(end - at), RELAXED[i], strlen(RELAXED[i]));
            if (!name)
                continue;
            memset(name, ' ', strlen(RELAXED[i]));
            found = true;
            *approximate |= i < 2;
        }
        at = end;
    }
    return found;
}

char *mend_fields(char *code, size_t *bytes)
{
    char *mended = NULL, *from = code;
    FILE *out = checked(open_memstream(&mended, bytes));
    for (char *at = code; (at = strstr(at, "bfe.u64"));) {
        unsigned to, value, first, count;
        int length = 0;
        sscanf(at, "bfe.u64 %%rd%u, %%rd%u, %u, %u;%n", &to, &value, &first, &count, &length);
        if (!length || first + count <= 64 || count > 63) {
            at++;
            continue;
        }
        fwrite(from, 1, (size_t)(at - from), out);
        fprintf(out, "shr.s64 %%rd%u, %%rd%u, %u; and.b64 %%rd%u, %%rd%u, %llu;", to, value, first,
                to, to, (1ull << count) - 1);
        at = from = at + length;
    }
    fputs(from, out);
    fclose(out);
    free(code);
    return mended;
}

/* The kernel whose name is here in PTX; NULL: none, or it requires no block size. */
static const struct kernel_info *kernel_with_size(const char *name,
                                                  const struct kernel_info *kernels, u32 count)
{
    const size_t length = strcspn(name, "(\n ");
    for (u32 i = 0; i < count; i++)
        if (kernels[i].required[0] && strlen(kernels[i].name) == length &&
            !strncmp(kernels[i].name, name, length))
            return &kernels[i];
    return NULL;
}

char *mend_block_sizes(char *code, size_t *bytes, const struct kernel_info *kernels, u32 count)
{
    static const char ENTRY[] = ".entry ";
    char *mended = NULL, *from = code;
    FILE *out = checked(open_memstream(&mended, bytes));
    for (char *at = code; (at = strstr(at, ENTRY));) {
        at += strlen(ENTRY);
        const struct kernel_info *kernel = kernel_with_size(at, kernels, count);
        char *body = kernel ? strchr(at, '{') : NULL;
        if (!body || memmem(at, (size_t)(body - at), ".reqntid", strlen(".reqntid")))
            continue;
        fwrite(from, 1, (size_t)(body - from), out);
        fprintf(out, ".reqntid %zu, %zu, %zu\n", kernel->required[0], kernel->required[1],
                kernel->required[2]);
        at = from = body;
    }
    fputs(from, out);
    fclose(out);
    free(code);
    return mended;
}
