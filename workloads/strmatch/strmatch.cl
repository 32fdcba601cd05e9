/*
 * For each place of each query that leaves `least` letters or more: how many letters from there on
 * also stand somewhere in the reference, and how often they do; 0 and 0 for fewer than that. A query
 * a thread, a byte a letter. Threads of a warp leave their loops at different letters. Lengths are
 * arguments, so that the compiler keeps the loops.
 */

/* A node of the suffix tree, and the edge that leads to it; of the same layout on the host. */
struct node {
    uint children[4]; /* by their first letter; 0 is none, for the root is nobody's child */
    uint2 edge;       /* its first letter in the reference, and how many it has */
    uint leaves;      /* below the node: how often what leads there occurs */
    uint link;        /* the node of the same letters without the first; the root's is the root */
};

/* What was found from one place of a query is known to be there from the next place on, less its
 * first letter: the node's link leads close to it, and from there edges are walked without looking at
 * their letters. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void walk_tree(__global const uchar *reference, __global const struct node *nodes,
               __global const uchar *queries, __global uint *lengths, __global uint *counts,
               uint count, uint letters, uint least)
{
    uint i = get_global_id(0);

    if (i >= count)
        return;
    __global const uchar *query = queries + i * letters;
    uint node = 0, depth = 0, length = 0; /* letters that lead to the node, and all that match */
    for (uint start = 0; start + least <= letters; start++, query++) {
        uint child = 0, on_edge = 0; /* letters that match on the edge to the child */
        uint2 edge = 0;
        while (depth < length) {
            child = nodes[node].children[query[depth]];
            edge = nodes[child].edge;
            if (edge.y > length - depth) {
                on_edge = length - depth;
                break;
            }
            node = child;
            depth += edge.y;
        }
        while (length < letters - start) {
            uint letter = query[length];
            if (on_edge > 0) {
                if (reference[edge.x + on_edge] != letter)
                    break;
            } else {
                child = nodes[node].children[letter];
                if (child == 0)
                    break;
                edge = nodes[child].edge;
            }
            length++;
            if (++on_edge == edge.y) {
                node = child;
                depth += on_edge;
                on_edge = 0;
            }
        }
        bool enough = length >= least;
        lengths[start * count + i] = enough ? length : 0;
        counts[start * count + i] = enough ? nodes[on_edge > 0 ? child : node].leaves : 0;
        node = nodes[node].link;
        depth -= min(depth, 1u);
        length -= min(length, 1u);
    }
}

/* How many letters a part of the query has in common with a suffix; of the first it is known. */
uint common(__global const uchar *reference, uint suffix, uint size, __local const uchar *part,
            uint length, uint known)
{
    uint most = min(length, size - suffix);

    while (known < most && reference[suffix + known] == part[known])
        known++;
    return known;
}

/* The suffix array holds the beginnings of all suffixes in order, alike[k] how many letters suffix k
 * has in common with the one before it. The place of the part among them is found by halving, which
 * compares letters only from where both bounds agree with it. The queries are in local memory. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void search_array(__global const uchar *reference, uint size, __global const uint *suffixes,
                  __global const uint *alike, __global const uchar *queries,
                  __global uint *lengths, __global uint *counts, uint count, uint letters,
                  uint least)
{
    __local uchar own[BLOCK_X * LENGTH];
    uint threads = get_local_size(0), first = get_group_id(0) * threads * letters;
    uint i = get_global_id(0);

    for (uint k = get_local_id(0); k < threads * letters; k += threads)
        own[k] = first + k < count * letters ? queries[first + k] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= count)
        return;
    for (uint start = 0; start + least <= letters; start++) {
        __local const uchar *part = own + get_local_id(0) * letters + start;
        uint length = letters - start;
        uint low = 0, high = size;            /* suffixes below low are smaller, from high on not */
        uint low_common = 0, high_common = 0; /* of the suffixes just outside */
        while (low < high) {
            uint middle = (low + high) / 2, suffix = suffixes[middle];
            uint same = common(reference, suffix, size, part, length, min(low_common, high_common));
            bool smaller = same < length &&
                           (suffix + same == size || reference[suffix + same] < part[same]);
            low = smaller ? middle + 1 : low;
            low_common = smaller ? same : low_common;
            high = smaller ? high : middle;
            high_common = smaller ? high_common : same;
        }
        /* What matches best is just below or just above; more that match as well are around. */
        uint best = max(low_common, high_common), found = 0;
        if (best >= least) {
            uint k = low_common >= high_common ? low - 1 : low, below = k;
            for (found = 1; alike[below] >= best; below--)
                found++;
            for (k++; k < size && alike[k] >= best; k++)
                found++;
        }
        lengths[start * count + i] = best >= least ? best : 0;
        counts[start * count + i] = found;
    }
}
