// The images in folders of classes.
#ifndef PACELINE_COMMON_DATA_SOURCE_IMAGE_LIST_H_
#define PACELINE_COMMON_DATA_SOURCE_IMAGE_LIST_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace paceline {

// Lists what Keras' image_dataset_from_directory lists, in its order: classes
// are the folders in a folder, whose names do not begin with "."; of each, the
// folders below it by their paths, and in each of these the files by name that
// end as images do. Knows names alone: 4 bytes for each image, beside its name.
// Immutable; thread-safe.
class ImageList {
 public:
  // Of names together, and of folders.
  static constexpr size_t kMaxNameBytes = size_t{1} << 30;
  static constexpr size_t kMaxFolders = 1'000'000;

  // `class_names`: the classes in the order of their ids; without, all, sorted.
  // `follow_links`: whether links to folders below a class are followed.
  //
  // Errors name the path: InvalidArgument if there are no classes, one of them
  // is empty or missing, a name is not UTF-8, a link leads out of the folder,
  // a file is a BMP or GIF image, which Keras reads, or no regular file, or the
  // folder is beyond the limits; or what the file system says. Blocks on it.
  static absl::StatusOr<ImageList> Read(
      const std::string& folder,
      const std::optional<std::vector<std::string>>& class_names,
      bool follow_links);

  // Where the folder was, without links.
  const std::filesystem::path& folder() const { return real_folder_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  int64_t size() const { return static_cast<int64_t>(ends_.size()); }
  int64_t ClassOf(int64_t index) const { return FolderOf(index).class_id; }
  // Sets `path` to that of the image.
  void GetPath(int64_t index, std::string& path) const;

 private:
  struct Folder {
    // Ends in "/".
    std::string path;
    int64_t class_id = 0;
    // The number of its first image.
    int64_t first = 0;
  };
  class Reader;

  const Folder& FolderOf(int64_t index) const;

  std::filesystem::path real_folder_;
  std::vector<std::string> class_names_;
  // Those that have images.
  std::vector<Folder> folders_;
  // All names, and where each ends.
  std::string names_;
  std::vector<uint32_t> ends_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DATA_SOURCE_IMAGE_LIST_H_
