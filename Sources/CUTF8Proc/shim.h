/* utf8proc: the normal forms of Unicode. */
#include <utf8proc.h>
