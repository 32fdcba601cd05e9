/* What the writer and the reader of files of chips share: the header, columns and digests. */
#ifndef VARIATION_DATABASE_PARTS_H
#define VARIATION_DATABASE_PARTS_H

#include "base/hash.h"
#include "variation/database.h"

enum {
    CHIPS_APPLICATION = 0x48656443, /* "HedC": in the file's header */
    CHIPS_SCHEMA = 2
};

/* FACT(name, field of struct chips_facts, kind): kinds are real and whole */
#define CHIPS_FACTS(FACT)                                      \
    FACT("nm", variation.nm, whole)                            \
    FACT("volts", variation.volts, real)                       \
    FACT("nominal_volts", variation.nominal, real)             \
    FACT("threshold_volts", variation.threshold, real)         \
    FACT("vth_sigma", variation.vth_sigma, real)               \
    FACT("leff_sigma", variation.leff_sigma, real)             \
    FACT("random_part", variation.random, real)                \
    FACT("systematic_part", variation.systematic, real)        \
    FACT("of_variance", variation.of_variance, whole)          \
    FACT("range", variation.range, real)                       \
    FACT("leff_correlation", variation.leff_correlation, real) \
    FACT("celsius", variation.celsius, real)                   \
    FACT("chip_mm2", variation.chip_mm2, real)                 \
    FACT("failures", variation.failures, whole)                \
    FACT("cores", plan.cores, whole)                           \
    FACT("banks", plan.banks, whole)                           \
    FACT("entries", plan.entries, whole)                       \
    FACT("words", plan.words, whole)                           \
    FACT("lanes", plan.lanes, whole)                           \
    FACT("check_bits", plan.check_bits, whole)                 \
    FACT("fast_share", rule.fast, real)                        \
    FACT("sub_banks", rule.sub_banks, whole)                   \
    FACT("kept_share", kept, real)                             \
    FACT("seed", seed, whole)                                  \
    FACT("chips", count, whole)

/* NUMBER(column, field of struct chip_numbers) */
#define CHIP_NUMBERS(NUMBER)                \
    NUMBER(frequency, frequency[PART_FILE]) \
    NUMBER(vl_rf, frequency[PART_REGISTER]) \
    NUMBER(vl_rv, frequency[PART_ARRAY])    \
    NUMBER(vl_sb, frequency[PART_SUB_BANK]) \
    NUMBER(between_cores, between)          \
    NUMBER(within_words, word_ratio)        \
    NUMBER(within_vectors, vector_ratio)    \
    NUMBER(vmin, vmin)                      \
    NUMBER(one_percent, one_percent)        \
    NUMBER(reduction, reduction)            \
    NUMBER(reduction_0_001, rare[0])        \
    NUMBER(reduction_0_01, rare[1])         \
    NUMBER(reduction_0_1, rare[2])          \
    NUMBER(reduction_0_5, rare[3])          \
    NUMBER(bad_0, bad_bits[0])              \
    NUMBER(bad_1, bad_bits[1])              \
    NUMBER(bad_2, bad_bits[2])              \
    NUMBER(bad_3, bad_bits[3])              \
    NUMBER(bad_4, bad_bits[4])              \
    NUMBER(bad_5, bad_bits[5])              \
    NUMBER(most_bad, most_bad)

/* A digest of the parts of a row, each with its length. */
struct row_digest {
    struct sha256 hash;
};
static inline void row_digest_start(struct row_digest *digest, u64 chip, u64 core)
{
    sha256_start(&digest->hash);
    sha256_add(&digest->hash, &chip, sizeof chip);
    sha256_add(&digest->hash, &core, sizeof core);
}
static inline void row_digest_add(struct row_digest *digest, const void *data, u64 bytes)
{
    sha256_add(&digest->hash, &bytes, sizeof bytes);
    sha256_add(&digest->hash, data, bytes);
}

/* The header of a file: whether it is one of chips (D3). `exists` may be NULL: then it must. */
bool chips_header(const char *path, bool *exists, struct error *error);

#endif
