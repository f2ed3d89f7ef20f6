// A folder of classes: what is in it, one thing after the other. The first byte
// says whether links are followed.
#include <glog/logging.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "common/data_source/image_list.h"
#include "tests/fuzz/fuzz_input.h"

namespace paceline {
namespace {

namespace fs = std::filesystem;

constexpr int kMostEntries = 20;

// Of an entry of a folder.
bool IsName(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

// Makes folders, files and links in folders that were made before. Names that
// the file system refuses make nothing.
void Fill(const fs::path& root, FuzzInput& input) {
  std::vector<fs::path> folders = {root};
  for (int i = 0; i < kMostEntries && !input.is_empty(); ++i) {
    const uint32_t kind = input.Below(3);
    const fs::path parent =
        folders[input.Below(static_cast<uint32_t>(folders.size()))];
    const std::string name = input.Text();
    if (!IsName(name)) continue;
    const fs::path path = parent / name;
    std::error_code error;
    if (kind == 0 && fs::create_directory(path, error)) {
      folders.push_back(path);
    } else if (kind == 1 && !fs::exists(fs::symlink_status(path, error))) {
      std::ofstream file(path);
    } else if (kind == 2) {
      fs::create_symlink(input.Text(), path, error);
    }
  }
}

// All images are files in the folder.
void Check(const ImageList& list) {
  CHECK_GE(list.size(), 1);
  std::string path;
  for (int64_t i = 0; i < list.size(); ++i) {
    list.GetPath(i, path);
    CHECK_LT(list.ClassOf(i), std::ssize(list.class_names()));
    std::error_code error;
    const fs::path target = fs::canonical(path, error);
    CHECK(!error) << path;
    CHECK(target.string().starts_with(list.folder().string() + "/")) << path;
  }
}

}  // namespace

void Fuzz(FuzzInput input) {
  std::string root = fs::temp_directory_path() / "images.XXXXXX";
  PCHECK(mkdtemp(root.data()) != nullptr);
  const bool follow_links = input.Below(2) == 1;
  Fill(root, input);
  const auto list = ImageList::Read(root, {}, follow_links);
  if (list.ok()) Check(*list);
  fs::remove_all(root);
}

}  // namespace paceline
