/* PTX tokens: see lex.h. */
#include "isa/ptx/lex.h"

enum {
    SPACE = 1,  /* white space except the end of a line */
    LETTER = 2, /* may begin a name */
    DIGIT = 4,
    HEX = 8,
    WORD = LETTER | DIGIT,
};

static const u8 classes[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\r'] = SPACE,
    ['\v'] = SPACE,
    ['\f'] = SPACE,
    ['0' ... '9'] = DIGIT | HEX,
    ['a' ... 'f'] = LETTER | HEX,
    ['g' ... 'z'] = LETTER,
    ['A' ... 'F'] = LETTER | HEX,
    ['G' ... 'Z'] = LETTER,
    ['_'] = LETTER,
    ['$'] = LETTER,
};

static bool in_class(char c, int mask)
{
    return classes[(u8)c] & mask;
}

void ptx_lex_start(struct ptx_lexer *lexer, const char *text, size_t length)
{
    while (length && text[length - 1] == '\0')
        length--;
    *lexer = (struct ptx_lexer){.at = text, .end = text + length, .line_start = text, .line = 1};
}

/* The character `ahead` of the position, or NUL past the end. */
static char peek(const struct ptx_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static void newline(struct ptx_lexer *lexer)
{
    lexer->at++;
    lexer->line++;
    lexer->line_start = lexer->at;
}

static void skip_line(struct ptx_lexer *lexer)
{
    const char *end = memchr(lexer->at, '\n', (size_t)(lexer->end - lexer->at));
    lexer->at = end ? end : lexer->end;
}

/* Skips a comment that begins with "slash star". False if the text ends inside it. */
static bool skip_block_comment(struct ptx_lexer *lexer)
{
    lexer->at += 2;
    while (lexer->at < lexer->end) {
        if (*lexer->at == '\n') {
            newline(lexer);
        } else if (*lexer->at == '*' && peek(lexer, 1) == '/') {
            lexer->at += 2;
            return true;
        } else {
            lexer->at++;
        }
    }
    return false;
}

/* "@@DWARF ...": debug data of compilers before PTX 3. */
static bool at_dwarf_line(const struct ptx_lexer *lexer)
{
    static const char mark[] = "@@DWARF";
    return (size_t)(lexer->end - lexer->at) >= sizeof mark - 1 &&
           !strncasecmp(lexer->at, mark, sizeof mark - 1);
}

/* Whether a preprocessor's line marker begins here: "# 12 "file"" or "#line 12". */
static bool at_line_marker(const struct ptx_lexer *lexer)
{
    for (const char *c = lexer->at; c > lexer->line_start;
         c--) /* backward to the line start: the text before '#' is short */
        if (!in_class(c[-1], SPACE))
            return false;
    size_t ahead = 1;
    while (in_class(peek(lexer, ahead), SPACE))
        ahead++;
    return in_class(peek(lexer, ahead), DIGIT) ||
           ((size_t)(lexer->end - lexer->at) > ahead + 4 && !memcmp(lexer->at + ahead, "line", 4));
}

/* Skips white space and comments. False on an unterminated comment, which begins at `token`. */
static bool skip_space(struct ptx_lexer *lexer, struct ptx_token *token)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (in_class(c, SPACE)) {
            lexer->at++;
        } else if (c == '\n') {
            newline(lexer);
        } else if (c == '/' && peek(lexer, 1) == '/') {
            skip_line(lexer);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            token->start = lexer->at;
            token->length = 2;
            token->place =
                (struct ptx_place){lexer->line, (u32)(lexer->at - lexer->line_start) + 1};
            if (!skip_block_comment(lexer))
                return false;
        } else if ((c == '@' && at_dwarf_line(lexer)) || (c == '#' && at_line_marker(lexer))) {
            skip_line(lexer);
        } else {
            break;
        }
    }
    return true;
}

static void bad(struct ptx_token *token, const char *problem, const char *expected)
{
    token->kind = TOKEN_BAD;
    token->problem = problem;
    token->expected = expected;
}

static void skip_class(struct ptx_lexer *lexer, int mask)
{
    while (lexer->at < lexer->end && in_class(*lexer->at, mask))
        lexer->at++;
}

