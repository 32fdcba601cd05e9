/*
 * Southern Islands through the public API: modules by their bytes, machines by their width, memory
 * that a launch takes and gives back, and raw programs, used rightly and wrongly.
 */
#include <heddle/heddle.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *tests; /* the folder of all tests */

static char *read_file(const char *name, size_t *length)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", tests, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    char *data = malloc(1 << 20);
    *length = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

static struct hd_device *open_device_of(const char *machine, const char *setting, bool in_time)
{
    struct hd_error error;
    struct hd_config *config = hd_config_create();
    assert_true(!machine || hd_config_load(config, machine, &error));
    assert_true(hd_config_set(
        config, in_time ? "timing.functional=false" : "timing.functional=true", &error));
    assert_true(!setting || hd_config_set(config, setting, &error));
    struct hd_device *device = hd_device_open(config, &error);
    assert_non_null(device);
    hd_config_destroy(config);
    return device;
}

static struct hd_device *open_device(const char *machine, const char *setting)
{
    return open_device_of(machine, setting, false);
}

static struct hd_module *load(struct hd_device *device, const char *name, struct hd_error *error)
{
    size_t length;
    char *data = read_file(name, &length);
    struct hd_module *module = hd_module_load(device, data, length, "k.so", error);
    free(data);
    return module;
}

static void says(const struct hd_error *error, enum hd_error_code code, const char *text)
{
    assert_int_equal(error->code, code);
    if (!strstr(error->message, text))
        fail_msg("expected '%s' in: %s", text, error->message);
}

static const char add_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                              ".visible .entry k()\n{\n ret;\n}\n";

static void machines(void **state)
{
    size_t length;
    char *object = read_file("cli/data/objects.clang14.so", &length);
    struct hd_error error;
    assert_string_equal(hd_machine_for(object, length, false), "generic64");
    assert_string_equal(hd_machine_for(add_ptx, sizeof add_ptx - 1, false), "generic");
    assert_string_equal(hd_machine_for(object, 0, false), "generic");
    assert_string_equal(hd_machine_for(object, 3, false), "generic");
    assert_string_equal(hd_machine_for(NULL, 0, false), "generic");
    assert_string_equal(hd_machine_for(NULL, 0, true), "generic64");
    struct hd_device *device = open_device(NULL, NULL);
    assert_null(hd_module_load(device, object, length, "k.so", &error));
    says(&error, HD_ERROR_USAGE, "64 lanes");
    assert_string_equal(error.place, "k.so");
    assert_null(hd_module_load_raw(device, "\0\0\x81\xbf", 4, "p.bin", &error));
    says(&error, HD_ERROR_USAGE, "64 lanes");
    hd_device_close(device);
    device = open_device("generic64", NULL); /* PTX runs there too */
    assert_non_null(hd_module_load(device, add_ptx, sizeof add_ptx - 1, "k.ptx", &error));
    assert_non_null(hd_module_load(device, object, length, "k.so", &error));
    hd_device_close(device);
    free(object);
}

static void parameters(void **state)
{
    struct hd_error error;
    struct hd_kernel_info info;
    struct hd_device *device = open_device("generic64", NULL);
    struct hd_module *module = load(device, "cli/data/objects.clang14.so", &error);
    hd_kernel_info(hd_kernel_find(module, "exchange", &error), &info);
    assert_int_equal(info.param_count, 2); /* what a runtime adds is not counted */
    assert_int_equal(info.params[0].size, 8);
    assert_false(info.params[0].is_shared);
    assert_int_equal(info.params[1].size, 4);
    assert_true(info.params[1].is_shared);
    assert_int_equal(info.max_threads, 256);
    assert_true(info.scalars > 0);
    hd_kernel_info(hd_kernel_find(module, "structure", &error), &info);
    assert_true(info.params[1].is_array && info.params[1].size == 12);
    hd_device_close(device);
}

enum {
    SORTED = 24 /* words a thread of heap_sort sorts, in 100 bytes of local memory */
};

static bool is_sorted(struct hd_device *device, hd_address at, uint32_t threads)
{
    struct hd_error error;
    int32_t *words = malloc(threads * SORTED * 4);
    assert_true(hd_read(device, words, at, threads * SORTED * 4, &error));
    bool sorted = true;
    for (uint32_t i = 0; i < threads * SORTED; i++)
        sorted &= words[i] == (int32_t)(i % SORTED) - 3;
    free(words);
    return sorted;
}

/* Launches heap_sort with so many blocks of 64 on what memory is left. */
static bool sort(struct hd_kernel *kernel, hd_address in, hd_address out, uint32_t blocks,
                 struct hd_error *error)
{
    struct hd_arg args[] = {{&in, 8}, {&out, 8}};
    struct hd_result result;
    if (!hd_launch(kernel, (struct hd_dim){blocks, 1, 1}, (struct hd_dim){64, 1, 1}, 0, args, 2,
                   &result, error))
        return false;
    if (result.outcome != HD_DONE)
        fail_msg("%s", result.explanation);
    return true;
}

