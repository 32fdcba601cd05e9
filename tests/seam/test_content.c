/*
 * Content (mem/content.h): what is damaged in a line is seen by those whom the line serves, and by
 * no others. damage.c damages one line when an atomic passes.
 */
#include "micro/rig.h"
#include "seam/damage.h"

enum {
    WORDS = 32,      /* of a line */
    SWEEP = 1 << 16, /* bytes that leave no older line in L1 or L2 */
    OUT = 4 * SWEEP  /* where results go, a line of words each */
};

/* One core, and a small L2 of one channel, of DAMAGE_SETS and DAMAGE_WAYS. */
#define SETTINGS "gpu.cores=1 l2.channels=1 l2.sets=4 l2.ways=8 l2.sectored=false l1d.global=true "

/* Pieces of programs. Each ends when all it has asked for has come: %r9, which is 0, depends on it.
 * Thread i has word i of the line at p in %rd1. */
#define BEGIN                                                                               \
    HEAD ".visible .entry k(.param .u64 p)\n{\n"                                            \
         " .reg .pred %p<2>; .reg .b32 %r<12>; .reg .b64 %rd<8>;\n"                         \
         " mov.u32 %r0, %tid.x; ld.param.u64 %rd0, [p]; mad.wide.u32 %rd1, %r0, 4, %rd0;\n" \
         " mov.u32 %r9, 0; mov.u64 %rd7, %rd1;\n"
#define AFTER(value) \
    " and.b32 %r9, " value ", 0; cvt.u64.u32 %rd6, %r9; add.u64 %rd1, %rd7, %rd6;\n"
/* Loads the line, and puts what it gets where results go. */
#define LOAD(how, result) \
    " ld." how "global.u32 %r1, [%rd1];\n" AFTER("%r1") " st.global.u32 [%rd1+" result "], %r1;\n"
/* An atomic elsewhere. */
#define TRIGGER " add.u32 %r2, %r9, 1; atom.global.add.u32 %r3, [%rd0+524288], %r2;\n" AFTER("%r3")
#define FENCE " membar.gl;\n"
/* Loads so many other lines that the one at p gives way. */
#define SWEEP_BY(how, label)                                            \
    " mov.u32 %r4, 0; add.u64 %rd2, %rd1, 65536;\n" label ":\n ld." how \
    "global.u32 %r5, [%rd2];\n" AFTER(                                  \
        "%r5") " add.u64 %rd2, %rd2, 128; add.u64 %rd2, %rd2, %rd6;\n"  \
               " add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, 512; @%p0 bra " label ";\n"
#define END " ret;\n}\n"

static const struct mechanism *const mechanisms[] = {&damage_mechanism, NULL};

/* Runs a program on a line that begins with the mark, or of zeros. */
static struct rig *run(const char *settings, const char *ptx, bool marked, hd_address *memory)
{
    struct rig *rig = rig_open_with(mechanisms, "gtx480", settings, ptx);
    u32 line[WORDS];
    *memory = rig_memory(rig, 1 << 20);
    for (u32 i = 0; i < WORDS; i++)
        line[i] = !marked ? 0 : i ? 100 + i : DAMAGE_MARK;
    assert_true(hd_write(rig->device, *memory, line, sizeof line, NULL));
    rig_run(rig, 1, WORDS, *memory);
    return rig;
}

/* Word i of the line at an offset is 100 + i, the first one the mark, and the second one flipped. */
static void expect(struct rig *rig, hd_address memory, u32 offset, bool flipped)
{
    u32 line[WORDS];
    assert_true(hd_read(rig->device, line, memory + offset, sizeof line, NULL));
    for (u32 i = 0; i < WORDS; i++)
        assert_int_equal(line[i],
                         (!i ? DAMAGE_MARK : 100 + i) ^ (flipped && i == 1 ? DAMAGE_BIT : 0));
}

/* Stores the line, and another one behind it. */
#define STORES                                                                         \
    BEGIN                                                                              \
    " add.u32 %r1, %r0, 100; setp.eq.u32 %p1, %r0, 0; @%p1 mov.u32 %r1, 0x0badcafe;\n" \
    " st.global.u32 [%rd1], %r1; add.u32 %r1, %r0, 1; st.global.u32 [%rd1+128], %r1;\n" FENCE
static const char stores[] = STORES TRIGGER END;
/* The same, and its line is gone from the L2 when it is loaded again. */
static const char stores_evicted[] =
    STORES TRIGGER SWEEP_BY("volatile.", "far") LOAD("volatile.", "262144") END;

