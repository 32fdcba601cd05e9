/* Error handling of the public API's entry points. */
#ifndef GPU_API_API_H
#define GPU_API_API_H

#include "gpu/device.h"

/* Copies an error to the caller, unless `to` is NULL; returns false. */
bool api_fail(struct hd_error *to, const struct error *from);

/* Reports that the caller of `call` passed NULL for a required argument; returns false. */
bool api_null(struct hd_error *to, const char *call);

#endif
