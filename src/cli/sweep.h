/* heddle sweep: what its parts share. */
#ifndef CLI_SWEEP_H
#define CLI_SWEEP_H

#include "cli/options.h"
#include "lab/runner.h"
#include "lab/sheet.h"

/* A campaign: a folder with its plan, its results and what is made of them. */
struct campaign {
    const struct command *command;
    const struct command_line *line;
    struct arena *arena;
    struct lab_host host;
    const char *start;       /* the folder in which the command was started */
    const char *folder;      /* absolute */
    const char *shown;       /* as the user named it */
    const char *database;    /* path */
    const struct yaml *tree; /* of a plan that options gave, else NULL */
    const struct experiment *experiment;
    struct plan *plan;
    struct survey *survey;
    struct store *store;
    bool quick, draws;
};

bool campaign_complain(const struct campaign *campaign, const struct error *error);

/* heddle sweep status, export */
int sweep_status(struct campaign *campaign);
int sweep_export(struct campaign *campaign);
/* Writes sweep.csv, sweep.json and sweep.html. */
bool sweep_write(struct campaign *campaign, const struct sheet *sheet);

#endif
