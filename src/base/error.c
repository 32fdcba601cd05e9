/* Errors as values: see error.h. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>

void error_fill(struct error *error, enum error_code code, const char *place, const char *format,
                ...)
{
    error->code = code;
    snprintf(error->place, sizeof error->place, "%s", place ? place : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
}

const char *error_text(const struct error *error, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s%s", error->place, error->place[0] ? ": " : "", error->message);
    return buffer;
}
