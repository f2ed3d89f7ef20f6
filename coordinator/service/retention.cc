#include "coordinator/service/retention.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/size_text.h"

namespace paceline {
namespace {

// The size of jobs, some of which share files.
class SharedSize {
 public:
  void Add(const KeptJob& job) {
    bytes_ += job.log_bytes;
    for (const auto& [sha256, bytes] : job.files) {
      if (++users_[sha256] == 1) bytes_ += bytes;
    }
  }
  void Remove(const KeptJob& job) {
    bytes_ -= job.log_bytes;
    for (const auto& [sha256, bytes] : job.files) {
      if (--users_[sha256] == 0) bytes_ -= bytes;
    }
  }
  uint64_t bytes() const { return bytes_; }

 private:
  uint64_t bytes_ = 0;
  // By SHA-256.
  std::map<std::string, int> users_;
};

}  // namespace

std::vector<ForgottenJob> JobsToForget(const RetentionLimits& limits,
                                       std::vector<KeptJob> jobs,
                                       absl::Time now) {
  std::sort(jobs.begin(), jobs.end(), [](const KeptJob& a, const KeptJob& b) {
    return std::tie(a.ended, a.id) < std::tie(b.ended, b.id);
  });
  SharedSize size;
  for (const KeptJob& job : jobs) size.Add(job);
  std::vector<ForgottenJob> forgotten;
  for (const KeptJob& job : jobs) {
    if (job.ended == absl::InfiniteFuture()) break;
    const absl::Duration age = now - job.ended;
    if (age >= limits.age) {
      forgotten.push_back(
          {job.id, absl::StrCat(
                       "it ended ",
                       absl::FormatDuration(absl::Trunc(age, absl::Seconds(1))),
                       " ago, and jobs are kept for ",
                       absl::FormatDuration(limits.age))});
    } else if (size.bytes() > limits.bytes) {
      forgotten.push_back(
          {job.id, absl::StrCat("of those that have ended it was the first, "
                                "and the files and logs of all jobs have ",
                                SizeText(size.bytes()), ", of which ",
                                SizeText(limits.bytes), " are kept")});
    } else {
      // Those that follow are younger.
      break;
    }
    size.Remove(job);
  }
  return forgotten;
}

}  // namespace paceline
