// The files that a job names. They are found by a walk over the field tables,
// which know the fields that are paths.
#ifndef PACELINE_COMMON_JOB_JOB_FILES_H_
#define PACELINE_COMMON_JOB_JOB_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/config/path.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct JobFile {
  // The field with the path: "data.train.idx.features".
  Path field;
  // Of data it may be a URL. That of a folder ends in "/".
  std::string path;
};

// Whether the job may read a file, whose path is absolute or a URL.
using FileCheck = std::function<absl::Status(const JobFile& file)>;

// In the order of the field tables.
std::vector<JobFile> FilesOf(const v1::Job& job);

// The path of a file that the job file `job_path` names: relative ones are
// relative to its folder, and URLs (IsRemote) stay.
std::string AbsolutePath(const std::string& job_path, const std::string& path);

// InvalidArgument, without the field, for a URL that is none, or is not of
// data.
absl::Status CheckUrl(const JobFile& file);

// The value of a data set's `cache` that names no file.
inline constexpr char kMemoryCache[] = "memory";

// Whether the data set's examples are kept in a file.
bool HasCacheFile(const v1::Dataset& dataset);

// The files in which the job keeps examples, and their fields. FilesOf has none
// of them: they are written, and need not be there.
std::vector<JobFile> CacheFilesOf(const v1::Job& job);

// Calls `change` with the path of each of CacheFilesOf, to replace it.
void ChangeCacheFiles(v1::Job& job,
                      absl::FunctionRef<void(std::string& path)> change);

// Calls `change` with the path of each file, to replace it.
void ChangeFiles(v1::Job& job,
                 absl::FunctionRef<void(std::string& path)> change);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_FILES_H_
