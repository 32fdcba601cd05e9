/*
 * Machine files of any bytes, for a component that has a parameter of every type.
 *
 * Checked besides what the sanitizers see: what was loaded, dumped and loaded again is the same; a
 * failure leaves the configuration as it was and says something.
 */
#include "base/config.h"
#include "demo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static char *dumped(const struct config *config)
{
    json_t *json = config_json(config);
    char *text = json_dumps(json, JSON_COMPACT);
    json_decref(json);
    require(text);
    return text;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
    static const struct component *const components[] = {&demo_component, NULL};
    struct config *config = config_create(components);
    struct error error = {0};
    char *before = dumped(config);
    bool loaded = config_load_text(config, (const char *)data, size, "fuzz.yaml", &error);
    char *after = dumped(config);
    if (loaded) {
        struct config *again = config_create(components);
        require(config_load_text(again, after, strlen(after), "dump.json", &error));
        char *text = dumped(again);
        require(!strcmp(text, after));
        free(text);
        config_destroy(again);
    } else {
        require(error.code != ERROR_NONE && error.message[0]);
        require(!strcmp(before, after));
    }
    free(before);
    free(after);
    config_destroy(config);
    return 0;
}
