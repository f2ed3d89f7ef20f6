// Sends what a job leaves in its output folder to the coordinator.
#ifndef PACELINE_COMMON_DAEMON_OUTPUT_SHIPPER_H_
#define PACELINE_COMMON_DAEMON_OUTPUT_SHIPPER_H_

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/rpc/service_client.h"
#include "paceline/v1/queue.pb.h"

namespace paceline {

// Files that are new or changed, by their sizes and times, and the names of
// those that are gone. Leaves out links, files whose names begin with ".", and
// temporary files (".tmp"). A checkpoint is entered with all its files or not
// at all. Not thread-safe; methods block on calls and on the disk.
class OutputShipper {
 public:
  // `folder`: the job's. `task`: one of this start of the job. The client must
  // outlive it.
  OutputShipper(ServiceClient& client, std::string folder, v1::JobTask task)
      : client_(client), folder_(std::move(folder)), task_(std::move(task)) {}

  // The coordinator has what is there now.
  void SkipPresent();

  // Ships complete checkpoints, which are those with a manifest.
  absl::Status ShipCheckpoints();

  // Ships all that is there but checkpoints without a manifest. A file that
  // cannot be shipped, such as one that changes meanwhile, keeps no other from
  // it; returns the first error.
  absl::Status ShipAll();

 private:
  struct Version {
    uint64_t size = 0;
    std::filesystem::file_time_type time;
    bool operator==(const Version&) const = default;
  };
  // By path in the job's folder.
  using Files = std::map<std::string, Version>;

  // Whether the files are those of a complete checkpoint at this path.
  static bool HasManifest(const Files& files, const std::string& checkpoint);
  // The files below the folder `path` of the job's.
  absl::StatusOr<Files> List(const std::string& path) const;
  // Hashes, uploads and enters those that the coordinator does not have; with
  // `all_or_none` enters no file unless all can be.
  absl::Status Ship(const Files& files, bool all_or_none);
  // Sends contents. Returns the files that the coordinator has now, and adds
  // the first error that another file had to `errors`. An error if the
  // coordinator is away.
  absl::StatusOr<std::vector<v1::JobFile>> Upload(
      const std::vector<v1::JobFile>& files, absl::Status& errors);
  // Has the coordinator forget what it has from the folder `path` and is not
  // among the `present` files.
  absl::Status Forget(const std::string& path, const Files& present);
  absl::Status UploadFile(const v1::JobFile& file,
                          const v1::FileProgress& progress);

  ServiceClient& client_;
  const std::string folder_;
  const v1::JobTask task_;
  Files shipped_;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_DAEMON_OUTPUT_SHIPPER_H_