/* The bytes that can still be allocated, to the last one. */
static uint64_t room(struct hd_device *device)
{
    uint64_t low = 0, high = 1 << 30;
    while (low < high) {
        uint64_t middle = (low + high + 1) / 2;
        hd_address address = hd_alloc(device, middle, NULL);
        if (address)
            hd_release(device, address, NULL);
        if (address)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Blocks whose threads need local memory, with as much memory as they take, and with less. */
static void local_memory_of(bool in_time)
{
    enum {
        BLOCKS = 40,
        THREADS = 64 * BLOCKS,
        BYTES = THREADS * SORTED * 4
    };
    struct hd_error error;
    struct hd_device *device = open_device_of("generic64", "gpu.memory_bytes=1M", in_time);
    struct hd_module *module = load(device, "kernels/opencl/scratch.clang14.so", &error);
    struct hd_kernel *kernel = hd_kernel_find(module, "heap_sort", &error);
    hd_address in = hd_alloc(device, BYTES, &error), out = hd_alloc(device, BYTES, &error);
    int32_t *words = malloc(BYTES);
    for (int i = 0; i < THREADS * SORTED; i++)
        words[i] = (i * 7 + 5) % SORTED - 3;
    assert_true(hd_write(device, in, words, BYTES, &error));
    uint64_t left = room(device);
    assert_true(left >= BLOCKS * 6400); /* all blocks at once */
    assert_true(sort(kernel, in, out, BLOCKS, &error) && is_sorted(device, out, THREADS));
    assert_int_equal(room(device), left); /* the launch has given everything back */
    /* Room for a few blocks, for one, for none. */
    for (uint64_t keep = 40000; keep; keep = keep == 40000 ? 7000 : keep == 7000 ? 6000 : 0) {
        hd_address filler = hd_alloc(device, left - keep, &error);
        assert_true(filler && hd_fill(device, out, "", 1, BYTES, &error));
        bool ran = sort(kernel, in, out, BLOCKS, &error);
        assert_int_equal(ran, keep > 6000);
        if (ran)
            assert_true(is_sorted(device, out, THREADS));
        else
            says(&error, HD_ERROR_MEMORY, "local memory");
        assert_true(hd_release(device, filler, &error));
        assert_int_equal(room(device), left);
    }
    free(words);
    hd_device_close(device);
}

static void local_memory(void **state)
{
    local_memory_of(false);
    local_memory_of(true);
}

/* ---- raw programs ---- */

/* s_mov_b32 s0, 7; v_mov_b32 v3, s0; s_endpgm */
static const uint32_t code[] = {0xbe800387, 0x7e060200, 0xbf810000};
static const char one_wave[] = "{\"waves\": [{\"exec\": \"0x6\", \"vgpr\": {\"1\": [5, 6]}}], "
                               "\"memory\": [{\"address\": \"0x0\", \"hex\": \"0102\"}]}";

struct lines {
    char text[4096];
    int count;
};

static void keep_line(void *user, const char *line, size_t length)
{
    struct lines *lines = user;
    size_t used = strlen(lines->text);
    assert_true(used + length + 1 < sizeof lines->text);
    assert_null(memchr(line, '\n', length));
    memcpy(lines->text + used, line, length);
    lines->count++;
}

static void raw(void **state)
{
    struct hd_error error;
    struct hd_result result;
    struct hd_raw_info info;
    struct lines lines = {0};
    struct hd_device *device = open_device("generic64", NULL);
    struct hd_module *module = hd_module_load_raw(device, code, sizeof code, "p.bin", &error);
    struct hd_raw *raw = hd_raw_create(module, one_wave, strlen(one_wave), "s.json", &error);
    assert_non_null(raw);
    hd_raw_info(raw, &info);
    assert_int_equal(info.workgroups, 1);
    assert_int_equal(info.waves, 1);
    assert_int_equal(info.threads, 64);
    assert_int_equal(info.registers, 4); /* v0 to v3 */
    assert_true(hd_raw_run(raw, keep_line, &lines, &result, &error));
    assert_int_equal(result.outcome, HD_DONE);
    assert_int_equal(result.warp_instructions, 3);
    assert_int_equal(result.thread_instructions, 6);
    assert_int_equal(lines.count, 3);
    assert_non_null(strstr(lines.text, "\"sgpr\":{\"0\":7}"));
    assert_non_null(strstr(lines.text, "\"vgpr\":{\"3\":[null,7,7,null,"));
    char *dump = hd_raw_dump(raw), *stats = hd_stats_json(device);
    assert_non_null(strstr(dump, "\"pc\": 8"));
    assert_non_null(strstr(dump, "\"1\": [5, 6, 0,"));
    assert_non_null(strstr(dump, "\"3\": [0, 7, 7, 0,"));
    assert_non_null(strstr(dump, "\"hex\": \"0102\""));
    assert_non_null(strstr(stats, "\"p.bin\""));
    hd_free(stats);
    /* The dump is a state: the run can continue from it, in the same memory. */
    assert_false(hd_raw_run(raw, NULL, NULL, NULL, &error));
    says(&error, HD_ERROR_USAGE, "already");
    hd_raw_destroy(raw);
    raw = hd_raw_create(module, dump, strlen(dump), "s.json", &error);
    assert_non_null(raw);
    assert_true(hd_raw_run(raw, NULL, NULL, &result, &error));
    assert_int_equal(result.warp_instructions, 1);
    char *again = hd_raw_dump(raw);
    assert_string_equal(again, dump);
    hd_free(again);
    hd_free(dump);
    hd_raw_destroy(raw);
    hd_device_close(device);
}

/* Nothing that fails may leave memory taken. */
static void raw_wrong(void **state)
{
    static const struct {
        const char *state, *says;
    } states[] = {
        {"{", "JSON"},
        {"{\"waves\": [{\"pc\": 12}]}", "waves[0].pc"},
        {"{\"waves\": [{}, {\"pc\": 400}]}", "waves[1].pc"},
        {"{\"waves\": [{\"lds_bytes\": 4096}]}", "core.shared_bytes"},
        {"{\"waves\": [{}], \"memory\": [{\"address\": \"0x2000\", \"hex\": \"00\"},"
         "{\"address\": \"0x1000\", \"hex\": \"00\"}, {\"address\": \"0x2000\", \"hex\": \"00\"}]}",
         "overlap"},
    };
    struct hd_error error;
    struct hd_device *device = open_device("generic64", "core.shared_bytes=1024");
    uint64_t left = room(device);
    struct hd_module *module = hd_module_load_raw(device, code, sizeof code, "p.bin", &error);
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        assert_null(
            hd_raw_create(module, states[i].state, strlen(states[i].state), "s.json", &error));
        says(&error, HD_ERROR_INPUT, states[i].says);
    }
    assert_int_equal(room(device), left);
    /* Memory that is in use already. */
    hd_address taken = hd_alloc(device, 64, &error);
    char text[256];
    snprintf(text, sizeof text,
             "{\"waves\": [{}], \"memory\": [{\"address\": \"0x%llx\", \"hex\": \"00\"}]}",
             (unsigned long long)taken + 63);
    assert_null(hd_raw_create(module, text, strlen(text), "s.json", &error));
    says(&error, HD_ERROR_USAGE, "in use");
    hd_release(device, taken, &error);
    /* One state at a time. */
    struct hd_raw *raw = hd_raw_create(module, one_wave, strlen(one_wave), "s.json", &error);
    assert_non_null(raw);
    assert_null(hd_raw_create(module, one_wave, strlen(one_wave), "s.json", &error));
    says(&error, HD_ERROR_USAGE, "another");
    hd_raw_destroy(raw);
    assert_int_equal(room(device), left);
    /* It is no module of kernels, and those are not raw. */
    assert_false(hd_launch(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1},
                           (struct hd_dim){1, 1, 1}, 0, NULL, 0, NULL, &error));
    says(&error, HD_ERROR_USAGE, "hd_raw_run");
    struct hd_module *other = load(device, "cli/data/objects.clang14.so", &error);
    assert_null(hd_raw_create(other, one_wave, strlen(one_wave), "s.json", &error));
    says(&error, HD_ERROR_USAGE, "hd_module_load_raw");
    hd_device_close(device);
}

