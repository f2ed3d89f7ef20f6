// The files that a job names: all that its field tables have as paths, found by
// one walk, so that nobody needs to know which fields these are.
#ifndef PACELINE_COMMON_JOB_JOB_FILES_H_
#define PACELINE_COMMON_JOB_JOB_FILES_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/config/path.h"
#include "paceline/v1/job.pb.h"

namespace paceline {

struct JobFile {
  // The field that names it: "data.train.idx.features".
  Path field;
  std::string path;
};

// In the order of the field tables.
std::vector<JobFile> FilesOf(const v1::Job& job);

// Lets `change` replace the path of each file.
void ChangeFiles(v1::Job& job,
                 absl::FunctionRef<void(std::string& path)> change);

}  // namespace paceline

#endif  // PACELINE_COMMON_JOB_JOB_FILES_H_
