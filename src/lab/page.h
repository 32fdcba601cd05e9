/* A page of results: its head, styles and end. It is self-contained and well-formed XML, too. */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include <stdio.h>

void page_begin(FILE *to, const char *name, const char *title);
/* A script of the page's own, in which no "]]>" may be. */
void page_script(FILE *to, const char *script);
void page_end(FILE *to);
/* Text with markup characters escaped, between two pieces of markup. */
void page_element(FILE *to, const char *open, const char *text, const char *close);

#endif
