/*
 * Every kernel case by dynamic instructions: it must pass, and what it read back, printed and
 * counted must be what the interpreter gives.
 *
 *   dyninst-kernels MODE (at-once, delayed or mixed), then the arguments of the kernel tests
 *
 * The cases run twice, first on the interpreter. Whatever they read from a device, and its
 * statistics when it is closed, goes into a digest of the device. Warps that take turns at random
 * pass their cases, but may count and print differently: there only the cases' own checks hold.
 */
#include "heddle/heddle.h"
#include "turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int kernels_main(int argc, char **argv);

bool __real_hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
bool __wrap_hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
                    struct hd_error *error);
void __real_hd_device_close(struct hd_device *device);
void __wrap_hd_device_close(struct hd_device *device);

struct digest {
    u64 memory, stats;
    char *text; /* the statistics */
};
static struct {
    struct digest *list;
    size_t count, compared, different;
    struct digest now;
} digests;

static u64 hash(u64 seed, const void *data, size_t bytes)
{
    const u8 *at = data;
    for (size_t i = 0; i < bytes; i++)
        seed = (seed ^ at[i]) * 0x100000001b3ull;
    return seed;
}

bool __wrap_hd_read(struct hd_device *device, void *to, hd_address from, uint64_t bytes,
                    struct hd_error *error)
{
    const bool ok = __real_hd_read(device, to, from, bytes, error);
    if (ok)
        digests.now.memory = hash(digests.now.memory + 1, to, bytes);
    return ok;
}

static void say_difference(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || memcmp(a, b, la) != 0)
            printf("  interpreter: %.*s\n  dynamic instructions:     %.*s\n", (int)la, a, (int)lb,
                   b);
        a += la + (a[la] == '\n');
        b += lb + (b[lb] == '\n');
    }
}

static bool same_message(const char *a, const char *b)
{
    static const char key[] = "\"message\":";
    a = strstr(a, key);
    b = strstr(b, key);
    return a && b && strcspn(a, "\n") == strcspn(b, "\n") && !memcmp(a, b, strcspn(a, "\n"));
}

static void compare(const struct digest *want, const struct digest *got)
{
    digests.compared++;
    if (want->memory == got->memory && want->stats == got->stats)
        return;
    /* Where instructions are on their way, some may have issued behind one that faults. */
    if (turns.mode == TURN_DELAYED && same_message(want->text, got->text))
        return;
    digests.different++;
    printf("DIFFERENT device %zu: %s\n", digests.compared - 1,
           want->memory != got->memory ? "what was read from it" : "statistics");
    say_difference(want->text, got->text);
}

void __wrap_hd_device_close(struct hd_device *device)
{
    char *text = hd_stats_json(device);
    struct digest now = digests.now;
    now.stats = hash(0, text, strlen(text));
    now.text = text;
    digests.now = (struct digest){0};
    if (turns.mode == TURN_FUNCTIONAL) {
        digests.list = realloc(digests.list, (digests.count + 1) * sizeof *digests.list);
        digests.list[digests.count++] = now;
    } else {
        if (turns.mode != TURN_MIXED && digests.compared < digests.count)
            compare(&digests.list[digests.compared], &now);
        free(text);
    }
    __real_hd_device_close(device);
}

int main(int argc, char **argv)
{
    static const char *const modes[] = {
        [TURN_AT_ONCE] = "at-once", [TURN_DELAYED] = "delayed", [TURN_MIXED] = "mixed"};
    enum turn_mode mode = TURN_FUNCTIONAL;
    for (enum turn_mode m = TURN_AT_ONCE; argc > 1 && m <= TURN_MIXED; m++)
        if (strcmp(argv[1], modes[m]) == 0)
            mode = m;
    if (mode == TURN_FUNCTIONAL) {
        fprintf(stderr, "usage: %s at-once|delayed|mixed [arguments of the kernel tests]\n",
                argv[0]);
        return 2;
    }
    turns.random = 7;
    int failed = mode == TURN_MIXED ? 0 : kernels_main(argc - 1, argv + 1);
    turns.mode = mode;
    failed |= kernels_main(argc - 1, argv + 1);
    printf("%llu instructions by dynamic instructions, %zu devices compared, %zu different\n",
           (unsigned long long)turns.issued, digests.compared, digests.different);
    for (size_t i = 0; i < digests.count; i++)
        free(digests.list[i].text);
    free(digests.list);
    return failed || digests.different || !turns.issued;
}
