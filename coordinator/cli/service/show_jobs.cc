// `coordinator list` and `coordinator describe`: show jobs.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/exit_code.h"
#include "common/base/peer_text.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/cli/service/json_views.h"
#include "coordinator/cli/service/output_format.h"
#include "coordinator/cli/service/table.h"
#include "coordinator/cli/service/views.h"

namespace paceline {
namespace {

constexpr uint32_t kPageSize = 100;

class ListVerb : public ServiceVerb {
 public:
  const char* name() const override { return "list"; }
  const char* help() const override { return "Lists jobs, the latest first."; }
  void AddTo(CLI::App& app) override {
    AddFormat(app, {"table", "wide", "json", "yaml", "name"}, format_);
    app.add_option("--limit", limit_, "How many at most; 0: all.")
        ->capture_default_str();
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    ASSIGN_OR_RETURN(const std::vector<v1::JobView> jobs, Fetch(context));
    const absl::Time now = absl::Now();
    if (format_ == "name") {
      for (const v1::JobView& job : jobs) {
        context.out << PeerText(job.record().id()) << "\n";
      }
    } else if (format_ == "json" || format_ == "yaml") {
      nlohmann::ordered_json json = nlohmann::ordered_json::array();
      for (const v1::JobView& job : jobs) {
        json.push_back(JobSummaryJson(job, now));
      }
      context.out << ObjectText(format_, json);
    } else {
      context.out << TableText(JobRows(jobs, format_ == "wide", now));
    }
    return kSuccess;
  }

 private:
  absl::StatusOr<std::vector<v1::JobView>> Fetch(const VerbContext& context) {
    std::vector<v1::JobView> jobs;
    v1::ListJobsRequest request;
    do {
      request.set_page_size(limit_ == 0
                                ? kPageSize
                                : static_cast<uint32_t>(std::min<uint64_t>(
                                      kPageSize, limit_ - jobs.size())));
      ASSIGN_OR_RETURN(v1::ListJobsResponse page,
                       context.client.ListJobs(request));
      for (v1::JobView& job : *page.mutable_jobs()) {
        if (limit_ != 0 && jobs.size() == limit_) return jobs;
        jobs.push_back(std::move(job));
      }
      request.set_page_token(page.next_page_token());
    } while (!request.page_token().empty() &&
             (limit_ == 0 || jobs.size() < limit_));
    return jobs;
  }

  std::string format_ = "table";
  uint64_t limit_ = 100;
};

class DescribeVerb : public ServiceVerb {
 public:
  const char* name() const override { return "describe"; }
  const char* help() const override { return "Shows all of a job."; }
  void AddTo(CLI::App& app) override {
    AddJob(app, job_);
    AddFormat(app, {"text", "json", "yaml"}, format_);
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    ASSIGN_OR_RETURN(const v1::JobView job, GetJob(context, job_));
    context.out << (format_ == "text"
                        ? JobText(job, absl::Now())
                        : ObjectText(format_, JobJson(job, absl::Now())));
    return kSuccess;
  }

 private:
  std::string job_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeListVerb() {
  return std::make_unique<ListVerb>();
}

std::unique_ptr<ServiceVerb> MakeDescribeVerb() {
  return std::make_unique<DescribeVerb>();
}

}  // namespace paceline
