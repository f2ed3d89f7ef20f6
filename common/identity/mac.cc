#include "common/identity/mac.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "glog/logging.h"

namespace paceline {
namespace {

const unsigned char* BytesOf(absl::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* BytesOf(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string HmacSha256(absl::string_view key, absl::string_view message) {
  std::string mac(kMacSize, '\0');
  unsigned int size = 0;
  const unsigned char* const made =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           BytesOf(message), message.size(), BytesOf(mac), &size);
  CHECK(made != nullptr && size == kMacSize) << "libcrypto computes no HMAC";
  return mac;
}

bool IsSameMac(absl::string_view a, absl::string_view b) {
  return a.size() == b.size() &&
         CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string RandomBytes(size_t size) {
  std::string bytes(size, '\0');
  CHECK_EQ(RAND_bytes(BytesOf(bytes), static_cast<int>(size)), 1)
      << "the system has no random bytes";
  return bytes;
}

}  // namespace paceline
