/* libzstd: frames of zstd, packed and unpacked in the process. */
#include <zstd.h>
