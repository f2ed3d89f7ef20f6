#include "common/job/job_files.h"

#include <filesystem>

#include "common/config/codec.h"
#include "common/config/field_table.h"
#include "common/job/job_fields.h"

namespace paceline {

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
  namespace fs = std::filesystem;
  return fs::absolute(fs::path(job_path).parent_path() / path)
      .lexically_normal()
      .string();
}

void ChangeFiles(v1::Job& job,
                 absl::FunctionRef<void(std::string& path)> change) {
  FieldsOf(&job).VisitFiles(
      job, Path(),
      [change](const Path& /*field*/, std::string& path) { change(path); });
}

}  // namespace paceline
