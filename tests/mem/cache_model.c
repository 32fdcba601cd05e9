/* The plain cache: see cache_model.h. */
#include "cache_model.h"

u32 model_sectors(const struct model *model)
{
    return model->config.line_bytes / 32;
}

/* HASH_FERMI, from the bits of the address: Nugteren et al., HPCA 2014. */
static u32 fermi_set(u64 address, u32 sets)
{
    u32 set = (u32)(address >> 7 & 31) ^ (u32)(address >> 13 & 7);
    set ^= (u32)(address >> 17 & 1) << 3 ^ (u32)(address >> 19 & 1) << 4;
    return sets == 64 ? set | (u32)(address >> 12 & 1) << 5 : set;
}

/* HASH_POLYNOMIAL: long division by a primitive polynomial, bit by bit. */
u32 model_set(const struct model *model, u64 line)
{
    u64 number = line / model->config.line_bytes;
    u32 sets = model->config.sets;
    if (model->config.hash == HASH_NONE || sets & (sets - 1) || sets == 1)
        return (u32)(number % sets);
    if (model->config.hash == HASH_FERMI && (sets == 32 || sets == 64))
        return fermi_set(number * 128, sets);
    u64 divisor = sets == 2    ? 0x3
                  : sets == 4  ? 0x7
                  : sets == 8  ? 0xb
                  : sets == 32 ? 0x25
                  : sets == 64 ? 0x43
                               : 0;
    assert(divisor);
    for (u32 bit = 63; 1ull << bit >= sets; bit--)
        if (number >> bit & 1)
            number ^= divisor << (bit - (u32)__builtin_ctz(sets));
    return (u32)number;
}

static struct model_line *model_find(struct model *model, u64 line)
{
    u32 set = model_set(model, line);
    for (u32 i = 0; i < model->sets[set].count; i++)
        if (model->sets[set].lines[i].line == line)
            return &model->sets[set].lines[i];
    return NULL;
}

/* Moves it to the end of the list: it gives way last. */
static struct model_line *use(struct model *model, struct model_line *found, bool moves)
{
    u32 set = model_set(model, found->line);
    u32 last = model->sets[set].count - 1;
    if (!moves)
        return found;
    struct model_line line = *found;
    struct model_line *lines = model->sets[set].lines;
    memmove(found, found + 1, (size_t)(lines + last - found) * sizeof *found);
    lines[last] = line;
    return &lines[last];
}

static void take_out(struct model *model, struct model_line *found)
{
    u32 set = model_set(model, found->line);
    use(model, found, true);
    model->sets[set].count--;
}

/* Which line gives way for `line`, if one must; false: none can. */
static bool victim_of(struct model *model, u64 line, struct model_line **victim)
{
    u32 set = model_set(model, line);
    *victim = NULL;
    if (model->sets[set].count < model->config.ways - model->reserved_ways)
        return true;
    for (u32 i = 0; i < model->sets[set].count; i++)
        if (!model->sets[set].lines[i].fetches) {
            *victim = &model->sets[set].lines[i];
            return true;
        }
    return false;
}

static struct model_line *put_in(struct model *model, u64 line, struct model_line *victim,
                                 bool counts, struct cache_out *out)
{
    u32 set = model_set(model, line);
    if (victim) {
        out->victim = victim->line;
        for (u32 i = 0; i < MODEL_SECTORS; i++)
            out->victim_sectors |= (u32)victim->changed[i] << i;
        model->counters.evictions += counts;
        model->counters.writebacks += counts && out->victim_sectors;
        take_out(model, victim);
    }
    struct model_line *new = &model->sets[set].lines[model->sets[set].count++];
    *new = (struct model_line){.line = line};
    return new;
}

bool model_has(const struct model *model, u64 line, u32 sectors)
{
    const struct model_line *found = model_find((struct model *)model, line);
    for (u32 i = 0; i < MODEL_SECTORS; i++)
        if ((sectors >> i & 1) && !(found && found->whole[i]))
            return false;
    return true;
}

static bool under_way(const struct model *model, u64 line, u32 sector)
{
    for (u32 i = 0; i < model->entries; i++)
        if (model->entry[i].line == line && !model->entry[i].arrived &&
            model->entry[i].asked[sector])
            return true;
    return false;
}

