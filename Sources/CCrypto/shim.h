/* SHA-256 for fingerprints, HMAC-SHA1 for hashed names of hosts, Ed25519 for devices. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/rand.h>
