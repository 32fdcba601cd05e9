/*
 * Instruction words with a flipped bit, on miaow (core/miaow/words.c). One warp runs straight-line
 * code, so each instruction is executed once: a bit flipped in the queue of words, in decode or at
 * issue must have the effect of the same bit changed in the file.
 */
#include "base/rng.h"
#include "core/live.h"
#include "gpu/device.h"
#include "gpu/time/live.h"
#include <heddle/heddle.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    THREADS = 64,
    OUT_WORDS = 12 * THREADS,
    MOST_BYTES = 1 << 16
};

static const char *kernels; /* folder */
static u8 code[MOST_BYTES];
static size_t code_bytes;

static void must(bool ok, const struct hd_error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

struct bed {
    struct hd_device *device;
    struct hd_kernel *kernel; /* NULL: the code was not accepted */
    hd_address in[2], out;
};

static struct bed open_bed(const u8 *bytes, bool live)
{
    struct hd_error error = {0};
    struct bed bed = {0};
    struct hd_config *config = hd_config_create();
    must(hd_config_load(config, "miaow", &error), &error);
    must(hd_config_set(config, "timing.functional=false", &error), &error);
    must(hd_config_set(config, "timing.stuck_cycles=20000", &error), &error);
    if (live)
        must(hd_config_set(config, "timing.live_state=true", &error), &error);
    bed.device = hd_device_open(config, &error);
    must(bed.device, &error);
    hd_config_destroy(config);
    struct hd_module *module = hd_module_load(bed.device, bytes, code_bytes, "math", &error);
    bed.kernel = module ? hd_kernel_find(module, "exact32", &error) : NULL;
    for (u32 k = 0; k < 2; k++) {
        float words[THREADS];
        bed.in[k] = hd_alloc(bed.device, sizeof words, &error);
        for (u32 i = 0; i < THREADS; i++)
            words[i] = (float)(i * 37 % 64) * (k ? 0.75f : -1.5f) + 0.3f;
        must(hd_write(bed.device, bed.in[k], words, sizeof words, &error), &error);
    }
    bed.out = hd_alloc(bed.device, OUT_WORDS * 4, &error);
    return bed;
}

/* Runs the kernel. True: it has ended, and `out` holds its output. */
static bool run(struct bed *bed, u32 *out)
{
    struct hd_error error = {0};
    struct hd_result result;
    const struct hd_arg args[] = {
        {&bed->in[0], 8}, {&bed->in[1], 8}, {&bed->out, 8}, {&(u32){THREADS}, 4}};
    must(hd_fill(bed->device, bed->out, &(u8){0}, 1, OUT_WORDS * 4, &error), &error);
    if (!bed->kernel || !hd_launch(bed->kernel, (struct hd_dim){1, 1, 1},
                                   (struct hd_dim){THREADS, 1, 1}, 0, args, 4, &result, &error))
        return false;
    must(hd_read(bed->device, out, bed->out, OUT_WORDS * 4, &error), &error);
    return result.outcome == HD_DONE;
}

/* A strike whose bit is chosen when its cycle has come: one of an entry that is in use. */
struct aim {
    struct bed *bed;
    const struct state_row *row;
    struct strike strike;
    struct rng *rng;
    u64 from;   /* cycle from which on it may be aimed */
    u64 offset; /* in the code: of the word that is hit */
    u32 bit;    /* of that word */
    bool aimed;
};

static void take_aim(void *user, u64 cycle, u64 canonical, u64 full)
{
    struct aim *aim = user;
    struct timing *timing = aim->bed->device->timing;
    const struct image *image = aim->bed->kernel->module->image;
    if (aim->aimed || cycle < aim->from)
        return;
    for (u64 entry = 0; entry < aim->row->entries; entry++) {
        u64 bits[8];
        if (!state_get(aim->row, timing_core(timing, 0), entry, bits))
            continue;
        const bool at_issue = !strcmp(aim->row->name, "entries"); /* two words, then the PC */
        const u64 pc = at_issue ? bits[1] & UINT32_MAX : bits[0] >> 32;
        aim->offset = (u32)(pc - image->code_address);
        aim->bit = (u32)rng_below(aim->rng, 32);
        aim->strike.bit = entry * aim->row->bits + aim->bit;
        aim->strike.cycle = cycle;
        aim->aimed = true;
        return;
    }
}

/* The file's byte at an offset of the loaded code. */
static size_t file_place(const struct program *program, u64 offset)
{
    const size_t around = 16;
    const u64 from = offset >= around ? offset - around : 0;
    for (size_t at = 0; at + 2 * around < code_bytes; at++)
        if (!memcmp(code + at, program->load + from, 2 * around))
            return at + (offset - from);
    fail_msg("the code is not in the file");
    return 0;
}

/* What a flip did. */
enum fate {
    NOT_HIT,
    NOTHING,
    CHANGED,
    REFUSED,
    FATES
};

static enum fate compare(struct bed *bed, const char *element, struct rng *rng, const u32 *right)
{
    u32 out[OUT_WORDS], expected[OUT_WORDS];
    struct aim aim = {.bed = bed, .rng = rng};
    aim.row = state_find(timing_rows(bed->device->timing), element);
    aim.from = 100 + rng_below(rng, 1000);
    aim.strike = (struct strike){.element = element, .cycle = UINT32_MAX}; /* until it is aimed */
    timing_strike(bed->device->timing, &aim.strike, 1);
    timing_watch_canonical(bed->device->timing, aim.from, take_aim, &aim);
    const bool done = run(bed, out);
    timing_watch_hash(bed->device->timing, 1, NULL, NULL);
    if (!aim.aimed || !aim.strike.done)
        return NOT_HIT;
    assert_int_equal(aim.strike.result, FLIP_DONE);
    u8 changed[MOST_BYTES];
    memcpy(changed, code, code_bytes);
    changed[file_place(bed->kernel->module->program, aim.offset) + aim.bit / 8] ^=
        (u8)(1u << aim.bit % 8);
    struct bed other = open_bed(changed, false);
    const struct program *program = other.kernel ? other.kernel->module->program : NULL;
    const bool ran = run(&other, expected);
    /* registers beyond those of the kernel: its own file would give it more of them */
    const bool more = program && other.kernel->function->total_registers !=
                                     bed->kernel->function->total_registers;
    if (!more && other.kernel && done != ran)
        fail_msg("%s, offset 0x%" PRIx64 ", bit %u, cycle %" PRIu64 ": %s, but %s in the file",
                 element, aim.offset, aim.bit, aim.strike.cycle, done ? "done" : "stopped",
                 ran ? "done" : "stopped");
    if (!more && ran && memcmp(out, expected, sizeof out))
        fail_msg("%s, offset 0x%" PRIx64 ", bit %u, cycle %" PRIu64
                 ": another output than with this bit in the file",
                 element, aim.offset, aim.bit, aim.strike.cycle);
    hd_device_close(other.device);
    return !done || !ran ? REFUSED : memcmp(out, right, sizeof out) ? CHANGED : NOTHING;
}

static void as_in_the_file(void **state)
{
    static const char *const elements[] = {"wavepool.words", "wavepool.input", "decode.input",
                                           "decode.halves"};
    enum {
        TRIES = 40
    };
    u32 right[OUT_WORDS], changed = 0, refused = 0;
    struct bed bed = open_bed(code, true);
    assert_true(run(&bed, right));
    for (u32 e = 0; e < ARRAY_LEN(elements); e++) {
        struct rng rng;
        u32 fates[FATES] = {0};
        rng_stream(&rng, 5, e, "test", 0, "words");
        for (u32 n = 0; n < TRIES; n++)
            fates[compare(&bed, elements[e], &rng, right)]++;
        printf("%s: %u not hit, %u without effect, %u other outputs, %u stopped\n", elements[e],
               fates[NOT_HIT], fates[NOTHING], fates[CHANGED], fates[REFUSED]);
        assert_in_range(fates[CHANGED] + fates[REFUSED], 2, TRIES);
        changed += fates[CHANGED];
        refused += fates[REFUSED];
    }
    assert_in_range(changed, 20, UINT32_MAX);
    assert_in_range(refused, 5, UINT32_MAX);
    hd_device_close(bed.device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_in_the_file)};
    char path[4096];
    kernels = argc > 1 ? argv[1] : ".";
    snprintf(path, sizeof path, "%s/opencl/math.clang14.so", kernels);
    FILE *file = fopen(path, "rb");
    code_bytes = file ? fread(code, 1, sizeof code, file) : 0;
    if (file)
        fclose(file);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
