/* SHA-256 for fingerprints, HMAC-SHA1 for hashed names of hosts. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
