/* SHA-256 for fingerprints, HMAC-SHA1 for hashed names of hosts, Ed25519 for devices. */
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <openssl/rand.h>

/* SHA-256 without what OpenSSL does first for its algorithms by name: it reads its
   configuration, and a command that asks no more of it starts a millisecond later. */
static inline void ccrypto_sha256(const void *data, size_t size, unsigned char *digest) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
  SHA256(data, size, digest);
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, data, size);
  SHA256_Final(digest, &context);
#pragma GCC diagnostic pop
#endif
}
