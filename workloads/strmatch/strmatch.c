/*
 * Where short queries match a long reference text, as gene sequences are matched: for places of
 * each query the longest piece that the reference has as well. The reference is indexed by a suffix
 * tree or by a suffix array. Every thread goes its own way through it.
 */
#include "common/workload.h"
#include <stdlib.h>
#include <string.h>

enum {
    INDEX,
    REFERENCE,
    QUERIES,
    LENGTH,
    LEAST,
    BLOCK,
};

enum index_kind {
    TREE,
    ARRAY,
};

enum {
    LETTERS = 4, /* of the alphabet */
    MOST_LETTERS = 1 << 22,
    MOST_QUERY = 32, /* a block of 1024 threads keeps as many letters each in 32 KB */
};

static const struct option_row options[] = {
    [INDEX] = {"index", NULL, "how the reference is indexed", TREE, .choices = "tree|array"},
    [REFERENCE] = {"reference", "letters", "length of the reference", 20000, 0, 1, MOST_LETTERS},
    [QUERIES] = {"queries", NULL, "number of queries", 50000, 500, 1, 1 << 22},
    [LENGTH] = {"length", "letters", "length of a query", 25, 0, 1, MOST_QUERY},
    [LEAST] = {"least", "letters", "shortest match that counts", 20, 0, 1, MOST_QUERY},
    [BLOCK] = {"block", "threads", "block size", 256, 0, 1, 1024},
    {0},
};

static const struct program program = {
    "strmatch", "Matches queries against a text through a suffix tree or array.", options};

/* A letter is a number; its text ends where size says. */
struct text {
    cl_uchar *letters;
    cl_uint size;
};

/* Of the same layout in the kernel, which says what it means; first and letters are its edge. */
struct node {
    cl_uint children[LETTERS];
    cl_uint first, letters, leaves, link;
};

struct index {
    cl_uint *suffixes, *alike; /* the suffix array */
    struct node *nodes;        /* the tree; root first */
    cl_uint node_count;
};

static struct text random_text(struct workload *w, cl_uint size)
{
    struct text text = {zeroed(size, 1), size};
    for (cl_uint i = 0; i < size; i++)
        text.letters[i] = (cl_uchar)random_below(w, LETTERS);
    return text;
}

/* Pieces of the reference, in which one letter in ten is any letter. */
static cl_uchar *random_queries(struct workload *w, const struct text *reference, size_t count,
                                cl_uint length)
{
    cl_uchar *queries = zeroed(count, length), *letter = queries;
    for (size_t i = 0; i < count; i++) {
        cl_uint from = random_below(w, reference->size);
        for (cl_uint k = 0; k < length; k++)
            *letter++ = random_below(w, 10) ? reference->letters[(from + k) % reference->size]
                                            : (cl_uchar)random_below(w, LETTERS);
    }
    return queries;
}

static cl_uint common(const struct text *text, cl_uint a, cl_uint b)
{
    cl_uint same = 0, most = text->size - (a > b ? a : b);
    while (same < most && text->letters[a + same] == text->letters[b + same])
        same++;
    return same;
}

static int by_letters(const void *a, const void *b, void *text_of)
{
    const struct text *text = text_of;
    cl_uint one = *(const cl_uint *)a, other = *(const cl_uint *)b, same = common(text, one, other);
    if (one == other)
        return 0;
    if (one + same == text->size || other + same == text->size)
        return one > other ? -1 : 1; /* the shorter suffix is first */
    return text->letters[one + same] < text->letters[other + same] ? -1 : 1;
}

static void make_array(struct index *index, const struct text *text)
{
    index->suffixes = zeroed(text->size, sizeof *index->suffixes);
    index->alike = zeroed(text->size, sizeof *index->alike);
    for (cl_uint i = 0; i < text->size; i++)
        index->suffixes[i] = i;
    qsort_r(index->suffixes, text->size, sizeof *index->suffixes, by_letters, (void *)text);
    for (cl_uint i = 1; i < text->size; i++)
        index->alike[i] = common(text, index->suffixes[i - 1], index->suffixes[i]);
}

