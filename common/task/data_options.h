// The options of programs that read the data of jobs by URL.
#ifndef PACELINE_COMMON_TASK_DATA_OPTIONS_H_
#define PACELINE_COMMON_TASK_DATA_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/remote_url.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's.
class App;
}  // namespace CLI

namespace paceline {

// What --data-from says if there is nothing.
inline constexpr char kDataFromNowhere[] = "none";

struct DataOptions {
  // Folder of the cache (common/remote_file); "": the default.
  std::string cache;
  // Of all files in the cache together.
  uint64_t cache_bytes = uint64_t{20} << 30;
  // Prefixes of the URLs that may be fetched, or kDataFromNowhere; empty: any.
  std::vector<std::string> from;

  // Adds --data-cache and --data-cache-size. `group`: of the help; "": none.
  void AddTo(CLI::App& app, const std::string& group = "Options");
  // Adds --data-from.
  void AddFromTo(CLI::App& app);

  // What `from` says; empty also if that is empty. InvalidArgument names the
  // option.
  absl::StatusOr<std::vector<RemoteUrl>> Prefixes() const;

  // The same options as arguments of a task's process.
  std::vector<std::string> Arguments() const;
};

}  // namespace paceline

#endif  // PACELINE_COMMON_TASK_DATA_OPTIONS_H_
