// Reads zip archives, by libzip.
//
// Errors name the file, the member, the value and what is expected. NotFound,
// PermissionDenied: the file cannot be opened; NotFound also if it has no such
// member. InvalidArgument: it is no regular file or no archive, has several
// members of a name (other readers take the first or the last), or a member is
// encrypted or compressed by an unusual method. DataLoss: a member is truncated
// or damaged. FailedPrecondition: the file was written to since it was opened.
#ifndef PACELINE_COMMON_ZIP_ZIP_ARCHIVE_H_
#define PACELINE_COMMON_ZIP_ZIP_ARCHIVE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/base/stable_file.h"

// Types of libzip.
struct zip;
struct zip_file;

namespace paceline {

class ZipFileSource;

// DEFLATE's maximum compression ratio.
inline constexpr int64_t kMaxDeflateRatio = 1032;

// What errors call an archive and its members.
struct ZipTerms {
  // "NumPy archive".
  absl::string_view archive;
  // "array".
  absl::string_view member;
  // Left out of the names of members: ".npy".
  absl::string_view suffix = "";
};

// An open member. Not thread-safe; the archive must outlive it.
class ZipMember {
 public:
  // In errors: "/data/digits.npz: x".
  const std::string& name() const { return name_; }

  // An upper bound of the remaining bytes, derived from the archive's directory
  // and the size of the file. Of a stored member that is not damaged, it is
  // their number.
  int64_t capacity_bytes() const { return capacity_bytes_; }
  // Whether it is not compressed.
  bool is_stored() const { return is_stored_; }

  // Reads `size` bytes; fewer only at the end, where libzip compares the
  // checksum.
  absl::StatusOr<int64_t> Read(void* out, int64_t size);

  // Goes to a place of a stored member. libzip does not compare the checksum
  // afterwards.
  absl::Status Seek(int64_t offset_bytes);

 private:
  friend class ZipArchive;
  // Closes a member before what it reads from.
  struct Close {
    std::shared_ptr<const ZipFileSource> source;
    void operator()(zip_file* member) const;
  };

  ZipMember(std::string name, std::shared_ptr<const ZipFileSource> source)
      : name_(std::move(name)), file_(nullptr, Close{std::move(source)}) {}
  const ZipFileSource& source() const { return *file_.get_deleter().source; }

  // That of the last call of libzip.
  absl::Status LastError() const;

  std::string name_;
  std::unique_ptr<zip_file, Close> file_;
  bool is_stored_ = false;
  int64_t capacity_bytes_ = 0;
};

// Where the bytes of a member lie in the archive's file, which it keeps open.
struct MemberPlace {
  std::string name;
  std::shared_ptr<const StableFile> file;
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
};

// An open archive. Not thread-safe.
class ZipArchive {
 public:
  static absl::StatusOr<ZipArchive> Open(const std::string& path,
                                         const ZipTerms& terms);

  const std::string& path() const { return path_; }

  // The name of a member in errors.
  std::string NameOf(absl::string_view member) const;

  // `member`: its name without the suffix.
  absl::StatusOr<ZipMember> OpenMember(absl::string_view member) const;

  // Finds a member that is not compressed, and compares its checksum, for which
  // it reads the member once, in pieces. nullopt: it is compressed, or empty.
  absl::StatusOr<std::optional<MemberPlace>> FindStored(
      absl::string_view member) const;

 private:
  // Ends an archive before what it reads from.
  struct Discard {
    std::shared_ptr<ZipFileSource> source;
    void operator()(zip* archive) const;
  };
  using Zip = std::unique_ptr<zip, Discard>;

  ZipArchive(std::string path, const ZipTerms& terms, int64_t file_size,
             Zip archive)
      : path_(std::move(path)),
        terms_(terms),
        file_size_(file_size),
        archive_(std::move(archive)) {}

  absl::StatusOr<int64_t> FindMember(absl::string_view member) const;
  std::string MemberNames() const;

  std::string path_;
  ZipTerms terms_;
  int64_t file_size_;
  Zip archive_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_ZIP_ZIP_ARCHIVE_H_