/* Adds the node below which the suffixes low to high - 1 of the array lie, and all of its
 * descendants; depth is that of its parent in letters. Gives its number. */
static cl_uint add_node(struct index *index, const struct text *text, cl_uint low, cl_uint high,
                        cl_uint depth)
{
    cl_uint number = index->node_count++, end = text->size - index->suffixes[low];
    for (cl_uint i = low + 1; i < high; i++)
        end = index->alike[i] < end ? index->alike[i] : end;
    if (number == 0)
        end = 0; /* the root stays there, even if all suffixes begin alike */
    index->nodes[number] = (struct node){
        .first = index->suffixes[low] + depth, .letters = end - depth, .leaves = high - low};
    for (cl_uint from = low, to; from < high; from = to) {
        for (to = from + 1; to < high && index->alike[to] > end; to++)
            ;
        cl_uint at = index->suffixes[from] + end;
        if (at == text->size)
            continue; /* the suffix that ends at this node */
        cl_uint child = add_node(index, text, from, to, end);
        index->nodes[number].children[text->letters[at]] = child;
    }
    return number;
}

/* The node to which so many letters of the text lead, beginning there. */
static cl_uint node_of(const struct index *index, const struct text *text, cl_uint from,
                       cl_uint letters)
{
    cl_uint node = 0;
    for (cl_uint depth = 0; depth < letters; depth += index->nodes[node].letters)
        node = index->nodes[node].children[text->letters[from + depth]];
    return node;
}

/* Links of a node, to whose parent so many letters lead, and of all its descendants. */
static void add_links(struct index *index, const struct text *text, cl_uint number, cl_uint depth)
{
    struct node *node = &index->nodes[number];
    cl_uint all = depth + node->letters, first = node->first - depth;
    node->link = all > 0 ? node_of(index, text, first + 1, all - 1) : 0;
    for (int i = 0; i < LETTERS; i++)
        if (node->children[i])
            add_links(index, text, node->children[i], all);
}

static void make_tree(struct index *index, const struct text *text)
{
    index->nodes = zeroed(2 * (size_t)text->size + 1, sizeof *index->nodes);
    add_node(index, text, 0, text->size, 0);
    add_links(index, text, 0, 0);
}

/* The reference's places, chained by the letters that stand there. */
struct places {
    cl_uint letters; /* that places in a chain have in common */
    cl_uint *head;   /* by those letters; MOST_LETTERS ends a chain */
    cl_uint *next;
};

enum {
    CHAINED = 8, /* letters that chains go by, at most */
};

static cl_uint code(const cl_uchar *letters, cl_uint count)
{
    cl_uint value = 0;
    for (cl_uint i = 0; i < count; i++)
        value = value * LETTERS + letters[i];
    return value;
}

static struct places chain(const struct text *text, cl_uint least)
{
    struct places places = {.letters = least < CHAINED ? least : CHAINED};
    size_t codes = (size_t)1 << 2 * places.letters;
    places.head = zeroed(codes, sizeof *places.head);
    places.next = zeroed(text->size, sizeof *places.next);
    for (size_t i = 0; i < codes; i++)
        places.head[i] = MOST_LETTERS;
    for (cl_uint i = 0; i + places.letters <= text->size; i++) {
        cl_uint *head = &places.head[code(text->letters + i, places.letters)];
        places.next[i] = *head;
        *head = i;
    }
    return places;
}

/* The longest match of a part of a query by looking at every place that begins like it, and how
 * many places match as long. */
static cl_uint longest(const struct text *text, const struct places *places, const cl_uchar *part,
                       cl_uint length, cl_uint *count)
{
    cl_uint best = 0;
    *count = 0;
    for (cl_uint at = places->head[code(part, places->letters)]; at != MOST_LETTERS;
         at = places->next[at]) {
        cl_uint same = 0;
        while (same < length && at + same < text->size && text->letters[at + same] == part[same])
            same++;
        *count = same > best ? 1 : *count + (same == best);
        best = same > best ? same : best;
    }
    return best;
}

