/* The least that a command can do: what the start of the others is set beside. */
#include <stdio.h>
int main(void) { return puts("hello") < 0; }
