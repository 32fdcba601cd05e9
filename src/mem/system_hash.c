/* The hash of requests under way on the memory side: see memory_system_hash in mem/system.h. */
#include "base/state_walk.h"
#include "mem/content_parts.h"

static u64 hash_bytes(u64 hash, const void *data, size_t bytes)
{
    u64 word;
    for (; bytes >= sizeof word; bytes -= sizeof word, data = (const u8 *)data + sizeof word) {
        memcpy(&word, data, sizeof word);
        hash = hash_word(hash, word);
    }
    word = 0;
    memcpy(&word, data, bytes);
    return bytes ? hash_word(hash, word) : hash;
}

static u64 hash_port(u64 hash, const struct port *port)
{
    hash = hash_word(hash, port->pushed - port->popped);
    for (u32 at = port->popped; at != port->pushed; at++) {
        const struct packet *p = &port->packets[at & (port->capacity - 1)];
        hash = hash_word(hash_word(hash, p->address), port->arrival[at & (port->capacity - 1)]);
        hash = hash_word(hash_word(hash, p->lanes), (u64)p->sectors << 32 | p->tag);
        hash = hash_word(hash, (u64)p->core << 32 | (u64)p->kind << 8 | p->client);
    }
    return hash;
}

/* The time of a channel: which banks serve what, open rows, when commands are allowed. */
static u64 hash_channel(u64 hash, const struct channel *channel, u32 banks)
{
    const struct dram *dram = channel->dram;
    hash = hash_word(hash_word(hash, channel->inside), channel->last);
    hash = hash_word(hash_word(hash, dram->now), dram->wake);
    hash = hash_bytes(hash, dram->serving, sizeof dram->serving);
    hash = hash_bytes(hash, dram->column, sizeof dram->column);
    hash = hash_bytes(hash, dram->command, sizeof dram->command);
    hash = hash_word(hash_word(hash, dram->inside), dram->turn);
    for (u32 b = 0; b < banks; b++) {
        const struct dram_bank *bank = &dram->banks[b];
        hash = hash_word(hash_word(hash, bank->activate), bank->precharge);
        hash = hash_word(hash, (u64)bank->row << 1 | bank->open);
    }
    return hash;
}

static u64 hash_entry(u64 hash, const struct content_entry *entry, u32 words)
{
    hash = hash_word(hash, entry->entered);
    if (entry->entered) /* a store: its data are in the slice, which has them */
        return hash;
    hash = hash_word(hash, entry->base);
    hash = hash_bytes(hash, entry->mask, words * sizeof *entry->mask);
    for (u32 s = 0; s < 2 * words; s++)
        if (mask_sector(entry->mask, s))
            hash = hash_bytes(hash, entry->bytes + (size_t)s * SECTOR_BYTES, SECTOR_BYTES);
    return hash;
}

/* Data of requests, those of loads that were answered long ago included: they are overwritten when the
 * tag is used again. Tags that no request has had yet have none. */
static u64 hash_entries(u64 hash, const struct content *content)
{
    for (u32 client = 0; client < CLIENTS; client++) {
        for (u32 core = 0; content->entries[client] && core < content->cores; core++)
            for (u32 tag = 0; tag < content->entry_tops[client][core]; tag++)
                hash = hash_entry(hash_word(hash, tag), content_entry(content, core, client, tag),
                                  content->entry_words[client]);
    }
    return hash;
}

static void hash_write(void *user, struct content_move *move)
{
    u64 *hash = user;
    *hash = hash_word(hash_word(*hash, move->line), move->sectors);
    EACH_SECTOR(i, move->sectors)
    *hash = hash_bytes(*hash, move->bytes + (size_t)i * SECTOR_BYTES, SECTOR_BYTES);
}

u64 memory_system_hash(const struct memory_system *m)
{
    u64 hash =
        hash_word(hash_word(m->inside, m->network.next), hash_word(m->l2.next, m->dram.next));
    for (u32 i = 0; i < m->cores; i++)
        hash = hash_port(hash_port(hash, &m->requests[i]), &m->replies[i]);
    for (u32 i = 0; i < m->l2_params.channels; i++)
        hash = hash_channel(hash, &m->channels[i], m->dram_params.banks);
    if (!m->content)
        return hash;
    for (u32 unit = 0; unit < m->units; unit++)
        content_each_write(m->content, unit, hash_write, &hash);
    return hash_entries(hash, m->content);
}
