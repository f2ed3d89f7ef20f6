// `coordinator download`: gets what a job has left.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "common/base/atomic_file.h"
#include "common/base/exit_code.h"
#include "common/base/file.h"
#include "common/base/size_text.h"
#include "common/base/status_macros.h"
#include "coordinator/cli/service/download_file.h"
#include "coordinator/cli/service/follow_log.h"
#include "coordinator/cli/service/job_calls.h"
#include "coordinator/cli/service/words.h"

namespace paceline {
namespace {

// By where they go below the folder.
using Outputs = std::map<std::string, const v1::JobFile*>;

absl::StatusOr<Outputs> OutputsOf(const v1::JobView& job) {
  Outputs outputs;
  for (const v1::JobFile& file : job.outputs()) {
    ASSIGN_OR_RETURN(const std::string path, DownloadPath(file.path()));
    outputs[path] = &file;
  }
  return outputs;
}

// A task that has written nothing may have no log.
absl::Status DownloadLog(const VerbContext& context, const LogPlace& place,
                         const Folder& root, const std::string& path) {
  auto parent = OpenParent(root, path);
  RETURN_IF_ERROR(parent.status());
  const auto& [folder, name] = *parent;
  ASSIGN_OR_RETURN(const std::unique_ptr<AtomicFile> log,
                   AtomicFile::Create(folder.PathOf(name)));
  RETURN_IF_ERROR(ReadWholeLog(context, place, [&log](absl::string_view text) {
                    return log->Append(text);
                  }).status());
  return log->Commit();
}

class DownloadVerb : public ServiceVerb {
 public:
  const char* name() const override { return "download"; }
  const char* help() const override {
    return "Gets what a job has left in its output folder, and its logs. Goes "
           "on where an earlier download has stopped.";
  }
  void AddTo(CLI::App& app) override {
    AddJob(app, job_);
    app.add_option("--output", folder_, "Folder; default the job's id.");
  }

  absl::StatusOr<int> Run(const VerbContext& context) override {
    ASSIGN_OR_RETURN(const v1::JobView job, GetJob(context, job_));
    ASSIGN_OR_RETURN(const Outputs outputs, OutputsOf(job));
    if (folder_.empty()) {
      // It is one component.
      ASSIGN_OR_RETURN(folder_, DownloadPath(job_));
    }
    RETURN_IF_ERROR(MakeDirectories(folder_));
    ASSIGN_OR_RETURN(const Folder root, Folder::Open(folder_));
    uint64_t bytes = 0;
    for (const auto& [path, file] : outputs) {
      RETURN_IF_ERROR(DownloadFile(context, *file, root, path));
      bytes += file->size_bytes();
    }
    RETURN_IF_ERROR(DownloadLogs(context, job, outputs, root));
    context.messages << outputs.size() << " files, " << SizeText(bytes)
                     << ", and the logs are in " << folder_ << std::endl;
    return kSuccess;
  }

 private:
  // Those of the last start, except where the job has left a file of that name.
  absl::Status DownloadLogs(const VerbContext& context, const v1::JobView& job,
                            const Outputs& outputs, const Folder& root) {
    for (const v1::Placement& each : job.record().placements()) {
      const std::string path =
          absl::StrCat("logs/", TaskText(each.task()), ".log");
      if (outputs.contains(path)) continue;
      RETURN_IF_ERROR(DownloadLog(
          context, {job_, each.task(), job.record().generation()}, root, path));
    }
    return absl::OkStatus();
  }

  std::string job_;
  std::string folder_;
};

}  // namespace

std::unique_ptr<ServiceVerb> MakeDownloadVerb() {
  return std::make_unique<DownloadVerb>();
}

}  // namespace paceline
