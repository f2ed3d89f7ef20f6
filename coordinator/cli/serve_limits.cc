#include "coordinator/cli/serve_limits.h"

#include <cstdint>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/option_text.h"
#include "common/base/status_macros.h"

namespace paceline {
namespace {

absl::Status UnexpectedQuota(absl::string_view text, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(
      "--quota: \"", text, "\"", why,
      "; expected USER=LIMITS with a user's name, or * for all others, and at "
      "least one of cores:8, memory:64GiB, gpus:2 and jobs:3, with commas "
      "between them"));
}

absl::StatusOr<int64_t> ParseCount(absl::string_view text) {
  int64_t count = 0;
  if (absl::SimpleAtoi(text, &count) && count >= 0) return count;
  return absl::InvalidArgumentError("no number");
}

// Where the quota has this limit; null: there is no such limit.
int64_t* LimitOf(absl::string_view name, Quota& quota) {
  if (name == "cores") return &quota.resources.millicores;
  if (name == "memory") return &quota.resources.memory_bytes;
  if (name == "gpus") return &quota.resources.gpus;
  if (name == "jobs") return &quota.jobs;
  return nullptr;
}

absl::StatusOr<int64_t> ParseLimit(absl::string_view name,
                                   absl::string_view value) {
  if (name == "cores") return ParseCores("cores", value);
  if (name == "memory") return ParseSize("memory", value);
  return ParseCount(value);
}

absl::Status SetSize(absl::string_view option, const std::string& text,
                     uint64_t& bytes) {
  ASSIGN_OR_RETURN(bytes, ParseSize(option, text));
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> ParseUploadRate(const std::string& text) {
  // All files of a submission must come before the first may be swept, within
  // an hour.
  constexpr uint64_t kMinRate = 1 << 20;
  ASSIGN_OR_RETURN(const uint64_t rate, ParseSize("--max-upload-rate", text));
  if (rate >= kMinRate) return rate;
  return absl::InvalidArgumentError(
      absl::StrCat("--max-upload-rate: \"", text,
                   "\"; expected at least 1MiB, which is meant a second"));
}

}  // namespace

absl::Status AddQuota(absl::string_view text, Quotas& quotas) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits('=', 1));
  const auto& [user, limits] = parts;
  if (user.empty() || limits.empty()) return UnexpectedQuota(text, "");
  Quota quota;
  for (const absl::string_view each : absl::StrSplit(limits, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(each, absl::MaxSplits(':', 1));
    int64_t* const limit = LimitOf(pair.first, quota);
    const absl::StatusOr<int64_t> value = ParseLimit(pair.first, pair.second);
    if (limit == nullptr || !value.ok()) {
      return UnexpectedQuota(text, absl::StrCat(" has \"", each, "\""));
    }
    if (*limit != Quota::kAny) {
      return UnexpectedQuota(text, absl::StrCat(" has ", pair.first, " twice"));
    }
    *limit = *value;
  }
  if (!quotas.emplace(user, quota).second) {
    return UnexpectedQuota(text, absl::StrCat(": ", user, " has a quota"));
  }
  return absl::OkStatus();
}

void ServeLimits::AddTo(CLI::App& verb) {
  verb.add_option("--keep-jobs", keep_jobs,
                  "A job is deleted, with its outputs and logs, so long after "
                  "its end: 12h, 30d; default never.");
  verb.add_option("--keep-size", keep_size,
                  "While the files and logs of all jobs are larger, the job "
                  "that ended first is deleted: 500GiB; default any size.");
  verb.add_option("--quota", quotas,
                  "USER=cores:8,memory:64GiB,gpus:2,jobs:3: what the user's "
                  "jobs may hold at a time, at least one of these; others "
                  "wait. The user * is each who has none; those who prove the "
                  "secret are the user anybody. May be repeated.")
      ->allow_extra_args(false);
  verb.add_option("--max-queued", max_queued,
                  "Jobs that may wait; more are refused.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb.add_option("--max-file", max_file,
                  "Size of each file of a job, what it leaves included.")
      ->capture_default_str();
  verb.add_option("--max-store", max_store,
                  "Size of all jobs' files together; more are refused.")
      ->capture_default_str();
  verb.add_option("--max-upload-rate", max_upload_rate,
                  "How much each user who has a token may upload in a second, "
                  "at least 1MiB; default any. Commands wait so long.");
  verb.add_option("--max-log", max_log,
                  "Size of each task's log; the rest is dropped.")
      ->capture_default_str();
  verb.add_option("--min-free", min_free,
                  "What stays free on the store's disk: files and logs that "
                  "would take it are refused, so that the queue can be "
                  "written. 0: they may fill the disk.")
      ->capture_default_str();
}

absl::Status ServeLimits::ApplyTo(ServiceServerOptions& server) const {
  RETURN_IF_ERROR(SetSize("--max-file", max_file, server.files.max_file_bytes));
  RETURN_IF_ERROR(SetSize("--max-store", max_store, server.files.max_bytes));
  RETURN_IF_ERROR(SetSize("--max-log", max_log, server.logs.max_log_bytes));
  RETURN_IF_ERROR(SetSize("--min-free", min_free, server.files.min_free_bytes));
  server.logs.min_free_bytes = server.files.min_free_bytes;
  if (!keep_jobs.empty()) {
    ASSIGN_OR_RETURN(server.retention.age,
                     ParseDuration("--keep-jobs", keep_jobs));
  }
  if (!keep_size.empty()) {
    RETURN_IF_ERROR(SetSize("--keep-size", keep_size, server.retention.bytes));
  }
  if (!max_upload_rate.empty()) {
    ASSIGN_OR_RETURN(server.max_upload_rate, ParseUploadRate(max_upload_rate));
  }
  server.max_queued = max_queued;
  for (const std::string& quota : quotas) {
    RETURN_IF_ERROR(AddQuota(quota, server.quotas));
  }
  return absl::OkStatus();
}

}  // namespace paceline
