// Functions that stay functions: structures in and out, pointers to private arrays, a small
// interpreter with a switch.
#define KEPT __attribute__((noinline))

struct fraction {
    int numerator, denominator;
};

KEPT int gcd(int a, int b)
{
    while (b) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

KEPT struct fraction add_fractions(struct fraction a, struct fraction b)
{
    struct fraction r = {a.numerator * b.denominator + b.numerator * a.denominator,
                         a.denominator * b.denominator};
    int g = gcd(r.numerator, r.denominator);
    r.numerator /= g;
    r.denominator /= g;
    return r;
}

kernel void fractions(global const struct fraction *in, global struct fraction *out, int terms)
{
    int i = get_global_id(0);
    struct fraction sum = {0, 1};
    for (int k = 0; k < terms; k++)
        sum = add_fractions(sum, in[i * terms + k]);
    out[i] = sum;
}

KEPT void permute(uchar *p, uint seed)
{
    for (int k = 15; k > 0; k--) {
        seed = seed * 747796405u + 2891336453u;
        int other = (seed >> 16) % (k + 1);
        uchar t = p[k];
        p[k] = p[other];
        p[other] = t;
    }
}

kernel void permutations(global const uint *seeds, global uchar *out)
{
    uchar p[16];
    for (int k = 0; k < 16; k++)
        p[k] = k;
    permute(p, seeds[get_global_id(0)]);
    vstore16(*(uchar16 *)p, get_global_id(0), out);
}

// Bytes of a program: 0 push next, 1 add, 2 multiply, 3 swap, 4 double, 5 drop, 6 jump back if the
// counter allows.
kernel void interpret(global const uchar *programs, global int *out, int length)
{
    global const uchar *code = programs + get_global_id(0) * length;
    int stack[20] = {1, 2, 3}, top = 2, counter = 6, pc = 0;
    while (pc < length) {
        switch (code[pc++] % 7) {
        case 0:
            if (top < 18 && pc < length)
                stack[++top] = code[pc++];
            break;
        case 1:
            if (top > 0) {
                top--;
                stack[top] += stack[top + 1];
            }
            break;
        case 2:
            if (top > 0) {
                top--;
                stack[top] *= stack[top + 1] | 1;
            }
            break;
        case 3:
            if (top > 0) {
                int t = stack[top];
                stack[top] = stack[top - 1];
                stack[top - 1] = t;
            }
            break;
        case 4:
            if (top < 18) {
                stack[top + 1] = stack[top];
                top++;
            }
            break;
        case 5:
            if (top > 0)
                top--;
            break;
        default:
            if (counter-- > 0)
                pc = pc > 4 ? pc - 4 : 0;
        }
    }
    out[get_global_id(0)] = stack[top] * 31 + top;
}
