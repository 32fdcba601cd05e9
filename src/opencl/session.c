/* To be written. */
#include "opencl/opencl.h"

struct session *session_open(void)
{
    return NULL;
}

bool session_configs(struct session *session, struct hd_config ***configs, u32 *count)
{
    return false;
}

void session_device(struct session *session, cl_device_id device)
{
}

bool session_timed(struct session *session, u64 number, const char *kernel)
{
    return true;
}

void session_launched(struct session *session, cl_device_id device, u64 number)
{
}
