/* Pages: see page.h. */
#include "lab/page.h"

#include "lab/chart.h"

static const char style[] =
    ":root { color-scheme: light dark; --text: #1a1a1a; --back: #ffffff; --line: #d0d0d0; "
    "--quiet: #555555; }\n"
    "@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --back: #16181c; "
    "--line: #44474d; --quiet: #a8a8a8; } }\n"
    "body { font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back); "
    "max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }\n"
    "figure { margin: 1rem 0; } .scroll { overflow-x: auto; }\n"
    "table { border-collapse: collapse; } caption { text-align: left; color: var(--quiet); }\n"
    "th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; "
    "vertical-align: top; }\n"
    "th:first-child, td.text, th.text { text-align: left; } tfoot { font-weight: bold; }\n"
    ".legend span { margin-right: 1rem; white-space: nowrap; } .quiet { color: var(--quiet); }\n"
    ".no, .failed { font-weight: bold; text-decoration: underline; }\n"
    ".controls label { margin-right: 0.8rem; } .front { fill: none; stroke: var(--text); "
    "stroke-dasharray: 4 3; } th[role=button] { cursor: pointer; }\n"
    "code { font-size: 0.9em; }\n";

void page_element(FILE *to, const char *open, const char *text, const char *close)
{
    fputs(open, to);
    xml_text(to, text);
    fputs(close, to);
}

void page_begin(FILE *to, const char *name, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n",
          to);
    page_element(to, "<title>", name, " - Heddle</title>\n<style>\n");
    fputs(style, to);
    chart_styles(to);
    fputs("</style>\n</head>\n<body>\n<main>\n", to);
    page_element(to, "<h1>", title, "</h1>\n");
}

void page_script(FILE *to, const char *script)
{
    fprintf(to, "<script>//<![CDATA[\n%s//]]></script>\n", script);
}

void page_end(FILE *to)
{
    fputs("</main>\n</body>\n</html>\n", to);
}
