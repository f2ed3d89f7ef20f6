#include "common/process/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace paceline {
namespace {

constexpr absl::string_view kPath = "PATH=";

// What glibc's execvp takes without a PATH.
constexpr char kDefaultPath[] = "/bin:/usr/bin";

bool CanExecute(const std::string& file) {
  struct stat information = {};
  return stat(file.c_str(), &information) == 0 &&
         S_ISREG(information.st_mode) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

absl::Status FindProgram(const std::string& name,
                         const std::vector<std::string>& environment) {
  if (absl::StrContains(name, '/')) {
    if (CanExecute(name)) return absl::OkStatus();
    return absl::NotFoundError(
        "there is no such program that this user may execute");
  }
  const auto entry = std::find_if(
      environment.begin(), environment.end(),
      [](const std::string& each) { return absl::StartsWith(each, kPath); });
  const std::string path =
      entry == environment.end() ? kDefaultPath : entry->substr(kPath.size());
  for (const absl::string_view folder : absl::StrSplit(path, ':')) {
    // An empty one is the working folder.
    if (CanExecute(absl::StrCat(folder.empty() ? "." : folder, "/", name))) {
      return absl::OkStatus();
    }
  }
  return absl::NotFoundError(absl::StrCat("not found in PATH, ", path));
}

}  // namespace paceline