static void lost_changes(void **state)
{
    static const char *const programs[] = {stores, stores_evicted};
    for (u32 p = 0; p < ARRAY_LEN(programs); p++) {
        hd_address memory;
        u32 line[2 * WORDS];
        struct rig *rig =
            run(SETTINGS "damage.on=true damage.what=lose", programs[p], false, &memory);
        assert_int_equal(stat(rig, "damage.lines"), 1);
        assert_int_equal(stat(rig, "damage.changed"), 1);
        assert_true(hd_read(rig->device, line, memory, sizeof line, NULL));
        for (u32 i = 0; i < WORDS; i++) {
            assert_int_equal(line[i], 0);             /* what memory had before */
            assert_int_equal(line[WORDS + i], i + 1); /* another line's changes are there */
        }
        rig_close(rig);
    }
}

static void flip_of_changes(void **state)
{
    static const char *const programs[] = {stores, stores_evicted};
    for (u32 p = 0; p < ARRAY_LEN(programs); p++) {
        hd_address memory;
        struct rig *rig =
            run(SETTINGS "damage.on=true damage.what=flip_l2", programs[p], false, &memory);
        assert_int_equal(stat(rig, "damage.changed"), 1);
        expect(rig, memory, 0, true);
        if (programs[p] == stores_evicted)
            expect(rig, memory, OUT, true);
        rig_close(rig);
    }
}

static void flip_in_l2(void **state)
{
    static const char ptx[] = BEGIN LOAD("volatile.", "262144") TRIGGER LOAD("volatile.", "262272")
        SWEEP_BY("volatile.", "far") LOAD("volatile.", "262400") END;
    hd_address memory;
    struct rig *rig = run(SETTINGS "damage.on=true damage.what=flip_l2", ptx, true, &memory);
    assert_int_equal(stat(rig, "damage.lines"), 1);
    assert_int_equal(stat(rig, "damage.changed"), 0);
    expect(rig, memory, OUT, false);
    expect(rig, memory, OUT + 128, true);  /* the line as it is */
    expect(rig, memory, OUT + 256, false); /* it has come from DRAM again */
    expect(rig, memory, 0, false);
    rig_close(rig);
}

static void flip_in_l1(void **state)
{
    static const char ptx[] = BEGIN LOAD("", "262144") TRIGGER LOAD("", "262272")
        LOAD("volatile.", "262400") SWEEP_BY("", "far") LOAD("", "262528") END;
    hd_address memory;
    struct rig *rig = run(SETTINGS "damage.on=true damage.what=flip_l1", ptx, true, &memory);
    assert_int_equal(stat(rig, "damage.lines"), 1);
    expect(rig, memory, OUT, false);
    expect(rig, memory, OUT + 128, true);  /* a hit */
    expect(rig, memory, OUT + 256, false); /* past the L1 */
    expect(rig, memory, OUT + 384, false); /* the line has come again */
    expect(rig, memory, 0, false);
    rig_close(rig);
}

/* The same programs without damage. */
static void nothing_damaged(void **state)
{
    hd_address memory;
    struct rig *rig = run(SETTINGS "damage.on=true", stores_evicted, false, &memory);
    assert_int_equal(stat(rig, "damage.lines"), 0);
    expect(rig, memory, 0, false);
    expect(rig, memory, OUT, false);
    rig_close(rig);
}

/* ---- the order of a program ---- */

#define PLAIN SETTINGS "timing.content=true"

/* Runs a program on a line of 100 + i, and gives three lines: that one, and two of results. */
static void results(const char *ptx, u32 *lines)
{
    hd_address memory;
    struct rig *rig = run(PLAIN, ptx, true, &memory);
    assert_true(hd_read(rig->device, lines, memory, 4 * WORDS, NULL));
    assert_true(hd_read(rig->device, lines + WORDS, memory + OUT, 8 * WORDS, NULL));
    rig_close(rig);
}

/* The first load's line is under way when the store passes, and the second load joins it: the first
 * gets what was there before, the second what was stored. */
#define BETWEEN(how)                                                      \
    BEGIN " ld." how "global.u32 %r1, [%rd1]; st.global.u32 [%rd1], 7;\n" \
          " ld." how "global.u32 %r2, [%rd1];\n"                          \
          " st.global.u32 [%rd1+262144], %r1; st.global.u32 [%rd1+262272], %r2;\n" END