static void add_waiter(struct model_entry *entry, u32 waiter, const bool *misses)
{
    struct model_waiter *new = &entry->waiters[entry->count++];
    new->waiter = waiter;
    memcpy(new->misses, misses, sizeof new->misses);
}

static enum cache_result merge(struct model *model, u64 line, u32 waiter, const bool *misses)
{
    for (u32 i = model->entries; i-- > 0;) { /* the newest that can */
        struct model_entry *entry = &model->entry[i];
        bool brings = false;
        for (u32 s = 0; s < MODEL_SECTORS; s++)
            brings |= !entry->arrived && entry->asked[s] && misses[s];
        if (entry->line != line || !brings || entry->count == model->config.merges)
            continue;
        add_waiter(entry, waiter, misses);
        struct model_line *found = model_find(model, line);
        if (found)
            use(model, found, !model->config.fifo);
        model->counters.reads++;
        model->counters.read_merges++;
        return CACHE_MERGED;
    }
    model->counters.stalls_mshr++;
    return CACHE_NO_MERGE;
}

static enum cache_result fetch(struct model *model, u64 line, u32 waiter, const bool *misses,
                               struct cache_out *out)
{
    struct model_line *found = model_find(model, line), *victim = NULL;
    bool takes = !found && !model->config.allocate_on_fill && model->allocates(line);
    if (takes && !victim_of(model, line, &victim)) {
        model->counters.stalls_line++;
        return CACHE_NO_LINE;
    }
    if (model->entries == model->config.mshrs) {
        model->counters.stalls_mshr++;
        return CACHE_NO_MSHR;
    }
    if (takes)
        found = put_in(model, line, victim, true, out);
    struct model_entry *entry = &model->entry[model->entries];
    *entry = (struct model_entry){.line = line};
    out->sectors = 0;
    for (u32 s = 0; s < model_sectors(model); s++) {
        bool wanted = misses[s];
        if (!model->config.sectored)
            wanted |= !(found && found->whole[s]);
        entry->asked[s] = wanted && !under_way(model, line, s);
        out->sectors |= (u32)entry->asked[s] << s;
        if (found && misses[s])
            found->whole[s] = false;
    }
    model->entries++;
    add_waiter(entry, waiter, misses);
    if (found && !model->config.allocate_on_fill) {
        entry->keeps_line = true;
        found->fetches++;
    }
    if (found)
        use(model, found, !model->config.fifo);
    model->counters.reads++;
    model->counters.read_misses++;
    return CACHE_MISS;
}

enum cache_result model_read(struct model *model, u64 line, u32 sectors, u32 waiter,
                             struct cache_out *out)
{
    struct model_line *found = model_find(model, line);
    bool misses[MODEL_SECTORS] = {0}, any = false, new = false;
    out->victim_sectors = 0;
    bool treat = model_has(model, line, sectors) && model->misses(line);
    for (u32 s = 0; s < MODEL_SECTORS; s++) {
        misses[s] = (sectors >> s & 1) && (treat || !found || !found->whole[s]);
        any |= misses[s];
        new |= misses[s] && !under_way(model, line, s);
    }
    if (!any) {
        use(model, found, !model->config.fifo);
        model->counters.reads++;
        model->counters.read_hits++;
        return CACHE_HIT;
    }
    return new ? fetch(model, line, waiter, misses, out) : merge(model, line, waiter, misses);
}

void model_named(struct model *model, u32 mshr)
{
    model->entry[model->entries - 1].mshr = mshr;
}

static enum cache_result write_back(struct model *model, u64 line, u32 sectors, bool full,
                                    struct cache_out *out)
{
    struct model_line *found = model_find(model, line), *victim;
    bool hit = found;
    if (!found && model->allocates(line)) {
        if (!victim_of(model, line, &victim)) {
            model->counters.stalls_line++;
            return CACHE_NO_LINE;
        }
        found = put_in(model, line, victim, true, out);
    }
    model->counters.writes++;
    (*(hit ? &model->counters.write_hits : &model->counters.write_misses))++;
    if (!found)
        return CACHE_MISS;
    for (u32 s = 0; s < MODEL_SECTORS; s++)
        if (sectors >> s & 1) {
            found->changed[s] = true;
            found->whole[s] |= full;
        }
    use(model, found, !model->config.fifo);
    return CACHE_HIT;
}

