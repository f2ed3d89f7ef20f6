#include "common/data_source/image_list.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/errno_error.h"
#include "common/base/file_descriptor.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/config/suggestion.h"
#include "common/data_source/folder_links.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

using Names = std::vector<std::string>;

absl::Status WrongPath(const std::string& path, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(PeerText(path), ": ", what));
}

bool EndsIn(absl::string_view name, std::initializer_list<const char*> ends) {
  return std::any_of(ends.begin(), ends.end(), [name](const char* end) {
    return absl::EndsWithIgnoreCase(name, end);
  });
}

bool IsImageName(absl::string_view name) {
  return EndsIn(name, {".bmp", ".gif", ".jpeg", ".jpg", ".png"});
}

}  // namespace

// Reads one folder after the other into a list.
class ImageList::Reader {
 public:
  Reader(std::string root, bool follow_links)
      : root_(std::move(root)), follow_links_(follow_links) {
    if (!root_.ends_with('/')) root_ += '/';
  }

  absl::StatusOr<ImageList> Read(const std::optional<Names>& class_names) {
    // Opened, so that no link that moves leads out of what may be read.
    const FileDescriptor folder(
        open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder.is_open()) return ErrnoError("cannot open", root_);
    ASSIGN_OR_RETURN(list_.real_folder_, PathOf(folder, root_));
    ASSIGN_OR_RETURN(list_.class_names_, FindClasses());
    if (class_names) {
      RETURN_IF_ERROR(CheckNames(*class_names));
      list_.class_names_ = *class_names;
    }
    for (size_t id = 0; id < list_.class_names_.size(); ++id) {
      RETURN_IF_ERROR(AddClass(list_.class_names_[id], id));
    }
    return std::move(list_);
  }

