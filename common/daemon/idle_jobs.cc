#include "common/daemon/idle_jobs.h"

#include <filesystem>
#include <system_error>

#include "common/base/names.h"
#include "glog/logging.h"

namespace paceline {

namespace fs = std::filesystem;

IdleJobs::IdleJobs(std::string folder, absl::Time now)
    : folder_(std::move(folder)) {
  std::error_code error;
  for (fs::directory_iterator entry(folder_, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string job = entry->path().filename().string();
    if (IsSafeName(job)) last_used_[job] = now;
  }
}

void IdleJobs::Tidy(const std::set<std::string>& used, absl::Time now) {
  for (const std::string& job : used) last_used_[job] = now;
  for (auto next = last_used_.begin(); next != last_used_.end();) {
    const auto current = next++;
    if (now - current->second < kKeepIdleJob) continue;
    std::error_code error;
    const fs::path path = fs::path(folder_) / current->first;
    fs::remove_all(path, error);
    LOG_IF(WARNING, error) << "cannot remove " << path << ": "
                           << error.message();
    last_used_.erase(current);
  }
}

}  // namespace paceline
