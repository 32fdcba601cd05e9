/*
 * Textures and surfaces through the library: what instructions do that CUDA's compilers do not write,
 * faults, and statistics against counts by hand. tests/cuda/textures.cu compares fetches with a
 * reference.
 */
#include <heddle/heddle.h>

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 7.0\n.target sm_60\n.address_size 64\n"
#define ENTRY(name)                                                                \
    ".visible .entry " name "(.param .u64 p, .param .u64 t, .param .u32 w)\n{\n"   \
    " .reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %rd<9>;\n"                     \
    " ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [t]; ld.param.u32 %r9, [w];\n"    \
    " mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; mul.wide.u32 %rd3, %r1, 16;\n" \
    " add.u64 %rd1, %rd1, %rd3; mov.f32 %f2, 0f3F000000; add.f32 %f3, %f1, %f2;\n"
#define STORE " st.global.v4.b32 [%rd1], {%r2, %r3, %r4, %r5};\n ret;\n}\n"

static const char kernels[] =
    HEAD ".global .texref named;\n"
         ".global .samplerref wrapped = { addr_mode_0 = wrap, addr_mode_1 = clamp_to_border };\n"
    /* points, and positions half way between four texels */
    ENTRY(
        "point") " tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f3, %f2}];\n"
                 " mov.b32 %r2, %f4; mov.b32 %r3, %f5; mov.b32 %r4, %f6; mov.b32 %r5, "
                 "%f7;\n" STORE ENTRY(
                     "middle") " add.f32 %f3, %f1, 0f3F800000; mov.f32 %f2, 0f3F800000;\n"
                               " tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd2, {%f3, %f2}];\n"
                               " mov.b32 %r2, %f4; mov.b32 %r3, %f5; mov.b32 %r4, %f6; mov.b32 "
                               "%r5, %f7;\n" STORE
                                   /* a reference with a sampler of its own, and one whose word is an argument */
                                   ENTRY(
                                       "apart") " mul.f32 %f8, %f3, 0f3E000000; mov.f32 %f9, "
                                                "0f3E000000;\n"
                                                " tex.2d.v4.s32.f32 {%r2, _, _, _}, [named, "
                                                "wrapped, {%f8, %f9}];\n"
                                                " cvt.u64.u32 %rd4, %r9; tex.2d.v4.s32.f32 {%r3, "
                                                "_, _, %r4}, [named, %rd4, {%f3, %f2}];\n"
                                                " tex.2d.v4.s32.s32 {%r5, _, _, _}, [named, "
                                                "{%r1, 1}];\n" STORE ENTRY(
                                                    "queries") " txq.width.b32 %r2, [%rd2]; "
                                                               "txq.height.b32 %r3, [%rd2];\n"
                                                               " suq.channel_order.b32 %r4, "
                                                               "[%rd2]; "
                                                               "txq.channel_data_type.b32 %r5, "
                                                               "[named];\n" STORE ENTRY(
                                                                   "formatted") " mov.u32 %r6, "
                                                                                "0; mov.b32 %r2, "
                                                                                "%f2; mov.u32 "
                                                                                "%r3, "
                                                                                "0x40000000;\n"
                                                                                " mov.u32 %r4, "
                                                                                "0; mov.u32 %r5, "
                                                                                "0xbf800000;\n"
                                                                                " sust.p.2d.v4."
                                                                                "b32.zero [%rd2, "
                                                                                "{%r1, %r6}], "
                                                                                "{%r2, %r3, %r4, "
                                                                                "%r5};\n"
                                                                                " suld.p.2d.v4."
                                                                                "b32.trap {%r2, "
                                                                                "%r3, %r4, %r5}, "
                                                                                "[%rd2, {%r1, "
                                                                                "%r6}];\n" STORE ENTRY(
                                                                                    "beyond") " s"
                                                                                              "us"
                                                                                              "t."
                                                                                              "b."
                                                                                              "2d"
                                                                                              ".b"
                                                                                              "32"
                                                                                              ".t"
                                                                                              "ra"
                                                                                              "p "
                                                                                              "[%"
                                                                                              "rd"
                                                                                              "2,"
                                                                                              " {"
                                                                                              "%r"
                                                                                              "9,"
                                                                                              " %"
                                                                                              "r1"
                                                                                              "}]"
                                                                                              ", "
                                                                                              "%r"
                                                                                              "1;"
                                                                                              "\n"
                                                                                              " r"
                                                                                              "et"
                                                                                              ";"
                                                                                              "\n"
                                                                                              "}"
                                                                                              "\n";