enum cache_result model_write(struct model *model, u64 line, u32 sectors, bool full,
                              struct cache_out *out)
{
    out->victim_sectors = 0;
    if (model->config.write == WRITE_BACK)
        return write_back(model, line, sectors, full, out);
    struct model_line *found = model_find(model, line);
    bool hit = false, left = false;
    for (u32 s = 0; found && s < MODEL_SECTORS; s++)
        hit |= (sectors >> s & 1) && found->whole[s];
    model->counters.writes++;
    (*(hit ? &model->counters.write_hits : &model->counters.write_misses))++;
    if (!hit)
        return CACHE_MISS;
    found = use(model, found, !model->config.fifo);
    if (model->config.write == WRITE_EVICT) {
        for (u32 s = 0; s < MODEL_SECTORS; s++) {
            found->whole[s] &= model->config.sectored && !(sectors >> s & 1);
            left |= found->whole[s];
        }
        if (!left && !found->fetches)
            take_out(model, found);
    }
    return CACHE_HIT;
}

static bool ready(const struct model_waiter *waiter)
{
    return !memchr(waiter->misses, true, sizeof waiter->misses);
}

/* Gives back the ready waiters of an entry that has arrived; it leaves if none stays. */
static u32 leave(struct model *model, u32 at, u32 *waiters)
{
    struct model_entry *entry = &model->entry[at];
    u32 given = 0, stay = 0;
    for (u32 i = 0; i < entry->count; i++)
        if (ready(&entry->waiters[i]))
            waiters[given++] = entry->waiters[i].waiter;
        else
            entry->waiters[stay++] = entry->waiters[i];
    entry->count = stay;
    if (!stay) {
        model->entries--;
        memmove(entry, entry + 1, (model->entries - at) * sizeof *entry);
    }
    return given;
}

u32 model_fill(struct model *model, u32 mshr, struct cache_out *out, u32 *waiters, u32 *own)
{
    u32 at = 0, given;
    while (model->entry[at].mshr != mshr || model->entry[at].arrived)
        at++;
    struct model_entry *entry = &model->entry[at];
    u64 line = entry->line;
    struct model_line *found = model_find(model, line), *victim;
    out->victim_sectors = 0;
    model->counters.fills++;
    if (!found && model->config.allocate_on_fill && model->allocates(line) &&
        victim_of(model, line, &victim))
        found = put_in(model, line, victim, true, out);
    for (u32 s = 0; found && s < MODEL_SECTORS; s++)
        found->whole[s] |= entry->asked[s];
    if (entry->keeps_line)
        found->fetches--;
    entry->arrived = true;
    for (u32 i = 0; i < model->entries; i++)
        for (u32 w = 0; model->entry[i].line == line && w < model->entry[i].count; w++)
            for (u32 s = 0; s < MODEL_SECTORS; s++)
                model->entry[i].waiters[w].misses[s] &= !entry->asked[s];
    given = *own = leave(model, at, waiters);
    for (u32 i = 0; i < model->entries;) {
        u32 before = model->entries;
        if (model->entry[i].line == line && model->entry[i].arrived)
            given += leave(model, i, waiters + given);
        i += model->entries == before;
    }
    return given;
}

void model_place(struct model *model, u64 line, u32 sectors, struct cache_out *out)
{
    struct model_line *found = model_find(model, line), *victim;
    out->victim_sectors = 0;
    if (!found && victim_of(model, line, &victim))
        found = put_in(model, line, victim, false, out);
    if (!found)
        return;
    for (u32 s = 0; s < MODEL_SECTORS; s++)
        found->whole[s] |= sectors >> s & 1;
    use(model, found, !model->config.fifo);
}

void model_invalidate(struct model *model)
{
    for (u32 set = 0; set < model->config.sets; set++)
        for (u32 i = 0; i < model->sets[set].count;)
            if (model->sets[set].lines[i].fetches)
                i++;
            else
                take_out(model, &model->sets[set].lines[i]);
}