static void store_between_loads(void **state)
{
    static const char *const programs[] = {BETWEEN(""), BETWEEN("volatile.")};
    for (u32 p = 0; p < ARRAY_LEN(programs); p++) {
        u32 lines[3 * WORDS];
        results(programs[p], lines);
        for (u32 i = 1; i < WORDS; i++) {
            assert_int_equal(lines[i], 7);
            assert_int_equal(lines[WORDS + i], 100 + i);
            assert_int_equal(lines[2 * WORDS + i], 7);
        }
    }
}

/* What goes past the L1 leaves the core before an older store does that is on its way through it. */
static void overtaken(void **state)
{
    static const char atomic[] =
        BEGIN " st.global.u32 [%rd1], 7; atom.global.add.u32 %r1, [%rd1], 1;\n"
              " st.global.u32 [%rd1+262144], %r1;\n" END;
    static const char store[] =
        BEGIN " st.global.u32 [%rd1], 7; st.volatile.global.u32 [%rd1], 8;\n" END;
    u32 lines[3 * WORDS];
    results(atomic, lines);
    for (u32 i = 0; i < WORDS; i++) {
        assert_int_equal(lines[i], 8);
        assert_int_equal(lines[WORDS + i], 7);
    }
    results(store, lines);
    for (u32 i = 0; i < WORDS; i++)
        assert_int_equal(lines[i], 8);
}

/* What the host writes between launches is what the next one loads, though the L2 has the line. */
static void host_writes(void **state)
{
    static const char ptx[] = BEGIN LOAD("", "262144") END;
    hd_address memory;
    struct rig *rig = run(PLAIN, ptx, true, &memory);
    u32 line[WORDS];
    expect(rig, memory, OUT, false);
    memset(line, 0x5a, sizeof line);
    assert_true(hd_write(rig->device, memory, line, sizeof line, NULL));
    rig_run(rig, 1, WORDS, memory);
    assert_true(hd_read(rig->device, line, memory + OUT, sizeof line, NULL));
    for (u32 i = 0; i < WORDS; i++)
        assert_int_equal(line[i], 0x5a5a5a5a);
    rig_close(rig);
}

static void collect(void *user, const char *text, size_t length)
{
    add(user, "%.*s", (int)length, text);
}

/* printf of a text that the kernel has just stored: on its way to the L2, or there. */
#define SAY(after)                                                                  \
    HEAD                                                                            \
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"    \
        ".visible .entry k(.param .u64 p)\n{\n"                                     \
        " .local .align 8 .b8 args[8]; .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"        \
        " ld.param.u64 %rd0, [p]; mov.u64 %rd1, args; cvta.local.u64 %rd1, %rd1;\n" \
        " st.global.u32 [%rd0], 0x0a6968;\n" after /* "hi\n" */                     \
        " { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd0;\n" \
        "   st.param.b64 [b], %rd1; call.uni (r), vprintf, (a, b); ld.param.b32 %r2, [r]; }\n" END
static void system_call(void **state)
{
    static const char *const programs[] = {SAY(""), SAY(FENCE)};
    for (u32 p = 0; p < ARRAY_LEN(programs); p++) {
        struct text text = {0};
        struct rig *rig = rig_open_with(mechanisms, "gtx480", PLAIN, programs[p]);
        hd_set_output(rig->device, collect, &text);
        rig_run(rig, 1, 1, rig_memory(rig, 4096));
        assert_non_null(text.data);
        assert_string_equal(text.data, "hi\n");
        free(text.data);
        rig_close(rig);
    }
}

static void refused(void **state)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    assert_true(hd_config_load(config, "miaow", &error));
    assert_true(hd_config_set(config, "timing.content=true", &error));
    assert_null(hd_device_open(config, &error));
    assert_non_null(strstr(error.message, "miaow"));
    hd_config_destroy(config);
    config = hd_config_create();
    assert_true(hd_config_set(config, "timing.functional=false", &error));
    assert_true(hd_config_mechanism(config, "darsie", &error));
    assert_true(hd_config_set(config, "timing.content=true", &error));
    assert_null(hd_device_open(config, &error));
    assert_non_null(strstr(error.message, "darsie"));
    hd_config_destroy(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_changes),    cmocka_unit_test(flip_of_changes),
        cmocka_unit_test(flip_in_l2),      cmocka_unit_test(flip_in_l1),
        cmocka_unit_test(nothing_damaged), cmocka_unit_test(store_between_loads),
        cmocka_unit_test(overtaken),       cmocka_unit_test(host_writes),
        cmocka_unit_test(system_call),     cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