static void lex_directive(struct ptx_lexer *lexer, struct ptx_token *token)
{
    token->kind = TOKEN_DIRECTIVE;
    lexer->at++;
    if (!in_class(peek(lexer, 0), WORD)) {
        bad(token, "no word after", "a directive or modifier");
        return;
    }
    skip_class(lexer, WORD);
    while (peek(lexer, 0) == ':' && peek(lexer, 1) == ':' && in_class(peek(lexer, 2), WORD)) {
        lexer->at += 2;
        skip_class(lexer, WORD);
    }
}

/* "0f" and "0d": exactly `digits` hexadecimal digits. */
static void lex_float_bits(struct ptx_lexer *lexer, struct ptx_token *token, size_t digits)
{
    token->kind = digits == 8 ? TOKEN_SINGLE : TOKEN_DOUBLE;
    lexer->at += 2;
    const char *start = lexer->at;
    skip_class(lexer, WORD);
    bool right = (size_t)(lexer->at - start) == digits;
    for (const char *c = start; right && c < lexer->at; c++)
        right = in_class(*c, HEX);
    if (!right)
        bad(token, "malformed number",
            digits == 8 ? "8 hexadecimal digits after 0f" : "16 hexadecimal digits after 0d");
}

/* Digits of a base below 16 or a hexadecimal number, then perhaps U. */
static void lex_based(struct ptx_lexer *lexer, struct ptx_token *token, int base)
{
    token->kind = TOKEN_INTEGER;
    const char *start = lexer->at;
    skip_class(lexer, WORD);
    const char *end = lexer->at;
    if (end > start && end[-1] == 'U')
        end--;
    bool right = end > start;
    for (const char *c = start; right && c < end; c++)
        right = base == 16 ? in_class(*c, HEX) : *c >= '0' && *c < '0' + base;
    if (!right)
        bad(token, "malformed number",
            base == 16  ? "hexadecimal digits after 0x"
            : base == 2 ? "binary digits after 0b"
            : base == 8 ? "octal digits after the leading 0"
                        : "decimal digits");
}

/* [0-9]*(.[0-9]*)?([eE][+-]?[0-9]+)?, at least one digit before the exponent. */
static void lex_decimal_float(struct ptx_lexer *lexer, struct ptx_token *token)
{
    token->kind = TOKEN_DOUBLE;
    skip_class(lexer, DIGIT);
    if (peek(lexer, 0) == '.') {
        lexer->at++;
        skip_class(lexer, DIGIT);
    }
    if ((peek(lexer, 0) | 32) == 'e') {
        lexer->at += peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 2 : 1;
        if (!in_class(peek(lexer, 0), DIGIT))
            bad(token, "malformed number", "digits in the exponent");
        skip_class(lexer, DIGIT);
    }
    if (in_class(peek(lexer, 0), LETTER)) {
        skip_class(lexer, WORD);
        bad(token, "malformed number", "no letters after it");
    }
}

static void lex_number(struct ptx_lexer *lexer, struct ptx_token *token)
{
    if (*lexer->at == '0') {
        switch (peek(lexer, 1)) {
        case 'f':
        case 'F':
            lex_float_bits(lexer, token, 8);
            return;
        case 'd':
        case 'D':
            lex_float_bits(lexer, token, 16);
            return;
        case 'x':
        case 'X':
            lexer->at += 2;
            lex_based(lexer, token, 16);
            return;
        case 'b':
        case 'B':
            lexer->at += 2;
            lex_based(lexer, token, 2);
            return;
        }
    }
    size_t digits = 1;
    while (in_class(peek(lexer, digits), DIGIT))
        digits++;
    char next = peek(lexer, digits);
    if (next == '.' || (next | 32) == 'e')
        lex_decimal_float(lexer, token);
    else
        lex_based(lexer, token, *lexer->at == '0' ? 8 : 10);
}

static void lex_string(struct ptx_lexer *lexer, struct ptx_token *token)
{
    token->kind = TOKEN_STRING;
    lexer->at++;
    while (lexer->at < lexer->end && *lexer->at != '\n') {
        char c = *lexer->at++;
        if (c == '"')
            return;
        if (c == '\0')
            bad(token, "NUL byte in string", "text");
        if (c == '\\' && lexer->at < lexer->end && *lexer->at != '\n')
            lexer->at++;
    }
    bad(token, "unterminated string", "'\"' before the end of the line");
}

