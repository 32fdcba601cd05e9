/*
 * Files of a program with a fault, compared with those of the run without. Files are words, as outputs
 * of kernels are; standard output is text: its words are what blanks separate, and numbers in it are
 * within the tolerance or not.
 */
#include "base/text.h"
#include "fault/campaign.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
    MOST_BYTES = 1 << 30 /* of a file */
};

static char *read_in(const char *place, const char *name, size_t *bytes)
{
    struct error ignored = {0};
    char *path;
    if (asprintf(&path, "%s/%s%s", place, strcmp(name, "-") != 0 ? "cwd/" : "",
                 strcmp(name, "-") != 0 ? name : "stdout") < 0)
        host_memory_exhausted();
    char *text = text_read_file(path, false, MOST_BYTES, bytes, &ignored);
    free(path);
    return text;
}

/* ---- text ---- */

struct text_word {
    const char *at;
    size_t length;
};

static bool next_word(const char **at, const char *end, struct text_word *word)
{
    while (*at < end && isspace((u8) * *at))
        ++*at;
    word->at = *at;
    while (*at < end && !isspace((u8) * *at))
        ++*at;
    word->length = (size_t)(*at - word->at);
    return word->length;
}

static bool number_of(const struct text_word *word, f64 *value)
{
    char text[64], *end;
    if (!word->length || word->length >= sizeof text)
        return false;
    memcpy(text, word->at, word->length);
    text[word->length] = '\0';
    *value = strtod(text, &end);
    return !*end;
}

/* The relative error of a word: infinite if it is no number. */
static f64 word_error(const struct text_word *wrong, const struct text_word *right)
{
    f64 a, b;
    if (wrong->length == right->length && !memcmp(wrong->at, right->at, right->length))
        return 0;
    if (!number_of(wrong, &a) || !number_of(right, &b))
        return INFINITY;
    const f64 error = fabs(a - b) / fabs(b);
    return a == b ? 0 : isnan(error) ? INFINITY : error;
}

static void compare_text(const struct hd_inject *inject, struct fault_verdict *verdict,
                         const char *text, size_t bytes, const char *golden, size_t golden_bytes)
{
    const char *ends[] = {text + bytes, golden + golden_bytes};
    struct text_word words[2];
    for (u64 n = 0;; n++) {
        const bool more = next_word(&text, ends[0], &words[0]);
        if (!next_word(&golden, ends[1], &words[1]) && !more)
            return;
        const f64 error = word_error(&words[0], &words[1]);
        if (error <= inject->plan.tolerance)
            continue;
        if (!verdict->wrong++) {
            snprintf(verdict->output, sizeof verdict->output, "-");
            verdict->first = n;
        }
        verdict->error = fmax(verdict->error, error);
    }
}

/* ---- files ---- */

static void judge_file(const struct hd_inject *inject, const char *place, const char *name,
                       struct fault_verdict *verdict)
{
    size_t bytes = 0, golden_bytes = 0;
    char *right_place;
    if (asprintf(&right_place, "%s/golden", inject->folder) < 0)
        host_memory_exhausted();
    char *data = read_in(place, name, &bytes);
    char *golden = read_in(right_place, name, &golden_bytes);
    const bool text = !strcmp(name, "-");
    if (data && golden && text)
        compare_text(inject, verdict, data, bytes, golden, golden_bytes);
    else if (data && golden)
        compare_words(inject, verdict, name, (const u8 *)data, (const u8 *)golden,
                      MIN(bytes, golden_bytes));
    if (!data || !golden || (!text && bytes != golden_bytes)) {
        if (!verdict->wrong++)
            snprintf(verdict->output, sizeof verdict->output, "%s", name);
        verdict->error = INFINITY; /* of another length, or not there */
    }
    free(data);
    free(golden);
    free(right_place);
}

bool judge_files(const struct hd_inject *inject, const char *place, struct fault_verdict *verdict)
{
    for (u32 i = 0; i < inject->plan.file_count; i++)
        judge_file(inject, place, inject->plan.files[i], verdict);
    return verdict->wrong;
}
