// What a submission carries: the job and those of its files that lie beside it.
#ifndef PACELINE_COORDINATOR_CLI_SERVICE_BUNDLE_H_
#define PACELINE_COORDINATOR_CLI_SERVICE_BUNDLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "paceline/v1/job.pb.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Larger data is on the daemons' machines already, and named by its path there.
inline constexpr uint64_t kMaxBundleBytes = uint64_t{1} << 30;

struct BundledFile {
  // As the tasks will find it.
  v1::JobFile file;
  // Where it is now; of the job itself "", since its text is in memory.
  std::string path;
};

struct JobBundle {
  // All of it, checked; its paths are of this machine.
  v1::Job job;
  // What goes to the coordinator as "job.yaml".
  std::string text;
  // "job.yaml" first, then by path; each path is there once.
  std::vector<BundledFile> files;
  // Changes to the job, with those that keep its meaning under another name of
  // its file.
  std::vector<std::string> overrides;
};

// Reads and checks the job, whose errors are those of ReadJobFile, and hashes
// the files that it names by relative paths. Files with absolute paths may be
// on other machines only, and those named by URLs are not fetched.
// InvalidArgument, with the field and its line, for a relative path that leads
// out of the job's folder, or has the name of the job itself; NotFound,
// PermissionDenied or FailedPrecondition for one that cannot be read.
// ResourceExhausted if the files have more than `max_bytes` together. Blocks on
// files.
absl::StatusOr<JobBundle> BundleJob(const std::string& job_path,
                                    const std::vector<std::string>& overrides,
                                    uint64_t max_bytes = kMaxBundleBytes);

}  // namespace paceline

#endif  // PACELINE_COORDINATOR_CLI_SERVICE_BUNDLE_H_