static void lex_punctuation(struct ptx_lexer *lexer, struct ptx_token *token)
{
    static const struct {
        char text[3];
        int kind;
    } doubles[] = {
        {"<<", TOKEN_SHIFT_LEFT},    {">>", TOKEN_SHIFT_RIGHT}, {"<=", TOKEN_LESS_EQUAL},
        {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},       {"!=", TOKEN_NOT_EQUAL},
        {"&&", TOKEN_AND_AND},       {"||", TOKEN_OR_OR},
    };
    char c = *lexer->at, next = peek(lexer, 1);
    if (next == '=' || next == c) {
        for (size_t i = 0; i < ARRAY_LEN(doubles); i++) {
            if (doubles[i].text[0] == c && doubles[i].text[1] == next) {
                token->kind = doubles[i].kind;
                lexer->at += 2;
                return;
            }
        }
    }
    lexer->at++;
    token->kind = (u8)c;
    if (c == '#') {
        bad(token, "preprocessor line at", "text that went through the preprocessor");
    } else if (!c || !strchr("!%&()*+,-/:;<=>?@[]^{|}~", c)) {
        while ((u8)peek(lexer, 0) >= 128) /* the other bytes of a non-ASCII character */
            lexer->at++;
        bad(token, "unexpected character", "PTX");
    }
}

void ptx_lex(struct ptx_lexer *lexer, struct ptx_token *token)
{
    if (!skip_space(lexer, token)) {
        bad(token, "unterminated comment", "'*/' before the file ends");
        return;
    }
    token->start = lexer->at;
    token->place = (struct ptx_place){lexer->line, (u32)(lexer->at - lexer->line_start) + 1};
    if (lexer->at == lexer->end) {
        token->kind = TOKEN_END;
        token->length = 0;
        return;
    }
    char c = *lexer->at;
    if (in_class(c, LETTER) || (c == '%' && in_class(peek(lexer, 1), WORD))) {
        token->kind = TOKEN_NAME;
        lexer->at++;
        skip_class(lexer, WORD);
    } else if (c == '.') {
        lex_directive(lexer, token);
    } else if (in_class(c, DIGIT)) {
        lex_number(lexer, token);
    } else if (c == '"') {
        lex_string(lexer, token);
    } else {
        lex_punctuation(lexer, token);
    }
    token->length = (size_t)(lexer->at - token->start);
}

void ptx_lex_fraction(struct ptx_lexer *lexer, struct ptx_token *token)
{
    lexer->at = token->start;
    lex_decimal_float(lexer, token);
    token->length = (size_t)(lexer->at - token->start);
}

static u64 digit_value(char c)
{
    return c <= '9' ? (u64)(c - '0') : (u64)((c | 32) - 'a' + 10);
}

bool ptx_token_integer(const struct ptx_token *token, u64 *value, bool *is_unsigned)
{
    const char *c = token->start, *end = c + token->length;
    *is_unsigned = end[-1] == 'U';
    end -= *is_unsigned;
    u64 base = 10, result = 0;
    if (*c == '0' && end - c > 1) {
        base = (c[1] | 32) == 'x' ? 16 : (c[1] | 32) == 'b' ? 2 : 8;
        c += base == 8 ? 1 : 2;
    }
    for (; c < end; c++)
        if (__builtin_mul_overflow(result, base, &result) ||
            __builtin_add_overflow(result, digit_value(*c), &result))
            return false;
    *value = result;
    return true;
}

bool ptx_token_is(const struct ptx_token *token, const char *word)
{
    return token->length == strlen(word) && !memcmp(token->start, word, token->length);
}

size_t ptx_fold_space(char *to, const char *text, size_t length)
{
    struct ptx_lexer lexer;
    struct ptx_token token;
    size_t used = 0;
    ptx_lex_start(&lexer, text, length);
    while (skip_space(&lexer, &token) && lexer.at < lexer.end) {
        if (used && (in_class(lexer.at[-1], SPACE) || lexer.at[-1] == '\n' || lexer.at[-1] == '/'))
            to[used++] = ' ';
        do
            to[used++] = *lexer.at++;
        while (lexer.at < lexer.end && *lexer.at != '\n' && *lexer.at != '/' &&
               !in_class(*lexer.at, SPACE));
    }
    return used;
}
