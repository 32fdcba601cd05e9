/*
 * The C API with a mechanism of a shared object, as a program has it that loads the library by
 * itself and hides its symbols: outside LIBRARY OBJECT. Configurations and devices end in any
 * order.
 */
#include <dlfcn.h>
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *function(const char *name)
{
    void *found = dlsym(library, name);
    if (!found) {
        printf("no %s\n", name);
        exit(1);
    }
    return found;
}
#define CALL(name, ...) ((__typeof__(name) *)function(#name))(__VA_ARGS__)

static void require(bool right, const char *what, const struct hd_error *error)
{
    if (right)
        return;
    printf("%s: %s: %s\n", what, error->place, error->message);
    exit(1);
}

static bool holds(char *text, const char *piece)
{
    bool found = text && strstr(text, piece);
    CALL(hd_free, text);
    return found;
}

int main(int argc, char **argv)
{
    struct hd_error error = {0};
    library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    require(library, "dlopen", &error);
    char words[4096];
    snprintf(words, sizeof words, "%s:bits=3", argv[2]);

    struct hd_config *one = CALL(hd_config_create), *two = CALL(hd_config_create);
    /* what fails leaves no trace */
    snprintf(words, sizeof words, "%s:bits=0", argv[2]);
    require(!CALL(hd_config_mechanism, one, words, &error), "bits=0 is taken", &error);
    require(!holds(CALL(hd_config_json, one), "silent"), "it is known", &error);
    snprintf(words, sizeof words, "%s:bits=3", argv[2]);
    require(CALL(hd_config_mechanism, one, words, &error), words, &error);
    require(CALL(hd_config_mechanism, one, words, &error), "the same again", &error);
    require(!CALL(hd_config_set, two, "silent.bits=3", &error), "known to another", &error);
    require(CALL(hd_config_mechanism, two, argv[2], &error), argv[2], &error);
    require(CALL(hd_config_set, two, "silent.bits=5", &error), "set", &error);
    require(holds(CALL(hd_config_json, one), "\"bits\": 3"), "bits of one", &error);
    require(holds(CALL(hd_config_mechanisms, one), "\"sha256\": \""), "its hash", &error);
    require(holds(CALL(hd_config_plugins, one), "\"name\": \"silent\""), "its file", &error);
    require(!holds(CALL(hd_mechanisms_json), "\"name\": \"silent\""), "built in", &error);
    /* a machine replaces its values; then it may be named */
    require(CALL(hd_config_load, one, "gtx480", &error), "load", &error);
    require(holds(CALL(hd_config_json, one), "\"bits\": 8"), "bits after a load", &error);
    require(CALL(hd_config_mechanism, one, "silent:bits=4", &error), "by name", &error);

    /* two that do not know the same can be compared */
    struct hd_config *three = CALL(hd_config_create);
    require(holds(CALL(hd_config_diff, three, two), "\"key\": \"silent.bits\""), "diff", &error);
    require(holds(CALL(hd_config_diff, two, three), "\"b\": null"), "diff", &error);
    CALL(hd_config_destroy, three);

    struct hd_device *a = CALL(hd_device_open, one, &error);
    struct hd_device *b = CALL(hd_device_open, one, &error);
    struct hd_device *c = CALL(hd_device_open, two, &error);
    require(a && b && c, "open", &error);
    CALL(hd_config_destroy, one);
    CALL(hd_device_close, a);
    require(holds(CALL(hd_stats_json, b), "\"silent.checks\": 0"), "statistics", &error);
    CALL(hd_config_destroy, two);
    CALL(hd_device_close, b);
    require(holds(CALL(hd_stats_json, c), "\"silent.checks\": 0"), "statistics", &error);
    CALL(hd_device_close, c);
    printf("done\n");
    return 0;
}