 private:
  // What the folder has that `take` takes, sorted by name.
  template <typename Take>
  absl::StatusOr<Names> ListSorted(const std::string& folder, Take take) {
    Names names;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
      std::string name = each->path().filename().string();
      ASSIGN_OR_RETURN(const bool is_taken, take(*each, name));
      if (!is_taken) continue;
      if (!IsUtf8(name)) {
        return WrongPath(folder + name, "the name is not valid UTF-8");
      }
      names.push_back(std::move(name));
    }
    if (error) return ErrnoError("cannot read the folder", folder, error);
    std::sort(names.begin(), names.end());
    return names;
  }

  absl::StatusOr<Names> FindClasses() {
    ASSIGN_OR_RETURN(
        Names names,
        ListSorted(root_,
                   [&](const fs::directory_entry& entry,
                       const std::string& name) -> absl::StatusOr<bool> {
                     if (name.starts_with('.')) return false;
                     return IsFolder(entry);
                   }));
    if (!names.empty()) return names;
    return WrongPath(root_, "has no folders; expected one for each class");
  }

  absl::Status CheckNames(const Names& wanted) const {
    const Names& found = list_.class_names_;
    std::set<std::string> known;
    for (const std::string& name : wanted) {
      if (!std::binary_search(found.begin(), found.end(), name)) {
        return WrongPath(root_, absl::StrCat("has no folder \"", PeerText(name),
                                             "\", which `class_names` names",
                                             Suggestion(name, found)));
      }
      if (known.insert(name).second) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("`class_names` has \"", PeerText(name), "\" twice"));
    }
    return absl::OkStatus();
  }

  absl::Status AddClass(const std::string& name, size_t id) {
    const int64_t before = list_.size();
    ASSIGN_OR_RETURN(const Names folders, FindFolders(root_ + name + "/"));
    for (const std::string& folder : folders) {
      RETURN_IF_ERROR(AddImages(folder, id));
    }
    if (list_.size() > before) return absl::OkStatus();
    return WrongPath(root_ + name,
                     "the class has no images; expected files with the names "
                     ".jpg, .jpeg or .png, or another list of `class_names`");
  }

  // The folder and those below it, sorted by path.
  absl::StatusOr<Names> FindFolders(const std::string& top) {
    Names folders = {top};
    std::set<fs::path> seen;
    for (size_t i = 0; i < folders.size(); ++i) {
      const std::string folder = folders[i];
      std::error_code error;
      if (follow_links_ && !seen.insert(fs::canonical(folder, error)).second) {
        return WrongPath(folder, "links lead to the same folder twice");
      }
      ASSIGN_OR_RETURN(
          const Names below,
          ListSorted(folder,
                     [&](const fs::directory_entry& entry,
                         const std::string&) -> absl::StatusOr<bool> {
                       std::error_code ignored;
                       if (!follow_links_ && entry.is_symlink(ignored)) {
                         return false;
                       }
                       return IsFolder(entry);
                     }));
      for (const std::string& name : below) {
        folders.push_back(folder + name + "/");
      }
      if (folders.size() + list_.folders_.size() > kMaxFolders) {
        return absl::InvalidArgumentError(
            absl::StrCat(root_, ": has more than ", kMaxFolders, " folders"));
      }
    }
    // As Keras does, without the "/" at their ends.
    std::sort(folders.begin(), folders.end(),
              [](absl::string_view a, absl::string_view b) {
                a.remove_suffix(1);
                b.remove_suffix(1);
                return a < b;
              });
    return folders;
  }

  absl::Status AddImages(const std::string& folder, size_t id) {
    ASSIGN_OR_RETURN(
        const Names names,
        ListSorted(folder,
                   [&](const fs::directory_entry& entry,
                       const std::string& name) -> absl::StatusOr<bool> {
                     if (!IsImageName(name)) return false;
                     ASSIGN_OR_RETURN(const bool is_folder, IsFolder(entry));
                     if (is_folder) return false;
                     RETURN_IF_ERROR(CheckImage(entry));
                     return true;
                   }));
    if (names.empty()) return absl::OkStatus();
    list_.folders_.push_back({folder, static_cast<int64_t>(id), list_.size()});
    for (const std::string& name : names) {
      if (EndsIn(name, {".bmp", ".gif"})) {
        return WrongPath(folder + name,
                         "BMP and GIF images are not supported; expected JPEG "
                         "or PNG");
      }
      if (list_.names_.size() + name.size() > kMaxNameBytes) {
        return absl::InvalidArgumentError(
            absl::StrCat(root_, ": the names of its images have more than ",
                         kMaxNameBytes, " bytes"));
      }
      list_.names_ += name;
      list_.ends_.push_back(static_cast<uint32_t>(list_.names_.size()));
    }
    return absl::OkStatus();
  }

  // Pipes, sockets and devices are refused; the system knows of most entries
  // what they are without a look at them.
  static absl::Status CheckImage(const fs::directory_entry& entry) {
    std::error_code error;
    if (entry.is_regular_file(error)) return absl::OkStatus();
    const std::string path = entry.path().string();
    if (error) return ErrnoError("cannot open", path, error);
    return WrongPath(path, "is no regular file, expected a JPEG or PNG image");
  }

  // Follows a link, which must not lead out of the root, nor to a folder that
  // it is in.
  absl::StatusOr<bool> IsFolder(const fs::directory_entry& entry) const {
    std::error_code error;
    if (!entry.is_symlink(error)) return entry.is_directory(error);
    const std::string path = entry.path().string();
    ASSIGN_OR_RETURN(const fs::path target,
                     TargetWithin(path, list_.real_folder_));
    const fs::path parent = fs::canonical(entry.path().parent_path(), error);
    if (error) return ErrnoError("cannot open", path, error);
    if (IsWithin(parent, target)) {
      return WrongPath(path, "the link leads to a folder that it is in");
    }
    return fs::is_directory(target, error);
  }

  std::string root_;
  const bool follow_links_;
  ImageList list_;
};

absl::StatusOr<ImageList> ImageList::Read(
    const std::string& folder, const std::optional<Names>& class_names,
    bool follow_links) {
  return Reader(folder, follow_links).Read(class_names);
}

const ImageList::Folder& ImageList::FolderOf(int64_t index) const {
  const auto behind = std::upper_bound(
      folders_.begin(), folders_.end(), index,
      [](int64_t i, const Folder& folder) { return i < folder.first; });
  return *std::prev(behind);
}

void ImageList::GetPath(int64_t index, std::string& path) const {
  const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
  path = FolderOf(index).path;
  path.append(names_, begin, ends_[index] - begin);
}

}  // namespace paceline
