#include "common/identity/sha256.h"

#include <openssl/evp.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/escaping.h"
#include "common/base/random_access.h"
#include "common/base/status_macros.h"
#include "glog/logging.h"

namespace paceline {

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  CHECK(context_ != nullptr &&
        EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1)
      << "libcrypto computes no SHA-256";
}

void Sha256::Free::operator()(evp_md_ctx_st* context) const {
  EVP_MD_CTX_free(context);
}

void Sha256::Update(absl::string_view bytes) {
  CHECK_EQ(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()), 1);
}

std::string Sha256::Hex() const {
  // Finishing ends a context, so a copy is finished.
  const Sha256 copy;
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  CHECK(EVP_MD_CTX_copy_ex(copy.context_.get(), context_.get()) == 1 &&
        EVP_DigestFinal_ex(copy.context_.get(),
                           reinterpret_cast<unsigned char*>(digest.data()),
                           &size) == 1);
  digest.resize(size);
  return absl::BytesToHexString(digest);
}

std::string Sha256Hex(absl::string_view bytes) {
  Sha256 hash;
  hash.Update(bytes);
  return hash.Hex();
}

bool IsSha256Hex(absl::string_view text) {
  return text.size() == 64 &&
         text.find_first_not_of("0123456789abcdef") == absl::string_view::npos;
}

absl::StatusOr<v1::JobFile> HashFile(const std::string& path,
                                     const std::string& path_in_job,
                                     absl::FunctionRef<void()> on_progress) {
  ASSIGN_OR_RETURN(const std::unique_ptr<RandomAccess> file,
                   OpenRandomAccess(path));
  const int64_t size = file->size_bytes();
  Sha256 hash;
  std::string piece;
  for (int64_t offset = 0; offset < size; offset += piece.size()) {
    piece.resize(std::min<int64_t>(size - offset, 1 << 20));
    RETURN_IF_ERROR(file->ReadAt(
        offset, {reinterpret_cast<std::byte*>(piece.data()), piece.size()}));
    hash.Update(piece);
    on_progress();
  }
  v1::JobFile hashed;
  hashed.set_path(path_in_job);
  hashed.set_sha256(hash.Hex());
  hashed.set_size_bytes(size);
  return hashed;
}

bool HasContentOf(const v1::JobFile& file, const std::string& path) {
  struct stat information = {};
  if (lstat(path.c_str(), &information) != 0 || !S_ISREG(information.st_mode) ||
      static_cast<uint64_t>(information.st_size) != file.size_bytes()) {
    return false;
  }
  const absl::StatusOr<v1::JobFile> found = HashFile(path, file.path());
  return found.ok() && found->sha256() == file.sha256();
}

}  // namespace paceline
