/*
 * Barriers in shared memory of kernels in CUDA C, compiled with share/heddle/cuda.h by every clang
 * that is installed; no library of functions is needed.
 */
#include "interpreter.h"

#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int report(const char *what, const struct hd_error *error)
{
    printf("  %s: %s: %s\n", what, error->place, error->message);
    return 1;
}

static int run_idiom(struct hd_device *device, struct hd_module *module, int which)
{
    unsigned in[ITEMS], out[ITEMS] = {0}, expected[ITEMS];
    const char *name = idiom_names[which];
    struct hd_error error = {0};
    struct hd_result result = {0};
    interpreter_input(in);
    interpreter_run(which, expected, in);
    hd_address to = hd_alloc(device, sizeof out, &error);
    hd_address from = hd_alloc(device, sizeof in, &error);
    struct hd_kernel *kernel = hd_kernel_find(module, name, &error);
    const struct hd_arg args[] = {{&to, sizeof to}, {&from, sizeof from}};
    if (!to || !from || !kernel || !hd_write(device, from, in, sizeof in, &error) ||
        !hd_launch(kernel, (struct hd_dim){1, 1, 1}, (struct hd_dim){ITEMS, 1, 1}, 0, args, 2,
                   &result, &error) ||
        !hd_read(device, out, to, sizeof out, &error))
        return report(name, &error);
    hd_release(device, to, &error);
    hd_release(device, from, &error);
    if (!memcmp(out, expected, sizeof out))
        return 0;
    printf("  %s is wrong\n", name);
    return 1;
}

static char *read_all(FILE *file, size_t *bytes)
{
    char *text = NULL, part[4096];
    FILE *to = open_memstream(&text, bytes);
    for (size_t n; to && (n = fread(part, 1, sizeof part, file)) > 0;)
        fwrite(part, 1, n, to);
    if (to)
        fclose(to);
    return text;
}

/* The compiler writes PTX to its output. */
static char *compile(int version, size_t *bytes)
{
    char command[1024];
    snprintf(command, sizeof command,
             "clang-%d -x cuda --cuda-device-only --cuda-path=/nonexistent -nocudainc -nocudalib "
             "--cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx70 -O2 -I" CUDA_FOLDER
             " -S " SOURCE_FOLDER "/idioms.cu -o -",
             version);
    FILE *compiler = popen(command, "r");
    char *text = compiler ? read_all(compiler, bytes) : NULL;
    if (compiler && pclose(compiler) == 0)
        return text;
    free(text);
    return NULL;
}

static int run_all(int version)
{
    struct hd_error error = {0};
    size_t bytes = 0;
    int wrong = 0;
    printf("clang-%d\n", version);
    char *ptx = compile(version, &bytes);
    if (!ptx) {
        printf("  does not compile\n");
        return 1;
    }
    struct hd_config *config = hd_config_create();
    /* Wrong code may never end. */
    bool limited = hd_config_set(config, "launch.max_instructions=1000000", &error);
    struct hd_device *device = limited ? hd_device_open(config, &error) : NULL;
    struct hd_module *module =
        device ? hd_module_load(device, ptx, bytes, "idioms.ptx", &error) : NULL;
    if (!module)
        wrong = report("does not load", &error);
    for (int i = 0; module && i < IDIOM_COUNT; i++)
        wrong += run_idiom(device, module, i);
    hd_module_unload(module);
    hd_device_close(device);
    hd_config_destroy(config);
    free(ptx);
    return wrong != 0;
}

int main(void)
{
    char path[32];
    int tried = 0, failed = 0;
    for (int version = 14; version < 40; version++) {
        snprintf(path, sizeof path, "/usr/bin/clang-%d", version);
        if (access(path, X_OK))
            continue;
        tried++;
        failed += run_all(version);
    }
    printf("%d compilers, %d failures\n", tried, failed);
    return !tried || failed;
}
