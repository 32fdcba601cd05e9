/* Internals shared by register_file.c and register_map.c. */
#ifndef EXEC_REGISTER_PARTS_H
#define EXEC_REGISTER_PARTS_H

#include "exec/register_file.h"

void register_map_destroy(struct register_file *file);
/* The file has a new layout. */
void register_map_layout(struct register_file *file);
/* Frees the rows of a warp. */
void register_map_release(struct warp *warp);
/* The row of a lane. */
u32 register_map_find(const struct register_map *map, u32 reg, u32 lane);

#endif
