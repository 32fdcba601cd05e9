/* What every OpenCL program begins with on Heddle; builtins.cl has the code. */
#pragma clang system_header
