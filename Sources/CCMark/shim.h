/* cmark-gfm: Markdown as GitHub reads it. */
#include <cmark-gfm.h>
#include <cmark-gfm-core-extensions.h>