struct rig {
    struct hd_device *device;
    struct hd_module *module;
    struct hd_image *image;
    uint64_t handle, out;
};

enum {
    WIDTH = 64,
    HEIGHT = 4
};

static void set(struct hd_config *config, const char *assignment)
{
    struct hd_error error = {0};
    if (!hd_config_set(config, assignment, &error))
        fail_msg("%s", error.message);
}

static struct rig open_rig(const char *const *settings)
{
    struct hd_config *config = hd_config_create();
    struct hd_error error = {0};
    struct rig rig = {0};
    for (; *settings; settings++)
        set(config, *settings);
    rig.device = hd_device_open(config, &error);
    hd_config_destroy(config);
    if (rig.device)
        rig.module = hd_module_load(rig.device, kernels, sizeof kernels, "textures.ptx", &error);
    if (!rig.module)
        fail_msg("%s", error.message);
    rig.out = hd_alloc(rig.device, 64 * 16, &error);
    return rig;
}

static void give(struct rig *rig, uint32_t channels, uint32_t bits, enum hd_texel texel,
                 const struct hd_sampler *sampler, const void *texels)
{
    const struct hd_image_shape shape = {.dimensions = 2,
                                         .width = WIDTH,
                                         .height = HEIGHT,
                                         .channels = channels,
                                         .bits = bits,
                                         .texel = texel,
                                         .data_type = 77,
                                         .channel_order = 88};
    const uint64_t row = (uint64_t)WIDTH * channels * bits / 8;
    const struct hd_box box = {0, {0, 0, 0}, {WIDTH, HEIGHT, 1}, row, row * HEIGHT};
    struct hd_error error = {0};
    rig->image = hd_image_create(rig->device, &shape, "image", &error);
    if (!rig->image || !hd_image_write(rig->image, &box, texels, &error))
        fail_msg("%s", error.message);
    rig->handle = hd_texture_create(rig->image, texel, sampler, &error);
    assert_true(rig->handle);
}

static struct hd_result launch(struct rig *rig, const char *kernel, uint32_t word, uint32_t *words)
{
    struct hd_error error = {0};
    struct hd_result result = {0};
    const struct hd_arg args[] = {{&rig->out, 8}, {&rig->handle, 8}, {&word, 4}};
    if (!hd_launch(hd_kernel_find(rig->module, kernel, &error), (struct hd_dim){1, 1, 1},
                   (struct hd_dim){32, 1, 1}, 0, args, 3, &result, &error))
        fail_msg("%s", error.message);
    if (words)
        assert_true(hd_read(rig->device, words, rig->out, 32 * 16, &error));
    return result;
}

static int64_t total(const struct rig *rig, const char *name)
{
    char *text = hd_stats_json(rig->device);
    json_t *stats = json_loads(text, 0, NULL);
    const json_t *value = json_object_get(json_object_get(stats, "totals"), name);
    assert_non_null(value);
    const int64_t count = (int64_t)json_number_value(value); /* rates here are whole */
    json_decref(stats);
    hd_free(text);
    return count;
}

static const char *const functional[] = {"timing.functional=true", NULL};
static const struct hd_sampler nearest = {.address = {HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP}};
static const struct hd_sampler smooth = {.address = {HD_TEXTURE_CLAMP, HD_TEXTURE_CLAMP},
                                         .linear = true};

static float texels[WIDTH * HEIGHT];
static int setup(void **state)
{
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        texels[i] = (float)i;
    return 0;
}

