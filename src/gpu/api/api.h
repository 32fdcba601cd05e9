/* What the entries of the public API have in common: how they fail. */
#ifndef GPU_API_API_H
#define GPU_API_API_H

#include "gpu/device.h"

/* Copies an error out if the caller wants it, and returns false. */
bool api_fail(struct hd_error *to, const struct error *from);

/* The caller gave NULL where `call` needs something: fills the error and returns false. */
bool api_null(struct hd_error *to, const char *call);

#endif
