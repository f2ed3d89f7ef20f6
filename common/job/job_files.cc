#include "common/job/job_files.h"

#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "common/base/remote_url.h"
#include "common/base/status_macros.h"
#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/job/job_fields.h"

namespace paceline {

bool HasCacheFile(const v1::Dataset& dataset) {
  return !dataset.cache().empty() && dataset.cache() != kMemoryCache;
}

std::vector<JobFile> FilesOf(const v1::Job& job) {
  std::vector<JobFile> files;
  v1::Job visited = job;
  FieldsOf(&visited).VisitFiles(
      visited, Path(), [&files](const Path& field, const std::string& path) {
        files.push_back({field, path});
      });
  return files;
}

std::string AbsolutePath(const std::string& job_path, const std::string& path) {
  if (IsRemote(path)) return path;
  namespace fs = std::filesystem;
  return fs::absolute(fs::path(job_path).parent_path() / path)
      .lexically_normal()
      .string();
}

absl::Status CheckUrl(const JobFile& file) {
  if (!IsRemote(file.path)) return absl::OkStatus();
  if (!absl::StartsWith(file.field.text(), "data.")) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", ShownUrl(file.path),
                     "\": expected a path; only the files of `data` may be "
                     "named by URLs"));
  }
  ASSIGN_OR_RETURN(const RemoteUrl url, ParseRemoteUrl(file.path));
  if (!url.FileName().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("\"", url.Shown(),
                   "\": expected the name of a file at the end; no URL "
                   "names a folder"));
}

std::vector<JobFile> CacheFilesOf(const v1::Job& job) {
  std::vector<JobFile> files;
  const auto add = [&files](const char* set, const v1::Dataset& dataset) {
    if (!HasCacheFile(dataset)) return;
    files.push_back({Path("data").Key(set).Key("cache"), dataset.cache()});
  };
  const v1::Data& data = job.data();
  if (data.has_train()) add("train", data.train());
  if (data.has_validation()) add("validation", data.validation());
  if (data.has_test()) add("test", data.test());
  return files;
}

void ChangeCacheFiles(v1::Job& job,
                      absl::FunctionRef<void(std::string& path)> change) {
  const auto change_one = [change](v1::Dataset& dataset) {
    if (!HasCacheFile(dataset)) return;
    change(*dataset.mutable_cache());
  };
  if (!job.has_data()) return;
  v1::Data& data = *job.mutable_data();
  if (data.has_train()) change_one(*data.mutable_train());
  if (data.has_validation()) change_one(*data.mutable_validation());
  if (data.has_test()) change_one(*data.mutable_test());
}

void ChangeFiles(v1::Job& job,
                 absl::FunctionRef<void(std::string& path)> change) {
  FieldsOf(&job).VisitFiles(
      job, Path(),
      [change](const Path& /*field*/, std::string& path) { change(path); });
}

}  // namespace paceline