/* A reference is bound by the host; its own sampler and those of the kernel differ. */
static void samplers(void **state)
{
    struct rig rig = open_rig(functional);
    int32_t numbers[WIDTH * HEIGHT];
    uint32_t words[128];
    uint64_t named;
    struct hd_error error = {0};
    (void)state;
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        numbers[i] = -i - 1;
    give(&rig, 1, 32, HD_TEXEL_SINT, &nearest, numbers);
    assert_int_equal(launch(&rig, "apart", 0, NULL).outcome, HD_OUT_OF_BOUNDS); /* not bound */
    assert_false(hd_module_texture(rig.module, "wrong", &named, &error));
    assert_false(hd_module_variable(rig.module, "named", NULL, NULL, NULL));
    assert_true(hd_module_texture(rig.module, "named", &named, &error));
    assert_true(hd_texture_bind(rig.device, named, rig.image, HD_TEXEL_SINT, &nearest, &error));
    /* the argument: points in texels, beyond the border nothing */
    const struct hd_sampler border = {.address = {HD_TEXTURE_BORDER, HD_TEXTURE_BORDER}};
    assert_int_equal(launch(&rig, "apart", hd_sampler_word(&border), words).outcome, HD_DONE);
    for (int i = 0; i < 32; i++) {
        /* `wrapped`: (i + 0.5) / 8 of the width, repeated, and 1/8 of the height */
        const int x = (8 * i + 4) % WIDTH;
        assert_int_equal((int32_t)words[4 * i], numbers[x]);
        assert_int_equal((int32_t)words[4 * i + 1], numbers[i]);
        assert_int_equal(words[4 * i + 2], 1); /* there is no fourth channel */
        assert_int_equal((int32_t)words[4 * i + 3], numbers[WIDTH + i]);
    }
    assert_int_equal(launch(&rig, "queries", 0, words).outcome, HD_DONE);
    assert_int_equal(words[0], WIDTH);
    assert_int_equal(words[1], HEIGHT);
    assert_int_equal(words[2], 88);
    assert_int_equal(words[3], 77);
    hd_device_close(rig.device);
}

/* Stores and loads that convert: 8-bit channels saturate, and round to nearest even. */
static void conversions(void **state)
{
    struct rig rig = open_rig(functional);
    uint8_t bytes[WIDTH * HEIGHT * 4] = {0};
    uint32_t words[128];
    float back;
    (void)state;
    give(&rig, 4, 8, HD_TEXEL_UNORM, &nearest, bytes);
    assert_int_equal(launch(&rig, "formatted", 0, words).outcome, HD_DONE);
    memcpy(&back, &words[0], 4);
    assert_true(back == 128 / 255.0f); /* 0.5 is 127.5 */
    memcpy(&back, &words[1], 4);
    assert_true(back == 1); /* of 2 */
    assert_int_equal(words[3], 0);
    const struct hd_box box = {0, {31, 0, 0}, {1, 1, 1}, 4, 4};
    assert_true(hd_image_read(rig.image, &box, bytes, NULL));
    assert_memory_equal(bytes, "\x80\xff\0\0", 4);
    hd_device_close(rig.device);
}