static void raw_null(void **state)
{
    struct hd_error error;
    struct hd_raw_info info = {1, 1, 1, 1};
    struct hd_device *device = open_device("generic64", NULL);
    assert_null(hd_module_load_raw(NULL, code, sizeof code, "p", &error));
    says(&error, HD_ERROR_USAGE, "NULL");
    assert_null(hd_module_load_raw(device, NULL, 4, "p", &error));
    assert_null(hd_module_load_raw(device, code, sizeof code, NULL, NULL));
    assert_null(hd_module_load_raw(device, code, 0, "p", &error));
    assert_null(hd_module_load_raw(device, code, 3, "p", &error));
    says(&error, HD_ERROR_INPUT, "4-byte");
    struct hd_module *module = hd_module_load_raw(device, code, sizeof code, "p", &error);
    assert_null(hd_raw_create(NULL, one_wave, 1, "s", &error));
    assert_null(hd_raw_create(module, NULL, 0, "s", &error));
    assert_null(hd_raw_create(module, one_wave, sizeof one_wave - 1, NULL, NULL));
    assert_false(hd_raw_run(NULL, NULL, NULL, NULL, &error));
    says(&error, HD_ERROR_USAGE, "NULL");
    assert_null(hd_raw_dump(NULL));
    hd_raw_info(NULL, &info);
    assert_int_equal(info.waves, 0);
    hd_raw_info(NULL, NULL);
    hd_raw_destroy(NULL);
    char *listing = hd_module_listing(module, NULL, &error);
    assert_non_null(strstr(listing, "s_mov_b32 s0, 7"));
    hd_free(listing);
    hd_device_close(device);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest list[] = {
        cmocka_unit_test(machines), cmocka_unit_test(parameters), cmocka_unit_test(local_memory),
        cmocka_unit_test(raw),      cmocka_unit_test(raw_wrong),  cmocka_unit_test(raw_null),
    };
    tests = argc > 1 ? argv[1] : "tests";
    return cmocka_run_group_tests(list, NULL, NULL);
}