/* What the device is to find: arrays by place in the query, then by query. */
static void expect(const struct text *text, const cl_uchar *queries, size_t count, cl_uint length,
                   cl_uint least, cl_uint *lengths, cl_uint *counts)
{
    struct places places = chain(text, least);
    for (cl_uint start = 0; start + least <= length; start++)
        for (size_t i = 0; i < count; i++) {
            cl_uint found,
                best = longest(text, &places, queries + i * length + start, length - start, &found);
            lengths[start * count + i] = best >= least ? best : 0;
            counts[start * count + i] = best >= least ? found : 0;
        }
    free(places.head);
    free(places.next);
}

static void match(struct workload *w, const struct text *text, const cl_uchar *queries,
                  cl_uint least, cl_mem lengths, cl_mem counts)
{
    cl_uint count = (cl_uint)option(w, QUERIES), length = (cl_uint)option(w, LENGTH);
    struct index index = {0};
    make_array(&index, text);
    make_tree(&index, text);
    struct shape block = {"BLOCK", option(w, BLOCK)};
    workload_build(w, &block, 1, "-D LENGTH=%u", length);
    cl_mem reference = workload_input(w, text->letters, text->size);
    cl_mem queries_device = workload_input(w, queries, (size_t)count * length);
    cl_kernel kernel;
    if (option(w, INDEX) == TREE) {
        cl_mem nodes = workload_input(w, index.nodes, index.node_count * sizeof *index.nodes);
        kernel = workload_kernel(w, "walk_tree");
        workload_args(w, kernel, ARG(reference), ARG(nodes), ARG(queries_device), ARG(lengths),
                      ARG(counts), ARG(count), ARG(length), ARG(least));
    } else {
        size_t bytes = text->size * sizeof *index.suffixes;
        cl_mem suffixes = workload_input(w, index.suffixes, bytes);
        cl_mem alike = workload_input(w, index.alike, bytes);
        kernel = workload_kernel(w, "search_array");
        workload_args(w, kernel, ARG(reference), ARG(text->size), ARG(suffixes), ARG(alike),
                      ARG(queries_device), ARG(lengths), ARG(counts), ARG(count), ARG(length),
                      ARG(least));
    }
    workload_launch(w, kernel, &block, pieces(count, block.x), 1, 1);
    free(index.suffixes);
    free(index.alike);
    free(index.nodes);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    size_t count = option(w, QUERIES);
    cl_uint length = (cl_uint)option(w, LENGTH), least = (cl_uint)option(w, LEAST);
    least = least < length ? least : length;
    struct text text = random_text(w, (cl_uint)option(w, REFERENCE));
    cl_uchar *queries = random_queries(w, &text, count, length);
    size_t results = (length - least + 1) * count, bytes = results * sizeof(cl_uint);
    cl_uint *lengths = zeroed(results, sizeof *lengths), *counts = zeroed(results, sizeof *counts);
    cl_uint *right_lengths = zeroed(results, sizeof *right_lengths);
    cl_uint *right_counts = zeroed(results, sizeof *right_counts);
    expect(&text, queries, count, length, least, right_lengths, right_counts);

    cl_mem lengths_device = workload_output(w, bytes), counts_device = workload_output(w, bytes);
    match(w, &text, queries, least, lengths_device, counts_device);
    workload_read(w, lengths_device, lengths, bytes);
    workload_read(w, counts_device, counts, bytes);
    check_ints(w, "lengths of matches", lengths, right_lengths, results);
    check_ints(w, "numbers of matches", counts, right_counts, results);
    free(text.letters);
    free(queries);
    free(lengths);
    free(counts);
    free(right_lengths);
    free(right_counts);
    return workload_close(w);
}