static void faults(void **state)
{
    struct rig rig = open_rig(functional);
    struct hd_result result;
    struct hd_error error = {0};
    (void)state;
    give(&rig, 1, 32, HD_TEXEL_FLOAT, &nearest, texels);
    assert_int_equal(launch(&rig, "beyond", 4 * WIDTH - 4, NULL).outcome, HD_OUT_OF_BOUNDS);
    result = launch(&rig, "beyond", 4 * WIDTH - 3, NULL);
    assert_non_null(strstr(result.explanation, "surface access out of range"));
    rig.handle = 1234567;
    result = launch(&rig, "point", 0, NULL);
    assert_int_equal(result.outcome, HD_OUT_OF_BOUNDS);
    assert_non_null(strstr(result.explanation, "0x12d687"));
    /* texels that have been freed */
    give(&rig, 1, 32, HD_TEXEL_FLOAT, &nearest, texels);
    hd_image_destroy(rig.image);
    assert_int_equal(launch(&rig, "point", 0, NULL).outcome, HD_USE_AFTER_FREE);
    const struct hd_image_shape wrong[] = {
        {.dimensions = 4, .width = 1, .channels = 1, .bits = 8},
        {.dimensions = 1, .width = 1, .channels = 3, .bits = 8},
        {.dimensions = 1, .width = 1, .channels = 1, .bits = 32, .texel = HD_TEXEL_UNORM},
        {.dimensions = 3, .width = ~0u, .height = ~0u, .depth = ~0u, .channels = 1, .bits = 8},
        {.dimensions = 1, .width = 8, .levels = 2, .channels = 1, .bits = 8, .address = 4096},
        {.dimensions = 1, .width = 8, .channels = 1, .bits = 8, .select = {1}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(hd_image_create(rig.device, &wrong[i], NULL, &error));
    hd_device_close(rig.device);
}

/* Counts of one warp of 32 lanes, by hand. */
static void counts(void **state)
{
    static const char *const caches[] = {"readonly", "l1d"};
    (void)state;
    for (int c = 0; c < 2; c++) {
        char cache[40], reads[40];
        snprintf(cache, sizeof cache, "texture.cache=%s", caches[c]);
        snprintf(reads, sizeof reads, "%s.reads", caches[c]);
        const char *const timed[] = {"timing.functional=false",
                                     "gpu.cores=1",
                                     cache,
                                     "readonly.line_bytes=128",
                                     "l1d.line_bytes=128",
                                     "l1d.global=true",
                                     "texture.lanes_per_cycle=3",
                                     NULL};
        struct rig rig = open_rig(timed), exact = open_rig(functional);
        uint32_t words[128], same[128];
        give(&rig, 1, 32, HD_TEXEL_FLOAT, &smooth, texels);
        give(&exact, 1, 32, HD_TEXEL_FLOAT, &smooth, texels);
        launch(&rig, "point", 0, words);
        /* centres have one texel each; 128 bytes of a row are in four lines (texture_place) */
        assert_int_equal(total(&rig, "texture.instructions"), 1);
        assert_int_equal(total(&rig, "texture.lanes"), 32);
        assert_int_equal(total(&rig, "texture.texels"), 32);
        assert_int_equal(total(&rig, "texture.transactions"), 4);
        assert_int_equal(total(&rig, "texture.cycles"), 11);
        assert_int_equal(total(&rig, "texture.texels_per_lane"), 1);
        assert_int_equal(total(&rig, "texture.transactions_per_fetch"), 4);
        assert_int_equal(total(&rig, reads), 4);
        launch(&rig, "middle", 0, words);
        /* four texels each, up to the thirty-third of two rows, which share lines */
        assert_int_equal(total(&rig, "texture.texels"), 32 + 4 * 32);
        assert_int_equal(total(&rig, "texture.transactions"), 4 + 5);
        assert_int_equal(total(&rig, "texture.cycles"), 22);
        launch(&exact, "middle", 0, same);
        assert_memory_equal(words, same, sizeof words);
        for (int i = 0; i < 32; i++) {
            float value;
            memcpy(&value, &words[4 * i], 4);
            assert_true(value == i + (WIDTH + 1) / 2.0f);
        }
        hd_image_destroy(rig.image);
        give(&rig, 4, 8, HD_TEXEL_UNORM, &nearest, texels);
        launch(&rig, "formatted", 0, NULL);
        assert_int_equal(total(&rig, "texture.surface_accesses"), 2);
        assert_int_equal(total(&rig, "texture.instructions"), 2);
        hd_device_close(rig.device);
        hd_device_close(exact.device);
    }
}

/* A fetch takes texture.latency in addition to what its cache takes. */
static void latency(void **state)
{
    uint64_t cycles[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        char text[40];
        snprintf(text, sizeof text, "texture.latency=%d", (int[]){50, 51, 350}[i]);
        const char *const timed[] = {"timing.functional=false", "gpu.cores=1", text, NULL};
        struct rig rig = open_rig(timed);
        give(&rig, 1, 32, HD_TEXEL_FLOAT, &smooth, texels);
        cycles[i] = launch(&rig, "point", 0, NULL).cycles;
        hd_device_close(rig.device);
    }
    assert_int_equal(cycles[1] - cycles[0], 1);
    assert_int_equal(cycles[2] - cycles[0], 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samplers), cmocka_unit_test(conversions), cmocka_unit_test(faults),
        cmocka_unit_test(counts),   cmocka_unit_test(latency),
    };
    return cmocka_run_group_tests_name("texture", tests, setup, NULL);
}
