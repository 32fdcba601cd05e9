/* Figures of a page: see page.h. */
#include "report/page.h"

#include "lab/chart.h"
#include "lab/page.h"

void figure_open(struct page *page, const char *kind, const char *id, const char *title,
                 const char *note)
{
    fprintf(page->to, "<section id=\"%s\">\n<h2>%s</h2>\n", id, title);
    if (*note)
        page_element(page->to, "<p class=\"quiet\">", note, "</p>\n");
    fprintf(page->to,
            "<figure data-kind=\"%s\">\n<details%s><summary>Numbers</summary>\n"
            "<div class=\"scroll\"><table>",
            kind, strcmp(kind, "summary") ? "" : " open=\"open\"");
}

void figure_head(struct page *page, const char *label)
{
    page_element(page->to, "<tr class=\"head\"><th scope=\"col\">", label, "</th>");
}

void figure_column(struct page *page, const char *name)
{
    page_element(page->to, "<th scope=\"col\">", name, "</th>");
}

void figure_run_columns(struct page *page, const char *what)
{
    for (u32 r = 0; r < page->count; r++)
        figure_column(page, page->count > 1 ? page->runs[r].run->label : what);
}

/* Head and rows are rows alike: each ends where the next begins. */
void figure_row(struct page *page, const char *class, const char *label)
{
    fputs("</tr>\n<tr", page->to);
    if (*class)
        fprintf(page->to, " class=\"%s\"", class);
    page_element(page->to, "><th scope=\"row\">", label, "</th>");
}

void figure_number(struct page *page, enum quantity quantity, f64 number)
{
    const struct compare_value value = {true, number, NULL};
    fprintf(page->to, "<td data-v=\"%.17g\">", number);
    page_element(page->to, "", value_text(page->arena, quantity, &value), "</td>");
}

void figure_text(struct page *page, const char *text)
{
    page_element(page->to, "<td class=\"text\">", text, "</td>");
}

void figure_none(struct page *page)
{
    fputs("<td></td>", page->to);
}

void figure_close(struct page *page)
{
    fputs("</tr></table></div></details>\n</figure>\n</section>\n", page->to);
}
